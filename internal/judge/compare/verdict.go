package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// settle makes a change of a finding.
func (o Options) settle(f *finding) *Change {
	c := &Change{Relative: f.relative(f.effect), Plain: f.plain, Basis: f.basis, Verdict: CannotTell, Effective: f.effective}
	switch {
	case f.exact:
		c.Verdict = Same
		return c
	case f.input:
		c.Verdict = NotJudged
	case f.cached:
		c.Open = plan.Msg(CachesDiffer)
	case f.basis == Nothing || f.basis == Within:
		c.Chance = f.chance(o.Level)
	}
	if f.basis == Nothing {
		return c
	}
	if n := f.noise.sd; f.noise.df > 0 {
		c.Noise = f.relative(n)
	}
	wide := f.at(o.nominal(o.Level))
	c.Interval = &Interval{Low: f.relative(wide.Low), High: f.relative(wide.High), Level: o.Level, Method: f.interval}
	narrow := f.at(o.nominal(1 - 2*o.alpha()))
	c.Bound = max(math.Abs(f.relative(narrow.Low)), math.Abs(f.relative(narrow.High)))
	c.ExcludesZero = f.basis == Within && !wide.Holds(0) && !f.cached
	if !f.decides {
		return c
	}
	if !math.IsNaN(f.adjusted) {
		if c.Test = f.test; f.test.IsZero() {
			c.Test = f.interval
		}
		c.P, c.Adjusted = &f.p, &f.adjusted
	}
	if c.Verdict = o.verdict(f, c, wide); c.Verdict == CannotTell && f.unborne && c.Open.IsZero() {
		c.Open = f.unborneBy()
	}
	return c
}

// chance is the noise from run to run that makes the effect lie at the end of the
// interval, at a level, that one run of each would have.
func (f *finding) chance(level float64) float64 {
	if f.plain {
		return 0
	}
	z := math.Sqrt2 * math.Erfinv(level)
	if noise := f.relative(f.certain() / (z * math.Sqrt2)); noise >= leastNoise {
		return noise
	}
	return 0
}

// relative turns an effect on the scale into a relative change, short of overflow.
func (f *finding) relative(effect float64) float64 {
	if f.plain {
		return effect
	}
	return min(math.Expm1(effect), math.MaxFloat64)
}

// leastNoise is a relative standard deviation below which no runs of a server are.
const leastNoise = 0.0005

// at is the interval of the effect, wider by what rounding may hide.
func (f *finding) at(level float64) stats.Interval {
	i := f.estimate.Interval(level)
	if f.pooled != nil {
		wide := f.pooled.Interval(level)
		i.Low, i.High = min(i.Low, wide.Low), max(i.High, wide.High)
	}
	return stats.Interval{Low: i.Low - f.rounding, High: i.High + f.rounding, Level: level}
}

func (o Options) verdict(f *finding, c *Change, wide stats.Interval) Verdict {
	resolved := f.rounding == 0 || !wide.Holds(0)
	switch {
	case f.adjusted <= o.threshold(f.family) && resolved:
		return direction(f.quantity.Better, f.effect)
	case hasMargin(f.quantity.Name, f.plain) && c.Bound <= o.Margin:
		return Same
	case f.plain && c.Bound == 0:
		return Same
	}
	return CannotTell
}

func direction(better figure.Direction, effect float64) Verdict {
	if (better == figure.Higher) == (effect > 0) {
		return Better
	}
	return Worse
}

// more is how many further runs of each variant would settle a change of the size
// seen, if the noise is as seen: show that it is there, at the level that the number
// of metrics leaves, or show that it is within the margin.
func (o Options) more(f *finding) int {
	n := f.noise
	if f.unborne {
		return f.lacks * max(1, f.legs)
	}
	if !f.decides || f.between || !(n.df > 0) || !(n.sd > 0) {
		return 0
	}
	if f.basis == Blocks {
		return o.moreLegs(f)
	}
	sd := n.likely()
	runs := stats.RunsNeeded(sd, f.certain(), n.pair, o.alpha()/float64(max(1, f.family)), o.Power)
	// Nearness is shown by two tests at once, each of which may miss.
	if room := math.Log1p(o.Margin) - math.Abs(f.effect) - f.rounding; room > 0 && hasMargin(f.quantity.Name, f.plain) {
		near := stats.RunsNeeded(sd, room, n.pair, 2*o.alpha(), 1-(1-o.Power)/2)
		runs = least(runs, near)
	}
	if runs == 0 {
		return 0
	}
	return max(1, runs-n.runs)
}

