package answers

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/stats"
)

// A contrast is what the three ways of a block say of the change: S, and O, which is noise.
type contrast struct{ change, noise float64 }

// contrastOf is that of values of the three ways.
func contrastOf(w [3]float64) contrast { return contrast{(w[1]+w[2])/2 - w[0], w[1] - w[2]} }

// across estimates the mean change over blocks, with 2n-1 degrees of freedom.
func across(of []contrast) stats.Estimate {
	n, mean, squares := float64(len(of)), 0.0, 0.0
	for _, c := range of {
		mean += c.change / n
	}
	for _, c := range of {
		squares += c.noise*c.noise/2 + (c.change-mean)*(c.change-mean)/1.5
	}
	return stats.Estimate{Value: mean, Error: math.Sqrt(1.5 * squares / (2*n - 1) / n), DF: 2*n - 1}
}

// exchanged are the changes of a block if each of its ways were the true one, which is the first.
func exchanged(w [3]float64) []float64 {
	sum := w[0] + w[1] + w[2]
	return []float64{sum/2 - 1.5*w[0], sum/2 - 1.5*w[1], sum/2 - 1.5*w[2]}
}

// above is the probability of an estimate as large as that by chance.
func above(e stats.Estimate) float64 {
	p := e.P()
	if e.Value > 0 {
		return p / 2
	}
	return 1 - p/2
}

// estimateOf is an estimate on the scale of logarithms as a ratio, or with plain as it is.
func estimateOf(e stats.Estimate, p float64, o Options, plain bool) *Estimate {
	scale := math.Exp
	if plain {
		scale = func(v float64) float64 { return v }
	}
	out := &Estimate{Value: scale(e.Value), upper: math.Inf(1)}
	if !math.IsNaN(p) {
		out.P = &p
	}
	if i := e.Interval(o.Level); !math.IsNaN(i.Low) {
		low, high := scale(i.Low), min(scale(i.High), math.MaxFloat64)
		out.Low, out.High = &low, &high
	}
	if i := e.Interval(1 - 2*o.Alpha); !math.IsNaN(i.High) {
		out.upper = scale(i.High)
	}
	return out
}

// logs are the logarithms of the hazards of the three ways.
func (b *block) logs() (w [3]float64) {
	for k, way := range ways {
		w[k] = b.pair[way[0]].plus(b.pair[way[1]]).log()
	}
	return w
}

// countVariance is the variance that the chance of a count gives its logarithm.
func countVariance(differ int) float64 { return 1 / (float64(differ) + 0.5) }

func (r *Result) estimateHazard(blocks []*block, o Options) {
	if r.Before.Differ+r.After.Differ+r.Across.Differ == 0 {
		return
	}
	var all []contrast
	var swapped [][]float64
	least := 0.0 // of the error's square
	for _, b := range blocks {
		w := b.logs()
		all, swapped = append(all, contrastOf(w)), append(swapped, exchanged(w))
		least += countVariance(b.pair[0].differ+b.pair[1].differ) + (countVariance(b.pair[2].differ+b.pair[3].differ)+countVariance(b.pair[4].differ+b.pair[5].differ))/4
	}
	e := across(all)
	if len(blocks) < exactBlocks { // else the exact test has to agree
		e.Error = max(e.Error, math.Sqrt(least)/float64(len(blocks)))
	}
	r.Hazard = estimateOf(e, above(e), o, false)
	exact := exchange(swapped)
	r.Hazard.Exact = &exact
}

// estimateRepeat compares restarts after with restarts before. The hazards of the other ways are no noise to hold it
// against: a change that alters answers alters those.
func (r *Result) estimateRepeat(blocks []*block, o Options) {
	if r.Before.Differ+r.After.Differ == 0 {
		return
	}
	var all, most []float64
	least, leastOfMost := 0.0, 0.0 // of the error's square
	for _, b := range blocks {
		before, after := b.pair[0], b.pair[1]
		all = append(all, after.log()-before.log())
		least += countVariance(before.differ) + countVariance(after.differ)
		both := before.plus(after)
		most = append(most, both.log()-hazard{risk: both.risk}.log())
		leastOfMost += countVariance(both.differ) + countVariance(0)
	}
	e := repeated(all, least)
	if r.Repeat = estimateOf(e, e.P(), o, false); repeated(most, leastOfMost).P() > o.Alpha {
		r.Repeat.P = nil // so few differ that no way to deal them would show anything (Tarone 1990)
	}
}

