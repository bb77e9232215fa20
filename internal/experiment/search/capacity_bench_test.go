package search_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/aliens"
	"github.com/pitot-bench/pitot/internal/test/race"
)

var (
	trials = flag.Int("trials", 0, "searches by each method on each server; 0: none")
	only   = flag.String("only", "", "search on these servers alone, of own family, padded, lagged and experts")
	by     = flag.String("methods", "bisection,counting,own,profile", "methods to search by")
	from   = flag.Uint64("from", 1, "seed of the first search")
	truths = flag.Float64("truth", 0, "find objectives and capacities again, from so many seconds of virtual time at each load; 0: take those that are known")
)

// A server is one whose capacity is known.
type server struct {
	name  string
	model func(seed uint64) engine.Model
	slo   string  // of known
	known float64 // capacity in requests per second, from 20 000 s at each of seven loads; 0: it is not known

	objectives []metrics.Objective
	truth      float64
}

// servers are those of the table.
func servers() []*server {
	all := []*server{{name: "own family", model: modelOf(ownFamily), slo: "ttft.p99=144.4ms,tpot.p99=17.4ms", known: 19.14}}
	for _, a := range aliens.Named {
		s := &server{name: a.Name, model: a.New}
		switch a.Name {
		case "padded":
			s.slo, s.known = "ttft.p99=196.9ms,tpot.p99=15.1ms", 28.94
		case "lagged":
			s.slo, s.known = "ttft.p99=211.8ms,tpot.p99=20.6ms", 26.31
		}
		all = append(all, s)
	}
	return all
}

