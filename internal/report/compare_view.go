package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/compare"
	"github.com/pitot-bench/pitot/internal/metrics"
	"github.com/pitot-bench/pitot/internal/trace"
)

// CompareOptions are how a comparison is shown.
type CompareOptions struct {
	Width   int  // columns of a terminal, 0 for no limit
	Color   bool // for a terminal
	All     bool // also the figures that describe the load and are alike
	Lang    Lang
	Heading int // level of Markdown's headings for workloads, 0 for 2
}

// A comparisonView is a comparison in words, laid out by each format in its way.
type comparisonView struct {
	words     words
	notes     []line
	workloads []section
	gates     []line
	marks     []line
}

// A section is one workload.
type section struct {
	name  string
	head  []line // what was compared, and the bottom line
	heads []string
	rows  []viewRow
	tail  []line // what a reader of the table has to know
}

// A line has a label, such as note, and text.
type line struct {
	label, text string
	tone        tone
}

// A viewRow is one metric by one definition.
type viewRow struct {
	title string
	cells []viewCell
}

// A viewCell is a metric of a variant.
type viewCell struct {
	value    string
	within   string // the value's own interval
	change   string
	interval string
	verdict  string
	tone     tone
	why      string // what the verdict rests on
	of       *compare.Change
}

func newComparisonView(c compare.Comparison, o CompareOptions) comparisonView {
	v := comparisonView{words: newWords(c, o.Lang)}
	for _, n := range c.Notes {
		v.notes = append(v.notes, line{label: v.words.note, text: clean(n)})
	}
	if len(c.Workloads) == 0 {
		v.notes = append([]line{{label: v.words.result, text: v.words.empty}}, v.notes...)
	}
	for i, load := range c.Workloads {
		v.workloads = append(v.workloads, v.words.section(load, i, o.All))
	}
	for _, g := range c.Gates {
		v.gates = append(v.gates, v.words.gate(g))
	}
	v.marks = v.words.legend(c)
	return v
}

func (w words) section(load compare.Workload, number int, all bool) section {
	s := section{name: clean(load.Name)}
	if s.name == "" {
		s.name = fmt.Sprintf(w.workload, number+1)
	}
	for _, v := range load.Variants {
		s.heads = append(s.heads, clean(v.Name))
	}
	rows, alike := w.rows(load, all)
	s.rows = rows
	add := func(lines *[]line, label string, texts ...string) {
		for _, t := range texts {
			if t = clean(t); t != "" {
				*lines = append(*lines, line{label: label, text: t})
			}
		}
	}
	add(&s.head, w.load, w.settings(load.Settings))
	s.head = append(s.head, w.variants(load)...)
	for _, r := range load.Residue {
		add(&s.head, w.differs, r.Setting+w.colon+strings.Join(r.Values, " | "))
	}
	s.head = append(s.head, w.results(load)...)
	add(&s.tail, w.alike, alike)
	add(&s.tail, w.note, load.Notes...)
	for _, c := range load.Claims {
		s.tail = append(s.tail, w.claimLine(c, len(filesOf(load)) > 1))
	}
	add(&s.tail, w.figures, w.definitionsOf(load)...)
	return s
}

func (w words) settings(settings []compare.Setting) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = strings.TrimSpace(s.Name + " " + s.Value)
	}
	return strings.Join(parts, w.comma)
}

// variants are lines that say which is the baseline, and how many runs of each there
// are: once, if of each as many.
func (w words) variants(load compare.Workload) (lines []line) {
	for i, v := range load.Variants[:min(1, len(load.Variants))] {
		lines = append(lines, line{label: w.baseline, text: clean(v.Name) + w.open + w.runsOf(load.Variants[i]) + w.shut})
	}
	groups := alikeIn(load.Variants, 1, w.runsOf)
	for _, g := range groups {
		runs := g.of
		if len(g.names) > 1 {
			runs = fmt.Sprintf(w.each, runs)
		}
		lines = append(lines, line{label: w.against, text: strings.Join(g.names, w.comma) + w.open + runs + w.shut})
	}
	return lines
}

// A group is the variants of which the same can be said.
type group struct {
	names []string
	of    string
}

// alikeIn groups variants from a first one on.
func alikeIn(variants []compare.Variant, from int, say func(compare.Variant) string) (groups []group) {
	for _, v := range variants[min(from, len(variants)):] {
		of := say(v)
		i := slices.IndexFunc(groups, func(g group) bool { return g.of == of })
		if i < 0 {
			i, groups = len(groups), append(groups, group{of: of})
		}
		groups[i].names = append(groups[i].names, clean(v.Name))
	}
	return groups
}

