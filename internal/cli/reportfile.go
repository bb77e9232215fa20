package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/ui"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/web"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// reportFile are the flags of a command that reports.
type reportFile struct {
	Output string `short:"o" placeholder:"FILE" help:"Write a file instead: .html is an interactive page in one file, .png and .svg are a plot."`
	Plot   string `placeholder:"NAME" help:"Plot of --output: changes, meanwhile-1, ttft, itl, output or timeline-1. Default: the first of these that there is."`
}

// The kinds of files, by how their names end.
const (
	html = ".html"
	png  = ".png"
	svg  = ".svg"
)

// Check wants a kind of file that there is, and flags that fit it.
func (f reportFile) Check() error {
	kind := strings.ToLower(filepath.Ext(f.Output))
	switch {
	case f.Output == "" && f.Plot != "":
		return session.Usagef("--plot: only applies to --output with a name that ends in .png or .svg")
	case f.Output == "":
		return nil
	case !slices.Contains([]string{html, png, svg}, kind):
		return session.Usagef("--output %s: must end in .html, .png or .svg; the text report goes to standard output", f.Output)
	case f.Plot != "" && kind == html:
		return session.Usagef("--plot %s: only applies to .png and .svg; a page has all plots", f.Plot)
	case kind == html && !web.Built():
		return session.Usagef("--output %s: %w", f.Output, web.ErrNotBuilt)
	}
	return nil
}

// Page reports whether the file is to be a page, and not a plot.
func (f reportFile) Page() bool { return strings.ToLower(filepath.Ext(f.Output)) == html }

func (f reportFile) words(sess *session.Session) *words.Language {
	return wordsOf(sess, strings.ToLower(filepath.Ext(f.Output)) == png)
}

// wordsOf are the language of a file: the fonts of PNG only have Latin, Greek and Cyrillic letters.
func wordsOf(sess *session.Session, png bool) *words.Language {
	if png && sess.Words() != english() {
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("plot.png-english"))
		return english()
	}
	return sess.Words()
}

// WritePlot writes one of the plots of a note.
func (f reportFile) WritePlot(n comparison.Note) error {
	plots := n.Plots()
	if len(plots) == 0 {
		return session.Usagef("--output %s: there is nothing to plot: no requests are stored", f.Output)
	}
	i := 0
	if f.Plot != "" {
		i = slices.IndexFunc(plots, func(p comparison.NotePlot) bool { return p.Name == f.Plot })
	}
	if i < 0 {
		var names []string
		for _, p := range plots {
			names = append(names, p.Name)
		}
		return session.Usagef("--plot %s: must be one of %s", f.Plot, strings.Join(names, ", "))
	}
	return session.WriteFile("--output", f.Output, func(w io.Writer) error {
		if strings.ToLower(filepath.Ext(f.Output)) == png {
			w = plot.PNG{Writer: w}
		}
		return plots[i].Draw(w)
	})
}

// WritePage writes the page of a run or an experiment, which ref names, with all its answers.
func (f reportFile) WritePage(sess *session.Session, file, ref string) error {
	return sess.With(file, func(runs *store.Store) error {
		s := ui.Server(runs, file, file, sess.Version)
		defer s.Close()
		r, err := reportOf(runs, ref)
		if err != nil {
			return err
		}
		r.Language = sess.Words().Name
		ctx, release := sess.UntilInterrupt(context.Background())
		defer release()
		err = session.WriteFile("--output", f.Output, func(w io.Writer) error { return s.WriteReport(ctx, w, r) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	})
}

// reportOf is the page of a run or an experiment.
func reportOf(runs *store.Store, ref string) (web.Report, error) {
	if e, err := runs.Experiment(ref); err == nil {
		return web.ExperimentReport(e.Name), nil
	}
	l, err := runs.Find(ref)
	if err != nil {
		return web.Report{}, session.Usage(err)
	}
	return web.RunReport(l.ID, cmp.Or(l.Name, l.ID)), nil
}
