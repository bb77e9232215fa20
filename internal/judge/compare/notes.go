package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Notes that a bottom line says too.
const (
	OneVariant    plan.Code = "compare.one-variant"
	NothingKnown  plan.Code = "compare.nothing-known" // variants, without repeated runs
	LoadsDiffer   plan.Code = "compare.loads-apart"
	SizesDiffer   plan.Code = "compare.sizes-apart" // of which --ignore makes no one load
	WorkersDiffer plan.Code = "compare.workers-apart"
)

// notes says what the data can carry.
func (t *table) notes() {
	t.noteBaseline()
	t.noteNames()
	t.noteLegs()
	t.noteDefinitions()
	t.noteBases()
	t.noteFailures()
	t.noteOrders()
	t.noteOpen()
	t.noteUnmeasured()
	t.notePairs()
	t.noteWorkers()
	t.noteCaches()
	for _, v := range t.variants {
		if v.again > 0 {
			t.note("compare.simulated-again", "runs", v.again, "variant", v.name)
		}
		for _, r := range v.runs {
			t.noteRun(r)
		}
	}
}

func (t *table) noteBaseline() {
	baseline := t.variants[0].name
	switch {
	case len(t.variants) == 1:
		t.note(OneVariant, "variant", baseline)
	case t.base.missing:
		t.note("compare.baseline-missing", "asked", t.o.Baseline, "variant", baseline)
	case t.base.byName && t.base.index > 0:
		t.note("compare.baseline-by-name", "variant", baseline)
	}
}

