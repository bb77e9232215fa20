package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// outputFiles are the flags of result files for a pipeline.
type outputFiles struct {
	Summary string `placeholder:"FILE" help:"File to append a short summary to, as Markdown: the page of a job, such as $GITHUB_STEP_SUMMARY."`
	JUnit   string `name:"junit" placeholder:"FILE" help:"File to write as JUnit XML: a test for each gate and variant, or without gates for each main figure. What the data cannot tell is skipped."`
}

// Check makes sure, before anything is measured, that the files can be written.
func (o outputFiles) Check() error {
	if o.Summary != "" && o.JUnit != "" && filepath.Clean(o.Summary) == filepath.Clean(o.JUnit) {
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
func (o outputFiles) Write(c compare.Comparison, lang *words.Language) error {
	shown := comparison.Options{Lang: lang}
	var errs []error
	if o.JUnit != "" {
		errs = append(errs, session.WriteFile("--junit", o.JUnit, func(w io.Writer) error { return comparison.JUnit(w, c, shown) }))
	}
	if o.Summary != "" {
		var b bytes.Buffer
		err := comparison.Summary(&b, c, shown)
		if err == nil {
			err = files.Append(o.Summary, b.Bytes())
		}
		errs = append(errs, outputsNamed("--summary", err))
	}
	return errors.Join(errs...)
}

// outputsNamed is an error under the name of a flag.
func outputsNamed(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
