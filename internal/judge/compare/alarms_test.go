package compare

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// long counts as many sets as docs/compare.md has; without it there are enough to notice a
// rate that doubled.
var long = flag.Bool("long", false, "count false alarms and power over as many sets as the docs state")

// Loads of the engine: the arrivals make the throughput of the first, the server that of the
// second.
const (
	open   = "load: [{arrival: {kind: poisson, rate: 4}, dataset: {kind: random, input_len: 256, output_len: 64}}]"
	closed = "gate: {concurrency: 8}\nload: [{arrival: {kind: at-once}, dataset: {kind: random, input_len: 'uniform(64,448)', output_len: 'uniform(16,112)'}}]"
)

// simulate makes a run of `pitot sim --profile sharegpt -n 200 --seed SEED`.
func simulate(load string, seed int) (Run, error) {
	s, _, err := plan.Read("spec.yaml", fmt.Appendf(nil, `version: 1
target: {simulated: true, engine: {profile: sharegpt}}
request: {protocol: completions, model: pitot, stream: true, usage: end, ignore_eos: true}
requests: 200
seed: %d
%s
`, seed, load))
	if err != nil {
		return Run{}, err
	}
	p, err := run.Prepare(context.Background(), *s, run.Deps{
		Kinds: run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()}, Read: os.ReadFile,
		Env: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		return Run{}, err
	}
	defer p.Close()
	r, err := p.Execute(context.Background(), nil)
	if err != nil {
		return Run{}, err
	}
	return Observe(r.Trace, []By{{Tool: "pitot"}}, nil), nil
}

// drawn are two variants of n runs each, with seeds of their own.
func drawn(t *testing.T, load string, n int, seed *int) (runs []Run) {
	t.Helper()
	for i := range 2 * n {
		*seed++
		r, err := simulate(load, *seed)
		if err != nil {
			t.Fatal(err)
		}
		r.Variant = []string{"A", "B"}[i/n]
		runs = append(runs, r)
	}
	return runs
}

// shown are the figures of a comparison that vary, as an observed run has them.
var shown = sync.OnceValue(func() (names []string) {
	r, err := simulate(open, 1)
	if err != nil {
		panic(err)
	}
	for _, f := range r.figures {
		if f.Name != "requests.ok" && f.Name != "requests.failed" && !strings.HasPrefix(f.Name, "tokens.") {
			names = append(names, f.Name)
		}
	}
	return names
})

// correlated are runs of all figures that a comparison shows, which share half of their
// noise of 2 %.
func correlated(t *testing.T, rng *rand.Rand, variant string, runs int, effect float64) (out []Run) {
	t.Helper()
	for range runs {
		shared := rng.NormFloat64()
		var figures []any
		for _, name := range shown() {
			z := (shared + rng.NormFloat64()) / math.Sqrt2
			figures = append(figures, name, math.Exp(0.02*z+effect))
		}
		out = append(out, named(variant, figures...))
	}
	return out
}

// A count is of sets of runs: those in which a figure is settled, and the figures settled of
// those that are judged.
type count struct{ sets, some, figures, judged int }

func (c count) alarms() float64 { return float64(c.some) / float64(c.sets) }
func (c count) found() float64  { return float64(c.figures) / float64(c.judged) }

// tallySets counts over sets of two variants.
func tallySets(t *testing.T, sets int, o Options, draw func() []Run) (n count) {
	t.Helper()
	o = o.withDefaults()
	for range sets {
		runs := draw()
		tables, err := split(nil, pointers(runs), o)
		if err != nil {
			t.Fatal(err)
		}
		table, some := tables[0], false
		table.rows()
		for _, f := range table.contrast(table.variants[0], table.variants[1]) {
			if f.input || f.exact {
				continue
			}
			n.judged++
			if o.settle(f).Verdict.Differs() {
				n.figures++
				some = true
			}
		}
		if n.sets++; some {
			n.some++
		}
	}
	return n
}

// limit is the rate of false alarms above which so many sets are too many: the 6 % that the
// docs allow, or what chance makes of 5 % in one of a thousand such counts.
func limit(sets int) float64 { return max(0.06, 0.05+3.1*math.Sqrt(0.05*0.95/float64(sets))) }

