package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// CompareOptions are how a comparison is shown.
type CompareOptions struct {
	Width   int  // columns of a terminal, 0 for no limit
	Color   bool // for a terminal
	All     bool // also what describes the load and is alike, and further percentiles
	Lang    Lang
	Heading int  // level of Markdown's headings for workloads, 0 for 2
	Bare    bool // without the bottom lines, where they stand elsewhere
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
	Name  string
	Head  []line // what was compared, and the bottom line
	Heads []string
	Rows  []viewRow
	Tail  []line // what a reader of the table has to know
}

// A line has a label, such as note, and text.
type line struct {
	Label, Text string
	Tone        tone
}

// A viewRow is one metric by one definition.
type viewRow struct {
	Title string
	Cells []viewCell
}

// A viewCell is a metric of a variant.
type viewCell struct {
	Value    string
	Within   string // the value's own interval
	Change   string
	Interval string
	Verdict  string
	Tone     tone
	Why      string // what the verdict rests on
	of       *compare.Change
}

func newComparisonView(c compare.Comparison, o CompareOptions) comparisonView {
	v := comparisonView{words: newWords(c, o.Lang)}
	for i, n := range c.Notes {
		v.notes = append(v.notes, line{Label: v.words.note, Text: Clean(v.words.remark(remarkAt(c.Remarks, i), n))})
	}
	if len(c.Workloads) == 0 {
		v.notes = append([]line{{Label: v.words.result, Text: v.words.empty}}, v.notes...)
	}
	for i, load := range c.Workloads {
		v.workloads = append(v.workloads, v.words.section(load, i, o, asked(c, load)))
	}
	for _, g := range c.Gates {
		v.gates = append(v.gates, v.words.gate(g))
	}
	v.marks = v.words.legend(c, o.All)
	return v
}

// asked are the figures that somebody asks for: in gates and claims.
func asked(c compare.Comparison, load compare.Workload) (names []string) {
	for _, g := range c.Gates {
		names = append(names, g.Gate.Name)
	}
	for _, claim := range load.Claims {
		for _, m := range claim.Matches {
			names = append(names, m.Name)
		}
	}
	return names
}

func (w words) section(load compare.Workload, number int, o CompareOptions, asked []string) section {
	settings := Clean(w.loadOf(load.Settings))
	s := section{Name: Clean(load.Name)}
	if s.Name == "" {
		s.Name, settings = cmp.Or(settings, fmt.Sprintf(w.workload, number+1)), ""
	}
	for _, v := range load.Variants {
		s.Heads = append(s.Heads, Clean(v.Name))
	}
	shown, same, further := divide(load, o.All, asked)
	s.Rows = w.rows(load, shown)
	add := func(lines *[]line, label string, texts ...string) {
		for _, t := range texts {
			if t = Clean(t); t != "" {
				*lines = append(*lines, line{Label: label, Text: t})
			}
		}
	}
	add(&s.Head, w.load, settings)
	s.Head = append(s.Head, w.variants(load)...)
	for _, r := range load.Residue {
		add(&s.Head, w.differs, w.residue(r))
	}
	if !o.Bare {
		s.Head = append(s.Head, w.results(load)...)
		for _, c := range load.Claims {
			s.Head = append(s.Head, w.claimLine(c, len(filesOf(load)) > 1))
		}
	}
	add(&s.Tail, w.alike, w.alikeRows(same))
	add(&s.Tail, w.hidden, w.titles(further))
	for i, n := range load.Notes {
		if r := remarkAt(load.Remarks, i); !saidAbove(r, load) {
			add(&s.Tail, w.note, w.remark(r, n))
		}
	}
	add(&s.Tail, w.figures, w.definitionsOf(shown)...)
	return s
}

// remarkAt is one of the remarks, which are not there where a comparison was read from
// a file.
func remarkAt(all []compare.Remark, i int) (r compare.Remark) {
	if i < len(all) {
		r = all[i]
	}
	return r
}

// saidAbove: the bottom line says it already.
func saidAbove(r compare.Remark, load compare.Workload) bool {
	switch r.Kind {
	case compare.OneVariant:
		return true
	case compare.NothingKnown:
		names, _ := r.Args[0].([]string)
		return len(names) == len(load.Variants)
	}
	return false
}

// longest is how many columns the values of a setting take in a variant.
const longest = 80

// residue is a setting with its values by variant.
func (w words) residue(r compare.Residue) string {
	values := make([]string, len(r.Values))
	for i, v := range r.Values {
		values[i] = cut(w.foreign(v), longest)
	}
	return w.setting(r.Setting) + w.colon + strings.Join(values, " | ")
}

