package compare

import (
	"cmp"
	"math"
	"sort"

	"github.com/pitot-bench/pitot/internal/judge/stats"
)

// A Spread is by how much a figure varies without any change: standard deviations of its
// logarithm, which are relative ones.
type Spread struct {
	// Start is from one server start to the next, beyond what their runs explain. Without
	// runs that were repeated in a start (RunDF 0) it holds the variation of Runs runs too.
	Start   float64 `json:"start"`
	StartDF float64 `json:"start_df"` // degrees of freedom
	Run     float64 `json:"run,omitempty"`
	RunDF   float64 `json:"run_df,omitempty"`
	Runs    float64 `json:"runs"` // of each start, the harmonic mean
	// Restarted: servers were started anew. Else Start is from leg to leg of one start, and
	// nothing tells how starts differ.
	Restarted bool `json:"restarted"`
}

// spread is that of a row; nil without degrees of freedom.
func (t *table) spread(o observed, d *stats.Design) *Spread {
	var e *stats.Estimator
	for _, other := range d.Effects {
		if other != nil && other.DF() > 0 {
			e = other
		}
	}
	if e == nil {
		return nil
	}
	s := &Spread{Start: e.SD(o.y), StartDF: float64(e.DF()), Restarted: t.out.Layout.Restarted}
	inverse := 0.0
	for _, runs := range o.ofRuns {
		inverse += 1 / float64(len(runs)) / float64(len(o.ofRuns))
	}
	s.Runs = 1 / inverse
	if run, df := stats.PooledSD(o.ofRuns...); df > 0 {
		s.Run, s.RunDF = run, df
		s.Start = math.Sqrt(max(0, s.Start*s.Start-run*run/s.Runs))
	}
	return s
}

// unit is the variance of a unit of so many runs.
func (s Spread) unit(runs float64) float64 {
	if s.RunDF == 0 {
		return s.Start * s.Start
	}
	return s.Start*s.Start + s.Run*s.Run/runs
}

// PoolSpreads is what several experiments with the same load tell together. Where only some
// repeated runs, these tell how much of the others' spread is from run to run. Spreads with
// and without new server starts are of different things, and the latter are left out where
// there are both.
func PoolSpreads(all ...Spread) (out Spread) {
	for _, s := range all {
		out.Restarted = out.Restarted || s.Restarted
		out.RunDF += s.RunDF
		out.Run += s.Run * s.Run * s.RunDF
	}
	if out.RunDF > 0 {
		out.Run /= out.RunDF
	}
	starts, inverse := 0.0, 0.0
	for _, s := range all {
		if s.Restarted != out.Restarted || s.StartDF == 0 {
			continue
		}
		variance := s.Start * s.Start
		if s.RunDF == 0 && s.Runs > 0 {
			variance = max(0, variance-out.Run/s.Runs)
		}
		starts += variance * s.StartDF
		inverse += s.StartDF / max(1, s.Runs)
		out.StartDF += s.StartDF
	}
	out.Run = math.Sqrt(out.Run)
	if out.StartDF > 0 {
		out.Start, out.Runs = math.Sqrt(starts/out.StartDF), out.StartDF/inverse
	}
	return out
}

// A DesignSize is how large an experiment is. The zero value of a field stands for the
// default.
type DesignSize struct {
	Blocks   int
	Variants int // 0: 2
	Each     int // units of each variant in a block: server starts, or legs; 0: 2 of two variants, 1 of more
	Runs     int // of a unit; 0: 1
	// Figures is how many are judged together, of all workloads; 0: 1. They are taken as if
	// they had nothing in common, so that an effect is found more often than promised.
	Figures int
	Looks   bool // after each block
}

func (d DesignSize) withDefaults() DesignSize {
	d.Variants = cmp.Or(d.Variants, 2)
	if d.Each == 0 && d.Variants == 2 {
		d.Each = 2
	}
	d.Each, d.Runs, d.Figures = cmp.Or(d.Each, 1), cmp.Or(d.Runs, 1), cmp.Or(d.Figures, 1)
	return d
}

// df are the degrees of freedom that remain after blocks, effects and a slope; a block of one
// unit of each of two variants has none.
func (d DesignSize) df() float64 {
	df := d.Blocks*(d.Variants*d.Each-1) - (d.Variants - 1)
	if d.Variants*d.Each > 2 {
		df--
	}
	return float64(df)
}

// alpha is that of one figure of one variant, at the last look.
func (d DesignSize) alpha(level float64) float64 {
	alpha := (1 - level) / float64(d.Figures*(d.Variants-1))
	if d.Looks {
		return stats.Level(alpha, d.Blocks, d.Blocks)
	}
	return alpha
}

// Smallest is the smallest relative change that an experiment of a size finds with a given
// power, if noise is as in the spread; false where that is not known, or the experiment is too
// small to find any.
func (s Spread) Smallest(d DesignSize, level, power float64) (effect float64, known bool) {
	d = d.withDefaults()
	df := d.df()
	if s.StartDF == 0 || df < 1 || !(s.unit(float64(d.Runs)) > 0) {
		return 0, false
	}
	sd := noise{sd: math.Sqrt(s.unit(float64(d.Runs))), df: s.StartDF}.likely()
	se, alpha := sd*math.Sqrt(2/float64(d.Blocks*d.Each)), d.alpha(level)
	low, high := 0.0, 1.0
	for stats.PowerOf(se, high, df, alpha) < power {
		if high *= 2; high > mostEffect {
			return 0, false
		}
	}
	for range 40 {
		if middle := (low + high) / 2; stats.PowerOf(se, middle, df, alpha) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Expm1(high), true
}

// mostEffect is beyond what anybody looks for, as a logarithm.
const mostEffect = 16

// Blocks is how many blocks, at least two, an experiment needs to find a relative change, such
// as one of the size of the margin; false where that is not known, or would be more than
// hundreds. Blocks of the size are not looked at.
func (s Spread) Blocks(d DesignSize, effect, level, power float64) (blocks int, known bool) {
	enough := func(n int) bool {
		d.Blocks = n
		smallest, ok := s.Smallest(d, level, power)
		return ok && smallest <= math.Abs(effect)
	}
	n := 2
	for ; !enough(n); n *= 2 {
		if n > mostPlanned || effect == 0 || s.StartDF == 0 {
			return 0, false
		}
	}
	return n/2 + 1 + sort.Search(n-n/2-1, func(i int) bool { return enough(n/2 + 1 + i) }), true
}

// mostPlanned is the maximum number of blocks to plan.
const mostPlanned = 250
