package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A UsageError is a mistake of the user.
type UsageError struct{ error }

// Usage makes err one, unless it is nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// Usagef is Usage of fmt.Errorf.
func Usagef(format string, a ...any) error { return UsageError{fmt.Errorf(format, a...)} }

func (e UsageError) Unwrap() error { return e.error }

// ErrInterrupted says that an interrupt ended the command early.
var ErrInterrupted = errors.New("interrupted")

// A NotValidError says that a run is not valid, where it was required to be.
type NotValidError struct{ Validity trace.Validity }

func (e NotValidError) Error() string {
	return fmt.Sprintf("the run is %s, and --require-valid asks for a valid one", e.Validity)
}

// A GateError says that gates failed, or that the data do not decide: gates, or the question in Why.
type GateError struct {
	Failed, Inconclusive int
	Why                  string
}

func (e GateError) Error() string {
	if e.Why != "" {
		return e.Why
	}
	if e.Failed > 0 {
		return Plural(e.Failed, "gate") + " failed"
	}
	return Plural(e.Inconclusive, "gate") + " inconclusive: the data cannot tell"
}

// RequireArgs requires at least one argument.
func RequireArgs(what, command string, given []string) error {
	if len(given) == 0 {
		return Usagef("no %s given; see `pitot %s --help`", what, command)
	}
	return nil
}

// Plural is n and the thing, in the plural unless it is one.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// WriteFile writes a file that a flag names.
func WriteFile(flag, name string, write func(io.Writer) error) error {
	if err := files.Write(name, write); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// WriteBytes makes a file, which a flag names, of b.
func WriteBytes(flag, name string, b []byte) error {
	return WriteFile(flag, name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// TryFolder makes the folder of --folder and makes sure, before any traffic, that a file can be written there; an
// empty name is no folder.
func TryFolder(folder, file string) error {
	if folder == "" {
		return nil
	}
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = files.TryAppend(filepath.Join(folder, file))
	}
	if err != nil {
		return Usagef("--folder: %w", err)
	}
	return nil
}

// FromHere is the path of a file from the present folder, if it is below that.
func FromHere(name string) string {
	if here, err := filepath.Abs("."); err == nil {
		if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}
