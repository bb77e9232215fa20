package comparison

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Note is what there is to write about.
type Note struct {
	Title      string
	Date       string          // as it should stand there; may be empty
	Pitot      string          // the version that writes
	Lang       *words.Language // nil for the default
	Comparison compare.Comparison
	Runs       []Run       // those of the comparison
	Experiment *Experiment // that made them; nil of other runs
	Folder     string      // for the plots, relative to the note, with slashes; "" puts them beside it
}

// A Run is what a note keeps of a run.
type Run struct {
	trace.Run // without probes
	Table     string
	Digest    plot.Digest
	Cached    *metrics.Cache // what it shows of the declared state of the cache; nil without one
}

// NewRun keeps of a trace what a note needs; the trace is not held on to. table is the
// result table that stands for it.
func NewRun(t *trace.Trace, table string) Run {
	r := Run{Run: t.Run, Table: strings.Trim(table, "\n"), Digest: plot.NewDigest(t)}
	r.Probes = nil
	if t.Run.Cache != nil {
		r.Cached = metrics.Summarize(t, metrics.Options{}).Cache
	}
	return r
}

// A Page is a note that was written.
type Page struct {
	Markdown []byte
	Plots    []File
}

// A File is to be written beside the note.
type File struct {
	Name string // its path relative to the note, with slashes
	Data []byte
}

// Write writes the note.
func (n Note) Write() (Page, error) {
	w := n.writer()
	for _, part := range []func(){
		w.head, w.verdicts, w.measured, w.environment, w.commands, w.comparison, w.drawings, w.results, w.method,
	} {
		part()
	}
	if w.err != nil {
		return Page{}, fmt.Errorf("write the note: %w", w.err)
	}
	text := strings.TrimRight(w.text.String(), "\n") + "\n"
	return Page{Markdown: []byte(text), Plots: w.plots}, nil
}

func (n Note) writer() *writer {
	return &writer{note: n, Words: NewWords(n.Comparison, cmp.Or(n.Lang, words.In(words.Default)))}
}

// A writer is a note in the making.
type writer struct {
	Words
	note  Note
	text  strings.Builder
	plots []File
	err   error
}

func (w *writer) head() {
	w.heading(1, escape(w.note.Title))
	made := ""
	if w.note.Pitot != "" {
		made = "pitot " + w.note.Pitot
	}
	if said := doc.Join(" · ", w.note.Date, made); said != "" {
		w.paragraph(escape(said))
	}
	if said := w.Kinds(); said != "" {
		w.paragraph("**" + w.sentence(escape(w.Of(w.Word("label.simulated"), said))) + "**")
	}
}

// comparison is the tables, with what a reader of them has to know.
func (w *writer) comparison() {
	w.heading(2, w.Word("note.comparison"))
	c := w.note.Comparison
	c.Workloads = slices.Clone(c.Workloads)
	for i := range c.Workloads {
		load := &c.Workloads[i]
		load.Settings, load.Residue = slices.Clone(load.Settings), slices.Clone(load.Residue)
		for j, s := range load.Settings {
			load.Settings[j].Value = hideMessage(s.Name, s.Value)
		}
		for j, r := range load.Residue {
			load.Residue[j] = hideResidue(r)
		}
	}
	var tables strings.Builder
	w.err = Markdown(&tables, c, Options{Lang: w.Language, Heading: 3, Bare: true})
	w.paragraph(strings.Trim(tables.String(), "\n"))
}

// hideResidue masks those in the values that a setting has in several runs.
func hideResidue(r compare.Residue) compare.Residue {
	values := make([][]plan.Message, len(r.Values))
	for i, of := range r.Values {
		for _, v := range of {
			values[i] = append(values[i], hideMessage(r.Setting, v))
		}
	}
	r.Values = values
	return r
}

// hideMessage masks the secrets in a value of a setting.
func hideMessage(name string, value plan.Message) plan.Message {
	return value.Map(func(s string) string { return hide(name, s) })
}

// paragraph writes lines and the blank one after them.
func (w *writer) paragraph(lines ...string) { w.linef("%s\n", strings.Join(lines, "\n")) }

// bullets writes a list, if there is anything in it.
func (w *writer) bullets(items ...string) {
	for _, item := range items {
		w.linef("- %s", item)
	}
	if items != nil {
		w.linef("")
	}
}

// loadHeading is that of a workload, where there are several.
func (w *writer) loadHeading(load int) {
	if len(w.note.Comparison.Workloads) > 1 {
		w.heading(3, escape(w.name(load)))
	}
}

func (w *writer) heading(level int, title string) {
	w.linef("%s %s\n", strings.Repeat("#", level), title)
}

// name is what a workload is called.
func (w *writer) name(load int) string {
	l := w.note.Comparison.Workloads[load]
	if l.Layout != nil {
		return w.LoadName(l, load)
	}
	return cmp.Or(l.Name, w.Word("note.workload", "number", load+1))
}

// laidOut reports whether an experiment with blocks made the runs.
func (w *writer) laidOut() bool {
	return slices.ContainsFunc(w.note.Comparison.Workloads, func(l compare.Workload) bool { return l.Layout != nil && len(l.Variants) > 1 })
}

// folded writes what is only shown on request. The blank lines let what is inside be
// Markdown.
func (w *writer) folded(summary string, body func()) {
	w.linef("<details>\n<summary>%s</summary>\n", htmlText(summary))
	body()
	w.linef("</details>\n")
}

// linef writes a line of Markdown.
func (w *writer) linef(format string, a ...any) { fmt.Fprintf(&w.text, format+"\n", a...) }

// sentence ends what is said.
func (w *writer) sentence(said string) string { return w.Word("note.sentence", "said", said) }

// runsOf are the runs of a variant that were given.
func (w *writer) runsOf(v compare.Variant) (runs []Run) {
	for _, ref := range v.Runs {
		if r, ok := w.run(ref); ok {
			runs = append(runs, r)
		}
	}
	return runs
}

// run is the run of a reference, if it was given.
func (w *writer) run(ref compare.Ref) (Run, bool) {
	i := slices.IndexFunc(w.note.Runs, func(r Run) bool { return r.ID == ref.ID })
	if i < 0 {
		return Run{}, false
	}
	return w.note.Runs[i], true
}
