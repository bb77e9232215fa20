package report

import (
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// Phrases are the parts of a comparison's report, in the words that stand there, for
// texts around it.
type Phrases struct{ words words }

// NewPhrases are those of a comparison in a language.
func NewPhrases(c compare.Comparison, l Lang) Phrases { return Phrases{newWords(c, l)} }

// Title is what a quantity is called.
func (p Phrases) Title(q metrics.Quantity) string { return p.words.title(q) }

// Share is a part of a whole: 2 %.
func (p Phrases) Share(v float64) string { return p.words.share(v) }

// Change is by how much the figure of a row differs: +3.4 %.
func (p Phrases) Change(r compare.Row, c compare.Change) string { return p.words.change(c, scaleOf(r)) }

// Interval is where a change lies: [+1.2, +5.6]; "" if nobody knows.
func (p Phrases) Interval(r compare.Row, c compare.Change) string {
	return p.words.interval(c, scaleOf(r))
}

// Small reports whether a change is sure and yet smaller than the margin.
func (p Phrases) Small(c compare.Change) bool { return isSmall(c, p.words.limit) }

// BeyondUsual is of how many differences noise of the usual size would not be the reason,
// where nothing tells how large it is; "" if of none.
func (p Phrases) BeyondUsual(load compare.Workload, variant int) string {
	all := tallyOf(load, variant, p.words.limit).all
	large := beyondUsual(all, variant)
	if len(large) == 0 {
		return ""
	}
	return p.words.stop + p.words.unusual(large, all)
}

// Residue is a setting with its values in the variants.
func (p Phrases) Residue(r compare.Residue) string { return p.words.residue(r) }

// Definition is what a figure counts, and from where to where.
func (p Phrases) Definition(d metrics.Definition) string { return p.words.definition(d) }

// Foreign is a phrase that others say in English: a load, a test, a reason of a run's
// verdict, how far a profile is off.
func (p Phrases) Foreign(s string) string { return p.words.foreign(s) }

// Runs is how many runs a variant has: 5 runs, one table.
func (p Phrases) Runs(v compare.Variant) string { return p.words.runsOf(v) }

// Claim is what an author stated, where, and what the tables make of it; the place has
// its file if there are several.
func (p Phrases) Claim(c compare.ClaimCheck, several bool) string {
	return p.words.claimLine(c, several).Text
}