func (w words) runsOf(v compare.Variant) string {
	n, doubtful, kind := len(v.Runs), 0, trace.Recorded
	for i, r := range v.Runs {
		if r.Verdict == trace.Doubtful || r.Verdict == trace.Invalid {
			doubtful++
		}
		if i == 0 || r.Detail == kind {
			kind = r.Detail
			continue
		}
		kind = trace.Recorded // of several kinds: runs
	}
	said := some(n, w.runOne, w.runMany)
	switch kind {
	case trace.Table:
		said = some(n, w.tableOne, w.tableMany)
	case trace.Summed:
		said = some(n, w.fileOne, w.fileMany)
	}
	if doubtful > 0 {
		return fmt.Sprintf(w.withDoubt, said, doubtful)
	}
	return said
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

// drift is by how much what describes the load can differ and still be alike.
const drift = 0.005

// rows are those of the table, and in words what is alike in all variants.
func (w words) rows(load compare.Workload, all bool) (rows []viewRow, alike string) {
	ids := definitionIDs(load)
	var same []string
	for _, r := range load.Rows {
		if !all && len(load.Variants) > 1 && isAlike(r) {
			same = append(same, w.alikeRow(r))
			continue
		}
		s := scaleOf(r)
		row := viewRow{title: w.title(r.Quantity)}
		if s.unit != "" {
			row.title += " (" + s.unit + ")"
		}
		if len(ids) > 1 {
			row.title += fmt.Sprintf(" [%d]", 1+slices.Index(ids, r.Definition.ID))
		}
		for i := range load.Variants {
			cell := viewCell{value: missing}
			if i < len(r.Cells) {
				cell = w.cell(s, r.Cells[i])
			}
			row.cells = append(row.cells, cell)
		}
		rows = append(rows, row)
	}
	return rows, strings.Join(same, w.comma)
}

// isAlike: it is no matter of good and bad, or there is none of it, and every
// variant has it.
func isAlike(r compare.Row) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range r.Cells {
		if len(c.Values) == 0 {
			return false
		}
		low, high = min(low, slices.Min(c.Values)), max(high, slices.Max(c.Values))
	}
	if r.Quantity.Better != metrics.Neither {
		return low == 0 && high == 0
	}
	return high-low <= drift*math.Abs(high)
}

func (w words) alikeRow(r compare.Row) string {
	s := scaleOf(r)
	low := slices.MinFunc(r.Cells, byCenter)
	high := slices.MaxFunc(r.Cells, byCenter)
	said := s.value(low)
	if other := s.value(high); other != said {
		said = fmt.Sprintf(w.vocabulary.span, said, other)
	}
	return strings.TrimSpace(w.title(r.Quantity) + " " + said + " " + s.unit)
}

func byCenter(a, b compare.Cell) int {
	switch {
	case a.Center < b.Center:
		return -1
	case a.Center > b.Center:
		return 1
	}
	return 0
}

func (w words) cell(s scale, c compare.Cell) viewCell {
	cell := viewCell{value: s.value(c), within: w.valueRange(s, c), of: c.Change}
	if ch := c.Change; ch != nil {
		cell.change, cell.interval = w.change(*ch), w.interval(*ch)
		cell.verdict, cell.tone = w.verdict(*ch)
		cell.why = w.why(*ch)
	}
	return cell
}

// why is what a change rests on.
func (w words) why(c compare.Change) string {
	var parts []string
	if c.Test != "" {
		parts = append(parts, clean(c.Test))
	}
	if c.P != nil {
		parts = append(parts, fmt.Sprintf("p = %.2g", *c.P))
	}
	if c.Adjusted != nil {
		parts = append(parts, fmt.Sprintf("p (Σ) = %.2g", *c.Adjusted))
	}
	if c.Noise > 0 {
		parts = append(parts, fmt.Sprintf(w.tooltip, w.share(c.Noise)))
	}
	return strings.Join(parts, w.stop)
}

// definitionIDs are those of a workload, in the order of its rows.
func definitionIDs(load compare.Workload) (ids []string) {
	for _, r := range load.Rows {
		if !slices.Contains(ids, r.Definition.ID) {
			ids = append(ids, r.Definition.ID)
		}
	}
	return ids
}

// definitionsOf are footnotes: by whose rules figures were made.
func (w words) definitionsOf(load compare.Workload) (notes []string) {
	ids := definitionIDs(load)
	for i, id := range ids {
		if id == "" {
			continue
		}
		note := fmt.Sprintf(w.definitions, id)
		if len(ids) > 1 {
			note = fmt.Sprintf("[%d] ", i+1) + note
		}
		notes = append(notes, note)
	}
	return notes
}
