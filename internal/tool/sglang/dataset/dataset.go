// Package dataset is the datasets of `sglang.bench_serving`: which draws and which
// rows, in which order, become which requests.
//
// That tool seeds Python's random and numpy's global generator once, and everything
// after takes its draws from those two: lengths and pixels from numpy's, choices and
// shuffles from Python's, and the gaps between requests from numpy's again. A Source
// holds both. A Dataset leaves them where the tool's own would stand, so that what is
// drawn next, the arrivals and the adapters, comes out as there.
//
//	Source ──> Dataset.Build ──> requests, and the lines that the tool prints
//	  │                             │
//	  └── the generators go on ──> arrivals
//
// Draws are made in order. Tokenizing and encoding pictures need none: they are done in
// parallel, a few requests ahead of the draws, and what has become of them goes to the
// Source's Spool.
package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A Form is the state of the tool that a dataset follows.
type Form int

// The forms.
const (
	Main    Form = iota // of mid-2026
	January             // of January 2026, version 0.5.6.post2
)

// A Source is what every dataset draws from. Build moves its generators on.
type Source struct {
	Form       Form
	Seed       uint32
	Tokenizer  workload.Tokenizer // nil: prompts are token ids, where a dataset can do that
	Vocabulary workload.Vocabulary
	Numpy      *pyrand.Legacy  // numpy.random
	Python     *pyrand.Random  // random
	Spool      *workload.Spool // for prompts that are too many for memory; nil keeps them there
}

// NewSource seeds both generators.
func NewSource(seed uint32, tok workload.Tokenizer, v workload.Vocabulary) *Source {
	return &Source{
		Seed: seed, Tokenizer: tok, Vocabulary: v,
		Numpy: pyrand.NewLegacy(seed), Python: pyrand.NewRandom(int64(seed)),
	}
}

// A Dataset is the settings of one dataset. Their names in errors are the flags of the
// tool.
type Dataset interface {
	// Validate reports everything wrong with the settings at once.
	Validate() error
	// Build reads and draws the requests.
	Build(ctx context.Context, s *Source) (Built, error)
}

// Built is the requests of a dataset, and what belongs to sending them.
type Built struct {
	workload.Workload

	Lines []string // what the tool prints of the dataset, a line each
	Start []string // what it prints when the warm-up is over

	// Warmup is what to warm up with in place of the first request, nil = the first
	// request; of turns, the first conversation.
	Warmup *workload.Request
	Turns  bool // requests are turns of conversations: only chats can be sent
	Timed  bool // requests are due at their own times, whatever the request rate
}

// errNoTokenizer is why a dataset of texts cannot be built.
var errNoTokenizer = errors.New("no tokenizer to be had: name one by --tokenizer")

func (s *Source) needTokenizer(what string) error {
	if s.Tokenizer == nil {
		return fmt.Errorf("%s: %w", what, errNoTokenizer)
	}
	return nil
}
