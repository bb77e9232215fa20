package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// regress finds the costs of rows by least squares of relative errors, none below 0, in
// which what lies far off counts little, in rounds from costs that are near, if any are known.
// Its weights are those of the last round.
func regress(rows []row, f *form, near *coefficients, rounds int) (c coefficients, weights []float64) {
	weights = make([]float64, len(rows))
	for i := range rows {
		weights[i] = 1 / rows[i].y
	}
	pace := paceOf(rows)
	if near != nil {
		c = *near
	} else {
		c = sum(rows, f, weights).smooth(f, pace).solve()
	}
	for range rounds {
		off := offs(rows, f, &c)
		sigma := spreads(rows, off)
		for i := range rows {
			weights[i] = robust(off[i], sigma[rows[i].kind()]) * (1 + off[i]) / rows[i].y
		}
		c = sum(rows, f, weights).smooth(f, pace).solve()
	}
	return c, weights
}

// offs are the relative errors of the durations.
func offs(rows []row, f *form, c *coefficients) []float64 {
	off := make([]float64, len(rows))
	for i := range rows {
		off[i] = rows[i].y/max(1e-6, c.of(f, &rows[i])) - 1
	}
	return off
}

// spreads are the robust standard deviations of relative errors by the kind of a step.
func spreads(rows []row, off []float64) (sigma [2]float64) {
	var sizes [2][]float64
	for i := range rows {
		k := rows[i].kind()
		sizes[k] = append(sizes[k], math.Abs(off[i]))
	}
	for k := range sigma {
		sigma[k] = max(1e-6, 1.48*median(sizes[k]))
	}
	return sigma
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

// Normal equations are what least squares need of rows. Of gram, which is symmetric, the lower
// triangle counts.
type normal struct {
	gram  [columns][columns]float64
	right [columns]float64
}

func (n *normal) add(f *form, r *row, weight float64) {
	var x [columns]float64
	f.x(r, &x)
	var at [columns]int
	some := at[:0]
	for j, v := range x {
		if v != 0 {
			some = append(some, j)
		}
	}
	w := weight * weight
	for a, j := range some {
		n.right[j] += w * x[j] * r.y
		for _, k := range some[:a+1] {
			n.gram[j][k] += w * x[j] * x[k]
		}
	}
}

// plus adds the rows of other, times over.
func (n *normal) plus(other *normal, times float64) {
	for j := range n.gram {
		n.right[j] += times * other.right[j]
		for k := range n.gram[j][:j+1] {
			n.gram[j][k] += times * other.gram[j][k]
		}
	}
}

func sum(rows []row, f *form, weights []float64) *normal {
	n := new(normal)
	for i := range rows {
		n.add(f, &rows[i], weights[i])
	}
	return n
}

// smoothness is the number of steps, about, that it takes to bend a table.
const smoothness = 9

// paceOf is the median duration of a step, in seconds.
func paceOf(rows []row) float64 {
	y := make([]float64, len(rows))
	for i := range rows {
		y[i] = rows[i].y
	}
	return max(1e-6, median(y))
}

// smooth holds neighbouring slopes of tables to each other, weakly.
func (n *normal) smooth(f *form, pace float64) *normal {
	weight := smoothness / (pace * pace)
	for _, t := range []struct {
		at    int
		from  float64
		knots []float64
	}{{decodeSegments, decodeKnots[0], f.decode}, {mixedSegments, mixedKnots[0], f.mixed}, {tokenSegments, tokenKnots[0], f.tokens}} {
		from := t.from
		for j := 0; j+1 < len(t.knots); j++ {
			a, b := t.knots[j]-from, t.knots[j+1]-t.knots[j]
			x, y := math.Sqrt(b/a), -math.Sqrt(a/b)
			n.gram[t.at+j][t.at+j] += weight * x * x
			n.gram[t.at+j+1][t.at+j+1] += weight * y * y
			n.gram[t.at+j+1][t.at+j] += weight * x * y
			from = t.knots[j]
		}
	}
	return n
}

// solve is least squares with no coefficient below 0: a column that would get one is left out, the
// worst first. Columns are scaled to the same length.
func (n *normal) solve() (c coefficients) {
	var size [columns]float64
	var free []int
	for j := range size {
		if size[j] = math.Sqrt(n.gram[j][j]); size[j] > 0 {
			free = append(free, j)
		}
	}
	for len(free) > 0 {
		scaled, target := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
		for a, j := range free {
			target.SetVec(a, n.right[j]/size[j])
			for b, k := range free[:a+1] {
				scaled.SetSym(a, b, n.gram[j][k]/size[j]/size[k])
			}
			scaled.SetSym(a, a, 1+1e-12) // columns may be multiples of each other
		}
		var whole mat.Cholesky
		found := mat.NewVecDense(len(free), nil)
		if !whole.Factorize(scaled) || whole.SolveVecTo(found, target) != nil {
			return coefficients{}
		}
		worst := 0
		c = coefficients{}
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

// draws is how often the costs are found again from blocks of time drawn anew.
const draws = 16

// redrawn are the costs found from as many blocks of each leg, drawn anew, with the
// weights as they are.
func redrawn(rows []row, f *form, weights []float64, legOf func(block int) int) (out []coefficients) {
	blocks, legs := map[int]*normal{}, map[int][]int{}
	for i := range rows {
		b := rows[i].block
		if blocks[b] == nil {
			blocks[b] = new(normal)
			legs[legOf(b)] = append(legs[legOf(b)], b)
		}
		blocks[b].add(f, &rows[i], weights[i])
	}
	dice, pace := rand.New(rand.NewPCG(1, 2)), paceOf(rows)
	for range draws {
		all := new(normal)
		for leg := range len(legs) + 1 { // in order; a leg may have no block
			for range legs[leg] {
				all.plus(blocks[legs[leg][dice.IntN(len(legs[leg]))]], 1)
			}
		}
		out = append(out, all.smooth(f, pace).solve())
	}
	return out
}

// deviation is the standard deviation of each coefficient.
func deviation(all []coefficients) (sd coefficients) {
	for j := range sd {
		sum, squares := 0.0, 0.0
		for _, c := range all {
			sum += c[j]
			squares += c[j] * c[j]
		}
		n := float64(len(all))
		sd[j] = math.Sqrt(max(0, squares/n-sum/n*sum/n))
	}
	return sd
}

// median of x, which it puts into another order; 0 of nothing. It is quickselect, since this is
// where most of the time of a fit would go.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	middle := len(x) / 2
	for low, high := 0, len(x)-1; low < high; {
		pivot, i, j := x[(low+high)/2], low, high
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case middle <= j:
			high = j
		case middle >= i:
			low = i
		default:
			return x[middle]
		}
	}
	return x[middle]
}
