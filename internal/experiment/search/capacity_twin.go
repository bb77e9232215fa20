package search

import (
	"context"
	"math"
	"time"
)

// A match compares a twin with the legs made.
//
// The twin replays the requests of each leg that lies near the capacity. For a factor e^u by
// which the server is slower than its twin, the twin counts m(u) requests beyond the limit, and
// u is where the legs together have as many as it:
//
//	Σ w (bad − m(u)) = 0
//
// Both had the same requests, so the luck of the draw cancels. The few beyond a limit come in clusters, so bad and
// m are means over limits from the limit itself down to where a fifth of the requests are beyond: those are more,
// and the server is slower there by nearly as much. The scatter of bad − m over parts of the legs is the error of
// u: where the twin is a bad one it is large.
//
// Then, over long runs of the twin with other requests, the capacity is the load at which it counts
// as many as the objective allows beyond e^−u times the limit.
type match struct {
	Model
	replays map[int][]Outcome   // by the number of the leg
	long    []longRun           // around the capacity
	all     map[float64]longRun // by load
	parts   int                 // of each long run
	shape   Leg                 // of a part
	seed    uint64
	by      LoadUnit
	seen    bool    // the capacity of the twin by itself was looked for
	last    float64 // logarithm of the last estimate
}

// A longRun is the twin at one load, in parts with different requests: the same at all loads.
type longRun struct {
	load  float64
	parts int
	Outcome
}

const (
	draws    = 3    // of each leg, with other dice of the twin
	near     = 0.12 // distance from the capacity at which a leg has little say left
	farthest = 0.25 // and at which it has none

	longStep     = 0.06 // between loads, in their logarithm
	longSides    = 1    // loads on each side
	longFirst    = 2    // parts of a long run at first
	longParts    = 32   // and at most
	longRequests = 3000 // of a part
	longLeast    = 20 * time.Second
	longMost     = 10 * time.Minute
	longShare    = 0.5 // of an error, that long runs may leave open
	longFine     = 6   // and the part of the precision asked for that does not matter

	// twinOff is the error of a twin that neither its replays nor its long runs show, in the logarithm of the capacity: a
	// hundred searches with a calibrated profile were off by that (docs/capacity.md).
	twinOff = 0.014
)

// replay replays legs that were not yet.
func (m *match) replay(ctx context.Context, l MeasuredLeg) error {
	if _, ok := m.replays[l.Number]; ok {
		return nil
	}
	for d := range draws {
		o, err := m.Replay(ctx, l.Leg, uint64(d)+1)
		if err != nil {
			return err
		}
		m.replays[l.Number] = append(m.replays[l.Number], o)
	}
	return nil
}

// runLong makes the long runs at the loads around one; earlier ones stay.
func (m *match) runLong(ctx context.Context, about float64) error {
	middle := int(math.Round(about / longStep))
	m.long = m.long[:0]
	for k := middle - longSides; k <= middle+longSides; k++ {
		load := round(math.Exp(longStep*float64(k)), m.by)
		if n := len(m.long); n > 0 && m.long[n-1].load == load {
			continue
		}
		r, err := m.longAt(ctx, load)
		if err != nil {
			return err
		}
		m.all[load] = r
		m.long = append(m.long, r)
	}
	return nil
}

// longAt is the long run at a load, with the parts that it lacks.
func (m *match) longAt(ctx context.Context, load float64) (longRun, error) {
	r := m.all[load]
	r.load = load
	for ; r.parts < m.parts; r.parts++ {
		l := m.shape
		l.Load, l.Seed = load, m.seed+7_000_000+uint64(r.parts)
		o, err := m.Replay(ctx, l, uint64(r.parts)+100)
		if err != nil {
			return r, err
		}
		if r.parts == 0 {
			r.Outcome = o
			continue
		}
		for i := range r.Tails {
			r.Tails[i] = append(r.Tails[i], o.Tails[i]...)
		}
	}
	return r, nil
}

// estimate is the capacity by an objective, near a load.
func (m *match) estimate(legs []MeasuredLeg, objective int, goal, about float64) estimate {
	none := estimate{sd: math.Inf(1)}
	used := m.near(legs, about)
	u, sd, df := m.slower(used, objective)
	c, ok := m.capacity(objective, goal, u)
	noise := m.noise(objective, u)
	up, ok1 := m.capacity(objective, goal, u+0.03)
	down, ok2 := m.capacity(objective, goal, u-0.03)
	if !ok || !ok1 || !ok2 {
		return none
	}
	change := math.Abs(up-down) / 0.06
	known := math.Hypot(sd, noise) * change
	return estimate{log: c, sd: math.Hypot(known, twinOff), df: df, twin: true, long: noise * change, slower: u}
}

// noise is the uncertainty of the long runs, as an error of u: by the scatter of their blocks, each of which has
// the same requests at all loads.
func (m *match) noise(objective int, u float64) float64 {
	count := func(block int, u float64) (above, n float64) {
		for i := range m.long {
			t := &m.long[i].Tails[objective][block]
			above, n = above+t.at(-u), n+float64(t.N)
		}
		return above, n
	}
	total, of, more, less := 0.0, 0.0, 0.0, 0.0
	for b := range m.long[0].Tails[objective] {
		a, n := count(b, u)
		up, _ := count(b, u+0.04)
		down, _ := count(b, u-0.04)
		total, of, more, less = total+a, of+n, more+up, less+down
	}
	scatter := 0.0
	for b := range m.long[0].Tails[objective] {
		a, n := count(b, u)
		scatter += square(a - n*total/max(of, 1))
	}
	if more <= less {
		return math.Inf(1)
	}
	return math.Sqrt(scatter) / ((more - less) / 0.08)
}

