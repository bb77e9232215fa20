package steps

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// The columns of a row: the linear costs of a step, then the segments of a table by the number
// of sequences.
const (
	perStep = iota
	perSequence
	perContext
	perPrefill
	perToken
	perPair
	linear
	columns = linear + 9
)

// knots are where a table by the number of sequences may bend.
var knots = [...]float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}

// A coefficients is the cost of each column, in seconds.
type coefficients [columns]float64

// costs are the coefficients of an engine; with a table it has one point more than bends.
func (c coefficients) costs(bends []float64) engine.Costs {
	out := engine.Costs{
		Step: engine.Seconds(c[perStep]), Sequence: engine.Seconds(c[perSequence]), ContextToken: engine.Seconds(c[perContext]),
		Prefill: engine.Seconds(c[perPrefill]), PrefillToken: engine.Seconds(c[perToken]), PrefillPair: engine.Seconds(c[perPair]),
	}
	if bends == nil {
		return out
	}
	at := out.Step
	out.Step, out.Sequence = 0, 0
	out.DecodeTable = []engine.Point{{At: knots[0], Time: at}}
	for i, knot := range bends {
		at += engine.Seconds(c[linear+i])
		out.DecodeTable = append(out.DecodeTable, engine.Point{At: knot, Time: at})
	}
	return out
}

// leastBehind is the number of steps that a segment of a table is known from.
const leastBehind = 25

// tabled are the rows with a table in place of the cost of a sequence: each segment adds
// something, and none takes anything away. It is nil where there are not two segments.
func tabled(rows []row) (out []row, bends []float64) {
	from := knots[0]
	for _, knot := range knots[1:] {
		n := 0
		for i := range rows {
			if d := rows[i].x[perSequence]; d > from && d <= knot {
				n++
			}
		}
		if n >= leastBehind {
			bends, from = append(bends, knot), knot
		}
	}
	if len(bends) < 2 {
		return nil, nil
	}
	out = slices.Clone(rows)
	for i := range out {
		x := &out[i].x
		d, from := x[perSequence], knots[0]
		x[perSequence] = 0
		for j, knot := range bends {
			x[linear+j] = max(0, (d-from)/(knot-from))
			if j < len(bends)-1 {
				x[linear+j] = min(1, x[linear+j])
			}
			from = knot
		}
	}
	return out, bends
}

func (c coefficients) of(x [columns]float64) (y float64) {
	for j, v := range x {
		y += c[j] * v
	}
	return y
}

// A row is a step of which the duration is known.
type row struct {
	x     [columns]float64
	y     float64 // s
	block int     // 2 s of a leg
	asked bool    // somebody waited, or had the first token in it
}

func (r *row) prefills() bool { return r.x[perPrefill] > 0 }

// rows are the steps that began when the one before ended: others were under way across it.
func (l *log) rows(r *replayed, first int) (rows []row) {
	for k := 1; k < len(l.steps); k++ {
		s, y := &l.steps[k], l.steps[k].end-l.steps[k-1].end
		if s.decodes == 0 || float64(s.decodes) < 0.98*float64(s.active) || y < 100*time.Microsecond {
			continue
		}
		x := [columns]float64{perStep: 1, perSequence: float64(s.decodes), perContext: s.context, perToken: r.tokens[k], perPair: r.pairs[k]}
		if r.tokens[k] > 0 {
			x[perPrefill] = 1
		}
		rows = append(rows, row{x, y.Seconds(), first + int(s.end/(2*time.Second)), r.waiting[k] || len(s.firsts) > 0})
	}
	return rows
}