func (c count) check(t *testing.T) {
	t.Helper()
	t.Logf("%s: a false alarm in %.2f %% of %d sets", t.Name(), 100*c.alarms(), c.sets)
	if c.alarms() > limit(c.sets) {
		t.Errorf("a false alarm in %.2f %% of %d sets", 100*c.alarms(), c.sets)
	}
}

func sets(short, all int) int {
	if *long {
		return all
	}
	return short
}

func TestFalseAlarmsOverAllMetrics(t *testing.T) {
	race.Skip(t)
	for _, c := range []struct {
		a, b   int
		paired bool
	}{{3, 3, false}, {5, 5, false}, {6, 6, false}, {10, 10, false}, {4, 4, true}, {8, 8, true}, {3, 5, false}, {1, 4, false}} {
		if c.a == 10 && !*long {
			continue // 184 756 arrangements of each set
		}
		t.Run(fmt.Sprintf("%d and %d runs, paired %v", c.a, c.b, c.paired), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, uint64(c.a)))
			tallySets(t, sets(250, 5000), Options{Paired: c.paired}, func() []Run {
				return slices.Concat(correlated(t, rng, "A", c.a, 0), correlated(t, rng, "B", c.b, 0))
			}).check(t)
		})
	}
}

// Figures of real traces are not normal: percentiles of gaps take a few values, P99s lean to
// one side. Every set is of runs of its own.
func TestFalseAlarmsOverRunsOfTheEngine(t *testing.T) {
	race.Skip(t)
	for name, load := range map[string]string{"open": open, "closed": closed} {
		for n, all := range map[int]int{3: 1000, 5: 600, 10: 300} {
			if !*long && (n > 3 || name == "closed") {
				continue
			}
			t.Run(fmt.Sprintf("%s loop, %d and %d runs", name, n, n), func(t *testing.T) {
				t.Parallel()
				seed := 0
				tallySets(t, sets(15, all), Options{}, func() []Run { return drawn(t, load, n, &seed) }).check(t)
			})
		}
	}
}

// What of true changes is found, of 5 and 5 runs with a noise of 2 %, and of runs of the
// engine of which one variant's latencies are longer.
func TestPower(t *testing.T) {
	race.Skip(t)
	rng := newRand(6)
	for effect, want := range map[float64]float64{0.03: 0.08, 0.05: 0.6, 0.1: 0.99} {
		n := tallySets(t, sets(40, 1000), Options{}, func() []Run {
			return slices.Concat(correlated(t, rng, "A", 5, 0), correlated(t, rng, "B", 5, math.Log1p(effect)))
		})
		t.Logf("a change of %.0f %%: found in %.1f %% of the figures, in some figure of %.1f %% of the sets", 100*effect, 100*n.found(), 100*n.alarms())
		if n.found() < want {
			t.Errorf("a change of %.0f %% is found in %.1f %% of the figures", 100*effect, 100*n.found())
		}
	}
}

func TestPowerOverRunsOfTheEngine(t *testing.T) {
	race.Skip(t)
	if !*long {
		t.Skip("takes minutes; -long")
	}
	for _, runs := range []int{3, 5} {
		for _, effect := range []float64{0.03, 0.05, 0.1} {
			seed := 0
			n := tallySets(t, 300, Options{}, func() []Run {
				all := drawn(t, open, runs, &seed)
				for i := range all[runs:] {
					all[runs+i].lengthen(effect)
				}
				return all
			})
			t.Logf("%d and %d runs, latencies %.0f %% longer: found in %.1f %% of the figures, in some figure of %.1f %% of the sets",
				runs, runs, 100*effect, 100*n.found(), 100*n.alarms())
		}
	}
}

// lengthen makes the latencies of a run longer.
func (r *Run) lengthen(by float64) {
	for i, f := range r.figures {
		if metrics.QuantityOf(f.Name).Unit == metrics.Seconds && f.Name != "duration" {
			r.figures[i].Value *= 1 + by
		}
	}
}
