package workload

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Dataset makes the requests of a workload. Its exported fields are its settings, under
// the names of their json tags; everything else comes from the Source. The methods are
// called in the order in which they stand here.
type Dataset interface {
	// Check reports everything wrong with the settings, by paths below the dataset's.
	Check(s *Source) plan.Problems
	// Read reads its files, before there is a tokenizer.
	Read(ctx context.Context, s *Source) error
	// Build draws or reads the requests. Without a draw from elsewhere between them, two
	// calls with sources of the same seed give the same.
	Build(ctx context.Context, s *Source) (Workload, error)
	// Describe describes the requests, without their number.
	Describe() plan.Message
}

// A Kind is a kind of dataset.
type Kind struct {
	New func() Dataset // with its defaults
	// Drawn: prompts are drawn, so more of the same kind can be drawn for the warm-up.
	Drawn bool
	// Unwritten: prompts have no meaning, and so answers have no natural end; by default
	// they have their full length.
	Unwritten bool
	Chats     bool // made for protocols of chats
	Timed     bool // its requests have times of their own
	Dated     bool // they may have
}

// An Arrival decides when the requests of a workload are due.
type Arrival interface {
	Check() plan.Problems
	// Read reads its file.
	Read(files Files) error
	Arrange(w *Workload, a Arranging) (Arrangement, error)
	Describe() plan.Message
}

// Arranging has the settings of a run that an Arrival needs in addition to its own.
type Arranging struct {
	Seed     uint64
	Adapters plan.Adapters
}

// An Arrangement is when requests are due.
type Arrangement struct {
	Schedule iter.Seq[time.Duration] // one time for each request that waits for no other
	Requests int                     // that have a place in it, from the first
	End      time.Duration           // of the run, if the last request were answered at once
	Rate     float64                 // per second, if it is constant in the mean, else 0
	Ramp     bool                    // the rate rises or falls
}

// Setting is the setting of an arrival that determines the distance between requests, empty if
// several do.
func (a *Arrangement) Setting() string {
	switch {
	case a.Ramp:
		return "ramp"
	case a.Rate != 0:
		return "rate"
	}
	return ""
}

// With calls read with the unpacked file that the setting at a path names. An error is a
// Problem of that setting, except for one from a server.
func (f Files) With(path, name string, read func(io.Reader) error) error {
	if f.Open == nil {
		return plan.Problems{{Path: path, Value: name, Why: "no files can be read here"}}
	}
	file, err := f.Open(name)
	if err == nil {
		defer file.Close()
		var text io.Reader
		if text, err = rows.Unpack(name, file); err == nil {
			err = read(text)
		}
	}
	return Blame(path, name, err)
}

// A Parsed has what a dataset's Read found in its file until Build takes it: a file is parsed once, and
// a run does not hold all of it. One that Build takes again is parsed again.
type Parsed[T any] struct{ found *T }

// Read parses the file that the setting data names.
func (p *Parsed[T]) Read(files Files, name string, parse func(io.Reader) (T, error)) error {
	p.found = nil
	return files.With("data", name, func(file io.Reader) error {
		found, err := parse(file)
		if err == nil {
			p.found = &found
		}
		return err
	})
}

// Take gives what was parsed away, to be changed.
func (p *Parsed[T]) Take(files Files, name string, parse func(io.Reader) (T, error)) (found T, err error) {
	if p.found == nil {
		if err := p.Read(files, name, parse); err != nil {
			return found, err
		}
	}
	found, p.found = *p.found, nil
	return found, nil
}

// Blame is err as a problem of the setting at a path, unless it is one already or came from
// a server.
func Blame(path, value string, err error) error {
	var server interface{ MayPass() bool }
	var known plan.Problems
	var file *fs.PathError
	switch {
	case err == nil || errors.As(err, &server) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &known):
		return known
	case errors.As(err, &file):
		err = file.Err
	}
	return plan.Problems{{Path: path, Value: value, Why: err.Error()}}
}
