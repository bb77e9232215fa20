package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// rows are those of the table.
func (w Phrases) rows(load compare.Workload, shown []compare.Row) (rows []doc.Row) {
	ids, mixed, places := definitionIDs(shown), onMixedBases(load), columnPlaces(load, shown)
	for _, r := range shown {
		s := scaleOf(r)
		out := doc.Row{Title: w.ColumnTitle(r)}
		if mark := slices.Index(ids, r.Definition.ID); mark > 0 {
			out.Title += fmt.Sprintf(" [%d]", mark)
		}
		for i := range load.Variants {
			c := doc.Cell{Value: missing}
			if i < len(r.Cells) {
				c = w.cell(s, r.Cells[i], mixed, places[i])
			}
			out.Cells = append(out.Cells, c)
		}
		rows = append(rows, out)
	}
	return rows
}

// columnPlaces are the decimals of the changes of each variant.
func columnPlaces(load compare.Workload, rows []compare.Row) []int {
	places := make([]int, len(load.Variants))
	for _, r := range rows {
		for i, c := range r.Cells[:min(len(r.Cells), len(places))] {
			if c.Change != nil {
				places[i] = max(places[i], changePlaces(*c.Change))
			}
		}
	}
	return places
}

func (w Phrases) cell(s scale, c compare.Cell, mixed bool, places int) doc.Cell {
	out := doc.Cell{Value: s.value(c), ValueRange: w.valueRange(s, c)}
	if ch := c.Change; ch != nil {
		out.Change, out.Interval = w.change(*ch, s, places), w.interval(*ch, s, places)
		out.Verdict, out.Tone = w.verdict(*ch)
		if mixed && ch.Basis == compare.Borrowed {
			out.Verdict = w.Word("change.borrowed", "verdict", out.Verdict)
		}
		out.Why = w.why(*ch)
		if out.Interval != "" && !ch.Plain {
			out.Reach = &doc.Reach{Low: ch.Interval.Low, High: ch.Interval.High}
		}
	}
	return out
}

// verdict is the word on a change, and how to take it.
func (w Phrases) verdict(c compare.Change) (string, doc.Tone) {
	code, t := verdictCode(c)
	if w.AA() && c.Basis.Decides() {
		code, t = verdictOfTheSame(code), doc.Neutral
	}
	if legs := ofLegs[code]; legs != "" && c.Basis == compare.Blocks {
		code = legs
	}
	said := w.Word(code, "n", c.More, "most", manyRuns, "noise", w.rough(c.Chance))
	if c.Small && c.Verdict != compare.Same {
		said, t = w.Word("change.small", "verdict", said, "margin", w.margin()), doc.Neutral
	}
	if c.Tentative {
		said = w.Word("change.borrowed", "verdict", said)
	}
	return said, t
}

// ofLegs are the words on changes of an experiment, in place of others.
var ofLegs = map[plan.Code]plan.Code{"change.more": "change.more-legs", "change.more-than": "change.more-than-legs"}

// verdictOfTheSame is the word on a change between two that are the same.
func verdictOfTheSame(code plan.Code) plan.Code {
	switch code {
	case "change.better", "change.worse":
		return "change.alarm"
	case "change.same", "change.not-judged":
		return code
	}
	return "change.noise-only"
}

// why is what a change rests on.
func (w Phrases) why(c compare.Change) string {
	var parts []string
	if !c.Test.IsZero() {
		parts = append(parts, doc.Clean(w.Say(c.Test)))
	}
	if !c.Open.IsZero() {
		parts = append(parts, doc.Clean(w.Say(c.Open)))
	}
	if c.P != nil {
		parts = append(parts, w.Word("change.p", "p", *c.P))
	}
	if c.Adjusted != nil {
		parts = append(parts, w.Word("change.corrected", "p", *c.Adjusted))
	}
	if c.Noise > 0 && !c.Plain {
		parts = append(parts, w.Word("change.noise", "noise", w.Share(c.Noise)))
	}
	return w.Join("stop", parts...)
}

// A mark is explained where it is on a change.
type mark struct {
	mark   string
	means  plan.Code
	number string
	on     func(shownChange) bool
}

// legend explains the marks that occur.
func (w Phrases) legend(c compare.Comparison, all bool) (lines doc.Lines) {
	changes, marks := w.marked(c, all), w.marks()
	if w.AA() {
		marks = w.marksOfTheSame()
	}
	for _, mark := range marks {
		if slices.ContainsFunc(changes, mark.on) {
			lines = append(lines, doc.Line{Label: mark.mark, Text: w.Word(mark.means, "number", mark.number)})
		}
	}
	return lines
}

