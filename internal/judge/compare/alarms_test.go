package compare

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// long counts as many sets as docs/compare.md has; without it there are enough to notice a
// rate that doubled.
var long = flag.Bool("long", false, "count false alarms and power over as many sets as the docs state")

// engineLoads are those that runs of the engine are made of.
var engineLoads = []struct {
	name, profile, load string
	requests            int
}{
	{"small-chat at 20 req/s", "small-chat", "load: [{arrival: {kind: gamma, rate: 20, burstiness: 0.25}, dataset: {kind: random, input_len: 256, output_len: 64}}]", 100},
	{"large-moe, 24 at a time", "large-moe", "gate: {concurrency: 24}\nload: [{arrival: {kind: at-once}, dataset: {kind: random, input_len: 256, output_len: 64}}]", 100},
	{"sharegpt at 4 req/s", "sharegpt", "load: [{arrival: {kind: poisson, rate: 4}, dataset: {kind: random, input_len: 256, output_len: 64}}]", 200},
}

// simulate makes a run of the engine under a load, in virtual time.
func simulate(load, seed int) ComparedRun {
	l := engineLoads[load]
	s, _, err := plan.Read("spec.yaml", fmt.Appendf(nil, `version: 1
target: {simulated: true, engine: {profile: %s}}
request: {protocol: completions, model: pitot, stream: true, usage: end, ignore_eos: true}
requests: %d
seed: %d
%s
`, l.profile, l.requests, seed, l.load))
	if err != nil {
		panic(err)
	}
	p, err := run.Prepare(context.Background(), *s, run.Deps{
		Kinds: run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()}, Read: os.ReadFile,
		Env: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	r, err := p.Execute(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	return Observe(r.Trace, []RuleSource{{Tool: "pitot"}}, nil)
}

// An enginePool is runs of the engine under one load: by how much figures vary, and what they have in
// common.
type enginePool struct {
	load    string
	figures []runFigure // that vary, of the first run
	rows    [][]float64 // their logarithms, by run
	unit    [][]float64 // the same, each figure less its mean and of length 1
}

// enginePools are those of all loads.
var enginePools = sync.OnceValue(func() (all []*enginePool) {
	runs := sets(40, 400)
	for l := range engineLoads {
		if l > 0 && !*long {
			break
		}
		seen := make([]ComparedRun, runs)
		each(runs, func(i int) { seen[i] = simulate(l, i+1) })
		all = append(all, newEnginePool(engineLoads[l].name, seen))
	}
	return all
})

func newEnginePool(load string, runs []ComparedRun) *enginePool {
	p := &enginePool{load: load, rows: make([][]float64, len(runs)), unit: make([][]float64, len(runs))}
	for _, f := range runs[0].figures {
		column := make([]float64, len(runs))
		for i, r := range runs {
			column[i] = math.Log(r.figure(f.Name, f.definition.ID).Value)
		}
		sd := stats.Std(column) * math.Sqrt(float64(len(runs)))
		if mean := stats.Mean(column); sd > 1e-9 && !math.IsInf(mean, 0) {
			p.figures = append(p.figures, runFigure{ReportedFigure: trace.ReportedFigure{Name: f.Name}, definition: f.definition})
			for i, v := range column {
				p.rows[i], p.unit[i] = append(p.rows[i], v), append(p.unit[i], (v-mean)/sd)
			}
		}
	}
	return p
}

// noise is normal, of a deviation of 1, and figures have in common what those of the runs have.
func (p *enginePool) noise(rng *rand.Rand) []float64 {
	z := make([]float64, len(p.figures))
	for _, row := range p.unit {
		g := rng.NormFloat64()
		for j, v := range row {
			z[j] += g * v
		}
	}
	return z
}

// slower shifts the figures by a logarithm to the worse.
func (p *enginePool) slower(logs []float64, j int, by float64) {
	if figure.Lookup(p.figures[j].Name).Better == figure.Higher {
		by = -by
	}
	logs[j] += by
}

// lengthen makes the latencies longer.
func (p *enginePool) lengthen(logs []float64, by float64) {
	for j, f := range p.figures {
		if figure.Lookup(f.Name).Unit == figure.Seconds && f.Name != "duration" {
			logs[j] += math.Log1p(by)
		}
	}
}

// run is one of a variant with these figures.
func (p *enginePool) run(variant string, logs []float64) ComparedRun {
	r := ComparedRun{Variant: variant, run: trace.Run{ID: variant, Name: variant, Status: trace.Complete, Plan: trace.Load{Dialect: "pitot", Requests: 100}}}
	for j, f := range p.figures {
		f.Value = math.Exp(logs[j])
		r.figures = append(r.figures, f)
	}
	return r
}

// runs are some of a variant, with noise of 2 % and latencies that are longer by a share.
func (p *enginePool) runs(rng *rand.Rand, variant string, n int, longer float64) (all []ComparedRun) {
	for range n {
		logs := scaledBy(p.noise(rng), 0.02)
		p.lengthen(logs, longer)
		all = append(all, p.run(variant, logs))
	}
	return all
}

// A runWorld makes the figures, as logarithms, of runs in time: order has 0 for A and 1 for B.
type runWorld struct {
	name string
	make func(p *enginePool, rng *rand.Rand, order []int) [][]float64
	only func(a, b int) bool // of which numbers of runs it is asked; nil: of all
}

// normals is noise of each run of its own, of a deviation by variant.
func normals(a, b float64) func(*enginePool, *rand.Rand, []int) [][]float64 {
	return eachRun(func(p *enginePool, rng *rand.Rand, variant int) []float64 {
		return scaledBy(p.noise(rng), []float64{a, b}[variant])
	})
}

func eachRun(one func(p *enginePool, rng *rand.Rand, variant int) []float64) func(*enginePool, *rand.Rand, []int) [][]float64 {
	return func(p *enginePool, rng *rand.Rand, order []int) (all [][]float64) {
		for _, variant := range order {
			all = append(all, one(p, rng, variant))
		}
		return all
	}
}

func scaledBy(x []float64, by float64) []float64 {
	for i := range x {
		x[i] *= by
	}
	return x
}

// What slow runs are like in worlds of two levels.
const (
	slowShare = 0.3
	slowBy    = 0.15
	slowNoise = 0.003
)

// runWorlds are those of comparisons of runs that do not drift.
var runWorlds = []runWorld{
	{name: "noise of 1 %", make: normals(0.01, 0.01)},
	{name: "1 % against 6 %", make: normals(0.01, 0.06)},
	{name: "6 % against 1 %", make: normals(0.06, 0.01), only: func(a, b int) bool { return a != b }},
	{name: "heavy tails (t, 3 degrees of freedom)", make: eachRun(func(p *enginePool, rng *rand.Rand, _ int) []float64 {
		square := 0.0
		for range 3 {
			square += math.Pow(rng.NormFloat64(), 2)
		}
		return scaledBy(p.noise(rng), 0.01/math.Sqrt(square/3)/math.Sqrt(3))
	})},
	{name: "two levels, all figures together", make: eachRun(func(p *enginePool, rng *rand.Rand, _ int) []float64 {
		logs := scaledBy(p.noise(rng), slowNoise)
		if rng.Float64() < slowShare {
			for j := range logs {
				p.slower(logs, j, slowBy)
			}
		}
		return logs
	})},
	{name: "two levels, each figure by itself", make: eachRun(func(p *enginePool, rng *rand.Rand, _ int) []float64 {
		logs := scaledBy(p.noise(rng), slowNoise)
		for j := range logs {
			if rng.Float64() < slowShare {
				p.slower(logs, j, slowBy)
			}
		}
		return logs
	})},
	{name: "one run 28 % slower", make: func(p *enginePool, rng *rand.Rand, order []int) [][]float64 {
		all := normals(0.01, 0.01)(p, rng, order)
		slow := all[rng.IntN(len(all))]
		for j := range slow {
			p.slower(slow, j, 0.28)
		}
		return all
	}},
	{name: "runs of the engine", make: engineRuns},
}

// engineRuns are different runs of the engine, with noise of 1 % that all figures share and 0.25 %
// of their own.
func engineRuns(p *enginePool, rng *rand.Rand, order []int) (all [][]float64) {
	for _, i := range rng.Perm(len(p.rows))[:len(order)] {
		logs, shared := slices.Clone(p.rows[i]), 0.01*rng.NormFloat64()
		for j := range logs {
			p.slower(logs, j, shared+0.0025*rng.NormFloat64())
		}
		all = append(all, logs)
	}
	return all
}

// driftWorlds are those in which runs depend on when they were made.
var driftWorlds = []runWorld{
	{name: "each run keeps 0.7 of the one before (AR(1))", make: func(p *enginePool, rng *rand.Rand, order []int) (all [][]float64) {
		state := p.noise(rng)
		for range order {
			all = append(all, scaledBy(slices.Clone(state), 0.01))
			for j, z := range p.noise(rng) {
				state[j] = 0.7*state[j] + math.Sqrt(1-0.7*0.7)*z
			}
		}
		return all
	}},
	{name: "two days that differ by as much as runs", make: func(p *enginePool, rng *rand.Rand, order []int) [][]float64 {
		all, days := normals(0.01, 0.01)(p, rng, order), [][]float64{p.noise(rng), p.noise(rng)}
		for i := range all {
			for j, z := range days[2*i/len(all)] {
				all[i][j] += 0.01 * z
			}
		}
		return all
	}},
}

// A count is of sets of runs: those in which a figure differs by the verdict, the figures that do of
// those that are judged, and the intervals that hold what is.
type count struct{ sets, some, figures, judged, held, intervals int }

func (c *count) add(o count) {
	c.sets, c.some, c.figures, c.judged = c.sets+o.sets, c.some+o.some, c.figures+o.figures, c.judged+o.judged
	c.held, c.intervals = c.held+o.held, c.intervals+o.intervals
}

func (c count) alarms() float64   { return float64(c.some) / float64(c.sets) }
func (c count) found() float64    { return float64(c.figures) / float64(c.judged) }
func (c count) coverage() float64 { return float64(c.held) / float64(c.intervals) }

// between is the exact interval of a rate (Clopper and Pearson 1934).
func (c count) between() (low, high float64) {
	k, n := float64(c.some), float64(c.sets)
	if high = 1; k < n {
		high = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(0.975)
	}
	if k > 0 {
		low = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(0.025)
	}
	return low, high
}

func (c count) String() string {
	low, high := c.between()
	return fmt.Sprintf("%.1f (%.1f-%.1f)", 100*c.alarms(), 100*low, 100*high)
}

// of counts what is said of a set of runs, where the latencies of B are longer by a share.
func of(c Comparison, longer float64) (n count) {
	n.sets = 1
	for r, change := range c.Workloads[0].Changes() {
		latency := r.Quantity.Unit == figure.Seconds && r.Quantity.Name != "duration"
		if change.Verdict == NotJudged || longer != 0 && !latency {
			continue
		}
		n.judged++
		if n.intervals++; change.Interval.Low <= longer && change.Interval.High >= longer {
			n.held++
		}
		if change.Verdict.Differs() {
			n.figures++
			n.some = 1
		}
	}
	return n
}

// aThenB is the order of runs of which all of A come first.
func aThenB(a, b int) []int { return append(make([]int, a), slices.Repeat([]int{1}, b)...) }

// inTurns is A B A B ...
func inTurns(a, _ int) (order []int) {
	for range a {
		order = append(order, 0, 1)
	}
	return order
}

// rate counts over sets of runs, drawn from the pools in turn.
func (w runWorld) rate(all []*enginePool, sets int, order []int, longer float64, o Options) (sum count) {
	counts := make([]count, sets)
	each(sets, func(i int) {
		p, rng := all[i%len(all)], rand.New(rand.NewPCG(uint64(i), uint64(len(order))))
		var runs []ComparedRun
		for at, logs := range w.make(p, rng, order) {
			if order[at] == 1 {
				p.lengthen(logs, longer)
			}
			runs = append(runs, p.run([]string{"A", "B"}[order[at]], logs))
		}
		counts[i] = of(judged(runs, o), longer)
	})
	for _, c := range counts {
		sum.add(c)
	}
	return sum
}

// experimentRate counts over experiments of blocks, judged by each look or at their end. An
// interval holds if it does at all looks.
func (w runWorld) experimentRate(all []*enginePool, sets, blocks int, looks bool, longer float64) (sum count) {
	counts := make([]count, sets)
	each(sets, func(i int) {
		p, rng := all[i%len(all)], rand.New(rand.NewPCG(uint64(i), uint64(100+blocks)))
		var order []int
		for b := range blocks {
			order = append(order, paired(rng, b, order)...)
		}
		var runs []ComparedRun
		for at, logs := range w.make(p, rng, order) {
			if order[at] == 1 {
				p.lengthen(logs, longer)
			}
			r := p.run("", logs)
			r.run.Leg = &trace.Leg{
				Experiment: "e", Workload: "chat", Variant: []string{"A", "B"}[order[at]], Block: at/4 + 1, Slot: at%4 + 1, Position: at + 1, ServerStart: at + 1, Repeat: 1,
			}
			runs = append(runs, r)
		}
		l := Looks{Done: blocks, Most: blocks}
		if looks {
			l.Done = l.First()
		}
		counts[i] = experimentCount(runs, l, looks, longer)
	})
	for _, c := range counts {
		sum.add(c)
	}
	return sum
}

// paired is A B B A or B A A B: the first of each two blocks by chance, then the other.
func paired(rng *rand.Rand, block int, before []int) []int {
	if block%2 == 0 {
		return abba(rng, 2, block)
	}
	first := before[len(before)-4]
	return []int{1 - first, first, first, 1 - first}
}

func experimentCount(runs []ComparedRun, l Looks, looks bool, longer float64) (n count) {
	for ; l.Done <= l.Most; l.Done++ {
		o := Options{Baseline: "A"}
		if looks {
			o.Looks = l
		}
		one := of(judged(blocksOf(runs, l.Done), o), longer)
		if n.sets == 0 {
			n = one
		}
		n.some, n.held, n.figures = max(n.some, one.some), min(n.held, one.held), max(n.figures, one.figures)
	}
	return n
}

// each does something so many times, on all processors.
func each(n int, do func(i int)) {
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		all.Go(func() {
			for i := worker; i < n; i += workers {
				do(i)
			}
		})
	}
	all.Wait()
}

// limit is the rate of false alarms above which so many sets are too many: the 6.5 % that the
// docs allow, or what chance makes of 5 % in one of a thousand such counts.
func limit(sets int) float64 { return max(0.065, 0.05+3.1*math.Sqrt(0.05*0.95/float64(sets))) }

func (c count) check(t *testing.T) {
	t.Helper()
	if c.alarms() > limit(c.sets) {
		t.Errorf("a false alarm in %v %% of %d sets", c, c.sets)
	}
}

func sets(short, all int) int { return map[bool]int{true: all, false: short}[*long] }

// TestFalseAlarms counts over many sets of runs and prints tables for docs:
//
//	go test -v -timeout 5h -run FalseAlarms ./internal/judge/compare -long
func TestFalseAlarms(t *testing.T) {
	race.Skip(t)
	all, n := enginePools(), sets(60, 2000)
	fmt.Println("| noise | runs | sets | false alarms, % | intervals that hold, % | +3 % found, % |\n|---|---|--:|---|--:|--:|")
	for _, size := range [][2]int{{3, 3}, {5, 5}, {10, 10}, {3, 10}, {3, 5}, {2, 4}} {
		for i, w := range runWorlds {
			if w.only != nil && !w.only(size[0], size[1]) || !*long && (size[0]+size[1] > 6 || i != 0 && i != 1 && i != 5) {
				continue
			}
			order := aThenB(size[0], size[1])
			c := w.rate(all, n, order, 0, Options{})
			power := w.rate(all, n/10, order, 0.03, Options{})
			fmt.Printf("| %s | %d and %d | %d | %v | %.1f | %.0f |\n", w.name, size[0], size[1], c.sets, c, 100*c.coverage(), 100*power.found())
			c.check(t)
		}
	}
	for _, pairs := range []int{4, 8} {
		c := runWorlds[0].rate(all, n, inTurns(pairs, pairs), 0, Options{Paired: true})
		fmt.Printf("| %s | %d pairs | %d | %v | %.1f | |\n", runWorlds[0].name, pairs, c.sets, c, 100*c.coverage())
		c.check(t)
	}
	c := runWorlds[0].rate(all, n, aThenB(1, 4), 0, Options{})
	fmt.Printf("| %s | 1 and 4 | %d | %v | %.1f | |\n", runWorlds[0].name, c.sets, c, 100*c.coverage())
	c.check(t)
}

// What depends on when a run was made passes for a difference where one variant comes first.
func TestFalseAlarmsOfTheOrder(t *testing.T) {
	race.Skip(t)
	all, n := enginePools(), sets(40, 2000)
	fmt.Println("| what drifts | runs | all of A first: false alarms, % | in turns |\n|---|---|---|---|")
	for _, w := range driftWorlds {
		for _, size := range []int{3, 5, 10} {
			if size > 3 && !*long {
				continue
			}
			first, turns := w.rate(all, n, aThenB(size, size), 0, Options{}), w.rate(all, n, inTurns(size, size), 0, Options{})
			fmt.Printf("| %s | %d and %d | %v | %v |\n", w.name, size, size, first, turns)
			if turns.alarms() > limit(n) || first.alarms() < turns.alarms() {
				t.Errorf("%s, %d and %d: %v in turns, %v else", w.name, size, size, turns, first)
			}
		}
	}
}

func TestFalseAlarmsOfExperiments(t *testing.T) {
	race.Skip(t)
	all, n := enginePools(), sets(30, 2000)
	fmt.Println("| noise | blocks | judged | sets | false alarms, % | intervals that hold, % | +3 % found, % |\n|---|---|---|--:|---|--:|--:|")
	for i, w := range append(slices.Clone(runWorlds), driftWorlds[0]) {
		for _, of := range []struct {
			blocks int
			looks  bool
		}{{2, false}, {3, false}, {4, false}, {6, false}, {8, false}, {4, true}, {8, true}} {
			if w.only != nil || !*long && (of.blocks > 4 || of.blocks == 2 || i != 0 && i != 5) {
				continue
			}
			c := w.experimentRate(all, n, of.blocks, of.looks, 0)
			power := w.experimentRate(all, n/20, of.blocks, of.looks, 0.03)
			as := map[bool]string{true: "after each from the third on", false: "once"}[of.looks]
			fmt.Printf("| %s | %d | %s | %d | %v | %.1f | %.0f |\n", w.name, of.blocks, as, c.sets, c, 100*c.coverage(), 100*power.found())
			c.check(t)
		}
	}
}

// What of true changes is found, by load: of runs of the engine of which one variant's latencies are
// longer.
func TestPower(t *testing.T) {
	race.Skip(t)
	sizes := [][2]int{{3, 3}, {5, 5}, {10, 10}, {3, 10}}
	effects := []float64{0.03, 0.05, 0.1}
	fmt.Println("| load | runs | +3 % | +5 % | +10 % |\n|---|---|--:|--:|--:|")
	w := runWorlds[len(runWorlds)-1]
	for _, p := range enginePools() {
		before := 0.0
		for _, size := range sizes[:sets(2, 4)] {
			line := ""
			for _, effect := range effects {
				c := w.rate([]*enginePool{p}, sets(20, 500), aThenB(size[0], size[1]), effect, Options{})
				line += fmt.Sprintf(" %.0f |", 100*c.found())
				if effect == 0.05 && cmp.Compare(size[0], size[1]) == 0 {
					if c.found() < before {
						t.Errorf("%s: %d and %d runs find %.0f %%, fewer found %.0f %%", p.load, size[0], size[1], 100*c.found(), 100*before)
					}
					before = c.found()
				}
			}
			fmt.Printf("| %s | %d and %d |%s\n", p.load, size[0], size[1], line)
		}
	}
}
