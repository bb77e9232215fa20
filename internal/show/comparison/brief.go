package comparison

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostTables is how many workloads a last screen has tables of; of more it has the verdicts alone.
const mostTables = 2

// gatesOnScreen is how many gates a last screen has, those that fail first.
const gatesOnScreen = 5

// mostDiffs are the settings that differ that a last screen names.
const mostDiffs = 2

// Further is how many notes of a comparison the last screen leaves out.
func Further(c compare.Comparison) (n int) {
	for _, load := range c.Workloads {
		for _, note := range load.Notes {
			if note.Code != doubtfulRuns && !saidAbove(note, load) {
				n++
			}
		}
	}
	return n
}

const (
	doubtfulRuns plan.Code = "compare.doubtful-runs"
	invalidRun   plan.Code = "compare.invalid-run"
)

// Brief writes the last screen of a comparison for a terminal: gates, and for each workload its load, the main
// figures, and doubts. Closing comes below it.
func Brief(out io.Writer, c compare.Comparison, o Options) error {
	w := NewPhrases(c, cmp.Or(o.Lang, words.In(words.Default)))
	head := w.notes()
	if len(c.Workloads) > 1 || slices.ContainsFunc(c.Workloads, func(l compare.Workload) bool { return len(l.Variants) > 2 }) {
		head = append(head, w.verdicts()...)
	}
	for _, said := range o.Advice {
		head = append(head, w.line("label.next", said))
	}
	head = append(head, w.firstOf(w.briefGates(), gatesOnScreen)...)
	d := doc.Document{Lang: w.Language, Sections: []doc.Section{{Group: 1, Items: []doc.Item{head}}}}
	if head == nil {
		d.Sections = nil
	}
	if len(c.Workloads) <= mostTables {
		for i, load := range c.Workloads {
			d.Sections = append(d.Sections, w.briefSection(load, i))
		}
	}
	return doc.Text(out, d, o.Width, o.Color)
}

// briefSection is a workload with its main figures.
func (w Phrases) briefSection(load compare.Workload, number int) doc.Section {
	var lines doc.Lines
	if doc.Clean(load.Name) != "" {
		lines = nonempty(w.line("label.load", w.load(load.Settings)))
	}
	lines = append(lines, w.variants(load)...)
	lines = append(lines, w.objectives(load)...)
	diffs := slices.DeleteFunc(slices.Clone(load.SettingDiffs), func(r compare.SettingDiff) bool { return r.Setting == "engine.seed" }) // which differs by design
	for i, r := range diffs {
		if i == mostDiffs {
			lines = append(lines, w.line("label.differs", w.Word("list.more", "n", len(diffs)-i)))
			break
		}
		lines = append(lines, w.line("label.differs", doc.Cut(w.Residue(r), nameColumns)))
	}
	lines = append(lines, w.briefDoubts(load)...)
	if len(w.c.Workloads) == 1 && len(load.Variants) == 2 { // else they stand with the verdicts
		lines = append(lines, w.answers(load)...)
	}
	table := doc.Table{Rule: w.Word("comparison.figure"), Change: w.Word("comparison.change"), Band: w.c.Margin}
	for _, v := range load.Variants {
		table.Heads = append(table.Heads, doc.Clean(w.Called(v)))
	}
	var shown []compare.Row
	for i := range load.Variants {
		for _, r := range w.briefRows(load, i) {
			if !slices.ContainsFunc(shown, func(o compare.Row) bool {
				return o.Quantity.Name == r.Quantity.Name && o.Definition.ID == r.Definition.ID
			}) {
				shown = append(shown, r)
			}
		}
	}
	items := []doc.Item{lines}
	if table.Rows = w.rows(load, shown); table.Rows != nil {
		items = append(items, table)
	}
	return doc.Section{Title: w.LoadName(load, number), Group: 1, Items: items}
}

// briefDoubts says how many runs are doubtful, why, and what to do, and which are invalid.
func (w Phrases) briefDoubts(load compare.Workload) (lines doc.Lines) {
	for _, n := range load.Notes {
		if n.Code == doubtfulRuns || n.Code == invalidRun && len(lines) < mostDiffs {
			n.Args = maps.Clone(n.Args)
			delete(n.Args, "effects")
			lines = append(lines, w.line("label.note", w.Say(n)))
		}
	}
	return lines
}