type paired struct {
	MeasuredLeg
	twin   []Outcome
	weight float64
}

func (m *match) near(legs []MeasuredLeg, about float64) (out []paired) {
	for _, l := range legs {
		x := math.Log(l.Load) - about
		if twin := m.replays[l.Number]; twin != nil && math.Abs(x) < farthest && l.Reason() == "" && l.By == m.by {
			out = append(out, paired{l, twin, math.Exp(-square(x/near) / 2)})
		}
	}
	return out
}

// Limits below that of an objective are taken down to where this share of the requests is beyond,
// in so many steps, and never less than exp(−deepest) times the limit.
const (
	mostBeyond = 0.2
	depths     = 4
	deepest    = 0.5
)

// depth is how far down, in the logarithm of the limit.
func depth(legs []paired, objective int) (d float64) {
	const step = 0.02
	var all Tail
	for i := range legs {
		all = all.plus(legs[i].Tail(objective))
	}
	for d < deepest && all.at(-d-step) < mostBeyond*float64(all.N) {
		d += step
	}
	return d
}

// over is the mean of how many are beyond exp(u) times the limits down to a depth.
func (t *Tail) over(u, depth float64) (mean float64) {
	for i := range depths + 1 {
		mean += t.at(u-depth*float64(i)/depths) / (depths + 1)
	}
	return mean
}

// count is the twin's count in a block if the server is slower by e^u.
func (p *paired) count(objective, block int, u, depth float64) float64 {
	sum := 0.0
	for i := range p.twin {
		sum += p.twin[i].Tails[objective][block].over(-u, depth)
	}
	return sum / float64(len(p.twin))
}

// A sum is the weighted sum of legs.
type sum struct {
	bad, twin   float64 // beyond the limits, of the server and of its twin
	scatter     float64 // of their difference over blocks: its variance
	squares, df float64 // Σ w² m, and how many blocks that are worth
}

func sumOf(used []paired, objective int, u, depth float64) (s sum) {
	weights, squares := 0.0, 0.0
	for i := range used {
		p := &used[i]
		for b, t := range p.Tails[objective] {
			y, m := t.over(0, depth), p.count(objective, b, u, depth)
			s.bad += p.weight * y
			s.twin += p.weight * m
			s.scatter += square(p.weight * (y - m))
			s.squares += square(p.weight) * (m + 0.1)
			weights += p.weight
			squares += square(p.weight)
		}
	}
	s.df = square(weights)/max(squares, 1e-9) - 1
	return s
}

// distance is by how many standard deviations the server has more beyond the limit in legs than its
// twin if that is slower by e^u: of the scatter between both or, where that is larger, between the
// twin's own draws.
func (m *match) distance(legs []MeasuredLeg, objective int, u float64) float64 {
	off, scatter, own := 0.0, 0.0, 0.0
	for _, l := range legs {
		p := paired{MeasuredLeg: l, twin: m.replays[l.Number]}
		if p.twin == nil {
			continue
		}
		for b, t := range l.Tails[objective] {
			mean := p.count(objective, b, u, 0)
			d := float64(t.Above[centre]) - mean
			off, scatter = off+d, scatter+square(d)
			for i := range p.twin {
				own += square(p.twin[i].Tails[objective][b].at(-u)-mean) * (1 + 1./draws) / (draws - 1)
			}
		}
	}
	return off / math.Sqrt(max(scatter, own, 1))
}

// prior is by how much a server is slower or faster than its model, before any leg says so.
const prior = 0.2

// slower is u with its error, by a Poisson likelihood with the variance of the scatter, over a grid of u.
func (m *match) slower(used []paired, objective int) (u, sd, df float64) {
	const edge, grid = widest - 0.1, 281
	dispersion, deep := 1.0, depth(used, objective)
	for range 3 {
		logs, most := make([]float64, grid), math.Inf(-1)
		for i := range logs {
			v := edge * (2*float64(i)/(grid-1) - 1)
			s := sumOf(used, objective, v, deep)
			logs[i] = (s.bad*math.Log(s.twin+0.1)-s.twin)/dispersion - square(v/prior)/2
			most = max(most, logs[i])
		}
		post := make([]float64, grid)
		for i, l := range logs {
			post[i] = math.Exp(l - most)
		}
		e := moments(post, -edge, 2*edge/(grid-1))
		u, sd = e.log, e.sd
		s := sumOf(used, objective, u, deep)
		if df = s.df; s.df >= 1 {
			dispersion = max(0.5, s.scatter/s.squares*(1+1/float64(draws)))
		}
	}
	return u, sd, df
}

// capacity is the logarithm of the load at which the twin has the share allowed beyond e^−u
// times the limit: a line through the logits of its long runs, near the goal above all.
func (m *match) capacity(objective int, goal, u float64) (float64, bool) {
	base := math.Log(goal / (1 - goal))
	var sw, sx, sy, sxx, sxy float64
	for i := range m.long {
		r := &m.long[i]
		t := r.Tail(objective)
		a := t.at(-u)
		x, y := math.Log(r.load), math.Log((a+0.5)/(float64(t.N)-a+0.5))
		w := 1 / (1 + square((y-base)/1.5))
		sw, sx, sy, sxx, sxy = sw+w, sx+w*x, sy+w*y, sxx+w*x*x, sxy+w*x*y
	}
	det := sw*sxx - sx*sx
	if det <= 0 {
		return 0, false
	}
	slope := (sw*sxy - sx*sy) / det
	if slope < 1 {
		return 0, false
	}
	return sx/sw + (base-sy/sw)/slope, true
}