// certain is the part of the effect that neither rounding nor an error of what was sampled explains: no number of runs
// makes those smaller.
func (f *finding) certain() float64 { return max(0, math.Abs(f.effect)-f.rounding) }

// likely is the deviation that is as likely too small as too large: the one seen in few
// runs is too small more often than not. By the median of χ², as Wilson and Hilferty
// (1931) approximate it.
func (n noise) likely() float64 { return n.sd / math.Pow(1-2/(9*n.df), 1.5) }

// least is the smaller of two numbers of which 0 means none.
func least(a, b int) int {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}

// test finds p-values and corrects them over all metrics that are judged.
func (t *table) test(findings []*finding) {
	var flipped, rotated, turned, other []*finding
	for _, f := range findings {
		switch {
		case !f.judged():
		case f.basis == Blocks:
			turned = append(turned, f)
		case f.basis == Pairs && stats.MinSignP(len(f.a))*spare <= t.o.alpha():
			flipped = append(flipped, f)
		case f.groups != nil:
			rotated = append(rotated, f)
		default:
			other = append(other, f)
		}
	}
	flipped, other = sameRuns(flipped, other)
	rotated, other = sameRuns(rotated, other)
	turned, other = sameUnits(turned, other)
	flip(flipped)
	rotate(rotated)
	t.exchange(rotated)
	turn(turned)
	holm(other)
	blocks := slices.DeleteFunc([][]*finding{flipped, rotated, turned, other}, func(b []*finding) bool { return len(b) == 0 })
	all := slices.Concat(blocks...)
	for _, f := range all {
		f.family = len(all) * t.shares()
		f.adjusted = min(1, f.adjusted*float64(len(blocks)*t.shares()))
	}
	t.testify(all)
}

// shares is how many families share the level: of an experiment those of all variants and
// workloads.
func (t *table) shares() int {
	if t.out.Layout == nil {
		return 1
	}
	return t.share * max(1, len(t.variants)-1)
}

// spare is of how many times rarer arrangements than the level asks for there must be some. Where
// the rarest of all is needed, as of 4 and 4 runs, one metric out of thirty that chance favours
// keeps any other from being found.
const spare = 5

// sameRuns leaves in whole only findings that all runs have, since the tests exchange and rotate
// runs.
func sameRuns(whole, other []*finding) (_, _ []*finding) {
	most := 0
	var shape []int
	for _, f := range whole {
		sizes := f.sizes()
		n := 0
		for _, size := range sizes {
			n += size
		}
		if n > most {
			most, shape = n, sizes
		}
	}
	var same []*finding
	for _, f := range whole {
		if slices.Equal(f.sizes(), shape) {
			same = append(same, f)
		} else {
			other = append(other, f)
		}
	}
	return same, other
}

// sizes are how many values there are in each group that its noise is seen in.
func (f *finding) sizes() (n []int) {
	for _, g := range f.groups {
		n = append(n, len(g))
	}
	return n
}

// flip tests by turning pairs around.
func flip(findings []*finding) {
	if len(findings) == 0 {
		return
	}
	var d [][]float64
	for _, f := range findings {
		d = append(d, f.differences())
	}
	p, adjusted := stats.MaxTPaired(d)
	for i, f := range findings {
		f.p, f.adjusted, f.test = p[i], adjusted[i], plan.Msg("method.signs", "pairs", len(d[0]))
	}
}

// rotate tests each by its own estimate, and corrects for what the metrics have in
// common.
func rotate(findings []*finding) {
	var p []float64
	for _, f := range findings {
		p = append(p, f.plainP())
	}
	for i, adjusted := range rotated(findings, p) {
		findings[i].p, findings[i].adjusted = p[i], adjusted
	}
}

// rotated are p-values corrected by turning the runs in all directions.
func rotated(findings []*finding, p []float64) (adjusted []float64) {
	if len(findings) == 0 {
		return nil
	}
	var effects []float64
	groups := make([][][]float64, len(findings[0].groups))
	for _, f := range findings {
		effects = append(effects, f.effect/f.spread())
		for i, g := range f.groups {
			groups[i] = append(groups[i], g)
		}
	}
	return stats.Rotation(effects, groups, p)
}

// holm tests each by its own estimate.
func holm(findings []*finding) {
	p := make([]float64, len(findings))
	for i, f := range findings {
		p[i] = max(f.plainP(), f.pooledP())
	}
	for i, adjusted := range stats.Holm(p) {
		findings[i].p, findings[i].adjusted = p[i], adjusted
	}
}
