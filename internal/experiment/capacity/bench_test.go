package capacity_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/capacity"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/objective"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

var (
	trials = flag.Int("trials", 0, "searches by each method on each server; 0: none")
	only   = flag.String("only", "", "search on this server alone: own family or alien")
	from   = flag.Uint64("from", 1, "seed of the first search")
	truths = flag.Float64("truth", 4000, "seconds of virtual time at each load that the truth is found from")
)

// A server is one whose capacity is known.
type server struct {
	name  string
	model func(seed uint64) engine.Model

	objectives []objective.Objective
	truth      float64
}

// ownFamily is an engine that a profile can be: it has the scheduler and the costs of ours.
var ownFamily = engine.Config{
	Scheduler: engine.Scheduler{TokenBudget: 2048, MaxSequences: 64},
	Cost:      engine.Costs{Step: 0.0082, Sequence: 41e-6, ContextToken: 52e-9, Prefill: 0.0031, PrefillToken: 23e-6, PrefillPair: 1.3e-9, Jitter: 0.03},
	Frontend:  engine.Frontend{Request: 0.0006, Delay: 0.002, Chunk: 15e-6},
}

func modelOf(c engine.Config) func(uint64) engine.Model {
	return func(seed uint64) engine.Model {
		c.Seed = seed
		m, err := engine.New(c)
		if err != nil {
			panic(err)
		}
		return m
	}
}

func lognormal(d *rand.Rand, mean, cv float64) int {
	s := math.Sqrt(math.Log(1 + cv*cv))
	return max(2, int(math.Round(mean*math.Exp(s*d.NormFloat64()-s*s/2))))
}

// requests are those of a leg: prompts of 400 tokens, answers of 120, in the mean.
func requests(l capacity.Leg) sim.Plan {
	d := rand.New(rand.NewPCG(l.Seed, 7))
	p := sim.Plan{Stream: true, Schedule: arrival.Burst(), Until: l.Length()}
	add := func() {
		j := engine.Job{PromptTokens: lognormal(d, 400, 0.8), OutputTokens: lognormal(d, 120, 0.7)}
		p.Requests = append(p.Requests, sim.Request{PromptTokens: j.PromptTokens, WantTokens: j.OutputTokens, Job: j, Finish: "length"})
	}
	if l.By == capacity.Concurrency {
		p.Concurrency = int(l.Load)
		for range int(l.Length().Seconds()*l.Load*5) + 20 {
			add()
		}
		return p
	}
	var at []time.Duration
	for t := d.ExpFloat64() / l.Load; t < l.Length().Seconds(); t += d.ExpFloat64() / l.Load {
		at = append(at, time.Duration(t*1e9))
		add()
	}
	p.Schedule = slices.Values(at)
	return p
}

// noisy delays each chunk, as a client sees it, by 60 us in the mean.
func noisy(records []*trace.Record, d *rand.Rand) {
	for _, r := range records {
		for i := range r.Chunks {
			c := &r.Chunks[i]
			c.At += trace.Instant(6e4 * d.ExpFloat64())
			if i > 0 {
				c.At = max(c.At, r.Chunks[i-1].At)
			}
			r.Done = max(r.Done, c.At)
		}
	}
}

func play(m engine.Model, l capacity.Leg) *trace.Trace {
	p := requests(l)
	out := sim.Run(m, p)
	run := trace.Run{ID: fmt.Sprintf("%d", l.Number), Kind: trace.Simulated, End: out.End, Status: trace.Complete}
	run.Plan = trace.Plan{Stream: true, Protocol: "completions", Model: "m", Requests: len(p.Requests), Concurrency: p.Concurrency, Percentiles: []float64{99}}
	if l.By == capacity.Rate {
		run.Plan.Rate = l.Load
	}
	return &trace.Trace{Run: run, Records: out.Records}
}

// measured is a leg against the server, as its client sees it.
func (s *server) measured(l capacity.Leg) *trace.Trace {
	t := play(s.model(l.Seed*31+5), l)
	noisy(t.Records, rand.New(rand.NewPCG(l.Seed, 11)))
	return t
}

// A twin replays legs against an engine.
type twin struct {
	engine.Config
	objectives []objective.Objective
}

func (w twin) Replay(_ context.Context, l capacity.Leg, draw uint64) (capacity.Outcome, error) {
	w.Seed = l.Seed*77 + draw
	m, err := engine.New(w.Config)
	if err != nil {
		return capacity.Outcome{}, err
	}
	return capacity.Observe(play(m, l), l, w.objectives), nil
}

