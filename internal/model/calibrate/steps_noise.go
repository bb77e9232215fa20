package calibrate

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A noise is what steps vary by, though their work is the same.
type noise struct {
	jitter    float64   // coefficient of variation of a step
	quantiles []float64 // of its factor, where it is not lognormal; else nil
	slow      *engine.SlowSteps
	drift     float64 // standard deviation of the pace from one 4 s to the next
}

func (n noise) onto(c engine.Costs) engine.Costs {
	c.Jitter, c.JitterQuantiles, c.SlowSteps = n.jitter, n.quantiles, n.slow
	if n.quantiles != nil {
		c.Jitter = 0
	}
	return c
}

// A slow step is one by leastSlow (s) and slowSigma standard deviations longer than it should be.
const (
	leastSlow = 0.004
	slowSigma = 6
	leastRare = 5 // of them make a share
)

// noiseOf finds it in steps without prompts while no request waited.
func noiseOf(rows []row, off []float64) (n noise) {
	var sizes []float64
	for i := range rows {
		if !rows[i].prefills() && !rows[i].asked && !rows[i].mean {
			sizes = append(sizes, math.Abs(off[i]))
		}
	}
	sigma := 1.48 * median(sizes)
	var usual, slow []float64
	sum, pairs, last := 0.0, 0, math.NaN()
	blocks := map[int][]float64{}
	for i := range rows {
		r := &rows[i]
		if r.prefills() || r.asked || r.mean {
			last = math.NaN()
			continue
		}
		late := excess(r, off[i])
		if off[i] > slowSigma*sigma && late > leastSlow {
			if made := i+1 == len(rows) || excess(&rows[i+1], off[i+1]) > -late/2; made {
				slow = append(slow, late)
			} // else the next step is shorter: tokens were delivered late, and the engine went on
			last = math.NaN()
			continue
		}
		if math.Abs(off[i]) > slowSigma*sigma {
			last = math.NaN()
			continue
		}
		if !math.IsNaN(last) {
			sum += off[i] * last
			pairs++
		}
		last = off[i]
		usual = append(usual, off[i])
		blocks[r.block/2] = append(blocks[r.block/2], off[i])
	}
	delivery := max(0, -sum/float64(max(1, pairs))) // makes one step longer and the next one shorter
	variance := variance(usual)
	n.drift = drift(blocks, variance)
	own := max(0, variance-2*delivery-n.drift*n.drift)
	n.jitter = math.Sqrt(own)
	if variance > 0 && skewed(usual, math.Sqrt(variance)) {
		n.quantiles = quantiles(usual, math.Sqrt(own/variance))
	}
	if len(slow) >= leastRare {
		slices.Sort(slow)
		n.slow = &engine.SlowSteps{Share: engine.Relative(float64(len(slow)) / float64(len(slow)+len(usual)))}
		for i := range quantileCount {
			n.slow.Extra = append(n.slow.Extra, engine.Seconds(slow[i*(len(slow)-1)/(quantileCount-1)]))
		}
	}
	return n
}

// excess is by how many seconds a step was longer than it should be.
func excess(r *row, off float64) float64 { return off * r.y / (1 + off) }

// quantileCount is how many quantiles describe a distribution.
const quantileCount = 21

// skewed reports whether errors are farther than a tenth of their standard deviation from
// those of a normal distribution, somewhere between the 5th and the 95th percentile.
func skewed(off []float64, sd float64) bool {
	if len(off) < 500 {
		return false
	}
	slices.Sort(off)
	for _, p := range []float64{0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95} {
		normal := math.Sqrt2 * math.Erfinv(2*p-1)
		if math.Abs(off[int(p*float64(len(off)-1))]/sd-normal) > 0.15 {
			return true
		}
	}
	return false
}

// quantiles are those of a factor on steps, from sorted errors, less by shrink since a part of
// the errors is not the engine's.
func quantiles(off []float64, shrink float64) (out []float64) {
	for i := range quantileCount {
		factor := 1 + shrink*off[i*(len(off)-1)/(quantileCount-1)]
		out = append(out, math.Round(max(0.01, factor)*1e5)/1e5)
	}
	return out
}

func variance(x []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum += v
		squares += v * v
	}
	n := float64(max(1, len(x)))
	return max(0, squares/n-sum/n*sum/n)
}

// drift is the standard deviation of the means of blocks, less what their size explains.
func drift(blocks map[int][]float64, variance float64) float64 {
	var means []float64
	expected := 0.0
	for _, b := range blocks {
		if len(b) < 50 {
			continue
		}
		mean := 0.0
		for _, x := range b {
			mean += x / float64(len(b))
		}
		means = append(means, mean)
		expected += variance / float64(len(b))
	}
	if len(means) < 5 {
		return 0
	}
	slices.Sort(means) // a map has no order, and sums would differ
	between := 0.0
	mean := 0.0
	for _, m := range means {
		mean += m / float64(len(means))
	}
	for _, m := range means {
		between += (m - mean) * (m - mean) / float64(len(means)-1)
	}
	return math.Sqrt(max(0, between-expected/float64(len(means))))
}
