package comparison

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// A Part is one thing that a verdict says: how a variant differs, and in which figures.
type Part struct {
	Lead string // such as `after is better`, or `cannot tell`; may be empty
	Text string // may be empty, too
	tone doc.Tone
}

// Headline is what an experiment of several variants says of a load: which are better, and
// which worse.
func (w Phrases) Headline(load compare.Workload) (parts []Part) {
	for i := 1; i < len(load.Variants); i++ {
		for _, p := range w.Verdict(load, i) {
			if p.tone == doc.Good || p.tone == doc.Bad {
				parts = append(parts, p)
			}
		}
	}
	if parts == nil {
		parts = append(parts, Part{Lead: w.Word("verdict.none-of", "n", len(load.Variants)-1, "margin", w.margin())})
	}
	return parts
}

// Verdict is what is known of a variant of an experiment: where it is better and where it is
// worse than the baseline, by how much, and what is open. The first part names the variant. Of
// several variants it is brief.
func (w Phrases) Verdict(load compare.Workload, variant int) []Part {
	v := verdictMaker{
		Phrases: w, load: load, variant: variant, brief: len(load.Variants) > 2,
		subject: doc.Clean(load.Variants[variant].Name),
	}
	t := load.Variants[variant].Tally
	switch {
	case t == nil || len(t.All) == 0:
		v.add("verdict.unknown", doc.Unclear, w.Word("result.incomparable"))
	case load.Layout != nil && load.Layout.Same:
		v.amongTheSame(*t)
	default:
		if failed := w.Failures(load, variant); failed != "" {
			v.add("verdict.failures", doc.Unclear, failed)
		}
		v.confirmed(*t)
		v.tally(*t)
	}
	return v.parts
}

// A verdictMaker is one in the making.
type verdictMaker struct {
	Phrases
	load    compare.Workload
	variant int
	brief   bool
	lone    bool   // a part names one figure
	subject string // named by the first part
	said    []int  // rows
	parts   []Part
}

// How many figures a part of a verdict names, of a brief one, and of what is open.
const (
	mostFigures = 4
	fewFigures  = 2
	openFigures = 2
)

// add adds a part; the rows are those that it is about.
func (v *verdictMaker) add(code plan.Code, t doc.Tone, said string, rows ...int) {
	tentative := bottomLine{load: v.load, variant: v.variant}.tentative(rows)
	p := Part{Lead: v.Word(code, "variant", v.subject, "margin", v.margin(), "tentative", tentative), Text: said, tone: t}
	v.parts, v.subject = append(v.parts, p), ""
}

// kinds are those of a difference.
var kinds = []struct {
	code    plan.Code
	tone    doc.Tone
	verdict compare.Verdict
	small   bool
}{
	{"verdict.better", doc.Good, compare.Better, false},
	{"verdict.worse", doc.Bad, compare.Worse, false},
	{"verdict.slightly-better", doc.Neutral, compare.Better, true},
	{"verdict.slightly-worse", doc.Neutral, compare.Worse, true},
}

// tally says what the changes of a variant come to.
func (v *verdictMaker) tally(t compare.Tally) {
	v.fresh(t)
	for _, kind := range kinds {
		if len(v.said) > 0 && kind.small {
			return // that it is confirmed, or not, is the verdict
		}
		rows := v.rows(t, func(c compare.Change) bool { return c.Verdict == kind.verdict && c.Small == kind.small })
		if len(rows) > 0 {
			v.add(kind.code, kind.tone, v.figures(rows), rows...)
		}
	}
	same := v.main(t, func(c compare.Change) bool { return c.Verdict == compare.Same && !c.Unproven })
	switch {
	case len(same) > 0 && len(v.parts) == 0:
		v.add("verdict.same", doc.Neutral, v.figures(same), same...)
	case len(same) > 0 && !v.brief:
		v.add("verdict.same", doc.Neutral, v.Word("verdict.others", "n", len(same)))
	}
	if open := v.main(t, func(c compare.Change) bool { return c.Verdict == compare.CannotTell || c.Unproven }); len(open) > 0 {
		v.add("verdict.unknown", doc.Unclear, v.open(open, t))
	}
}

// confirmed says of a confirmation what became of the figures that the choice was made by:
// those in which the variant was better.
func (v *verdictMaker) confirmed(t compare.Tally) {
	if v.load.Layout == nil || !v.load.Layout.Confirms {
		return
	}
	chosen := v.chosenBy(t)
	of := func(is ...compare.Verdict) (rows []int) {
		for _, i := range chosen {
			if slices.Contains(is, v.load.Rows[i].Cells[v.variant].Change.Verdict) {
				rows = append(rows, i)
			}
		}
		return rows
	}
	if yes := of(compare.Better); yes != nil {
		v.add("verdict.confirmed", doc.Good, v.figures(yes))
	}
	if open := of(compare.CannotTell); open != nil {
		v.add("verdict.unconfirmed", doc.Unclear, v.open(open, t))
	}
	if no := of(compare.Same, compare.Worse); no != nil {
		v.add("verdict.refuted", doc.Unclear, v.figures(no))
	}
	v.said = chosen
}

