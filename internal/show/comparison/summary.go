package comparison

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Summary writes a comparison as short Markdown for the page of a job or a pull request: the verdict first, the
// gates, and for each variant of each workload its bottom line. The tables of the main figures stand below, folded
// where there are several; a short one has a table where there is one. The level of headings is that of Options.
func Summary(out io.Writer, c compare.Comparison, o Options) error {
	s := summary{Phrases: NewPhrases(c, cmp.Or(o.Lang, words.In(words.Default))), heading: cmp.Or(o.Heading, 2), short: o.Short}
	var kinds doc.Lines
	if said := s.Kinds(); said != "" {
		kinds = doc.Lines{s.line("label.simulated", bounded(said, saidColumns))}
	}
	title, gates := s.Of(s.Word("comparison.title"), s.overall()), s.limited(s.briefGates(), shortGates)
	if s.short && len(c.Workloads) == 1 && len(c.Workloads[0].Variants) == 2 {
		s.pair(title, slices.Concat(kinds, gates), c.Workloads[0], o.Made)
		return s.end(out)
	}
	s.write(title, 0, kinds, gates, s.made(o.Made))
	several := len(c.Workloads) > 1 || slices.ContainsFunc(c.Workloads, func(l compare.Workload) bool { return len(l.Variants) > 2 })
	if several {
		s.write("", 0, s.limited(s.bottomLines(), shortResults))
	}
	if !several || !s.short {
		s.tables(several)
	}
	return s.end(out)
}

// end adds what the verdicts mean, and writes all.
func (s *summary) end(out io.Writer) error {
	if len(s.c.Workloads) > 0 {
		s.write("", 0, doc.Lines{s.line("label.note", s.Word("summary.terms", "level", s.level(), "margin", s.margin()))})
	}
	_, err := io.WriteString(out, s.text.String())
	return err
}

// pair writes a short summary of two variants under one load: all that is said of them, and as many figures as fit.
func (s *summary) pair(title string, lines doc.Lines, load compare.Workload, made *Experiment) {
	said, _ := s.bottomLine(load, 1)
	name := s.InBrackets(bounded(load.Variants[1].Name, nameColumns), s.Runs(load.Variants[1]))
	about := nonempty(s.line("label.load", bounded(s.load(load.Settings), saidColumns)))
	result := s.line("label.result", s.Of(name, doc.Cut(said, 2*saidColumns)))
	lines = append(slices.Concat(lines, about, s.made(made), s.objectives(load), s.briefDoubts(load)), result)
	lines = append(lines, s.briefAnswers(load)...)
	s.write(title, 0, lines)
	table := s.briefTable(load, 1)
	const around = 6 // lines: title, blanks, head of the table, terms
	table.Rows = table.Rows[:min(len(table.Rows), max(1+fewestFigures, shortLines-around-len(lines)))]
	s.write("", 0, table)
}

// made is how an experiment was made: its variants by their letters, the order of the legs, and when.
func (s *summary) made(e *Experiment) (lines doc.Lines) {
	if e == nil {
		return nil
	}
	for i, v := range e.Variants[:min(len(e.Variants), shortVariants)] {
		name := bounded(v.Name, nameColumns)
		if v.What != "" {
			name = s.Of(name, bounded(secret.Mask(v.What), saidColumns))
		}
		lines = append(lines, doc.Line{Label: Letter(i), Text: name})
	}
	if rest := len(e.Variants) - shortVariants; rest > 0 {
		lines = append(lines, s.line("label.hidden", s.Word("list.more", "n", rest)))
	}
	order := bounded(strings.Join(e.Orders, " "), saidColumns)
	return append(lines, s.line("label.legs", strings.Trim(s.Join("comma", order, e.Date), ", ")))
}

// tables writes each workload, maybe folded.
func (s *summary) tables(folded bool) {
	if folded {
		s.text.WriteString("<details>\n<summary>" + s.Word("note.comparison") + "</summary>\n\n")
	}
	for i, load := range s.c.Workloads {
		if s.full(len(s.c.Workloads) - i) {
			break
		}
		s.write(s.called(load, i), 1)
		s.brief(load)
	}
	if folded {
		s.text.WriteString("</details>\n\n")
	}
}

