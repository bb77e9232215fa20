package search

import "math"

// An estimate is an estimate of the load at which one objective is just met.
type estimate struct {
	log, sd float64 // natural logarithm of the load; sd is infinite where nothing is known
	df      float64 // how well sd is known; 0: well
	twin    bool
	long    float64 // uncertainty of the twin's long runs, part of sd
	slower  float64 // than the twin, a logarithm
}

// capacityCurve is the capacity by a dose-response curve,
//
//	logit share(load) = logit allowed + b (log load − log capacity)
//
// over a grid of the capacity, of b, and of how clustered requests beyond a limit come. The count of a leg of n
// requests is negative binomial: its mean is n share, its variance
//
//	n share + (n share)² τ/time
//
// since clusters are as many as the time has room for. Legs far from the capacity say little of it: their weight
// falls with their distance, as the line is only one near it. before is the prior of the capacity; without an sd
// there is none.
func capacityCurve(legs []MeasuredLeg, by LoadUnit, objective int, goal, about float64, before estimate) estimate {
	doses := dosesOf(legs, by, objective, goal, about)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, d := range doses {
		lo, hi = min(lo, d.x), max(hi, d.x)
	}
	if len(doses) == 0 {
		return estimate{sd: math.Inf(1)}
	}
	lo, hi = lo-1.4, hi+1.4
	const grid = 281
	post := make([]float64, grid)
	logs := make([][]float64, 0, len(slopes)*len(clusters))
	most := math.Inf(-1)
	for ib, b := range slopes {
		for ik, tau := range clusters {
			row := make([]float64, grid)
			for _, d := range doses {
				d.add(row, lo, (hi-lo)/(grid-1), b, tau, goal)
			}
			prior := -square(float64(ib)-slopesMiddle)/2/square(slopesSpread) - square(float64(ik)-clustersMiddle)/2/square(clustersSpread)
			for i := range row {
				row[i] += prior
				most = max(most, row[i])
			}
			logs = append(logs, row)
		}
	}
	for _, row := range logs {
		for i, v := range row {
			post[i] += math.Exp(v - most)
		}
	}
	if before.sd > 0 {
		for i := range post {
			post[i] *= math.Exp(-square((lo+(hi-lo)/(grid-1)*float64(i)-before.log)/before.sd) / 2)
		}
	}
	return moments(post, lo, (hi-lo)/(grid-1))
}

// The grids, geometric, with the middles and spreads of their priors in steps.
var (
	slopes   = []float64{3, 4.5, 6.5, 9.5, 14, 20, 30}
	clusters = []float64{4, 10, 25, 60, 150} // s
)

const (
	slopesMiddle, slopesSpread     = 3, 1.2
	clustersMiddle, clustersSpread = 2, 1.0
)

// moments are the mean and the sd of a distribution on a grid.
func moments(post []float64, lo, step float64) estimate {
	sum, first, second := 0.0, 0.0, 0.0
	for i, p := range post {
		x := lo + step*float64(i)
		sum, first, second = sum+p, first+p*x, second+p*x*x
	}
	m := first / sum
	return estimate{log: m, sd: math.Sqrt(max(0, second/sum-m*m) + step*step/12)}
}

// A dose is a leg as the curve sees it.
type dose struct {
	x, n, bad, seconds, weight float64
}

// reach is how far from the capacity a leg has a say, in its logarithm.
const reach = 0.35

func dosesOf(legs []MeasuredLeg, by LoadUnit, objective int, goal, about float64) (out []dose) {
	for _, l := range legs {
		t := l.Tail(objective)
		d := dose{x: math.Log(l.Load), n: float64(t.N), bad: float64(t.Above[centre]), seconds: l.Count.Seconds(), weight: 1}
		if t.N == 0 || l.By != by {
			continue
		}
		if reason := l.Reason(); reason != "" { // fails whatever was counted
			d.bad = max(d.bad, min(d.n, max(1, 20*goal*d.n)))
		}
		if !math.IsNaN(about) {
			d.weight = math.Exp(-square((d.x-about)/reach)/2) + 0.02
		}
		out = append(out, d)
	}
	return out
}

// add adds the log likelihood of a leg for capacities on a grid.
func (d dose) add(row []float64, lo, step, b, tau, goal float64) {
	r := max(d.seconds, 1) / tau // shape of the negative binomial
	base := math.Log(goal / (1 - goal))
	constant := logGamma(d.bad+r) - logGamma(r)
	for i := range row {
		share := 1 / (1 + math.Exp(-base-b*(d.x-lo-step*float64(i))))
		m := d.n * share
		// Where most are beyond the limit a count has no tail to the right.
		row[i] += d.weight * (constant + r*math.Log(r/(r+m)) + d.bad*math.Log(m/(r+m)))
	}
}

func logGamma(x float64) float64 { v, _ := math.Lgamma(x); return v }

func square(x float64) float64 { return x * x }
