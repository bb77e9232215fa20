package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// section is one workload: what was compared and the bottom line, the table, and what a reader of
// the table has to know.
func (w Phrases) section(load compare.Workload, number int, o Options, asked []string) doc.Section {
	shown, alike, further := divide(load, o.All, asked)
	table := doc.Table{Rule: w.Word("comparison.figure"), Change: w.Word("comparison.change"), Band: w.c.Margin}
	for _, v := range load.Variants {
		table.Heads = append(table.Heads, doc.Clean(w.Called(v)))
	}
	if len(load.Variants) > 0 {
		table.Rows = w.rows(load, shown)
	}
	var head doc.Lines
	if doc.Clean(load.Name) != "" {
		head = nonempty(w.line("label.load", w.load(load.Settings)))
	}
	head = append(head, w.variants(load)...)
	for _, r := range load.SettingDiffs {
		head = append(head, w.line("label.differs", w.Residue(r)))
	}
	if load.Further > 0 {
		head = append(head, w.line("label.differs", w.Word("comparison.further", "n", load.Further)))
	}
	if load.Idle > 0 {
		head = append(head, w.line("label.differs", w.Word("comparison.idle", "n", load.Idle)))
	}
	head = append(head, w.objectives(load)...)
	if !o.Bare {
		if !inHeadline(load) {
			head = append(head, w.results(load)...)
		}
		head = append(head, nonempty(w.line("label.tables", w.tablePlaces(load)))...)
		head = append(head, w.claims(load)...)
	}
	tail := nonempty(w.line("label.alike", w.alike(alike)), w.line("label.hidden", w.hidden(further)))
	tail = append(tail, w.remarks(load, shown)...)
	items := []doc.Item{head, table, tail}
	if table.Rows == nil {
		items = []doc.Item{append(head, tail...)}
	}
	return doc.Section{Title: w.LoadName(load, number), Group: 1, Items: items}
}

// remarks are what a reader of the rows that are shown has to know: noise, drift and order,
// notes, and by whose rules the figures are.
func (w Phrases) remarks(load compare.Workload, shown []compare.Row) doc.Lines {
	said := w.experimentNotes(load)
	for _, n := range load.Notes {
		if !saidAbove(n, load) {
			said = append(said, w.line("label.note", w.Say(n)))
		}
	}
	for _, d := range w.definitions(shown) {
		said = append(said, w.line("label.figures", d))
	}
	return said
}

// divide tells the rows to show from those that are alike in all variants, and from
// the percentiles below the P99 that nobody asked for.
func divide(load compare.Workload, all bool, asked []string) (shown, alike, further []compare.Row) {
	for _, r := range load.Rows {
		switch {
		case all || len(load.Variants) < 2:
			shown = append(shown, r)
		case isConstant(r):
			alike = append(alike, r)
		case isExtraPercentile(r, load.Rows) && !slices.Contains(asked, r.Quantity.Name):
			further = append(further, r)
		default:
			shown = append(shown, r)
		}
	}
	return shown, alike, further
}

// isConstant: it is no matter of good and bad, or there is none of it, and every
// variant has it.
func isConstant(r compare.Row) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range r.Cells {
		if len(c.Values) == 0 {
			return false
		}
		low, high = min(low, slices.Min(c.Values)), max(high, slices.Max(c.Values))
	}
	if r.Constant {
		return true
	}
	if r.Quantity.Better != figure.Neither {
		return low == 0 && high == 0
	}
	return high-low <= drift*math.Abs(high)
}

// drift is by how much what describes the load can differ and still be alike.
const drift = 0.005

// isExtraPercentile: a percentile between the median and the P99, both of which are there.
func isExtraPercentile(r compare.Row, rows []compare.Row) bool {
	metric, _, _ := strings.Cut(r.Quantity.Name, ".")
	has := func(statistic string) bool {
		return slices.ContainsFunc(rows, func(o compare.Row) bool {
			return o.Quantity.Name == metric+"."+statistic && o.Definition.ID == r.Definition.ID
		})
	}
	return compare.BelowP99(r.Quantity.Name) && has("median") && has("p99")
}

