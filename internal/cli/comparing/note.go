package comparing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/known"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Folder is where the plots of a note of the page are, relative to it.
const Folder = "note"

// cachedNotes is how many notes are cached: the page asks for their plots one by one.
const cachedNotes = 4

// A written is a note, or why there is none.
type written struct {
	title   string
	page    comparison.NotePage
	refused *refusal
}

// Note answers a lab note, and is it with its plots.
func (p *Page) Note(ctx context.Context, asked view.Asked, lang *words.Language) (view.Note, comparison.NotePage, error) {
	w, err := p.note(ctx, asked, lang)
	if err != nil {
		return view.Note{}, comparison.NotePage{}, err
	}
	return view.Note{
		Title: w.title, Markdown: string(w.page.Markdown), Refused: w.refused.in(lang),
		Command: command("note", asked, p.Store, "--lang", lang.Name),
	}, w.page, nil
}

// note writes a note, unless that was done before.
func (p *Page) note(ctx context.Context, asked view.Asked, lang *words.Language) (*written, error) {
	r, o, err := p.find(asked)
	if err != nil || r.refused != nil {
		return &written{refused: r.refused}, err
	}
	key := lang.Name + " " + r.key(asked)
	p.mu.Lock()
	w, ok := p.notes.get(key)
	p.mu.Unlock()
	if ok && !r.goesOn() {
		return w, nil
	}
	if w, err = p.writeNote(ctx, asked, r, o, lang); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes.put(key, w, 0)
	return w, nil
}

func (p *Page) writeNote(ctx context.Context, asked view.Asked, r *answer, o compare.Options, lang *words.Language) (*written, error) {
	n := comparison.Note{Title: strings.Join(asked.Runs, " vs "), Date: time.Now().Format(time.DateOnly), Pitot: p.Version, Lang: lang, Folder: Folder}
	runs := NoteRuns{Table: "vllm", Lang: lang}
	var err error
	n.Comparison, err = p.judge(ctx, r, o, runs.Add)
	n.Runs = runs.All
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if refused := refusalOf(err); refused != nil {
		return &written{refused: refused}, nil
	}
	if err := errors.Join(err, runs.Err); err != nil {
		return nil, err
	}
	if why := n.Comparison.WhyNothingCompared(); !why.IsZero() {
		return &written{refused: loadsDiffer(why)}, nil
	}
	if r.journal != nil {
		if n.Experiment, err = ExperimentOf(n, r.journal); err != nil {
			return nil, err
		}
	}
	page, err := n.Write()
	return &written{title: n.Title, page: page}, err
}

// NoteRuns have the parts of runs that a note shows, so that their traces can be read one after the other.
type NoteRuns struct {
	Table string // the tool to show result tables of; empty: none
	Lang  *words.Language
	All   []comparison.NoteRun
	Err   error // of tables that could not be written
}

// Add takes a run.
func (n *NoteRuns) Add(t *trace.Trace) {
	var table strings.Builder
	if n.Table != "" {
		n.Err = errors.Join(n.Err, WriteTable(&table, t, n.Table, n.Lang))
	}
	n.All = append(n.All, comparison.NewNoteRun(t, table.String()))
}

// ExperimentOf describes how an experiment made the runs of a note.
func ExperimentOf(n comparison.Note, j *experiment.Journal) (*comparison.Experiment, error) {
	e, _, err := design.Read("", []byte(j.File))
	if err != nil {
		return nil, err
	}
	out := ExperimentInNote(j, e)
	if e.Same() {
		out.Advice = Worthwhile(j, n.Comparison, n.Lang)
	}
	return out, nil
}

// MadeBy is the experiment that made all runs of a note; "" if none did.
func MadeBy(runs []comparison.NoteRun) string {
	if len(runs) == 0 || runs[0].Leg == nil {
		return ""
	}
	name := runs[0].Leg.Experiment
	if slices.ContainsFunc(runs, func(r comparison.NoteRun) bool { return r.Leg == nil || r.Leg.Experiment != name }) {
		return ""
	}
	return name
}

// WriteTable writes the result table of a run in a note, by the rules of a tool; that of
// an imported run is its own tool's.
func WriteTable(w io.Writer, t *trace.Trace, name string, l *words.Language) error {
	o := t.Run.Origin
	switch {
	case o != nil && known.Named(o.Tool).Log != nil:
		return result.WriteReported(w, t.Run, tool.Tables(known.Tools())...)
	case o != nil:
		return report.Figures(w, o, l)
	case name == "pitot":
		return report.Text(w, metrics.Summarize(t, metrics.Options{}), l)
	}
	r, err := known.Named(cmp.Or(name, "vllm")).Report(t, "")
	if err != nil {
		return err
	}
	return r.WriteTable(w)
}

// SavePage writes the note and the plots that it shows, all or none.
func SavePage(name string, page comparison.NotePage) error {
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

func writes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
