package predict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// covered are the figures whose intervals are counted.
var covered = []string{"throughput.output", "ttft.mean", "ttft.p99", "tpot.mean", "tpot.p99", "itl.mean", "itl.p99", "e2el.mean", "e2el.p99", "duration"}

// Intervals hold new runs as often as they say: profiles found from runs of an engine that
// nobody knows, loads that were not among them, requests drawn anew. -v prints the widths.
func TestIntervalsHoldNewRuns(t *testing.T) {
	race.Skip(t)
	const runs = 6
	for i, own := range truths() {
		p := own.calibrated(t, protocol)
		held, all := map[string]int{}, map[string]int{}
		width, loads := map[string]float64{}, 0
		for _, l := range others {
			made, err := predict.Simulate(t.Context(), predict.Case{Profile: p, Load: predict.Fixed(l.plans(own.dice)...), Run: runOf(l), Level: 0.9, Percentiles: []float64{99}})
			if err != nil {
				t.Fatal(err)
			}
			if !made.Hull.Inside() {
				t.Errorf("truth %d, %+v: %s", i+1, l, made.Hull)
			}
			loads++
			for range runs {
				truth := figures(own.run(t, l))
				for _, f := range made.Figures {
					if !slices.Contains(covered, f.Name) {
						continue
					}
					all[f.Name]++
					if f.Low <= truth[f.Name] && truth[f.Name] <= f.High {
						held[f.Name]++
					}
					width[f.Name] += f.Width() / runs
				}
			}
		}
		sum, of := 0, 0
		var line strings.Builder
		for _, name := range covered {
			sum, of = sum+held[name], of+all[name]
			fmt.Fprintf(&line, "\n  %-18s %3.0f %%   ±%.1f %%", name, 100*float64(held[name])/float64(all[name]), 100*width[name]/float64(loads))
		}
		share := float64(sum) / float64(of)
		t.Logf("truth %d: %.1f %% of %d figures in intervals of 90 %%; of each, with the mean half width:%s", i+1, 100*share, of, &line)
		if of != len(others)*runs*len(covered) || share < 0.88 {
			t.Errorf("truth %d: %.1f %% of %d", i+1, 100*share, of)
		}
	}
}

// So do intervals of attainment, for limits around what is predicted; and what is met for
// certain is met.
func TestAttainmentHoldsNewRuns(t *testing.T) {
	race.Skip(t)
	const runs = 4
	own := truths()[0]
	p := own.calibrated(t, protocol)
	held, all, certain, covered := 0, 0, 0, 0
	for _, l := range others {
		c := predict.Case{Profile: p, Load: predict.Fixed(l.plans(own.dice)...), Run: runOf(l), Level: 0.9, Percentiles: []float64{95}}
		for _, f := range of(t, c).Figures {
			if metric, p95 := strings.CutSuffix(f.Name, ".p95"); p95 {
				for _, k := range []float64{0.95, 1.05, 1.2, 1.5} {
					c.Objectives = append(c.Objectives, metrics.Objective{Metric: figure.Metric(metric), P: 95, Limit: time.Duration(f.Point * k * 1e9)})
				}
			}
		}
		made := of(t, c)
		for range runs {
			truth := own.run(t, l)
			for _, g := range made.Goals {
				a := g.Objective.Evaluate(truth)
				if all++; a.Share() >= g.Low-1e-9 && a.Share() <= g.High+1e-9 {
					held++
				}
				if g.Certain {
					if certain++; g.Objective.Met(a) {
						covered++
					}
				}
			}
		}
	}
	t.Logf("%d of %d shares in intervals of 90 %%; %d of %d objectives that are met for certain were met", held, all, covered, certain)
	if float64(held) < 0.88*float64(all) || certain < all/5 || float64(covered) < 0.95*float64(certain) {
		t.Error("fewer than said")
	}
}