func (w Phrases) marks() []mark {
	is := func(code plan.Code) func(shownChange) bool {
		return func(c shownChange) bool { verdict, _ := verdictCode(c.Change); return verdict == code }
	}
	more := func(legs bool) func(shownChange) bool {
		return func(c shownChange) bool { return c.open() && c.More > 0 && legs == (c.Basis == compare.Blocks) }
	}
	return []mark{
		{"[a, b]", "mark.interval", w.level(), func(c shownChange) bool { return c.Interval != nil }},
		{
			w.Join("comma", w.Word("change.better"), w.Word("change.worse")), "mark.differs", w.level(),
			func(c shownChange) bool { return c.Verdict.Differs() },
		},
		{
			w.Word("change.small", "verdict", w.Word("change.worse"), "margin", w.margin()), "mark.small", "",
			func(c shownChange) bool {
				return c.Small && c.Verdict != compare.Same
			},
		},
		{w.Word("change.not-judged"), "mark.not-judged", "", is("change.not-judged")},
		{w.Word("change.same"), "mark.same", w.margin(), is("change.same")},
		{w.Word("change.unknown"), "mark.unknown", "", is("change.unknown")},
		{w.Word("change.more-some"), "mark.more", "", more(false)},
		{w.Word("change.more-some-legs"), "mark.more-legs", "", more(true)},
		{w.Word("change.unknown") + " [+a, +b]", "mark.corrected", "", func(c shownChange) bool {
			return c.open() && c.Interval != nil && c.Interval.Low*c.Interval.High > 0
		}},
		{w.Word("change.if-noise", "noise", w.percent("N")), "mark.if-noise", "", is("change.if-noise")},
		{w.Word("change.apart"), "mark.apart", "", is("change.apart")},
		{w.Word("change.survivors"), "mark.survivors", "", is("change.survivors")},
		{
			w.Word("change.never", "before", false), "failures.never", "",
			func(c shownChange) bool { return c.Open.Code == compare.NeverAnswered },
		},
		{
			strings.TrimSpace(w.Word("change.borrowed", "verdict", "")), "mark.tentative", "",
			func(c shownChange) bool { return c.Tentative },
		},
		{
			strings.TrimSpace(w.Word("change.borrowed", "verdict", "")), "mark.borrowed", "",
			func(c shownChange) bool { return c.mixed && c.Basis == compare.Borrowed },
		},
	}
}

// marksOfTheSame are those of an A/A experiment.
func (w Phrases) marksOfTheSame() []mark {
	is := func(code plan.Code) func(shownChange) bool {
		return func(c shownChange) bool {
			verdict, _ := verdictCode(c.Change)
			return verdictOfTheSame(verdict) == code
		}
	}
	return []mark{
		{"[a, b]", "mark.interval", w.level(), func(c shownChange) bool { return c.Interval != nil }},
		{w.Word("change.not-judged"), "mark.not-judged", "", is("change.not-judged")},
		{w.Word("change.same"), "mark.same", w.margin(), is("change.same")},
		{w.Word("change.noise-only"), "mark.noise-only", w.margin(), is("change.noise-only")},
		{w.Word("change.alarm"), "mark.alarm", "", is("change.alarm")},
	}
}

// A shownChange stands in a table, which may be on mixed bases.
type shownChange struct {
	compare.Change
	mixed bool
}

// open: nothing can be told of it.
func (c shownChange) open() bool {
	return c.Verdict == compare.CannotTell && !c.ExcludesZero && c.Open.Code != compare.FailuresDiffer
}

// marked are the changes in the tables.
func (w Phrases) marked(c compare.Comparison, all bool) (changes []shownChange) {
	for _, load := range c.Workloads {
		shown, _, _ := divide(load, all, requestedFigures(c, load))
		mixed := onMixedBases(load)
		for r, c := range (compare.Workload{Rows: shown}).Changes() {
			if !r.Constant {
				changes = append(changes, shownChange{*c, mixed})
			}
		}
	}
	return changes
}

// onMixedBases reports whether the changes of a workload rest on borrowed noise and
// on other things too.
func onMixedBases(load compare.Workload) bool {
	borrowed, other := false, false
	for r, c := range load.Changes() {
		borrowed = borrowed || !r.Constant && c.Basis == compare.Borrowed
		other = other || !r.Constant && c.Basis != compare.Borrowed
	}
	return borrowed && other
}

func verdictCode(c compare.Change) (plan.Code, doc.Tone) {
	switch {
	case c.Verdict == compare.Better:
		return "change.better", doc.Good
	case c.Verdict == compare.Worse:
		return "change.worse", doc.Bad
	case c.Verdict == compare.NotJudged:
		return "change.not-judged", doc.Neutral
	case c.Unproven:
		return "change.unknown", doc.Unclear
	case c.Open.Code == compare.FailuresDiffer:
		return "change.survivors", doc.Unclear
	case c.Verdict == compare.Same:
		return "change.same", doc.Neutral
	case c.ExcludesZero:
		return "change.apart", doc.Unclear
	case c.More > manyRuns:
		return "change.more-than", doc.Unclear
	case c.More > 0:
		return "change.more", doc.Unclear
	case c.Basis == compare.Nothing && c.Chance > 0:
		return "change.if-noise", doc.Unclear
	}
	return "change.unknown", doc.Unclear
}

// manyRuns is from how many on the number says no more than that it is large.
const manyRuns = 100