// know sets the objectives and the capacity.
func (s *server) know(t *testing.T) {
	if *truths > 0 || s.known == 0 {
		s.tighten(t)
		return
	}
	limits, _, err := metrics.Parse(s.slo)
	if err != nil {
		t.Fatal(err)
	}
	s.objectives, s.truth = limits, s.known
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
func requests(l search.Leg) sim.SimulationPlan {
	d := rand.New(rand.NewPCG(l.Seed, 7))
	p := sim.SimulationPlan{Stream: true, Schedule: arrival.Burst(), Until: l.Length()}
	p.Requests = make([]sim.Request, 0, int(l.Length().Seconds()*l.Load*1.2)+40)
	add := func() {
		j := engine.Job{PromptTokens: lognormal(d, 400, 0.8), OutputTokens: lognormal(d, 120, 0.7)}
		p.Requests = append(p.Requests, sim.Request{PromptTokens: j.PromptTokens, WantTokens: j.OutputTokens, Job: j, Finish: "length"})
	}
	if l.By == search.Concurrency {
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

func play(m engine.Model, l search.Leg) *trace.Trace {
	p := requests(l)
	out := sim.Run(m, p)
	run := trace.Run{ID: fmt.Sprintf("%d", l.Number), Kind: trace.Simulated, End: out.End, Status: trace.Complete}
	run.Plan = trace.Load{Stream: true, Protocol: "completions", Model: "m", Requests: len(p.Requests), Concurrency: p.Concurrency, Percentiles: []float64{99}}
	if l.By == search.Rate {
		run.Plan.Rate = l.Load
	}
	return &trace.Trace{Run: run, Records: out.Records}
}

// measured is a leg against the server, as its client sees it.
func (s *server) measured(l search.Leg) *trace.Trace {
	t := play(s.model(l.Seed*31+5), l)
	noisy(t.Records, rand.New(rand.NewPCG(l.Seed, 11)))
	return t
}

// A twin replays legs against an engine.
type twin struct {
	engine.Config
	objectives []metrics.Objective
}

func (w twin) Replay(_ context.Context, l search.Leg, draw uint64) (search.Outcome, error) {
	w.Seed = l.Seed*77 + draw
	m, err := engine.New(w.Config)
	if err != nil {
		return search.Outcome{}, err
	}
	return search.Observe(play(m, l), l, w.objectives), nil
}

// tighten sets the objectives: limits on the 99th percentiles of TTFT and TPOT, 2 and 1.45
// times what they are at 0.3 of the throughput capacity.
func (s *server) tighten(t *testing.T) {
	flood := play(s.model(1), search.Leg{Load: 300, By: search.Rate, Count: 40 * time.Second, Seed: 3})
	bears := float64(len(flood.Records)) / flood.Run.End.Seconds()
	calm := play(s.model(2), search.Leg{Load: 0.3 * bears, By: search.Rate, Count: 2000 * time.Second, Seed: 4})
	figures := metrics.Rules{}.Figures(calm, "pitot", "")
	for metric, factor := range map[figure.Metric]float64{figure.TTFT: 2, figure.TPOT: 1.45} {
		i := slices.IndexFunc(figures, func(f trace.ReportedFigure) bool { return f.Name == metric.P(99) })
		limit := time.Duration(factor * figures[i].Value * 1e9)
		s.objectives = append(s.objectives, metrics.Objective{Metric: metric, P: 99, Limit: limit.Round(100 * time.Microsecond)})
	}
	slices.SortFunc(s.objectives, func(a, b metrics.Objective) int { return len(a.Name()) - len(b.Name()) })
	s.find(t, bears)
}

// A long is what is beyond the limits in long runs at one load, by part and objective.
type long struct {
	load     float64
	bad, all [][]float64
}

const partLength = 500 * time.Second

func (s *server) long(load float64, parts int, seed uint64) long {
	r := long{load: load}
	for part := range uint64(parts) {
		l := search.Leg{Load: load, By: search.Rate, Seed: seed + part, Ramp: 20 * time.Second, Count: partLength, Rest: 10 * time.Second}
		o := search.Observe(play(s.model(seed+part), l), l, s.objectives)
		bad, all := make([]float64, len(s.objectives)), make([]float64, len(s.objectives))
		for i := range bad {
			all[i] = float64(o.Tail(i).N)
			bad[i] = (1 - o.Attained(i)) * all[i]
		}
		r.bad, r.all = append(r.bad, bad), append(r.all, all)
	}
	return r
}

// share is what is beyond the limit of an objective without one part; -1: with all.
func (l *long) share(objective, without int) float64 {
	bad, all := 0.5, 1.
	for part := range l.bad {
		if part != without {
			bad, all = bad+l.bad[part][objective], all+l.all[part][objective]
		}
	}
	return bad / all
}

// meets is the capacity by long runs: a line through the logits of what is beyond a limit, by
// the objective that binds.
func meets(runs []long, objectives, without int) float64 {
	least := math.Inf(1)
	for i := range objectives {
		mx, my, sxx, sxy, n := 0., 0., 0., 0., float64(len(runs))
		point := func(r *long) (x, y float64) {
			p := r.share(i, without)
			return math.Log(r.load), math.Log(p / (1 - p))
		}
		for k := range runs {
			x, y := point(&runs[k])
			mx, my = mx+x/n, my+y/n
		}
		for k := range runs {
			x, y := point(&runs[k])
			sxx, sxy = sxx+(x-mx)*(x-mx), sxy+(x-mx)*(y-my)
		}
		if slope := sxy / sxx; slope > 1 {
			least = min(least, math.Exp(mx+(math.Log(0.01/0.99)-my)/slope))
		}
	}
	return least
}

// find is the capacity by long runs at loads around it, with its error by the jackknife over
// their parts.
func (s *server) find(t *testing.T, bears float64) {
	lo, hi := 0.1*bears, bears
	for range 6 {
		mid := math.Sqrt(lo * hi)
		r := s.long(mid, 1, 50)
		if beyond := max(r.share(0, -1), r.share(1, -1)); beyond > 0.01 {
			hi = mid
		} else {
			lo = mid
		}
	}
	var runs []long
	for k := -3; k <= 3; k++ {
		runs = append(runs, s.long(math.Sqrt(lo*hi)*math.Exp(0.03*float64(k)), max(2, int(*truths/partLength.Seconds())), uint64(1000*(k+5))))
	}
	s.truth = meets(runs, len(s.objectives), -1)
	n, sum := len(runs[0].bad), 0.
	for part := range n {
		off := meets(runs, len(s.objectives), part)/s.truth - 1
		sum += off * off
	}
	t.Logf("%s: %v, capacity %.3f/s with a standard error of %.2f %%", s.name, s.objectives, s.truth, 100*math.Sqrt(sum*float64(n-1)/float64(n)))
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
		l := search.Leg{Load: load, By: search.Rate, Seed: seed*1000 + n, Ramp: 3 * time.Second, Count: 27 * time.Second}
		o := search.Observe(s.measured(l), l, s.objectives)
		a.spent += o.Spent
		if v, _ := o.Judge(s.objectives); v == search.Met {
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
func (s *server) search(t *testing.T, seed uint64, w search.Model, learn bool) answer {
	traces := map[int]*trace.Trace{}
	set := search.Settings{Objectives: s.objectives, By: search.Rate, Budget: 10 * time.Minute, Precision: 0.05, Seed: seed * 100_003, Twin: w}
	if learn {
		set.Learn = func(ctx context.Context, legs []search.MeasuredLeg) (search.Model, error) {
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
	measure := func(_ context.Context, l search.Leg) (search.Outcome, error) {
		traces[l.Number] = s.measured(l)
		return search.Observe(traces[l.Number], l, s.objectives), nil
	}
	report := func(search.MeasuredLeg) {}
	if *trials == 1 {
		report = func(l search.MeasuredLeg) {
			v, _ := l.Judge(s.objectives)
			t.Logf("%2d %-7s %7.2f ramp %.1f count %.0f %.4f %.4f %s %s", l.Number, l.Why, l.Load, l.Ramp.Seconds(), l.Count.Seconds(), l.Attained(0), l.Attained(1), v, l.Reason())
		}
	}
	r, err := search.RunCapacity(t.Context(), set, measure, report)
	if err != nil {
		t.Fatal(err)
	}
	if *trials <= 3 {
		t.Logf("%s: %.2f [%.2f, %.2f] ±%.3f %s twin %v %v", s.name, r.Load, r.Passes, r.Fails, r.Precision, r.End, r.Twin, r.Spent)
	}
	return answer{r.Load, r.Passes, r.Spent}
}

// profile is a model of the server found by the runs of pitot calibrate, and their time.
func (s *server) profile(t *testing.T, seed uint64) (search.Model, time.Duration) {
	var all []*trace.Trace
	bears, spent := 0., time.Duration(0)
	leg := func(l search.Leg) {
		l.Seed = seed*500 + uint64(len(all)) + 1_000_000
		one := s.measured(l)
		all = append(all, one)
		spent += time.Duration(one.Run.End)
		bears = max(bears, float64(len(one.Records))/one.Run.End.Seconds())
	}
	for _, n := range []float64{1, 4, 16, 64} {
		leg(search.Leg{Load: n, By: search.Concurrency, Count: 8 * time.Second})
	}
	leg(search.Leg{Load: bears / 4, By: search.Rate, Count: 12 * time.Second})
	leg(search.Leg{Load: 1000, By: search.Rate, Count: 320 * time.Millisecond})
	found, err := calibrate.FromTraces(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return twin{found.Engine, s.objectives}, spent
}

// row is a line of the table.
func (s *server) row(t *testing.T, name string, all []answer) {
	if len(all) == 0 {
		return
	}
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
	t.Logf("%s: | %s | %.0f s | %.0f s | %d of %d | %d | %+.1f %% | %.1f %% | %d | %d |", s.name, name, took[len(took)/2], took[len(took)*9/10],
		in5, len(all), in10, 100*bias, 100*math.Sqrt(rms), high, passed)
}

// A method searches a server.
type method struct {
	name, title string
	search      func(s *server, t *testing.T, seed uint64) answer
}

var methods = []method{
	{"bisection", "doubling and bisection, runs of 30 s", func(s *server, _ *testing.T, seed uint64) answer { return s.doubling(seed) }},
	{"counting", "counting alone (`--no-model`)", func(s *server, t *testing.T, seed uint64) answer { return s.search(t, seed, nil, false) }},
	{"own", "with a model of its own runs", func(s *server, t *testing.T, seed uint64) answer { return s.search(t, seed, nil, true) }},
	{"profile", "with a calibrated profile", func(s *server, t *testing.T, seed uint64) answer {
		w, spent := s.profile(t, seed)
		a := s.search(t, seed, w, false)
		a.spent += spent
		return a
	}},
}

// TestCapacityFound makes the tables of docs/capacity.md, after each ten searches:
//
//	go test ./internal/experiment/search -run TestCapacityFound -v -timeout 2h -trials 100 -from 1001 -only 'own family,padded'
func TestCapacityFound(t *testing.T) {
	if *trials == 0 {
		t.Skip("-trials N makes the table")
	}
	var all []*server
	for _, s := range servers() {
		if *only == "" || slices.Contains(strings.Split(*only, ","), s.name) {
			s.know(t)
			all = append(all, s)
		}
	}
	rows := map[*server]map[string][]answer{}
	for n := range *trials {
		if late(t) {
			break
		}
		for _, s := range all {
			s.searches(t, *from+uint64(n), rows)
		}
		if n%10 != 9 && n != *trials-1 {
			continue
		}
		for _, s := range all {
			for _, m := range methods {
				s.row(t, m.title, rows[s][m.name])
			}
		}
	}
}

// searches makes one search by each method.
func (s *server) searches(t *testing.T, seed uint64, rows map[*server]map[string][]answer) {
	if rows[s] == nil {
		rows[s] = map[string][]answer{}
	}
	for _, m := range methods {
		if slices.Contains(strings.Split(*by, ","), m.name) {
			rows[s][m.name] = append(rows[s][m.name], m.search(s, t, seed))
		}
	}
}

// late reports whether no time is left for another search.
func late(t *testing.T) bool {
	end, ok := t.Deadline()
	return ok && time.Until(end) < time.Minute
}

// Searches come near capacities that are known from 20 000 s at each load, and name no load as
// passing that is far above: by counts alone on an engine of our kind, with a model on another kind.
func TestASearchComesNear(t *testing.T) {
	race.Skip(t)
	own, alien := servers()[0], servers()[1]
	for _, c := range []struct {
		*server
		method
		seed   uint64
		within float64
	}{{own, methods[1], 1, 0.12}, {own, methods[1], 2, 0.12}, {alien, methods[3], 1, 0.06}} {
		c.know(t)
		a := c.method.search(c.server, t, c.seed)
		t.Logf("%s, %s: %.2f/s, %.2f/s passes, %v of measuring", c.server.name, c.title, a.load, a.passes, a.spent)
		if off := math.Abs(a.load/c.truth - 1); off > c.within || a.passes > 1.05*c.truth || a.passes <= 0 {
			t.Errorf("%s, %s, seed %d: capacity %.2f/s, and %.2f/s passes; the truth is %v/s", c.server.name, c.title, c.seed, a.load, a.passes, c.truth)
		}
	}
}