// nonempty are the lines that have text.
func nonempty(lines ...doc.Line) doc.Lines {
	return slices.DeleteFunc(lines, func(l doc.Line) bool { return l.Text == "" })
}

// variants are lines that say which is the baseline, and how many runs of each there
// are: once, if of each as many.
func (w Phrases) variants(load compare.Workload) (lines doc.Lines) {
	if len(load.Variants) == 0 {
		return nil
	}
	label := plan.Code("label.baseline")
	if len(load.Variants) == 1 {
		label = "label.variant"
	}
	baseline := load.Variants[0]
	lines = append(lines, w.line(label, w.InBrackets(doc.Clean(baseline.Name), w.Runs(baseline))))
	var groups doc.Groups
	for _, v := range load.Variants[1:] {
		groups.Add(w.Runs(v), doc.Clean(v.Name))
	}
	for _, g := range groups {
		runs := g.Text
		if len(g.Names) > 1 {
			runs = w.Word("comparison.each", "runs", runs)
		}
		lines = append(lines, w.line("label.against", w.InBrackets(w.Join("comma", g.Names...), runs)))
	}
	return lines
}

// tablePlaces says in which lines of notes the tables of each variant begin, and which were taken as repeated runs.
func (w Phrases) tablePlaces(load compare.Workload) string {
	var parts []string
	files := filesOf(load)
	for _, v := range load.Variants {
		var places []string
		counted := true
		for _, r := range v.Runs {
			if r.Line == 0 || r.Detail != trace.Table {
				return ""
			}
			place := strconv.Itoa(r.Line)
			if len(files) > 1 {
				place = r.File + ":" + place
			}
			places, counted = append(places, place), counted && r.Repeat
		}
		code := plan.Code("comparison.at")
		if len(places) > 1 && !counted {
			code = "comparison.at-repeated"
		}
		parts = append(parts, w.Word(code, "variant", doc.Clean(v.Name), "n", len(places), "lines", w.few(places)))
	}
	return w.Join("stop", w.few(parts)...)
}

// few are the first of some texts, and how many there are more.
func (w Phrases) few(all []string) []string {
	const most = 12
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most-1]), w.Word("list.more", "n", len(all)-most+1))
}

func filesOf(load compare.Workload) (files []string) {
	for _, v := range load.Variants {
		for _, r := range v.Runs {
			if !slices.Contains(files, r.File) {
				files = append(files, r.File)
			}
		}
	}
	return files
}

// Runs is how many runs a variant has: 5 runs, one table. Of simulated ones it says so.
func (w Phrases) Runs(v compare.Variant) string { return w.judged(w.counted(v), v) }

// counted is Runs without how many of them are not valid, unless they are legs.
func (w Phrases) counted(v compare.Variant) string {
	if said := w.legs(v); said != "" {
		return said
	}
	code := plan.Code("comparison.runs")
	switch {
	case len(v.Runs) == 0 || slices.ContainsFunc(v.Runs, func(r compare.Ref) bool { return r.Detail != v.Runs[0].Detail }):
	case v.Runs[0].Detail == trace.Table:
		code = "comparison.tables"
	case v.Runs[0].Detail == trace.Summed:
		code = "comparison.files"
	case v.Simulated:
		code = "comparison.runs-simulated"
	}
	return w.Word(code, "n", len(v.Runs))
}

// judged adds how many runs of a variant are not valid.
func (w Phrases) judged(runs string, v compare.Variant) string {
	bad := 0
	for _, r := range v.Runs {
		if r.Verdict == trace.Doubtful || r.Verdict == trace.Invalid {
			bad++
		}
	}
	if bad == 0 || w.legs(v) != "" {
		return runs
	}
	return w.Word("comparison.not-valid", "runs", runs, "n", bad, "all", bad == len(v.Runs))
}