// noteNames tells where different names were taken for those of one variant.
func (t *table) noteNames() {
	if t.legs != nil {
		return
	}
	for _, v := range t.variants {
		var names []string
		for _, r := range v.runs {
			if n := plainName(r); r.Variant == "" && !hasHeadings(r) && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		if len(names) > 1 {
			t.note("compare.taken-as-repeated", "runs", names, "variant", v.name)
		}
	}
}

func (t *table) noteDefinitions() {
	byDefinitions := map[string][]figure.Figure{}
	var order [][]string // definitions
	for i := 0; i < len(t.lines); {
		name := t.lines[i].Quantity.Name
		var ids []string
		for _, l := range t.lines[i:] {
			if l.Quantity.Name == name {
				ids = append(ids, l.Definition.ID)
			}
		}
		if all := strings.Join(ids, ", "); len(ids) > 1 {
			if byDefinitions[all] == nil {
				order = append(order, ids)
			}
			byDefinitions[all] = append(byDefinitions[all], t.lines[i].Quantity)
		}
		i += len(ids)
	}
	for _, ids := range order {
		figures := figure.Titles(byDefinitions[strings.Join(ids, ", ")])
		t.note("compare.definitions-apart", "figures", figures, "definitions", ids)
	}
}

// noteBases says on what the verdicts of the variants rest, where that is little.
func (t *table) noteBases() {
	if t.out.Layout != nil {
		return
	}
	by := map[Basis][]string{}
	for i, v := range t.variants[1:] {
		b := t.bestBasis(i + 1)
		by[b] = append(by[b], v.name)
	}
	baseline := []string{t.variants[0].name}
	if names := by[Nothing]; names != nil {
		code := NothingKnown
		if !slices.ContainsFunc(t.runs, func(r *ComparedRun) bool { return !HasRecords(r.run) }) {
			code = "compare.too-dependent"
		}
		t.note(code, "variants", append(baseline, names...))
	}
	if names := by[Within]; names != nil {
		code := plan.Code("compare.within-only")
		if t.o.SingleRuns {
			code = "compare.within-accepted"
		}
		t.note(code, "variants", append(baseline, names...))
	}
	if by[Borrowed] != nil {
		t.noteBorrowed()
	}
	if n := len(t.variants) - 1; n > 1 && t.out.Differs() {
		t.note("compare.many-variants", "variants", n, "share", min(1, float64(n)*t.o.alpha()))
	}
}

// noteOpen names the figures that differ by their numbers alone, where only a witness is missing
// for a verdict.
func (t *table) noteOpen() {
	figures := map[string][]plan.Message{}
	var whys []plan.Message
	for row, c := range t.out.Changes() {
		key, title := c.Open.Key(), row.Quantity.Title()
		if c.Open.Code != WitnessMissing || slices.ContainsFunc(figures[key], func(m plan.Message) bool { return equal(m, title) }) {
			continue
		}
		if figures[key] = append(figures[key], title); len(figures[key]) == 1 {
			whys = append(whys, c.Open)
		}
	}
	for _, why := range whys {
		t.note("compare.open", "figures", figures[why.Key()], "why", why)
	}
}

// noteUnmeasured tells which metrics of a variant are left out, since its tool measured none.
func (t *table) noteUnmeasured() {
	for _, v := range t.variants {
		var titles []plan.Message
		var tools []string
		for _, r := range v.runs {
			for _, name := range r.unmeasured {
				if title := figure.MetricTitle(name); !slices.ContainsFunc(titles, func(m plan.Message) bool { return m.Key() == title.Key() }) {
					titles = append(titles, title)
				}
				if tool := r.origin().Tool; !slices.Contains(tools, tool) {
					tools = append(tools, tool)
				}
			}
		}
		if titles != nil {
			t.note("compare.unmeasured", "variant", v.name, "figures", titles, "tools", tools)
		}
	}
}

// bestBasis is the best basis of the changes of a variant; counts that are the same
// everywhere do not tell.
func (t *table) bestBasis(i int) Basis {
	best := Nothing
	for _, row := range t.out.Rows {
		if c := row.Cells[i].Change; c != nil && !row.Constant && c.Basis.Better(best) {
			best = c.Basis
		}
	}
	return best
}

// noteBorrowed tells by how much repeated runs differ, in figures that people quote.
func (t *table) noteBorrowed() {
	var single []string
	df := 0.0
	for i, v := range t.variants {
		if len(v.runs) == 1 {
			single = append(single, v.name)
			continue
		}
		var spreads []plan.Message
		for _, l := range t.lines {
			if r := l.Quantity.Rank(); r == 0 || r > quoted || l.plain {
				continue
			}
			if values := l.Cells[i].Values; len(values) > 1 {
				by := slices.Max(values)/slices.Min(values) - 1
				spreads = append(spreads, plan.Msg("compare.spread", "share", by, "figure", l.Quantity.Title()))
				df = max(df, l.borrowed().df)
			}
		}
		if spreads != nil {
			t.note("compare.repeated-differ", "variant", v.name, "spreads", spreads)
		}
	}
	if df > 0 && single != nil {
		t.note("compare.borrowed-noise", "variants", single, "df", df)
	}
}

// notePairs tells where runs could be compared in pairs.
func (t *table) notePairs() {
	if t.legs != nil {
		return
	}
	var names []string
	for _, v := range t.variants[1:] {
		if !t.o.Paired && v.matches(t.variants[0]) {
			names = append(names, v.name)
		}
	}
	if names != nil {
		t.note("compare.pairs-possible", "variants", names, "baseline", t.variants[0].name)
	}
}

// noteWorkers tells where the runs of variants were sent from other numbers of machines: the load is
// the same, and the way to the server is not.
func (t *table) noteWorkers() {
	least, most := 0, 0
	for _, v := range t.variants {
		for _, r := range v.runs {
			if r.run.Kind != trace.Measured || r.run.Origin != nil {
				continue
			}
			n := workers(r.run)
			least, most = min(cmp.Or(least, n), n), max(most, n)
		}
	}
	if least != most {
		t.note(WorkersDiffer, "least", least, "most", most)
	}
}

// matches reports whether the i-th runs of both sent the same requests, and others than
// the runs before.
func (v *variant) matches(base *variant) bool {
	if len(v.runs) != len(base.runs) || len(v.runs) < 2 {
		return false
	}
	seen := map[string]bool{}
	for i, r := range v.runs {
		b := base.runs[i]
		if !HasRecords(r.run) || !HasRecords(b.run) || r.requests != b.requests || r.run.Plan.Seed != b.run.Plan.Seed {
			return false
		}
		seen[fmt.Sprint(r.requests, r.run.Plan.Seed)] = true
	}
	return len(seen) == len(v.runs)
}

func (t *table) noteRun(r *ComparedRun) {
	name := runName(r)
	if v := r.run.Verdict; v != nil && v.Validity == trace.Invalid {
		e := metrics.Explain(*v)
		t.note("compare.invalid-run", "run", name, "causes", e.Causes, "remedies", e.Remedies, "effects", e.Effects)
	}
	if lost, _ := r.run.Missing(); lost > 0 {
		t.note("compare.incomplete-run", "run", name, "records", lost)
	}
	if s := r.run.Status; s != trace.Complete && s != "" {
		t.note("compare.broken-run", "run", name, "status", plan.Msg(plan.Code("status."+string(s))))
	}
}

func runName(r *ComparedRun) string {
	if r.run.Name != "" && r.run.Name != r.run.ID {
		return fmt.Sprintf("%s (%s)", r.run.ID, r.run.Name)
	}
	return r.run.ID
}

func (t *table) note(code plan.Code, args ...any) {
	t.out.Notes = append(t.out.Notes, plan.Msg(code, args...))
}

// notes tells which variants that were asked for met no common load, and why.
func (c *Comparison) notes(tables []*table, ignore []string) {
	c.noteRequested(tables, ignore)
	var runs []*ComparedRun
	shares := map[string]bool{} // labels that share a workload with another one
	for _, t := range tables {
		runs = append(runs, t.runs...)
		for _, r := range t.runs {
			shares[r.Variant] = shares[r.Variant] || slices.ContainsFunc(t.runs, func(s *ComparedRun) bool { return s.Variant != r.Variant })
		}
	}
	seen := map[string]bool{}
	for _, r := range runs {
		label := r.Variant
		if label == "" || shares[label] {
			continue
		}
		shares[label] = true
		one, other, names := nearest(runs, label, ignore)
		if len(names) == 0 || seen[other.Variant+"\x00"+label] {
			continue
		}
		seen[label+"\x00"+other.Variant] = true
		var gaps []plan.Message
		for _, name := range names {
			setting := plan.Msg(plan.Code("setting." + name))
			gaps = append(gaps, plan.Msg("compare.gap", "setting", setting, "one", one.load.values[name], "other", other.load.values[name]))
		}
		code := LoadsDiffer
		if slices.ContainsFunc(sizes, func(s size) bool { return s.differs(one, other) }) {
			code = SizesDiffer
		}
		c.Notes = append(c.Notes, plan.Msg(code, "one", label, "other", other.Variant, "gaps", gaps, "settings", strings.Join(names, ",")))
	}
}

// WhyNothingCompared is why nothing is compared: variants were asked for and no two of them met one load.
// It is zero if some did, or if there is only one.
func (c Comparison) WhyNothingCompared() (why plan.Message) {
	for _, w := range c.Workloads {
		if len(w.Variants) > 1 {
			return plan.Message{}
		}
	}
	for _, n := range c.Notes {
		if why.IsZero() && (n.Code == LoadsDiffer || n.Code == SizesDiffer || n.Code == AskedUnknown) {
			why = n
		}
	}
	return why
}

// nearest are the run with a label and the one with another label that differ in the
// fewest settings of the load, and these.
func nearest(runs []*ComparedRun, label string, ignore []string) (one, other *ComparedRun, settings []string) {
	for _, r := range runs {
		for _, s := range runs {
			if r.Variant != label || s.Variant == label {
				continue
			}
			if names := r.load.diff(&s.load, ignore); other == nil || other.Variant == "" || len(names) < len(settings) {
				one, other, settings = r, s, names
			}
		}
	}
	return one, other, settings
}