// tighten sets the objectives: limits on the 99th percentiles of TTFT and TPOT, 2 and 1.45
// times what they are at 0.3 of the throughput capacity.
func (s *server) tighten() {
	flood := play(s.model(1), capacity.Leg{Load: 300, By: capacity.Rate, Count: 40 * time.Second, Seed: 3})
	bears := float64(len(flood.Records)) / flood.Run.End.Seconds()
	calm := play(s.model(2), capacity.Leg{Load: 0.3 * bears, By: capacity.Rate, Count: 2000 * time.Second, Seed: 4})
	figures := metrics.Rules{}.Figures(calm, "pitot", "")
	for name, factor := range map[string]float64{"ttft": 2, "tpot": 1.45} {
		i := slices.IndexFunc(figures, func(f trace.Figure) bool { return f.Name == name+".p99" })
		limit := time.Duration(factor * figures[i].Value * 1e9)
		s.objectives = append(s.objectives, objective.Objective{Metric: name, P: 99, Limit: limit.Round(100 * time.Microsecond)})
	}
	slices.SortFunc(s.objectives, func(a, b objective.Objective) int { return len(a.Name()) - len(b.Name()) })
	s.truth = s.find(bears)
}

// find is the capacity by long runs: a line through the logits of what is beyond a limit, at
// loads around it, by the objective that binds.
func (s *server) find(bears float64) float64 {
	share := func(load, secs float64, seed uint64) []float64 {
		out := make([]float64, len(s.objectives))
		n := make([]float64, len(s.objectives))
		for part := range max(1, int(secs/500)) {
			l := capacity.Leg{Load: load, By: capacity.Rate, Seed: seed + uint64(part), Ramp: 20 * time.Second, Count: 500 * time.Second, Rest: 10 * time.Second}
			o := capacity.Observe(play(s.model(seed+uint64(part)), l), l, s.objectives)
			for i := range out {
				t := o.Tail(i)
				out[i] += (1 - o.Attained(i)) * float64(t.N)
				n[i] += float64(t.N)
			}
		}
		for i := range out {
			out[i] = (out[i] + 0.5) / (n[i] + 1)
		}
		return out
	}
	lo, hi := 0.1*bears, bears
	for range 6 {
		mid := math.Sqrt(lo * hi)
		if slices.Max(share(mid, 500, 50)) > 0.01 {
			hi = mid
		} else {
			lo = mid
		}
	}
	about := math.Sqrt(lo * hi)
	least := math.Inf(1)
	for i := range s.objectives {
		var x, y []float64
		for k := -3; k <= 3; k++ {
			load := about * math.Exp(0.03*float64(k))
			p := share(load, *truths, uint64(1000*(k+5)))[i]
			x, y = append(x, math.Log(load)), append(y, math.Log(p/(1-p)))
		}
		mx, my, sxx, sxy := 0., 0., 0., 0.
		for k := range x {
			mx, my = mx+x[k]/float64(len(x)), my+y[k]/float64(len(x))
		}
		for k := range x {
			sxx, sxy = sxx+(x[k]-mx)*(x[k]-mx), sxy+(x[k]-mx)*(y[k]-my)
		}
		if slope := sxy / sxx; slope > 1 {
			least = min(least, math.Exp(mx+(math.Log(0.01/0.99)-my)/slope))
		}
	}
	return least
}

// An answer is what a method said, in what time.
type answer struct {
	load, passes float64
	spent        time.Duration
}

// doubling is what is usually done: legs of half a minute that begin empty, the load doubled
// until one fails, then the interval halved until it is 5 % wide.
func (s *server) doubling(seed uint64) (a answer) {
	lo, hi := 0., 0.
	for n := uint64(1); hi == 0 || hi/lo > 1.05; n++ {
		load := 1.
		switch {
		case hi > 0:
			load = (lo + hi) / 2
		case lo > 0:
			load = 2 * lo
		}
		l := capacity.Leg{Load: load, By: capacity.Rate, Seed: seed*1000 + n, Ramp: 3 * time.Second, Count: 27 * time.Second}
		o := capacity.Observe(s.measured(l), l, s.objectives)
		a.spent += o.Spent
		if v, _ := o.Judge(s.objectives); v == capacity.Met {
			lo = load
		} else {
			hi = load
		}
		if lo == 0 && hi < 0.01 {
			break
		}
	}
	a.load, a.passes = lo, lo
	return a
}

// search is ours, with a model or without.
func (s *server) search(t *testing.T, seed uint64, w capacity.Twin, learn bool) answer {
	traces := map[int]*trace.Trace{}
	set := capacity.Settings{Objectives: s.objectives, By: capacity.Rate, Budget: 10 * time.Minute, Precision: 0.05, Seed: seed * 100_003, Twin: w}
	if learn {
		set.Learn = func(ctx context.Context, legs []capacity.Made) (capacity.Twin, error) {
			var all []*trace.Trace
			for _, l := range legs {
				all = append(all, traces[l.Number])
			}
			found, err := calibrate.FromTraces(ctx, all)
			if err != nil {
				return nil, err
			}
			return twin{found.Engine, s.objectives}, nil
		}
	}
	measure := func(_ context.Context, l capacity.Leg) (capacity.Outcome, error) {
		traces[l.Number] = s.measured(l)
		return capacity.Observe(traces[l.Number], l, s.objectives), nil
	}
	told := func(capacity.Made) {}
	if *trials == 1 {
		told = func(l capacity.Made) {
			v, _ := l.Judge(s.objectives)
			t.Logf("%2d %-7s %7.2f ramp %.1f count %.0f %.4f %.4f %s %s", l.Number, l.Why, l.Load, l.Ramp.Seconds(), l.Count.Seconds(), l.Attained(0), l.Attained(1), v, l.Reason())
		}
	}
	r, err := capacity.Run(t.Context(), set, measure, told)
	if err != nil {
		t.Fatal(err)
	}
	if *trials <= 3 {
		t.Logf("%s: %.2f [%.2f, %.2f] ±%.3f %s twin %v %v", s.name, r.Load, r.Passes, r.Fails, r.Precision, r.End, r.Twin, r.Spent)
	}
	return answer{r.Load, r.Passes, r.Spent}
}

