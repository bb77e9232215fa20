package metrics_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
)

var long = flag.Bool("long", false, "count the coverage of intervals over all loads and sizes that docs/metrics.md states")

// simulated is the steady state of a run of so many requests in virtual time.
func simulated(t *testing.T, load string, requests, seed int) metrics.Steady {
	t.Helper()
	s, _, err := plan.Read("spec.yaml", fmt.Appendf(nil, `version: 1
target: {simulated: true, engine: {profile: small-chat}}
request: {protocol: completions, model: pitot, stream: true, usage: end, ignore_eos: true}
requests: %d
seed: %d
%s
`, requests, seed, load))
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Prepare(context.Background(), *s, run.Deps{
		Kinds: run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()}, Read: os.ReadFile,
		Env: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.Execute(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return metrics.Summarize(r.Trace, metrics.Options{Percentiles: []float64{90, 99}}).Steady
}

// A coverage counts intervals of one figure.
type coverage struct{ printed, hold int }

func (c *coverage) add(i *metrics.Interval, truth float64) {
	if i == nil {
		return
	}
	c.printed++
	if i.Low <= truth && truth <= i.High {
		c.hold++
	}
}

func (c *coverage) percent() float64 { return 100 * float64(c.hold) / float64(max(c.printed, 1)) }

// The intervals of a run hold what a run of a hundred times the length has, about as often as they say, and there
// are none where the run does not reveal how much the server remembers.
func TestIntervalsOfOneRun(t *testing.T) {
	const lengths = "dataset: {kind: random, input_len: 'lognormal(256,0.8)', output_len: 'lognormal(48,0.7)'}"
	sizes, runs := []int{600}, 30
	loads := []float64{30, 80, 115}
	if *long {
		sizes, runs = []int{100, 300, 1000, 3000, 10000}, 100
	} else {
		loads = loads[:1]
	}
	for _, rate := range loads {
		load := fmt.Sprintf("load: [{arrival: {kind: poisson, rate: %g}, %s}]", rate, lengths)
		truth := simulated(t, load, 100_000, 1).Service
		for _, n := range sizes {
			var means, high [3]coverage
			turnovers := 0.0
			for seed := range runs {
				s := simulated(t, load, n, seed+2)
				turnovers += float64(s.Requests) / max(s.Level, 1) / float64(runs)
				for k, d := range []metrics.Distribution{s.Service.TTFT, s.Service.TPOT, s.Service.E2EL} {
					of := []metrics.Distribution{truth.TTFT, truth.TPOT, truth.E2EL}[k]
					means[k].add(d.MeanInterval, of.Mean)
					if len(d.Percentiles) > 1 {
						high[k].add(d.Percentiles[1].Interval, of.Percentiles[1].Value)
					}
				}
			}
			mean, p99 := sum(means), sum(high)
			t.Logf("%3g req/s, %5d requests, %6.1f turnovers: means of TTFT, TPOT, E2EL %.0f, %.0f, %.0f %% (%d printed); P99 %.0f %% (%d printed)", rate, n, turnovers,
				means[0].percent(), means[1].percent(), means[2].percent(), mean.printed, p99.percent(), p99.printed)
			if mean.printed > 50 && mean.percent() < 85 {
				t.Errorf("%g req/s, %d requests: the intervals hold %.0f %%", rate, n, mean.percent())
			}
		}
	}
}

func sum(all [3]coverage) (c coverage) {
	for _, one := range all {
		c.printed, c.hold = c.printed+one.printed, c.hold+one.hold
	}
	return c
}
