package compare

import (
	"fmt"
	"math"
	"sort"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Shift is a relative change other than that between variants, with its interval at the level of
// the comparison: a drift, or the effect of the order of legs.
type Shift struct {
	Relative float64   `json:"relative"`
	Interval *Interval `json:"interval,omitempty"` // nil where nothing is left to see the noise in
}

// observed are the units that have a figure, and what they have.
type observed struct {
	units  []*unit
	y      []float64   // their means, on the scale
	ofRuns [][]float64 // their runs
	mask   string      // which units these are
}

// observe collects a row by unit.
func (t *table) observe(l *entry) (o observed) {
	scaled := map[*ComparedRun]float64{}
	for _, s := range l.samples {
		for i, r := range s.runs {
			scaled[r] = s.scaled[i]
		}
	}
	for i, u := range t.units {
		var own []float64
		for _, r := range u.runs {
			if v, ok := scaled[r]; ok {
				own = append(own, v)
			}
		}
		if own != nil {
			o.units, o.y, o.ofRuns = append(o.units, u), append(o.y, stats.Mean(own)), append(o.ofRuns, own)
			o.mask += fmt.Sprintf("%d ", i)
		}
	}
	return o
}

// of are the values of the units of a variant.
func (o observed) of(column int) (y []float64) {
	for i, u := range o.units {
		if u.column == column {
			y = append(y, o.y[i])
		}
	}
	return y
}

// design is that of the units that have a figure, with a variant as the baseline, which
// changes its place with the first one.
func (t *table) design(o observed, baseline int) *stats.Design {
	key := fmt.Sprint(baseline, ":", o.mask)
	if d := t.designs[key]; d != nil {
		return d
	}
	units, loads := make([]stats.Unit, len(o.units)), map[string]int{}
	for i, u := range o.units {
		seeds := u.seeds()
		if _, ok := loads[seeds]; !ok {
			loads[seeds] = len(loads)
		}
		units[i] = stats.Unit{Variant: swap(u.column, baseline), Block: u.block, Load: loads[seeds], Position: u.position, First: u.first}
	}
	d := stats.New(units, len(t.variants))
	if t.designs == nil {
		t.designs = map[string]*stats.Design{}
	}
	t.designs[key] = d
	return d
}

func swap(column, baseline int) int {
	switch column {
	case 0:
		return baseline
	case baseline:
		return 0
	}
	return column
}

// blocks rests the change on the units of both in their blocks.
func (f *finding) blocks(t *table, l *entry, a, b *variant) {
	o := t.observe(l)
	d := t.design(o, a.column)
	e := d.Effects[swap(b.column, a.column)]
	if e == nil {
		return
	}
	t.out.Layout.Drift = t.out.Layout.Drift || d.Drift
	f.effect = e.Value(o.y)
	if e.DF() == 0 {
		return
	}
	f.design, f.estimator, f.factor, f.y, f.mask = d, e, e.Factor, o.y, o.mask
	f.a, f.b = o.of(a.column), o.of(b.column)
	f.groups = [][]float64{f.a, f.b}
	blocks := t.out.Layout.Blocks
	f.perBlock, f.legs = float64(len(o.units))/float64(blocks)-1, (len(b.legs())+blocks-1)/blocks
	f.rest(Blocks, noise{sd: e.SD(o.y), df: float64(e.DF()), runs: blocks}, "")
}

// byVariants gives findings of basis Blocks the error and the degrees of freedom of variants that
// differ in their noise, by all figures that are judged together.
func (t *table) byVariants(findings []*finding) {
	figures := map[*stats.Design][][]float64{}
	for _, f := range findings {
		if f.judged() && f.basis == Blocks {
			figures[f.design] = append(figures[f.design], f.y)
		}
	}
	noises := map[*stats.Design]stats.Noise{}
	for _, f := range findings {
		if f == nil || f.basis != Blocks {
			continue
		}
		if noises[f.design] == nil {
			noises[f.design] = f.design.Noise(figures[f.design])
		}
		f.factor, f.noise.df = f.design.Unlike(f.estimator, noises[f.design])
		f.estimate = stats.Estimate{Value: f.effect, Error: f.noise.sd * f.factor, DF: f.noise.df}
		f.interval = plan.Msg("method.blocks", "starts", t.out.Layout.Restarted, "blocks", f.noise.runs, "df", f.noise.df, "least", f.least)
	}
}

// turn tests each by its own estimate, and corrects over the figures of a variant by turning
// their noise in all directions. Other variants are left out of that: a true effect of theirs
// would be taken for noise that the figures have in common.
func turn(findings []*finding) {
	if len(findings) == 0 {
		return
	}
	var coordinates [][]float64
	var p []float64
	for _, f := range findings {
		x := f.estimator.Coordinates(f.y)
		x[0] = f.effect / f.estimator.Factor
		coordinates, p = append(coordinates, x), append(p, f.plainP())
	}
	for i, adjusted := range stats.Directions(coordinates, p) {
		findings[i].p, findings[i].adjusted = p[i], adjusted
	}
}

// sameUnits leaves in whole the findings that cover the most units, all of them the same units.
func sameUnits(whole, other []*finding) (_, _ []*finding) {
	mask := ""
	for _, f := range whole {
		if len(f.mask) > len(mask) {
			mask = f.mask
		}
	}
	var same []*finding
	for _, f := range whole {
		if f.mask == mask {
			same = append(same, f)
		} else {
			other = append(other, f)
		}
	}
	return same, other
}

// mostBlocks is the largest number of blocks that is recommended.
const mostBlocks = 500

// moreLegs is More for basis Blocks: how many further legs of each, in full blocks.
func (o Options) moreLegs(f *finding) int {
	alpha, sd := o.alpha()/float64(max(1, f.family)), f.noise.likely()
	enough := func(effect, alpha, power float64) int {
		n := sort.Search(mostBlocks, func(more int) bool {
			have := float64(f.noise.runs)
			se := sd * f.factor * math.Sqrt(have/(have+float64(more)))
			return stats.PowerOf(se, effect, f.noise.df+float64(more)*f.perBlock, alpha) >= power
		})
		if n == mostBlocks {
			return 0
		}
		return max(1, n)
	}
	n := enough(f.certain(), alpha, o.Power)
	if room := math.Log1p(o.Margin) - math.Abs(f.effect) - f.rounding; room > 0 && hasMargin(f.quantity.Name, f.plain) {
		n = least(n, enough(room, 2*o.alpha(), 1-(1-o.Power)/2))
	}
	return n * f.legs
}

// shifts fills in the drift and the spread of a row of an experiment.
func (t *table) shifts(l *entry, row *Row) {
	if t.out.Layout == nil || l.plain || l.Constant {
		return
	}
	o := t.observe(l)
	d := t.design(o, 0)
	row.Spread = t.spread(o, d)
	if e := d.Slope; e != nil {
		row.Drift = t.o.shift(e, o.y)
	}
	for v := 1; v < len(t.variants); v++ {
		if c := row.Cells[v].Change; c != nil {
			if e := d.Orders[v]; e != nil {
				c.Order = t.o.shift(e, o.y)
			}
		}
	}
}

func (o Options) shift(e *stats.Estimator, y []float64) *Shift {
	s := &Shift{Relative: math.Expm1(e.Value(y))}
	if e.DF() > 0 {
		i := e.Estimate(y).Interval(o.nominal(o.Level))
		s.Interval = &Interval{
			Low: math.Expm1(i.Low), High: min(math.Expm1(i.High), math.MaxFloat64), Level: o.Level,
			Method: plan.Msg("method.shift", "df", e.DF()),
		}
	}
	return s
}

// bestBlocks is how many degrees of freedom the best of the changes has.
func (t *table) bestBlocks() (df int) {
	for _, l := range t.lines {
		d := t.design(t.observe(l), 0)
		for _, e := range d.Effects {
			if e != nil {
				df = max(df, e.DF())
			}
		}
	}
	return df
}
