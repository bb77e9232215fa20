package stats

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// rho is the exponent of the spending function: 1 is near to Pocock's bounds, 3 to those of O'Brien
// and Fleming.
const rho = 2

// Level is the bound on p at look number done of most, at the two-sided level alpha.
func Level(alpha float64, done, most int) float64 {
	if most < 2 || done < 1 {
		return alpha
	}
	spend := func(share float64) float64 { return alpha * math.Pow(share, rho) }
	all := levels(done, most, spend)
	return all[done-1]
}

// levels are those of looks 1 to done of most at even shares of the information.
func levels(done, most int, spend func(share float64) float64) (out []float64) {
	step := 1 / float64(most)
	inside := start()
	for k := 1; k <= min(done, most); k++ {
		at := float64(k) * step
		more := spend(at) - spend(at-step)
		if k == 1 {
			more = spend(at)
		}
		bound := inside.bound(more, math.Sqrt(step), math.Sqrt(at))
		out = append(out, 2*distuv.UnitNormal.Survival(bound/math.Sqrt(at)))
		inside = inside.next(bound, math.Sqrt(step))
	}
	return out
}

// A process is the distribution of a Wiener process that has not left its bounds: the mass of its
// density at some nodes. It is symmetric, so that only one side is stored.
type process struct{ node, mass []float64 }

func start() process { return process{node: []float64{0}, mass: []float64{1}} }

// beyond is the probability to be farther from 0 than a bound after the next step.
func (p process) beyond(bound, sd float64) float64 {
	sum := 0.0
	for i, x := range p.node {
		sum += p.mass[i] * (distuv.UnitNormal.Survival((bound-x)/sd) + distuv.UnitNormal.Survival((bound+x)/sd))
	}
	return sum
}

// bound is the one that is left with a probability, between 0 and 40 deviations.
func (p process) bound(probability, sd, deviation float64) float64 {
	low, high := 0.0, 40*deviation
	for range 60 {
		if middle := (low + high) / 2; p.beyond(middle, sd) > probability {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// next is where the process is after a step, within a bound.
func (p process) next(bound, sd float64) process {
	nodes := 24 + int(6*bound/sd)
	out := process{node: make([]float64, nodes), mass: make([]float64, nodes)}
	quad.Legendre{}.FixedLocations(out.node, out.mass, 0, bound)
	for j, y := range out.node {
		density := 0.0
		for i, x := range p.node {
			density += p.mass[i] * (distuv.UnitNormal.Prob((y-x)/sd) + distuv.UnitNormal.Prob((y+x)/sd)) / sd
		}
		out.mass[j] *= density
	}
	return out
}