// Closing is the verdict of a comparison in one line, which stands below everything.
func Closing(c compare.Comparison, l *words.Language) string {
	w := NewPhrases(c, l)
	said := w.overall()
	switch {
	case len(c.Gates) > 0:
		if worst := inGravity(c.Gates)[0]; worst.Outcome != compare.Pass {
			said = w.Of(said, bounded(w.Of(worst.Gate.Text, w.gateSaid(worst)), saidColumns))
		}
	case w.AA():
		said, _ = w.amongTheSame()
	case len(c.Workloads) <= mostTables:
		said = w.closing()
	}
	if simulated, _ := c.Kinds(); simulated != nil {
		said = w.InBrackets(said, w.Word("kind.simulated"))
	}
	return w.Of(w.Word("summary.verdict"), doc.Clean(said))
}

// closing is the verdict on each workload, with one figure of each part.
func (w Phrases) closing() string {
	var all []string
	for i, load := range w.c.Workloads {
		one := Phrases{Language: w.Language, c: compare.Comparison{Workloads: []compare.Workload{load}, Level: w.c.Level, Margin: w.c.Margin}}
		said := one.overall()
		if parts := one.closingParts(load); parts != nil {
			said = one.SayParts(parts)
		}
		if last := load.Variants[len(load.Variants)-1]; len(load.Variants) == 2 && last.Together != nil {
			parts := []string{said, w.together(last)}
			if last.Together.Graded == answers.Worse { // which matters more
				slices.Reverse(parts)
			}
			said = w.Join("stop", parts...)
		}
		if len(w.c.Workloads) > 1 {
			said = w.Of(bounded(w.LoadName(load, i), labelColumns), said)
		}
		all = append(all, said)
	}
	if all == nil {
		return w.overall()
	}
	return doc.Cut(w.Join("stop", all...), saidColumns)
}

// closingParts are those of the verdicts on the variants that make the overall one; of several variants those that
// are better or worse.
func (w Phrases) closingParts(load compare.Workload) (parts []Part) {
	tones := map[plan.Code][]doc.Tone{
		"summary.mixed": {doc.Good, doc.Bad}, "change.better": {doc.Good}, "change.worse": {doc.Bad},
		"summary.unknown": {doc.Unclear}, "summary.same": {doc.Neutral},
	}[overallCode(w.settledVerdicts())]
	if !decided(load) {
		return nil
	}
	if len(load.Variants) > 2 {
		tones = []doc.Tone{doc.Good, doc.Bad}
	}
	for i, variant := range load.Variants[1:] {
		if variant.Tally == nil {
			continue
		}
		v := verdictMaker{Phrases: w, load: load, variant: i + 1, brief: true, lone: true, subject: doc.Clean(variant.Name)}
		v.tally(*variant.Tally)
		for _, p := range v.parts {
			if slices.Contains(tones, p.tone) {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// SummarizeNone writes in place of Summary why there is no verdict.
func SummarizeNone(out io.Writer, e metrics.Explanation, o Options) error {
	s := summary{Phrases: NewPhrases(compare.Comparison{}, cmp.Or(o.Lang, words.In(words.Default))), heading: cmp.Or(o.Heading, 2)}
	lines := doc.Lines{s.line("label.cause", bounded(s.SayAll("stop", e.Causes), 2*saidColumns))}
	if len(e.Remedies) > 0 {
		lines = append(lines, s.line("label.remedy", s.SayAll("stop", e.Remedies)))
	}
	if len(e.Effects) > 0 {
		lines = append(lines, s.line("label.effects", bounded(s.SayAll("stop", e.Effects), saidColumns)))
	}
	s.write(s.Of(s.Word("comparison.title"), s.Word("summary.none")), 0, lines)
	_, err := io.WriteString(out, s.text.String())
	return err
}

// JUnitNone writes in place of JUnit why there is no verdict: a skipped case for each gate, or one.
func JUnitNone(out io.Writer, e metrics.Explanation, gates []string, o Options) error {
	w := NewPhrases(compare.Comparison{}, cmp.Or(o.Lang, words.In(words.Default)))
	said := w.Of(w.Word("summary.none"), bounded(w.SayAll("stop", slices.Concat(e.Causes, e.Remedies)), 2*saidColumns))
	var checks []check
	for _, g := range gates {
		checks = append(checks, check{bounded(g, nameColumns), said, compare.Inconclusive})
	}
	if checks == nil {
		checks = []check{{"verdict", said, compare.Inconclusive}}
	}
	unique(checks, func(c *check) *string { return &c.Name })
	return junit{Name: "pitot", Suites: []junitSuite{{Name: "pitot", Cases: casesOf(checks)}}}.write(out)
}
