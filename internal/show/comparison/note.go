package comparison

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
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
	Runs       []NoteRun   // those of the comparison
	Experiment *Experiment // that made them; nil of other runs
	Folder     string      // for the plots, relative to the note, with slashes; "" puts them beside it
	PNG        bool        // plots are PNG, not SVG
}

// A NoteRun is what a note keeps of a run.
type NoteRun struct {
	trace.Run // without probes
	Table     string
	Digest    plot.Digest
	Cached    *metrics.Cache // what it shows of the declared state of the cache; nil without one
}

// NewNoteRun keeps of a trace what a note needs; the trace is not held on to. table is the
// result table that stands for it.
func NewNoteRun(t *trace.Trace, table string) NoteRun {
	r := NoteRun{Run: t.Run, Table: strings.Trim(table, "\n"), Digest: plot.NewDigest(t)}
	r.Probes = nil
	if t.Run.Cache != nil {
		r.Cached = metrics.Summarize(t, metrics.Options{}).Cache
	}
	return r
}

// A NotePage is a note that was written.
type NotePage struct {
	Document doc.Document // the same as HTML: doc.Fragment
	Markdown []byte
	Plots    []NoteFile
}

// A NoteFile is to be written next to the note.
type NoteFile struct {
	Name string // its path relative to the note, with slashes
	Data []byte
}

// Write writes the note.
func (n Note) Write() (NotePage, error) {
	w := n.writer()
	for _, part := range []func(){
		w.head, w.verdict, w.measured, w.environment, w.commands, w.comparison, w.drawings, w.results, w.method,
	} {
		part()
	}
	var text bytes.Buffer
	if err := errors.Join(w.err, doc.Markdown(&text, w.doc, 1)); err != nil {
		return NotePage{}, fmt.Errorf("write the note: %w", err)
	}
	return NotePage{Document: w.doc, Markdown: text.Bytes(), Plots: w.plots}, nil
}

func (n Note) writer() *noteWriter {
	w := &noteWriter{note: n, Phrases: NewPhrases(n.Comparison, cmp.Or(n.Lang, words.In(words.Default)))}
	w.lead, w.doc.Lang, w.doc.Title = doc.Strong, w.Language, n.Title
	return w
}

// A noteWriter is a note in the making.
type noteWriter struct {
	Phrases
	note  Note
	doc   doc.Document
	plots []NoteFile
	err   error
}

// section begins one.
func (w *noteWriter) section(depth int, title string) {
	w.doc.Sections = append(w.doc.Sections, doc.Section{Title: doc.Clean(title), Depth: depth})
}

// add adds items to the section that was begun last.
func (w *noteWriter) add(items ...doc.Item) {
	last := &w.doc.Sections[len(w.doc.Sections)-1]
	last.Items = append(last.Items, items...)
}

func (w *noteWriter) head() {
	w.section(0, w.note.Title)
	made := ""
	if w.note.Pitot != "" {
		made = "pitot " + w.note.Pitot
	}
	w.add(doc.Prose(doc.Join(" · ", w.note.Date, made)))
	if said := w.Kinds(); said != "" {
		w.add(doc.Prose(doc.Strong(w.sentence(w.Of(w.Word("label.simulated"), said)))))
	}
}

// comparison is the tables, with what a reader of them has to know.
func (w *noteWriter) comparison() {
	w.section(1, w.Word("note.comparison"))
	for _, s := range document(w.note.Comparison, Options{Lang: w.Language, Bare: true}).Sections {
		s.Depth += 2
		w.doc.Sections = append(w.doc.Sections, s)
	}
}

// loadSection begins that of a workload, where there are several.
func (w *noteWriter) loadSection(load int) {
	if len(w.note.Comparison.Workloads) > 1 {
		w.section(2, w.name(load))
	}
}

// name is what a workload is called.
func (w *noteWriter) name(load int) string {
	l := w.note.Comparison.Workloads[load]
	if l.Layout != nil {
		return w.LoadName(l, load)
	}
	return cmp.Or(l.Name, w.Word("comparison.workload", "number", load+1))
}

// sentence ends what is said.
func (w *noteWriter) sentence(said string) string { return w.Word("note.sentence", "said", said) }

// runsOf are the runs of a variant that were given.
func (w *noteWriter) runsOf(v compare.Variant) (runs []NoteRun) {
	for _, ref := range v.Runs {
		if r, ok := w.run(ref); ok {
			runs = append(runs, r)
		}
	}
	return runs
}

// run is the run of a reference, if it was given.
func (w *noteWriter) run(ref compare.Ref) (NoteRun, bool) {
	i := slices.IndexFunc(w.note.Runs, func(r NoteRun) bool { return r.ID == ref.ID })
	if i < 0 {
		return NoteRun{}, false
	}
	return w.note.Runs[i], true
}