// regress finds the costs of rows by least squares of relative errors, none below 0, in
// which what lies far off counts little. Its weights are those of the last round.
func regress(rows []row, rounds int) (c coefficients, weights []float64) {
	weights = make([]float64, len(rows))
	for i := range rows {
		weights[i] = 1 / rows[i].y
	}
	c = solve(rows, weights)
	off := make([]float64, len(rows))
	for range rounds {
		var sizes [2][]float64
		for i := range rows {
			off[i] = rows[i].y/max(1e-6, c.of(rows[i].x)) - 1
			sizes[kind(&rows[i])] = append(sizes[kind(&rows[i])], math.Abs(off[i]))
		}
		sigma := [2]float64{1.48 * median(sizes[0]), 1.48 * median(sizes[1])}
		for i := range rows {
			weights[i] = robust(off[i], max(1e-6, sigma[kind(&rows[i])])) / max(1e-6, c.of(rows[i].x))
		}
		c = solve(rows, weights)
	}
	return c, weights
}

// kind tells steps with prompts from others: one is rare, and would be all outliers.
func kind(r *row) int {
	if r.prefills() {
		return 1
	}
	return 0
}

// robust is the square root of the weight of an error: Huber's, and next to none beyond 8 sigma.
func robust(off, sigma float64) float64 {
	z := math.Abs(off) / sigma
	switch {
	case z > 8:
		return math.Sqrt(1e-3)
	case z > 2:
		return math.Sqrt(2 / z)
	}
	return 1
}

// solve is least squares with no coefficient below 0: a column whose coefficient would be is
// left out, the worst first. Columns are scaled to the same length.
func solve(rows []row, weights []float64) (c coefficients) {
	var gram [columns][columns]float64
	var right, size [columns]float64
	for i := range rows {
		w := weights[i] * weights[i]
		for j, a := range rows[i].x {
			if a == 0 {
				continue
			}
			right[j] += w * a * rows[i].y
			for k, b := range rows[i].x {
				gram[j][k] += w * a * b
			}
		}
	}
	for j := range size {
		size[j] = math.Sqrt(gram[j][j])
	}
	var free []int
	for j := range size {
		if size[j] > 0 {
			free = append(free, j)
		}
	}
	for len(free) > 0 {
		normal, target := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
		for a, j := range free {
			target.SetVec(a, right[j]/size[j])
			for b, k := range free[:a+1] {
				normal.SetSym(a, b, gram[j][k]/size[j]/size[k])
			}
			normal.SetSym(a, a, 1+1e-12) // columns may be multiples of each other
		}
		var whole mat.Cholesky
		found := mat.NewVecDense(len(free), nil)
		if !whole.Factorize(normal) || whole.SolveVecTo(found, target) != nil {
			return c
		}
		worst := 0
		for a, j := range free {
			if c[j] = max(0, found.AtVec(a)/size[j]); found.AtVec(a) < found.AtVec(worst) {
				worst = a
			}
		}
		if found.AtVec(worst) >= 0 {
			return c
		}
		free = slices.Delete(free, worst, worst+1)
	}
	return c
}

// bootstraps is how often the costs are found again from blocks of time drawn anew.
const bootstraps = 24

// spread is the standard deviation of each coefficient over blocks drawn anew, the weights
// as they are.
func spread(rows []row, weights []float64) (sd coefficients) {
	blocks := map[int][]int{}
	for i := range rows {
		blocks[rows[i].block] = append(blocks[rows[i].block], i)
	}
	names := make([]int, 0, len(blocks))
	for name := range blocks {
		names = append(names, name)
	}
	slices.Sort(names)
	dice := rand.New(rand.NewPCG(1, 2))
	var sum, squares coefficients
	for range bootstraps {
		times := make([]float64, len(rows))
		for range names {
			for _, i := range blocks[names[dice.IntN(len(names))]] {
				times[i]++
			}
		}
		for i := range times {
			times[i] = math.Sqrt(times[i]) * weights[i]
		}
		c := solve(rows, times)
		for j, v := range c {
			sum[j] += v
			squares[j] += v * v
		}
	}
	for j := range sd {
		mean := sum[j] / bootstraps
		sd[j] = math.Sqrt(max(0, squares[j]/bootstraps-mean*mean))
	}
	return sd
}

// median of x, which it sorts; 0 of nothing.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return x[len(x)/2]
}
