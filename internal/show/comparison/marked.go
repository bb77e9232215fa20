package comparison

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A tableMark says of which variant, load and repeat the table is that begins in a line.
type tableMark struct {
	line      int
	text, run string
}

// A markedNote is a text in parts, with marks above each of its tables.
type markedNote struct {
	title string
	parts []notePart
}

// A notePart is marks of one line, text, or what is said of lines that were left out.
type notePart struct {
	marks      []tableMark
	text, left string
}

// How many texts are shown, and marks of a line; that there are more is said.
const (
	mostNotes = 12
	mostMarks = 24
)

// Marked are the texts that runs of a comparison stand in, with their tables marked, for the page.
func Marked(c compare.Comparison, l *words.Language, note func(id string) *trace.Note) []view.MarkedNote {
	w := NewPhrases(c, l)
	out := []view.MarkedNote{}
	for _, n := range w.markedNotes(note) {
		one := view.MarkedNote{Title: n.title, Parts: []view.NotePart{}}
		for _, p := range n.parts {
			part := view.NotePart{Marks: []view.NoteMark{}, Text: p.text, Left: p.left}
			for _, m := range p.marks {
				place := w.Word("claim.place", "line", m.line)
				part.Marks = append(part.Marks, view.NoteMark{Place: place, Text: m.text, Run: m.run})
			}
			one.Parts = append(one.Parts, part)
		}
		out = append(out, one)
	}
	return out
}

// section is the note for a document.
func (n markedNote) section(w Phrases) doc.Section {
	s := doc.Section{Title: n.title}
	for _, p := range n.parts {
		var lines doc.Lines
		for _, m := range p.marks {
			lines = append(lines, doc.Line{Label: w.Word("claim.place", "line", m.line), Text: m.text})
		}
		switch {
		case p.text != "":
			s.Items = append(s.Items, doc.Pre{Text: p.text})
		case p.left != "":
			s.Items = append(s.Items, doc.Lines{{Text: p.left}})
		default:
			s.Items = append(s.Items, lines)
		}
	}
	return s
}

// markedNotes are the notes of which tables are compared, in the order of their first table.
func (w Phrases) markedNotes(find func(id string) *trace.Note) (all []markedNote) {
	if find == nil {
		return nil
	}
	marks := map[string][]tableMark{}
	var ids, files []string
	for i, load := range w.c.Workloads {
		for _, v := range load.Variants {
			for k, r := range v.Runs {
				if r.Note == "" {
					continue
				}
				if marks[r.Note] == nil {
					ids, files = append(ids, r.Note), append(files, r.File)
				}
				marks[r.Note] = append(marks[r.Note], tableMark{r.Line, w.markOf(load, i, v, k), r.ID})
			}
		}
	}
	for i, id := range ids[:min(len(ids), mostNotes)] {
		if note := find(id); note != nil {
			title := w.Word("comparison.marked", "file", doc.Clean(files[i]))
			all = append(all, markedNote{title, w.markedParts(note, marks[id])})
		}
	}
	if n := len(ids) - mostNotes; n > 0 {
		all = append(all, markedNote{title: w.Word("comparison.more-notes", "n", n)})
	}
	return all
}

// markOf names a table: variant, load, and the repeat of several.
func (w Phrases) markOf(load compare.Workload, number int, v compare.Variant, repeat int) string {
	name := doc.Clean(v.Name)
	if len(w.c.Workloads) > 1 {
		name = w.Of(name, w.LoadName(load, number))
	}
	if len(v.Runs) == 1 {
		return name
	}
	return w.InBrackets(name, w.Word("comparison.repeat", "n", repeat+1, "of", len(v.Runs)))
}

// markedParts are the parts of a note, each from the line in which a table begins to the next. Marks of lines that were
// left out stand where these would be.
func (w Phrases) markedParts(n *trace.Note, marks []tableMark) (parts []notePart) {
	slices.SortStableFunc(marks, func(a, b tableMark) int { return cmp.Compare(a.line, b.line) })
	markUpTo := func(line int) {
		for len(marks) > 0 && marks[0].line <= line {
			end := 1
			for end < len(marks) && marks[end].line == marks[0].line {
				end++
			}
			parts, marks = append(parts, notePart{marks: w.fewMarks(marks[:end])}), marks[end:]
		}
	}
	leave := func(code plan.Code, args ...any) { parts = append(parts, notePart{left: w.Word(code, args...)}) }
	next := 1
	for _, p := range n.Passages {
		if p.Line > next {
			markUpTo(p.Line - 1)
			leave("comparison.left-out", "from", next, "to", p.Line-1)
		}
		lines := strings.Split(p.Text, "\n")
		for i, l := range lines {
			lines[i] = plain.Line(strings.ReplaceAll(l, "\t", "    "))
		}
		next = p.Line + len(lines)
		for at := p.Line; at < next; {
			markUpTo(at)
			end := next
			if len(marks) > 0 {
				end = min(end, marks[0].line)
			}
			if text := strings.Trim(strings.Join(lines[at-p.Line:end-p.Line], "\n"), "\n"); text != "" {
				parts = append(parts, notePart{text: text})
			}
			at = end
		}
	}
	if markUpTo(math.MaxInt); n.Cut {
		leave("comparison.cut-off", "line", next-1)
	}
	return parts
}

// fewMarks are the first of the marks of a line, of which each row of a table may have one.
func (w Phrases) fewMarks(all []tableMark) []tableMark {
	if len(all) <= mostMarks {
		return all
	}
	more := tableMark{line: all[0].line, text: w.Word("list.more", "n", len(all)-mostMarks+1)}
	return append(slices.Clone(all[:mostMarks-1]), more)
}
