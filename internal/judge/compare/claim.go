package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// claims holds what the authors stated against the tables.
func (t *table) claims() {
	for _, v := range t.order {
		for _, r := range v.runs {
			for _, claim := range r.origin().Claims {
				t.out.Claims = append(t.out.Claims, t.check(claim, v, r))
			}
		}
	}
}

func (t *table) check(claim trace.Claim, v *variant, r *ComparedRun) ClaimCheck {
	out := ClaimCheck{Claim: claim, File: r.run.Origin.File, Variant: v.name}
	var all []candidate
	for preference, base := range t.basesFor(v) {
		all = append(all, t.candidates(claim, base, v, r, preference)...)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		if by := cmp.Compare(a.rank(), b.rank()); by != 0 || a.agrees {
			return cmp.Or(by, cmp.Compare(a.base, b.base), cmp.Compare(a.measure, b.measure))
		}
		return cmp.Compare(a.off, b.off)
	})
	if len(all) == 0 || all[0].rank() == 3 {
		return out
	}
	first := all[0]
	out.Agrees = first.agrees
	out.Stands = first.rank() < 2 && first.match.Verdict.Differs() && first.match.Relative*claim.Change > 0
	for i, c := range all {
		if i == 0 || c.agrees || c.base == 0 && c.match.Name == first.match.Name {
			out.Matches = append(out.Matches, c.match)
		}
	}
	return out
}

// basesFor are the variants with which a note's author may have compared v: the
// baseline, the one before it, those before that.
func (t *table) basesFor(v *variant) []*variant {
	var out []*variant
	if v != t.variants[0] {
		out = append(out, t.variants[0])
	}
	for i := slices.Index(t.order, v) - 1; i >= 0; i-- {
		if t.order[i] != t.variants[0] {
			out = append(out, t.order[i])
		}
	}
	return out
}

func (t *table) candidates(claim trace.Claim, base, v *variant, r *ComparedRun, preference int) []candidate {
	var out []candidate
	var changes []*Change
	for i, l := range t.lines {
		name := l.Quantity.Name
		measure, ok := meansOf(claim, name)
		own := r.figure(name, l.Definition.ID)
		center := l.Cells[base.column].Center
		if !ok || own == nil || center <= 0 || own.Value <= 0 {
			continue
		}
		if changes == nil {
			changes = t.settled(base, v)
		}
		change := changes[i]
		relative, interval := own.Value/center-1, change.Interval
		if change.Plain { // it is in the unit of the row
			interval = nil
		}
		off := math.Abs(relative - claim.Change)
		rounding := l.samples[base.column].reach(false) + own.Step/2/own.Value
		out = append(out, candidate{
			match: ClaimMatch{base.name, name, relative, change.Verdict, change.Basis, interval},
			off:   off, agrees: off <= claim.Step/2+rounding+1e-9, close: off <= nearby*math.Abs(claim.Change),
			base: preference, measure: measure,
		})
	}
	return out
}

// A candidate is a change in the tables that a claim may mean.
type candidate struct {
	match   ClaimMatch
	off     float64 // from what was stated
	agrees  bool
	close   bool
	base    int // preference: the baseline, the variant before, any earlier one
	measure int // preference: mean, median, p99
}

// meansOf reports whether a claim may mean a figure, and how likely: one that names no
// statistic means the mean, else the median, else the p99.
func meansOf(claim trace.Claim, name string) (preference int, ok bool) {
	if claim.Stat != "" {
		return 0, name == claim.Metric+"."+claim.Stat
	}
	if name == claim.Metric {
		return 0, true
	}
	statistic, ok := strings.CutPrefix(name, claim.Metric+".")
	if !ok {
		return 0, false
	}
	if claim.Metric == "throughput" {
		return slices.Index([]string{"output", "total", "requests", "input"}, statistic), true
	}
	preference = slices.Index([]string{"mean", "median", "p99"}, statistic)
	return preference, preference >= 0
}

// nearby is how far from a stated change, relative to it, one in the tables may be to
// be what its author most likely meant: a slip of the pen, or a rounding in between.
const nearby = 0.05

// rank puts candidates that agree first, then close ones; the others count only against the
// baseline.
func (c candidate) rank() int {
	switch {
	case c.agrees:
		return 0
	case c.close:
		return 1
	case c.base == 0:
		return 2
	}
	return 3
}

// Differs reports whether a verdict is that there is a difference.
func (v Verdict) Differs() bool { return v == Better || v == Worse }