// bottomLines are those of all variants, each after its workload.
func (s *summary) bottomLines() (lines doc.Lines) {
	for i, load := range s.c.Workloads {
		for v := 1; v < len(load.Variants) && len(lines) < mostGates; v++ {
			said, _ := s.bottomLine(load, v)
			name := bounded(load.Variants[v].Name, nameColumns)
			if len(s.c.Workloads) > 1 {
				name = s.Join("clause", s.called(load, i), name)
			}
			lines = append(lines, s.line("label.result", s.Of(name, doc.Cut(said, saidColumns))))
		}
	}
	return lines
}

// Lines of a short summary, so that it has about 20 in all.
const (
	shortGates   = 3
	shortResults = 9

	shortLines    = 20 // of a comparison of two variants
	shortVariants = 4
	fewestFigures = 3
)

// limited are lines, of a short summary so many at most.
func (s *summary) limited(lines doc.Lines, most int) doc.Lines {
	if !s.short {
		return lines
	}
	return s.firstOf(lines, most)
}

// firstOf are the first lines, and how many there are more.
func (w Phrases) firstOf(lines doc.Lines, most int) doc.Lines {
	if rest := len(lines) - most; rest > 0 {
		return append(lines[:most:most], w.line("label.hidden", w.Word("list.more", "n", rest)))
	}
	return lines
}

// A summary is one in the making.
type summary struct {
	Phrases
	text    strings.Builder
	heading int
	short   bool
}

func (s *summary) write(title string, depth int, items ...doc.Item) {
	section := doc.Section{Title: title, Depth: depth, Items: items}
	var b strings.Builder
	_ = doc.Markdown(&b, doc.Document{Lang: s.Language, Sections: []doc.Section{section}}, s.heading) // into memory
	if text := strings.Trim(b.String(), "\n"); text != "" {
		s.text.WriteString(text + "\n\n")
	}
}

// full reports whether there is no room for the rest, which it counts.
func (s *summary) full(rest int) bool {
	if s.text.Len() <= summaryBytes {
		return false
	}
	s.write("", 0, doc.Lines{s.line("label.hidden", s.Word("list.more", "n", rest))})
	return true
}

// summaryBytes is where no further workload begins. GitHub shows nothing of a summary of
// more than 1024 KiB.
const summaryBytes = 256 << 10

// overall is the verdict in a word: of the gates, or of the main figures.
func (w Phrases) overall() string {
	if len(w.c.Gates) > 0 {
		worst := inGravity(w.c.Gates)[0].Outcome
		n := 0
		for _, g := range w.c.Gates {
			if g.Outcome == worst {
				n++
			}
		}
		return w.Word(plan.Code("summary."+string(worst)), "n", n, "of", len(w.c.Gates))
	}
	code := overallCode(w.settledVerdicts())
	said := w.Word(code)
	if w.tentative() && (code == "change.better" || code == "change.worse") {
		said = w.Word("change.borrowed", "verdict", said)
	}
	return said
}

// tentative reports whether a main figure that differs is of two sessions.
func (w Phrases) tentative() bool {
	for _, load := range w.c.Workloads {
		for i := range load.Variants {
			for _, c := range mainChanges(load, i) {
				if c.Tentative && settledVerdict(*c).Differs() {
					return true
				}
			}
		}
	}
	return false
}

// settledVerdicts are those of the main figures.
func (w Phrases) settledVerdicts() map[compare.Verdict]bool {
	seen := map[compare.Verdict]bool{}
	for _, load := range w.c.Workloads {
		for i := range load.Variants {
			for _, c := range mainChanges(load, i) {
				seen[settledVerdict(*c)] = true
			}
		}
	}
	return seen
}

func overallCode(seen map[compare.Verdict]bool) plan.Code {
	switch {
	case seen[compare.Better] && seen[compare.Worse]:
		return "summary.mixed"
	case seen[compare.Worse]:
		return "change.worse"
	case seen[compare.Better]:
		return "change.better"
	case seen[compare.CannotTell]:
		return "summary.unknown"
	case seen[compare.Same]:
		return "summary.same"
	}
	return "result.empty"
}

