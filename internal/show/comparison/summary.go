package comparison

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Summary writes a comparison as short Markdown for the page of a job: the verdict first, the
// gates, and for each variant of each workload its bottom line and a table of the main
// figures. The level of headings is that of Options.
func Summary(out io.Writer, c compare.Comparison, o Options) error {
	w := NewWords(c, cmp.Or(o.Lang, words.In(words.Default)))
	level := cmp.Or(o.Heading, 2)
	m := markdown{heading: strings.Repeat("#", level), words: w}
	m.title(w.Of(w.Word("comparison.title"), w.overall()))
	if said := w.Kinds(); said != "" {
		m.bullets(lines{w.line("label.simulated", bounded(said, saidColumns))})
	}
	m.bullets(w.briefGatesOf(c.Gates))
	m.heading += "#"
	for i, load := range c.Workloads {
		if m.Len() > summaryBytes {
			m.bullets(lines{w.line("label.hidden", w.Word("list.more", "n", len(c.Workloads)-i))})
			break
		}
		m.title(w.called(load, i))
		w.brief(&m, load)
	}
	if len(c.Workloads) > 0 {
		m.bullets(lines{w.line("label.note", w.Word("summary.terms", "level", w.level(), "margin", w.margin()))})
	}
	_, err := io.WriteString(out, strings.TrimRight(m.String(), "\n")+"\n\n")
	return err
}

// summaryBytes is where no further workload begins. GitHub shows nothing of a summary of
// more than 1024 KiB.
const summaryBytes = 256 << 10

// overall is the verdict in a word: of the gates, or of the main figures.
func (w Words) overall() string {
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
func (w Words) tentative() bool {
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
func (w Words) settledVerdicts() map[compare.Verdict]bool {
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

func (w Words) briefGatesOf(gates []compare.GateResult) (said lines) {
	all := inGravity(gates)
	for _, g := range all[:min(len(all), briefGates)] {
		said = append(said, w.briefGate(g))
	}
	if rest := len(all) - briefGates; rest > 0 {
		said = append(said, w.line("label.hidden", w.Word("list.more", "n", rest)))
	}
	return said
}

// briefGate is the line of a gate with names of bounded length.
func (w Words) briefGate(g compare.GateResult) line {
	g.Variant, g.Workload, g.Gate.Text = bounded(g.Variant, nameColumns), bounded(g.Workload, nameColumns), bounded(g.Gate.Text, nameColumns)
	l := w.gate(g)
	l.Text = doc.Cut(l.Text, saidColumns)
	return l
}

// brief is a workload: the bottom line of each variant, and its table.
func (w Words) brief(m *markdown, load compare.Workload) {
	if len(load.Variants) < 2 {
		m.bullets(lines{w.line("label.result", w.Word("result.alone"))})
		return
	}
	for i, v := range load.Variants[1:] {
		if m.Len() > summaryBytes {
			m.bullets(lines{w.line("label.hidden", w.Word("list.more", "n", len(load.Variants)-1-i))})
			return
		}
		said, _ := w.bottomLine(load, i+1)
		name := w.Beside(bounded(v.Name, nameColumns), w.Runs(v))
		m.bullets(lines{w.line("label.result", w.Of(name, doc.Cut(said, 2*saidColumns)))})
		w.briefTable(m, load, i+1)
	}
}

// briefTable is the main figures of a variant beside the baseline.
func (w Words) briefTable(m *markdown, load compare.Workload, variant int) {
	head := []string{
		w.Word("comparison.figure"), escapeMarkdown(bounded(w.Called(load.Variants[0]), nameColumns)), escapeMarkdown(bounded(w.Called(load.Variants[variant]), nameColumns)),
		w.Word("comparison.change"), w.Word("summary.interval", "level", w.level()), w.Word("summary.verdict"),
	}
	var rows [][]string
	for _, r := range w.briefRows(load, variant) {
		s, c := scaleOf(r), *r.Cells[variant].Change
		title := w.Title(r.Quantity)
		if s.unit != "" {
			title += " (" + s.unit + ")"
		}
		verdict := escapeMarkdown(w.plainVerdict(c))
		if _, tone := w.verdict(c); tone == good || tone == bad {
			verdict = "**" + verdict + "**"
		}
		rows = append(rows, []string{escapeMarkdown(title), s.value(r.Cells[0]), s.value(r.Cells[variant]), w.Change(r, c), w.Interval(r, c), verdict})
	}
	m.table(head, []string{"---", "--:", "--:", "--:", "---", "---"}, rows)
}

// briefRows are the first of the main figures, those that differ, and those of gates.
func (w Words) briefRows(load compare.Workload, variant int) (rows []compare.Row) {
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
	briefGates     = 50
)
