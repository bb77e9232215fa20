package comparison

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Differing are the requests of two runs that were answered differently, or some of them.
type Differing struct {
	Differ, Of int // of all requests that both answered
	Places     []answers.Place
	Records    [2]map[int]*trace.Record // of both runs, by index
	Whole      bool                     // with the texts as far as they were kept, and not what is around a difference
	Gaps       []plan.Message           // settings for which the runs may have sent other requests
}

// AnswersThatDiffer lists them, with what is around the first difference where texts were kept.
func AnswersThatDiffer(d Differing, l *words.Language) doc.Document {
	w := Phrases{Language: l}
	lines := doc.Lines{w.line("label.answers", l.Word("sameness.differ", "n", d.Differ, "of", d.Of))}
	if d.Gaps != nil {
		lines = append(lines, w.line("label.note", l.Word("differing.gaps", "gaps", d.Gaps)))
	}
	grid := doc.Grid{Align: "rrrrl", Rows: [][]string{{
		l.Word("differing.request"), l.Word("differing.place"), l.Word("differing.length"), l.Word("differing.length"), l.Word("differing.how"),
	}}}
	var texts doc.Lines
	for _, p := range d.Places {
		a, b := d.Records[0][p.Index], d.Records[1][p.Index]
		grid.Rows = append(grid.Rows, []string{
			strconv.Itoa(p.Index), strconv.FormatFloat(math.Round(p.At), 'f', -1, 64),
			strconv.FormatFloat(p.Tokens[0], 'f', -1, 64), strconv.FormatFloat(p.Tokens[1], 'f', -1, 64), w.how(p, a, b),
		})
		if a == nil || b == nil || a.Text == "" || b.Text == "" {
			continue
		}
		x, y := a.Text, b.Text
		if !d.Whole {
			x, y = around(x, y), around(y, x)
		}
		number := strconv.Itoa(p.Index)
		texts = append(texts, doc.Line{Label: number + " A", Text: doc.Clean(x)}, doc.Line{Label: number + " B", Text: doc.Clean(y)})
	}
	items := []doc.Item{lines}
	if len(d.Places) > 0 {
		items = append(items, grid)
	}
	if texts == nil && d.Whole && len(d.Places) > 0 {
		texts = doc.Lines{w.line("label.note", l.Word("differing.textless"))}
	}
	if texts != nil {
		items = append(items, texts)
	}
	return doc.Document{Lang: l, Sections: []doc.Section{{Items: items}}}
}

// how describes the ends of two answers, their defects, and whether only hidden text differs.
func (w Phrases) how(p answers.Place, a, b *trace.Record) string {
	var said []string
	if a != nil && b != nil {
		if a.FinishReason != b.FinishReason {
			said = append(said, doc.Clean(a.FinishReason)+" | "+doc.Clean(b.FinishReason))
		}
		if x, y := strings.Join(a.Defects.Names(), " "), strings.Join(b.Defects.Names(), " "); x != y {
			said = append(said, w.Word("differing.defects", "a", x, "b", y))
		}
	}
	if p.Visible {
		said = append(said, w.Word("differing.visible"))
	}
	return w.Join("comma", said...)
}

// aroundBytes is how much of a text is shown on either side of the first difference.
const aroundBytes = 30

// around is what of a text stands around the place where another one begins to differ.
func around(text, other string) string {
	at := 0
	for at < min(len(text), len(other)) && text[at] == other[at] {
		at++
	}
	from, to := max(0, at-aroundBytes), min(len(text), at+aroundBytes)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if to < len(text) {
		after = "…"
	}
	return before + text[from:to] + after
}
