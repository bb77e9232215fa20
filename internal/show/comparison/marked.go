package comparison

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// A tableMark says of which variant, and of which load, the table is that begins in a line.
type tableMark struct {
	line int
	text string
}

// markedNotes are the notes of which tables are compared, with a mark above each table.
func (w Phrases) markedNotes(o Options) (all []doc.Section) {
	if o.Text == nil {
		return nil
	}
	marks := map[string][]tableMark{}
	var files []string
	for i, load := range w.c.Workloads {
		for _, v := range load.Variants {
			for _, r := range v.Runs {
				if r.Line == 0 {
					continue
				}
				if marks[r.File] == nil {
					files = append(files, r.File)
				}
				marks[r.File] = append(marks[r.File], tableMark{r.Line, w.markOf(load, i, v)})
			}
		}
	}
	for _, file := range files {
		if lines := o.Text(file); lines != nil {
			all = append(all, w.markedNote(file, lines, marks[file]))
		}
	}
	return all
}

func (w Phrases) markOf(load compare.Workload, number int, v compare.Variant) string {
	if len(w.c.Workloads) == 1 {
		return doc.Clean(v.Name)
	}
	return w.Of(doc.Clean(v.Name), w.LoadName(load, number))
}

// markedNote is a text in pieces, each from the line in which a table begins to the next.
func (w Phrases) markedNote(file string, lines []string, marks []tableMark) doc.Section {
	slices.SortStableFunc(marks, func(a, b tableMark) int { return cmp.Compare(a.line, b.line) })
	s := doc.Section{Title: w.Word("comparison.marked", "file", doc.Clean(file))}
	piece := func(from, to int) {
		if text := strings.Trim(strings.Join(lines[from:to], "\n"), "\n"); text != "" {
			s.Items = append(s.Items, doc.Pre{Text: text})
		}
	}
	from := 0
	for i := 0; i < len(marks); {
		at := min(max(marks[i].line-1, from), len(lines))
		piece(from, at)
		var names doc.Lines
		for line := marks[i].line; i < len(marks) && marks[i].line == line; i++ {
			names = append(names, doc.Line{Label: w.Word("claim.place", "line", line), Text: marks[i].text})
		}
		s.Items = append(s.Items, names)
		from = at
	}
	piece(from, len(lines))
	return s
}
