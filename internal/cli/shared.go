package cli

import (
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// Names that commands of this package use often.
var (
	errInterrupted = session.ErrInterrupted
	usage          = session.Usage
	usagef         = session.Usagef
	inWords        = session.InWords
	toolNamed      = known.Named
	rules          = known.Rules
)

// english is the language for programs.
func english() *words.Language { return words.In(words.Default) }