// repeated estimates the mean over blocks. Counts that are alike by chance show no noise; they have that of counts.
func repeated(of []float64, least float64) stats.Estimate {
	e := stats.StudentMean(of)
	e.Error = max(e.Error, math.Sqrt(least)/float64(len(of)))
	return e
}

func (r *Result) estimateAltered(blocks []*block, o Options) {
	r.Altered = new(Altered)
	var all []contrast
	var swapped [][]float64
	for _, b := range blocks {
		r.Altered.N += b.changed[0]
		r.Altered.Visible += b.visible
		r.Altered.Chance += float64(b.changed[1]+b.changed[2]) / 2
		var w [3]float64
		for k, n := range b.changed {
			w[k] = -float64(n) / float64(max(b.requests, 1))
		}
		all, swapped = append(all, contrastOf(w)), append(swapped, exchanged(w))
	}
	e := across(all)
	exact := exchange(swapped)
	r.Altered.Share = *estimateOf(e, above(e), o, true)
	r.Altered.Share.Exact = &exact
}

// orders are the legs that may be those of the change, the true ones first.
var orders = [6][2]int{{2, 3}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}

// estimateDefects compares the shares of defective answers. Shares are tested where their variance does not depend on
// them, as 2·asin √p (Anscombe 1948).
func (r *Result) estimateDefects(blocks []*block, o Options) {
	d := new(Defect)
	design := designOf(blocks)
	var shares, angles []float64
	var swapped [][]float64
	for _, b := range blocks {
		if !b.inspected {
			return
		}
		var share [4]float64
		for i, n := range b.defective {
			of := float64(b.answered[i])
			share[i] = float64(n) / of
			angles = append(angles, 2*math.Asin(math.Sqrt((float64(n)+0.375)/(of+0.75))))
			c := &d.Before
			if i > 1 {
				c = &d.After
			}
			c.N, c.Of = c.N+n, c.Of+b.answered[i]
		}
		var sums []float64
		for _, of := range orders {
			sums = append(sums, share[of[0]]+share[of[1]])
		}
		shares, swapped = append(shares, share[:]...), append(swapped, sums)
	}
	r.Defects = d
	if d.Before.N+d.After.N == 0 || design == nil {
		return
	}
	exact, p := exchange(swapped), above(design.Estimate(angles))
	if len(blocks) >= exactBlocks {
		p = min(p, exact)
	}
	d.Estimate = *estimateOf(design.Estimate(shares), p, o, true)
	d.Exact = &exact
}

// designOf estimates from a value of each leg; nil if it cannot.
func designOf(blocks []*block) *stats.Estimator {
	var units []stats.Unit
	for i, b := range blocks {
		for k, at := range b.position {
			units = append(units, stats.Unit{Variant: k / 2, Block: i, Position: at, First: at})
		}
	}
	return stats.New(units, 2).Effects[1]
}

// estimateLength compares the tokens of answers by the logarithm of their ratio. Its noise is that of the requests,
// which other requests would have differently, and that of the starts: where an engine repeats itself, legs alone would
// show none.
func (r *Result) estimateLength(blocks []*block, o Options) {
	n := float64(len(blocks))
	mean, requests, starts, differ := 0.0, 0.0, 0.0, false
	for _, b := range blocks {
		m := float64(b.requests)
		if m < 2 {
			return
		}
		y := b.length
		for i := range y {
			y[i] /= m
		}
		d := (y[2] + y[3] - y[0] - y[1]) / 2
		mean += d / n
		requests += (b.squares/m - d*d) / (m - 1) / (n * n)
		starts += ((y[0]-y[1])*(y[0]-y[1]) + (y[2]-y[3])*(y[2]-y[3])) / 2 / n
		differ = differ || b.lengths
	}
	if !differ {
		return
	}
	starts /= 2 * n
	square := requests + starts
	df := square * square / (requests*requests/float64(max(r.Requests-1, 1)) + starts*starts/(2*n))
	e := stats.Estimate{Value: mean, Error: math.Sqrt(square), DF: df}
	r.Length = estimateOf(e, e.P(), o, false)
}