// variants are lines that say which is the baseline, and how many runs of each there
// are: once, if of each as many.
func (w words) variants(load compare.Workload) (lines []line) {
	label := w.baseline
	if len(load.Variants) == 1 {
		label = w.variant
	}
	for i, v := range load.Variants[:min(1, len(load.Variants))] {
		lines = append(lines, line{Label: label, Text: Clean(v.Name) + w.open + w.runsOf(load.Variants[i]) + w.shut})
	}
	groups := alikeIn(load.Variants, 1, w.runsOf)
	for _, g := range groups {
		runs := g.of
		if len(g.names) > 1 {
			runs = fmt.Sprintf(w.each, runs)
		}
		lines = append(lines, line{Label: w.against, Text: strings.Join(g.names, w.comma) + w.open + runs + w.shut})
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
		groups[i].names = append(groups[i].names, Clean(v.Name))
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

// divide tells the rows to show from those that are alike in all variants, and from
// the percentiles below the P99 that nobody asked for.
func divide(load compare.Workload, all bool, asked []string) (shown, same, further []compare.Row) {
	for _, r := range load.Rows {
		switch {
		case all || len(load.Variants) < 2:
			shown = append(shown, r)
		case isAlike(r):
			same = append(same, r)
		case isFurther(r, load.Rows) && !slices.Contains(asked, r.Quantity.Name):
			further = append(further, r)
		default:
			shown = append(shown, r)
		}
	}
	return shown, same, further
}

// isFurther: a percentile between the median and the P99, both of which are there.
func isFurther(r compare.Row, rows []compare.Row) bool {
	metric, _, _ := strings.Cut(r.Quantity.Name, ".")
	has := func(statistic string) bool {
		return slices.ContainsFunc(rows, func(o compare.Row) bool {
			return o.Quantity.Name == metric+"."+statistic && o.Definition.ID == r.Definition.ID
		})
	}
	return isBetween(r.Quantity) && has("median") && has("p99")
}

// isBetween: a percentile between the median and the P99.
func isBetween(q metrics.Quantity) bool {
	_, statistic, _ := strings.Cut(q.Name, ".")
	p, err := strconv.ParseFloat(strings.TrimPrefix(statistic, "p"), 64)
	return err == nil && p > 50 && p < 99
}

// titles are rows by name.
func (w words) titles(rows []compare.Row) string {
	if len(rows) == 0 {
		return ""
	}
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = w.title(r.Quantity)
	}
	return fmt.Sprintf(w.withAll, strings.Join(parts, w.comma))
}

// rows are those of the table.
func (w words) rows(load compare.Workload, shown []compare.Row) (rows []viewRow) {
	ids, mixed := definitionIDs(shown), onMixedBases(load)
	for _, r := range shown {
		s := scaleOf(r)
		row := viewRow{Title: w.title(r.Quantity)}
		if s.unit != "" {
			row.Title += " (" + s.unit + ")"
		}
		if i := slices.Index(ids, r.Definition.ID); i > 0 {
			row.Title += fmt.Sprintf(" [%d]", i)
		}
		for i := range load.Variants {
			cell := viewCell{Value: missing}
			if i < len(r.Cells) {
				cell = w.cell(s, unproven(r, r.Cells[i]), mixed)
			}
			row.Cells = append(row.Cells, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// unproven: of single runs, that two counts happen to be equal does not tell that they
// would be again; unless it is the load that makes them.
func unproven(r compare.Row, c compare.Cell) compare.Cell {
	if ch := c.Change; ch != nil && !r.Constant && ch.Basis == compare.Nothing && ch.Verdict == compare.Same {
		open := *ch
		open.Verdict = compare.CannotTell
		c.Change = &open
	}
	return c
}

// alikeRows are rows in words.
func (w words) alikeRows(rows []compare.Row) string {
	var parts []string
	for _, r := range rows {
		parts = append(parts, w.alikeRow(r))
	}
	return strings.Join(parts, w.comma)
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
	if r.Constant {
		return true
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
		said = fmt.Sprintf(w.span, said, other)
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

func (w words) cell(s scale, c compare.Cell, mixed bool) viewCell {
	cell := viewCell{Value: s.value(c), Within: w.valueRange(s, c), of: c.Change}
	if ch := c.Change; ch != nil {
		cell.Change, cell.Interval = w.change(*ch, s), w.interval(*ch, s)
		cell.Verdict, cell.Tone = w.verdict(*ch, mixed)
		cell.Why = w.why(*ch)
	}
	return cell
}

// why is what a change rests on.
func (w words) why(c compare.Change) string {
	var parts []string
	if c.Test != "" {
		parts = append(parts, Clean(w.foreign(c.Test)))
	}
	if c.P != nil {
		parts = append(parts, fmt.Sprintf("p = %.2g", *c.P))
	}
	if c.Adjusted != nil {
		parts = append(parts, fmt.Sprintf(w.corrected, *c.Adjusted))
	}
	if c.Noise > 0 && !c.Plain {
		parts = append(parts, fmt.Sprintf(w.tooltip, w.share(c.Noise)))
	}
	return strings.Join(parts, w.stop)
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
	most := 0
	for i, id := range ids {
		if by[id] > by[ids[most]] {
			most = i
		}
	}
	if len(ids) == 0 {
		return nil
	}
	first := ids[most]
	return append([]string{first}, slices.Delete(ids, most, most+1)...)
}

// definitionsOf are footnotes: by whose rules figures were made.
func (w words) definitionsOf(rows []compare.Row) (notes []string) {
	for i, id := range definitionIDs(rows) {
		switch {
		case id == "":
		case i == 0:
			notes = append(notes, w.definitionsBy(id))
		default:
			notes = append(notes, fmt.Sprintf("[%d] ", i)+w.definitionsBy(id)+w.meanings(rows, id))
		}
	}
	return notes
}

// definitionsBy names a definition, which may be one of several that a tool has.
func (w words) definitionsBy(id string) string {
	tool, which, several := strings.Cut(id, " ")
	said := fmt.Sprintf(w.definitions, tool)
	if several {
		said += w.open + which + w.shut
	}
	return said
}

// definition is one in words.
func (w words) definition(d metrics.Definition) string {
	if zh := chineseDefinitions[d.Words]; zh != "" && w.lang == Zh {
		return zh
	}
	return d.Words
}

// meanings are what rows by a definition that few are by count from and to.
func (w words) meanings(rows []compare.Row, id string) string {
	var parts []string
	for _, r := range rows {
		if words := w.definition(r.Definition); r.Definition.ID == id && words != "" && !slices.Contains(parts, words) {
			parts = append(parts, words)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return w.colon + strings.Join(parts, w.stop)
}
