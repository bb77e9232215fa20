package comparing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// Outputs are the flags of result files for a pipeline. They are written whatever happens: without a comparison
// they have NO VERDICT and why.
type Outputs struct {
	Summary string `placeholder:"FILE" help:"File to append a short summary to, as Markdown: the page of a job, such as $GITHUB_STEP_SUMMARY. Without a verdict it says why."`
	JUnit   string `name:"junit" placeholder:"FILE" help:"File to write as JUnit XML: a test for each gate and variant, or without gates for each main figure. What the data cannot tell is skipped."`

	Asked   []string               `kong:"-"` // gates, where known
	Made    *comparison.Experiment `kong:"-"` // that made all runs; nil: none did
	written bool
}

// Check makes sure, before anything is measured, that the files can be written.
func (o *Outputs) Check() error {
	if o.Summary != "" && o.JUnit != "" && filepath.Clean(o.Summary) == filepath.Clean(o.JUnit) {
		o.written = true // neither can be
		return session.Usagef("--junit %s: is the file of --summary too; each needs its own", o.JUnit)
	}
	var errs []error
	if o.Summary != "" {
		errs = append(errs, outputsNamed("--summary", files.TryAppend(o.Summary)))
	}
	if o.JUnit != "" {
		errs = append(errs, outputsNamed("--junit", files.TryAppend(o.JUnit)))
	}
	return errors.Join(errs...)
}

// Write writes the requested files: the XML replaces its file, the summary is appended.
func (o *Outputs) Write(c compare.Comparison, lang *words.Language) error {
	shown := comparison.Options{Lang: lang, Made: o.Made}
	return o.write(
		func(w io.Writer) error { return comparison.Summary(w, c, shown) },
		func(w io.Writer) error { return comparison.JUnit(w, c, shown) })
}

// WriteNone writes that there is no verdict, and why.
func (o *Outputs) WriteNone(e metrics.Explanation, lang *words.Language) error {
	shown := comparison.Options{Lang: lang}
	return o.write(
		func(w io.Writer) error { return comparison.SummarizeNone(w, e, shown) },
		func(w io.Writer) error { return comparison.JUnitNone(w, e, o.Asked, shown) })
}

func (o *Outputs) write(summary, junit func(io.Writer) error) error {
	o.written = true
	var errs []error
	if o.JUnit != "" {
		errs = append(errs, session.WriteFile("--junit", o.JUnit, junit))
	}
	if o.Summary != "" {
		var b bytes.Buffer
		err := summary(&b)
		if err == nil {
			err = files.Append(o.Summary, b.Bytes())
		}
		errs = append(errs, outputsNamed("--summary", err))
	}
	return errors.Join(errs...)
}

// Settle writes why there is no verdict, after a command that ended with err before it had written one; others are the errors in it but some, as text.
func (o *Outputs) Settle(sess *session.Session, err error, others func(error, ...error) string) error {
	if err == nil || o.written {
		return err
	}
	e := metrics.Explanation{Causes: []plan.Message{plan.Msg("experiment.interrupted")}}
	if rest := others(err, session.ErrInterrupted); rest != "" {
		e.Causes = nil
		for line := range strings.SplitSeq(sess.Secrets.Hide(rest), "\n") {
			e.Causes = append(e.Causes, plan.Text(strings.TrimSpace(line)))
		}
	}
	return errors.Join(err, o.WriteNone(e, sess.Words()))
}

// NoVerdictError is the error of a comparison that could not be made, with exit code 4.
func NoVerdictError(e metrics.Explanation, l *words.Language) error {
	return session.GateError{Inconclusive: 1, Why: l.Word("comparison.of", "what", l.Word("summary.none"), "said", doc.Cut(l.SayAll("stop", e.Causes), mostSaid))}
}

// mostSaid are the columns of why there is no verdict, on a terminal.
const mostSaid = 300

// outputsNamed is an error under the name of a flag.
func outputsNamed(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
