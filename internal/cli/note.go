package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// noteCmd is `pitot note`.
type noteCmd struct {
	Output string `short:"o" placeholder:"FILE" help:"File of the note; its plots go into a folder of the same name. Default: note.md; with --short standard output."`
	Short  bool   `help:"Write the short note for a pull request, without plots, as experiments and comparisons write their summaries."`
	PNG    bool   `name:"png" help:"Draw the plots as PNG, for places that show no SVG."`
	Force  bool   `help:"Overwrite an existing note."`
	Title  string `placeholder:"TEXT" help:"Title of the note. Default: the names of the variants."`
	Table  string `enum:"vllm,sglang,pitot" default:"vllm" placeholder:"TOOL" help:"Tool whose result tables to show for Pitot's own runs: vllm, sglang or pitot (${default}). Imported runs keep their own."`
	variants
}

// Run writes the note, or prints the short one.
func (c noteCmd) Run(sess *session.Session) error {
	switch {
	case c.Short && c.PNG:
		return usagef("--png: the short note has no plots")
	case c.Short:
		return c.short(sess)
	}
	c.Output = cmp.Or(c.Output, "note.md")
	plots, err := c.write(sess)
	if err != nil {
		return err
	}
	folder := filepath.Join(filepath.Dir(c.Output), c.folder())
	_, err = fmt.Fprintln(sess.Stdout, sess.Word("note.wrote", "file", c.Output, "plots", plots, "folder", folder))
	return err
}

// short writes what --summary of other commands does.
func (c noteCmd) short(sess *session.Session) error {
	o, err := c.options("note")
	if err == nil {
		err = c.vacant()
	}
	if err != nil {
		return err
	}
	n, err := c.note(sess, o, "", sess.Words())
	if err != nil {
		return err
	}
	made, err := c.experimentOf(sess, n)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		return comparison.Summary(w, n.Comparison, comparison.Options{Lang: sess.Words(), Short: true, Made: made})
	}
	if c.Output == "" {
		return write(sess.Stdout)
	}
	return session.WriteFile("--output", c.Output, write)
}

// vacant refuses a file that exists.
func (c noteCmd) vacant() error {
	switch info, err := os.Stat(c.Output); {
	case c.Output == "" || err != nil: // it does not exist, or writing it will fail
	case info.IsDir():
		return usagef("--output %s: is a folder; use a file name, such as %s", c.Output, filepath.Join(c.Output, "note.md"))
	case !c.Force:
		return usagef("--output %s: already exists; use --force to overwrite", c.Output)
	}
	return nil
}

// folder is that of the plots, beside the note.
func (c noteCmd) folder() string {
	folder := strings.TrimSuffix(filepath.Base(c.Output), filepath.Ext(c.Output))
	if folder == filepath.Base(c.Output) {
		folder += "-plots"
	}
	return folder
}

// write writes the note, and returns how many plots it has.
func (c noteCmd) write(sess *session.Session) (plots int, err error) {
	o, err := c.options("note")
	if err == nil {
		err = c.vacant()
	}
	if err != nil {
		return 0, err
	}
	n, err := c.note(sess, o, c.Table, wordsOf(sess, c.PNG))
	if err != nil {
		return 0, err
	}
	if n.Experiment, err = c.experimentOf(sess, n); err != nil {
		return 0, err
	}
	n.Title, n.Date, n.Pitot, n.Folder, n.PNG = c.Title, time.Now().Format(time.DateOnly), sess.Version, c.folder(), c.PNG
	n.Title = cmp.Or(n.Title, strings.Join(session.Labels(c.Runs), " vs "))
	page, err := n.Write()
	if err != nil {
		return 0, err
	}
	return len(page.Plots), comparing.SavePage(c.Output, page)
}

// note compares the variants for a note, with the result tables of a tool; "": without tables.
func (v variants) note(sess *session.Session, o compare.Options, table string, l *words.Language) (comparison.Note, error) {
	runs := comparing.NoteRuns{Table: table, Lang: l}
	c, err := v.compare(sess, o, runs.Add)
	return comparison.Note{Lang: l, Comparison: c, Runs: runs.All}, errors.Join(err, runs.Err)
}

// adviceOn says after an A/A experiment which comparison is worth making.
func (v variants) adviceOn(sess *session.Session, c compare.Comparison, lang *words.Language) (advice []string) {
	_ = sess.With(v.Store, func(s *store.Store) error { // without it there is no advice
		j, err := journalOf(s, c.Experiment())
		if err == nil {
			advice = comparing.Worthwhile(j, c, lang)
		}
		return err
	})
	return advice
}

// experimentOf is how the runs of a note were made, if one experiment made them all.
func (c noteCmd) experimentOf(sess *session.Session, n comparison.Note) (made *comparison.Experiment, err error) {
	name := comparing.MadeBy(n.Runs)
	if len(c.Runs) != 1 || name == "" {
		return nil, nil
	}
	err = sess.With(c.Store, func(s *store.Store) error {
		j, err := journalOf(s, name)
		if err == nil {
			made, err = comparing.ExperimentOf(n, j)
		}
		return err
	})
	return made, err
}
