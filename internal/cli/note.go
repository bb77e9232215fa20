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
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// noteCmd is `pitot note`.
type noteCmd struct {
	Output string `short:"o" default:"note.md" placeholder:"FILE" help:"File of the note; its plots go into a folder of the same name (${default})."`
	Force  bool   `help:"Overwrite an existing note."`
	Title  string `placeholder:"TEXT" help:"Title of the note. Default: the names of the variants."`
	Table  string `enum:"vllm,sglang,pitot" default:"vllm" placeholder:"TOOL" help:"Tool whose result tables to show for Pitot's own runs: vllm, sglang or pitot (${default}). Imported runs keep their own."`
	variants
}

// Run writes the note.
func (c noteCmd) Run(sess *session.Session) error {
	o, err := c.options("note")
	if err != nil {
		return err
	}
	switch info, err := os.Stat(c.Output); {
	case err != nil: // it does not exist, or writing it will fail
	case info.IsDir():
		return usagef("--output %s: is a folder; use a file name, such as %s", c.Output, filepath.Join(c.Output, "note.md"))
	case !c.Force:
		return usagef("--output %s: already exists; use --force to overwrite", c.Output)
	}
	folder := strings.TrimSuffix(filepath.Base(c.Output), filepath.Ext(c.Output))
	if folder == filepath.Base(c.Output) {
		folder += "-plots"
	}
	n, err := c.note(sess, o, c.Table, sess.Words())
	if err != nil {
		return err
	}
	if n.Experiment, err = c.experimentOf(sess, n); err != nil {
		return err
	}
	n.Title, n.Date, n.Pitot, n.Folder = c.Title, time.Now().Format(time.DateOnly), Version(), folder
	n.Title = cmp.Or(n.Title, strings.Join(session.Labels(c.Runs), " vs "))
	page, err := n.Write()
	if err != nil {
		return err
	}
	if err := savePage(c.Output, page); err != nil {
		return err
	}
	where := filepath.Join(filepath.Dir(c.Output), folder)
	_, err = fmt.Fprintln(sess.Stdout, sess.Word("note.wrote", "file", c.Output, "plots", len(page.Plots), "folder", where))
	return err
}

// note compares the variants for a note, with the result tables of a tool; "": without tables.
func (v variants) note(sess *session.Session, o compare.Options, table string, l *words.Language) (comparison.Note, error) {
	runs := comparing.NoteRuns{Table: table, Lang: l}
	c, err := v.compare(sess, o, runs.Add)
	return comparison.Note{Lang: l, Comparison: c, Runs: runs.All}, errors.Join(err, runs.Err)
}

// savePage writes the note and the plots that it shows, all or none.
func savePage(name string, page comparison.NotePage) error {
	all := []files.File{{Name: name, Write: writes(page.Markdown)}}
	for _, plot := range page.Plots {
		file := filepath.Join(filepath.Dir(name), filepath.FromSlash(plot.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("make the folder of the plots: %w", err)
		}
		all = append(all, files.File{Name: file, Write: writes(plot.Data)})
	}
	if err := files.WriteAll(all...); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

// writes is a writer of bytes that are there.
func writes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