// settledVerdict takes a difference below the margin for none.
func settledVerdict(c compare.Change) compare.Verdict {
	switch {
	case c.Unproven:
		return compare.CannotTell
	case c.Small:
		return compare.Same
	}
	return c.Verdict
}

// inGravity are the gates that failed first, then those that are open.
func inGravity(gates []compare.GateResult) []compare.GateResult {
	gravity := []compare.Outcome{compare.Fail, compare.Inconclusive, compare.Pass}
	return slices.SortedStableFunc(slices.Values(gates), func(a, b compare.GateResult) int {
		return slices.Index(gravity, a.Outcome) - slices.Index(gravity, b.Outcome)
	})
}

// briefGates are the first gates, with names of bounded length.
func (w Phrases) briefGates() (said doc.Lines) {
	all := inGravity(w.c.Gates)
	for _, g := range all[:min(len(all), mostGates)] {
		g.Variant, g.Workload = bounded(g.Variant, nameColumns), bounded(g.Workload, nameColumns)
		g.Gate.Text = bounded(g.Gate.Text, nameColumns)
		l := w.gate(g)
		l.Text = doc.Cut(l.Text, saidColumns)
		said = append(said, l)
	}
	if rest := len(all) - mostGates; rest > 0 {
		said = append(said, w.line("label.hidden", w.Word("list.more", "n", rest)))
	}
	return said
}

// brief is a workload: the bottom line of each variant, and its table.
func (s *summary) brief(load compare.Workload) {
	if len(load.Variants) < 2 {
		s.write("", 0, doc.Lines{s.line("label.result", s.Word("result.alone"))})
		return
	}
	if doc.Clean(load.Name) != "" {
		s.write("", 0, nonempty(s.line("label.load", bounded(s.load(load.Settings), saidColumns))))
	}
	s.write("", 0, slices.Concat(s.objectives(load), s.briefDoubts(load), s.briefAnswers(load)))
	for i, v := range load.Variants[1:] {
		if s.full(len(load.Variants) - 1 - i) {
			return
		}
		said, _ := s.bottomLine(load, i+1)
		name := s.InBrackets(bounded(v.Name, nameColumns), s.Runs(v))
		s.write("", 0, doc.Lines{s.line("label.result", s.Of(name, doc.Cut(said, 2*saidColumns)))}, s.briefTable(load, i+1))
	}
}

// briefTable is the main figures of a variant and of the baseline.
func (s *summary) briefTable(load compare.Workload, variant int) doc.Grid {
	table := doc.Grid{Align: "lrrrll", Padded: true, Rows: [][]string{{
		s.Word("comparison.figure"),
		bounded(s.Called(load.Variants[0]), nameColumns), bounded(s.Called(load.Variants[variant]), nameColumns),
		s.Word("comparison.change"), s.Word("summary.interval", "level", s.level()), s.Word("summary.verdict"),
	}}}
	rows := s.briefRows(load, variant)
	if s.short {
		rows = rows[:min(len(rows), briefFigures)]
	}
	for _, r := range rows {
		scale, c := scaleOf(r), *r.Cells[variant].Change
		_, tone := s.verdict(c)
		verdict := doc.Cell{Verdict: s.plainVerdict(c), Tone: tone}
		table.Rows = append(table.Rows, []string{
			s.ColumnTitle(r), scale.value(r.Cells[0]), scale.value(r.Cells[variant]),
			s.Change(r, c), s.Interval(r, c), verdict.Judged(),
		})
	}
	return table
}

// briefRows are the first of the main figures, those that differ, and those of gates.
func (w Phrases) briefRows(load compare.Workload, variant int) (rows []compare.Row) {
	gated := map[string]bool{}
	for _, g := range w.c.Gates {
		gated[g.Gate.Name] = true
	}
	for r, c := range mainChanges(load, variant) {
		differs := len(rows) < briefDifferent && settledVerdict(*c).Differs()
		if len(rows) < briefFigures || differs || gated[r.Quantity.Name] {
			rows = append(rows, r)
		}
	}
	return rows
}

// How many main figures are shown whatever they say, up to how many those that differ, and
// how many gates.
const (
	briefFigures   = 6
	briefDifferent = 10
	mostGates      = 50
)