// chosenBy are the rows in which the variant was better in the legs that it was chosen by.
func (v *verdictMaker) chosenBy(t compare.Tally) (rows []int) {
	at := slices.IndexFunc(v.c.Workloads, func(l compare.Workload) bool {
		return l.Name == v.load.Name && l.Layout != nil && !l.Layout.Confirms
	})
	if at < 0 {
		return nil
	}
	first := verdictMaker{Phrases: v.Phrases, load: v.c.Workloads[at]}
	first.variant = slices.IndexFunc(first.load.Variants, func(o compare.Variant) bool { return o.Name == v.load.Variants[v.variant].Name })
	if first.variant < 1 || first.load.Variants[first.variant].Tally == nil {
		return nil
	}
	for _, i := range first.rows(*first.load.Variants[first.variant].Tally,
		func(c compare.Change) bool { return c.Verdict == compare.Better && !c.Small }) {
		chosen := first.load.Rows[i]
		for _, k := range t.All {
			if r := v.load.Rows[k]; r.Quantity.Name == chosen.Quantity.Name && r.Definition.ID == chosen.Definition.ID && r.Cells[v.variant].Change != nil {
				rows = append(rows, k)
			}
		}
	}
	return rows
}

// amongTheSame says what an A/A experiment found: nothing, or a false alarm.
func (v *verdictMaker) amongTheSame(t compare.Tally) {
	alarms := v.rows(t, func(c compare.Change) bool { return c.Verdict.Differs() })
	if len(alarms) > 0 {
		v.add("verdict.alarm", doc.Unclear, v.figures(alarms))
		return
	}
	v.add("verdict.none", doc.Neutral, v.figures(t.Main))
}

// fresh are figures that were 0, such as failures.
func (v *verdictMaker) fresh(t compare.Tally) {
	for _, i := range t.Fresh {
		r := v.load.Rows[i]
		code, tone := plan.Code("verdict.better"), doc.Good
		if r.Quantity.Better == figure.Lower {
			code, tone = "verdict.worse", doc.Bad
		}
		v.add(code, tone, v.against(r, v.variant))
	}
}

// main are those of the main figures whose change is so, but for those of which something was
// said.
func (v *verdictMaker) main(t compare.Tally, is func(compare.Change) bool) []int {
	return slices.DeleteFunc(slices.Clone(t.Main), func(i int) bool {
		c := v.load.Rows[i].Cells[v.variant].Change
		return c == nil || !slices.Contains(t.All, i) || slices.Contains(t.Fresh, i) ||
			slices.Contains(v.said, i) || !is(*c)
	})
}

// rows are the main figures whose change is so, or where none is, others.
func (v *verdictMaker) rows(t compare.Tally, is func(compare.Change) bool) []int {
	if main := v.main(t, is); len(main) > 0 {
		return main
	}
	t.Main = t.All
	return v.main(t, is)
}

// figures names the first few with their changes, and where those lie.
func (v *verdictMaker) figures(rows []int) string {
	most := mostFigures
	switch {
	case v.lone:
		most = 1
	case v.brief:
		most = fewFigures
	}
	names := make([]string, len(rows))
	for n, i := range rows {
		names[n] = v.figure(i)
	}
	return v.Few(names, most)
}

func (v *verdictMaker) figure(row int) string {
	r := v.load.Rows[row]
	c := *r.Cells[v.variant].Change
	return doc.Join(" ", v.Title(r.Quantity), v.Change(r, c), v.Interval(r, c))
}