// profile is a model of the server found by the runs of pitot calibrate, and their time.
func (s *server) profile(t *testing.T, seed uint64) (capacity.Twin, time.Duration) {
	var all []*trace.Trace
	bears, spent := 0., time.Duration(0)
	leg := func(l capacity.Leg) {
		l.Seed = seed*500 + uint64(len(all)) + 1_000_000
		one := s.measured(l)
		all = append(all, one)
		spent += time.Duration(one.Run.End)
		bears = max(bears, float64(len(one.Records))/one.Run.End.Seconds())
	}
	for _, n := range []float64{1, 4, 16, 64} {
		leg(capacity.Leg{Load: n, By: capacity.Concurrency, Count: 8 * time.Second})
	}
	leg(capacity.Leg{Load: bears / 4, By: capacity.Rate, Count: 12 * time.Second})
	leg(capacity.Leg{Load: 1000, By: capacity.Rate, Count: 320 * time.Millisecond})
	found, err := calibrate.FromTraces(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return twin{found.Engine, s.objectives}, spent
}

// row is a line of the table.
func (s *server) row(t *testing.T, name string, all []answer) {
	var took []float64
	in5, in10, high, passed := 0, 0, 0, 0
	bias, rms := 0., 0.
	for _, a := range all {
		e := a.load/s.truth - 1
		took = append(took, a.spent.Seconds())
		bias += e / float64(len(all))
		rms += e * e / float64(len(all))
		if math.Abs(e) <= 0.05 {
			in5++
		}
		if math.Abs(e) <= 0.10 {
			in10++
		}
		if e > 0.05 {
			high++
		}
		if a.passes > 1.05*s.truth {
			passed++
		}
	}
	sort.Float64s(took)
	share := func(n int) float64 { return 100 * float64(n) / float64(len(all)) }
	t.Logf("| %s | %s | %.0f | %.0f | %.0f | %.0f | %+.1f | %.1f | %.0f | %.0f |", s.name, name, took[len(took)/2], took[len(took)*9/10],
		share(in5), share(in10), 100*bias, 100*math.Sqrt(rms), share(high), share(passed))
}

// TestCapacityFound makes the table of docs/capacity.md:
//
//	go test ./internal/experiment/capacity -run TestCapacityFound -v -timeout 2h -trials 100 -truth 20000
func TestCapacityFound(t *testing.T) {
	if *trials == 0 {
		t.Skip("-trials N makes the table: an hour for a hundred")
	}
	for _, s := range []*server{{name: "own family", model: modelOf(ownFamily)}, {name: "alien", model: newAlien}} {
		if *only != "" && s.name != *only {
			continue
		}
		s.tighten()
		t.Logf("%s: %v, capacity %.2f/s", s.name, s.objectives, s.truth)
		var rows [4][]answer
		for seed := *from; seed < *from+uint64(*trials); seed++ {
			rows[0] = append(rows[0], s.doubling(seed))
			rows[1] = append(rows[1], s.search(t, seed, nil, false))
			rows[2] = append(rows[2], s.search(t, seed, nil, true))
			w, spent := s.profile(t, seed)
			a := s.search(t, seed, w, false)
			a.spent += spent
			rows[3] = append(rows[3], a)
		}
		for i, name := range []string{"doubling, bisection, 30 s", "curve", "model of its own legs", "calibrated profile"} {
			s.row(t, name, rows[i])
		}
	}
}

// A search that counts alone comes near a capacity that is known from 20 000 s at each load, and
// names no load as passing that is far above it.
func TestASearchComesNear(t *testing.T) {
	limits, err := objective.Parse("ttft.p99=144.4ms,tpot.p99=17.4ms")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{name: "own family", model: modelOf(ownFamily), objectives: limits, truth: 19.14}
	for seed := uint64(1); seed <= 2; seed++ {
		a := s.search(t, seed, nil, false)
		t.Logf("%.2f/s, %.2f/s passes, %v of measuring", a.load, a.passes, a.spent)
		if off := math.Abs(a.load/s.truth - 1); off > 0.12 || a.passes > 1.05*s.truth || a.passes <= 0 {
			t.Errorf("seed %d: capacity %.2f/s, and %.2f/s passes; the truth is %v/s", seed, a.load, a.passes, s.truth)
		}
	}
}