// legs is how many legs of an experiment a variant has, and how many runs, if those are more;
// "" of other runs.
func (w Phrases) legs(v compare.Variant) string {
	legs, doubtful := map[int]bool{}, map[int]bool{}
	for _, r := range v.Runs {
		if r.Leg == 0 {
			return ""
		}
		legs[r.Leg] = true
		if r.Verdict == trace.Doubtful || r.Verdict == trace.Invalid {
			doubtful[r.Leg] = true
		}
	}
	if len(legs) == 0 {
		return ""
	}
	code := plan.Code("comparison.legs")
	if v.Simulated {
		code = "comparison.legs-simulated"
	}
	said := w.Word(code, "legs", len(legs), "runs", len(v.Runs), "more", len(v.Runs) > len(legs))
	if len(doubtful) > 0 {
		return w.Word("comparison.doubtful-legs", "legs", said, "n", len(doubtful))
	}
	return said
}

// alike are rows that are so.
func (w Phrases) alike(rows []compare.Row) string {
	parts := make([]string, len(rows))
	for i, r := range rows {
		s := scaleOf(r)
		low, high := s.value(slices.MinFunc(r.Cells, byCenter)), s.value(slices.MaxFunc(r.Cells, byCenter))
		if low != high {
			low = w.Word("comparison.span", "low", low, "high", high)
		}
		parts[i] = strings.TrimSpace(w.Title(r.Quantity) + " " + low + " " + s.unit)
	}
	return w.Join("comma", parts...)
}

func byCenter(a, b compare.Cell) int { return cmp.Compare(a.Center, b.Center) }

// hidden names rows that a flag shows.
func (w Phrases) hidden(rows []compare.Row) string {
	if len(rows) == 0 {
		return ""
	}
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = w.Title(r.Quantity)
	}
	return w.Word("comparison.hidden", "figures", parts)
}

// saidAbove: the bottom line says it already.
func saidAbove(note plan.Message, load compare.Workload) bool {
	switch note.Code {
	case compare.OneVariant:
		return true
	case compare.NothingKnown:
		names, _ := note.Args["variants"].([]string)
		return len(names) == len(load.Variants)
	}
	return false
}

// definitions are footnotes: by whose rules figures were made.
func (w Phrases) definitions(rows []compare.Row) (notes []string) {
	for i, id := range definitionIDs(rows) {
		switch said := w.definition(id); {
		case id == "":
		case i == 0:
			notes = append(notes, said)
		default:
			if meanings := w.meanings(rows, id); meanings != "" {
				said = w.Of(said, meanings)
			}
			notes = append(notes, fmt.Sprintf("[%d] %s", i, said))
		}
	}
	return notes
}

// definitionIDs are those of a workload: first the one that most rows are by, which
// goes without a mark, then the others in the order of the rows.
func definitionIDs(rows []compare.Row) (ids []string) {
	by := map[string]int{}
	for _, r := range rows {
		id := r.Definition.ID
		if by[id]++; by[id] == 1 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	most := slices.MaxFunc(ids, func(a, b string) int { return by[a] - by[b] })
	return append([]string{most}, slices.DeleteFunc(ids, func(id string) bool { return id == most })...)
}

// definition names one, which may be one of several that a tool has.
func (w Phrases) definition(id string) string {
	tool, which, several := strings.Cut(id, " ")
	said := w.Word("comparison.definitions", "tool", tool)
	if tool == trace.UnknownTool {
		said = w.Word("comparison.definitions-unknown")
	}
	if several {
		return w.InBrackets(said, which)
	}
	return said
}

// meanings are what rows by a definition that few are by count from and to.
func (w Phrases) meanings(rows []compare.Row, id string) string {
	var parts []string
	for _, r := range rows {
		if d := r.Definition; d.ID == id && d.Description != "" {
			if said := w.Word(d.Description); !slices.Contains(parts, said) {
				parts = append(parts, said)
			}
		}
	}
	return w.Join("stop", parts...)
}
