package cli

import (
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// Names that commands of this package use often.
type (
	usageError    = session.UsageError
	notValidError = session.NotValidError
	gateError     = session.GateError
)

var (
	english        = session.English
	errInterrupted = session.ErrInterrupted
	usage          = session.Usage
	usagef         = session.Usagef
	inWords        = session.InWords
	plural         = session.Plural
	requireArgs    = session.RequireArgs
	writeFile      = session.WriteFile
	toolNamed      = known.Named
	rules          = known.Rules
)
