// Package note writes the lab note that goes with a comparison: what was run and
// where, the tables in the dialect that their readers know, what the difference is,
// plots beside the text, and the verdict in words. In English or Chinese.
//
//	trace ──> NewRun ──┐
//	                   ├──> Note ──> Write ──> Markdown, and plots beside it
//	      Comparison ──┘
//
// NewRun keeps a few kilobytes of a run, so that traces can be read one after the
// other. The verdict comes first and says no more than the comparison does: what
// follows is what it rests on. The same runs give the same bytes.
package note

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Note is what there is to write about.
type Note struct {
	Title      string
	Date       string // as it should stand there; may be empty
	Pitot      string // the version that writes
	Lang       report.Lang
	Comparison compare.Comparison
	Runs       []Run  // those of the comparison
	Folder     string // for the plots, relative to the note, with slashes; "" puts them beside it
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
	w := &writer{Note: n, lang: words.In(string(n.Lang)), words: phrasesOf(n.Lang), said: report.NewPhrases(n.Comparison, n.Lang)}
	for _, part := range []func() error{
		w.head, w.verdicts, w.environment, w.commands, w.comparison, w.pictures, w.results, w.method,
	} {
		if err := part(); err != nil {
			return Page{}, fmt.Errorf("write the note: %w", err)
		}
	}
	text := strings.TrimRight(w.text.String(), "\n") + "\n"
	return Page{Markdown: []byte(text), Plots: w.plots}, nil
}

// A writer is a note in the making.
type writer struct {
	Note
	lang  *words.Language
	words phrases
	said  report.Phrases
	text  strings.Builder
	plots []File
}

// linef writes a line of Markdown.
func (w *writer) linef(format string, a ...any) { fmt.Fprintf(&w.text, format+"\n", a...) }

// hanBlank is a blank between Chinese characters, where none belongs.
var hanBlank = regexp.MustCompile(`(\p{Han}) (\p{Han})`)

// say fills a phrase.
func (w *writer) say(phrase string, a ...any) string {
	return hanBlank.ReplaceAllString(fmt.Sprintf(phrase, a...), "$1$2")
}

// paragraph writes lines and the blank one after them.
func (w *writer) paragraph(lines ...string) { w.linef("%s\n", strings.Join(lines, "\n")) }

func (w *writer) heading(level int, title string) {
	w.linef("%s %s\n", strings.Repeat("#", level), title)
}

// folded writes what is only shown on request. The blank lines let what is inside be
// Markdown.
func (w *writer) folded(summary string, body func()) {
	w.linef("<details>\n<summary>%s</summary>\n", htmlText(summary))
	body()
	w.linef("</details>\n")
}

func (w *writer) head() error {
	w.heading(1, escape(w.Title))
	var parts []string
	for _, p := range []string{w.Date, w.made()} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) > 0 {
		w.paragraph(escape(strings.Join(parts, " · ")))
	}
	return nil
}

// made is who wrote the note.
func (w *writer) made() string {
	if w.Pitot == "" {
		return ""
	}
	return "pitot " + w.Pitot
}

// comparison is the tables, with what a reader of them has to know.
func (w *writer) comparison() error {
	w.heading(2, w.words.comparison)
	c := w.Comparison
	c.Workloads = slices.Clone(c.Workloads)
	for i := range c.Workloads {
		load := &c.Workloads[i]
		load.Settings, load.Residue = slices.Clone(load.Settings), slices.Clone(load.Residue)
		for j, s := range load.Settings {
			load.Settings[j].Value = hide(s.Name, s.Value)
		}
		for j, r := range load.Residue {
			load.Residue[j].Values = hideAll(r.Setting, r.Values)
		}
	}
	text, err := render(func(out io.Writer) error {
		return report.CompareMarkdown(out, c, report.CompareOptions{Lang: w.Lang, Heading: 3, Bare: true})
	})
	w.paragraph(strings.Trim(string(text), "\n"))
	return err
}

// run is the run of a reference, if it was given.
func (n Note) run(ref compare.Ref) (Run, bool) {
	i := slices.IndexFunc(n.Runs, func(r Run) bool { return r.ID == ref.ID })
	if i < 0 {
		return Run{}, false
	}
	return n.Runs[i], true
}

// runsOf are those of a variant that were given.
func (n Note) runsOf(v compare.Variant) (runs []Run) {
	for _, ref := range v.Runs {
		if r, ok := n.run(ref); ok {
			runs = append(runs, r)
		}
	}
	return runs
}

// name is what a workload is called.
func (w *writer) name(load int) string {
	if name := w.Comparison.Workloads[load].Name; name != "" {
		return name
	}
	return fmt.Sprintf(w.words.workload, load+1)
}

// loadHeading is that of a workload, where there are several.
func (w *writer) loadHeading(load int) {
	if len(w.Comparison.Workloads) > 1 {
		w.heading(3, escape(w.name(load)))
	}
}

// render is what a function writes.
func render(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