// open names figures of which nothing can be told, and what would settle them: those first
// that somebody may settle.
func (v *verdictMaker) open(rows []int, t compare.Tally) string {
	place := func(row int) int {
		if i := slices.Index(t.Settling, row); i >= 0 {
			return i
		}
		return len(t.Settling)
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	names := make([]string, len(rows))
	for n, i := range rows {
		if names[n] = v.figure(i); v.brief {
			r := v.load.Rows[i]
			names[n] = doc.Join(" ", v.Title(r.Quantity), v.Change(r, *r.Cells[v.variant].Change))
		}
		if more := v.load.Rows[i].Cells[v.variant].Change.More; n < settled && slices.Contains(t.Settling, i) {
			code := plan.Code("verdict.settle")
			if v.load.Layout == nil {
				code = "verdict.settle-runs"
			}
			names[n] = v.InBrackets(names[n], v.Word(code, "n", more))
		}
	}
	most := openFigures
	if v.lone {
		most = 1
	}
	return v.Few(names, most)
}

// verdicts are the bottom lines of an experiment, which stand before all tables.
func (w Phrases) verdicts() (all doc.Lines) {
	for i, load := range w.c.Workloads {
		if inHeadline(load) {
			all = append(all, w.verdictOn(i)...)
		}
	}
	return all
}

// verdictOn is what is better and worse in a workload, of several variants a line for each; the
// bottom lines where nothing can be decided.
func (w Phrases) verdictOn(number int) (all doc.Lines) {
	load := w.c.Workloads[number]
	label, said := bounded(w.LoadName(load, number), labelColumns), func(s string) string { return s }
	switch {
	case load.Layout == nil && !decided(load):
		return w.results(load)
	case load.Layout == nil:
		label = w.Word("label.result")
	case load.Layout.Confirms:
		name := bounded(cmp.Or(load.Name, w.LoadName(load, number)), labelColumns)
		label, said = w.Word("label.confirmed"), func(s string) string { return w.Of(name, s) }
	}
	add := func(parts []Part) {
		all = append(all, doc.Line{Label: label, Text: doc.Clean(said(w.SayParts(parts))), Tone: toneOfParts(parts)})
	}
	if len(load.Variants) > 2 {
		add(w.Headline(load))
	}
	for v := 1; v < len(load.Variants); v++ {
		if parts := w.Verdict(load, v); len(load.Variants) == 2 || !headlined(parts) {
			add(parts)
		} else if rest := slices.DeleteFunc(parts, func(p Part) bool { return p.tone == doc.Good || p.tone == doc.Bad }); len(rest) > 0 {
			rest[0].Lead = w.Of(doc.Clean(load.Variants[v].Name), rest[0].Lead)
			add(rest)
		}
	}
	return append(all, w.answers(load)...)
}

// decided reports whether noise is known in a workload, so that something can be decided.
func decided(load compare.Workload) bool {
	return slices.ContainsFunc(load.Variants, func(v compare.Variant) bool { return v.Tally != nil && v.Tally.Basis.Decides() })
}

// headlined: all of the first part stands in the headline.
func headlined(parts []Part) bool {
	return len(parts) > 0 && (parts[0].tone == doc.Good || parts[0].tone == doc.Bad)
}

// SayParts says them in one line.
func (w Phrases) SayParts(parts []Part) string {
	var said []string
	for _, p := range parts {
		lead := p.Lead
		if w.lead != nil && lead != "" {
			lead = w.lead(lead)
		}
		if p.Text != "" {
			lead = w.Of(lead, p.Text)
		}
		said = append(said, lead)
	}
	return w.Join("stop", said...)
}

// verdictLines are the verdicts with what they suppose and what to do next; nil where there are
// none.
func (w Phrases) verdictLines(advice []string) doc.Lines {
	lines := w.verdicts()
	if lines == nil {
		return nil
	}
	for _, said := range advice {
		lines = append(lines, w.line("label.next", said))
	}
	return append(lines, w.line("label.terms", w.Terms()))
}

// labelColumns are those of a workload's name beside its verdict.
const labelColumns = 24

// LoadName is what a workload is called, and that it is a confirmation.
func (w Phrases) LoadName(l compare.Workload, number int) string {
	name := cmp.Or(doc.Clean(l.Name), doc.Clean(w.load(l.Settings)), w.Word("comparison.workload", "number", number+1))
	if l.Layout != nil && l.Layout.Confirms {
		return w.Word("comparison.confirmation", "workload", name)
	}
	return name
}

// inHeadline: the verdict on a workload stands before the tables.
func inHeadline(load compare.Workload) bool { return load.Layout != nil && len(load.Variants) > 1 }

// toneOfParts is that of the first part, unless they contradict each other.
func toneOfParts(parts []Part) doc.Tone {
	has := func(t doc.Tone) bool { return slices.ContainsFunc(parts, func(p Part) bool { return p.tone == t }) }
	switch {
	case has(doc.Good) && has(doc.Bad):
		return doc.Neutral
	case has(doc.Good):
		return doc.Good
	case has(doc.Bad):
		return doc.Bad
	}
	return doc.Neutral
}

// AA reports whether the variants of the experiment are the same but for their names.
func (w Phrases) AA() bool {
	return slices.ContainsFunc(w.c.Workloads, func(l compare.Workload) bool { return l.Layout != nil && l.Layout.Same })
}

// Terms are the level and the margin of the verdicts of an experiment.
func (w Phrases) Terms() string {
	if w.AA() {
		return w.Word("verdict.terms-same", "alarms", w.Share(1-w.c.Level))
	}
	return w.Word("verdict.terms", "level", w.level(), "margin", w.margin())
}
