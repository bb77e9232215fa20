package session

import (
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/hub"
)

// InWords words the error of a run as a front end does.
func InWords(front plan.Front, err error) error {
	var problems plan.Problems
	var remedy *run.RemedyError
	var gone *run.UnreachableError
	var missing *hub.Missing
	if errors.As(err, &gone) { // nothing else is in it
		wait := errors.As(err, &remedy)
		err = fmt.Errorf("cannot reach %s: %s (%w)", gone.URL, words.In(words.Default).Word(gone.Class.Code()), gone.Err)
		if wait {
			err = &run.RemedyError{Err: err, Ways: remedy.Ways}
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &problems):
		return Usage(front.Explain(problems))
	case errors.As(err, &remedy):
		return errors.Join(err, remedy.Named(front.NameOf))
	case errors.As(err, &missing):
		if flag := front.NameOf("tokenizer.download"); flag != "" && missing.Variable == hub.DownloadVariable {
			return Usagef("%w, or use %s", err, flag)
		}
		return Usage(err)
	}
	return err
}
