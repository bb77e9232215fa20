package engine

import (
	"math"
	"slices"
	"testing"
	"time"
)

// durations are those of this many steps of one job, in seconds.
func durations(t *testing.T, c Config, steps int) (all []float64) {
	t.Helper()
	d := mustNew(t, c)
	d.Add(0, Job{ID: 1, PromptTokens: 1, OutputTokens: steps})
	var last time.Duration
	for _, e := range d.Step(forever-1, nil) {
		all = append(all, (e.At - last).Seconds())
		last = e.At
	}
	return all
}

// Quantiles at 0, 1/2 and 1 stand for two uniform laws. Of 20 000 steps, the share within
// one has a standard error of 0.0035, and the mean one of 0.005.
func TestJitterQuantiles(t *testing.T) {
	c := Config{MaxModelLen: 1 << 20, Cost: Costs{Step: 1, JitterQuantiles: []float64{0.5, 1, 3}}, Seed: 5}
	const n = 20000
	all := durations(t, c, n)
	low, quarter, sum := 0, 0, 0.0
	for _, d := range all {
		if d < 1 {
			low++
		}
		if d < 0.75 {
			quarter++
		}
		sum += d
	}
	if math.Abs(float64(low)/n-0.5) > 4*0.0035 || math.Abs(float64(quarter)/n-0.25) > 4*0.0031 {
		t.Errorf("%d steps below the median, %d below the first quartile, of %d", low, quarter, n)
	}
	if mean, want := sum/n, (0.75+2)/2; math.Abs(mean-want) > 4*0.0054 {
		t.Errorf("mean %v, want %v", mean, want)
	}
	if slices.Min(all) < 0.5 || slices.Max(all) > 3 {
		t.Errorf("from %v to %v", slices.Min(all), slices.Max(all))
	}
}

// A tenth of the steps is longer, by times that are uniform between their quantiles. Of
// 20 000 steps the number of slow ones has a standard deviation of 42, their mean of 0.4 ms.
func TestSlowSteps(t *testing.T) {
	c := Config{
		MaxModelLen: 1 << 20, Cost: Costs{
			Step: 1e-3, SlowSteps: &SlowSteps{Share: 0.1, Extra: []Seconds{4e-3, 10e-3, 60e-3}},
		}, Seed: 5,
	}
	var extra []float64
	for _, d := range durations(t, c, 20000) {
		if d > 0.001 {
			extra = append(extra, d-0.001)
		}
	}
	sum, long := 0.0, 0
	for _, e := range extra {
		if sum += e; e > 0.010 {
			long++
		}
	}
	n := float64(len(extra))
	if math.Abs(n-2000) > 4*42 || math.Abs(float64(long)/n-0.5) > 4*0.011 {
		t.Errorf("%v slow steps, %d longer than the median", n, long)
	}
	if mean, want := sum/n, (0.007+0.035)/2; math.Abs(mean-want) > 4*0.0004 {
		t.Errorf("mean %v, want %v", mean, want)
	}
	if slices.Min(extra) < 0.004 || slices.Max(extra) > 0.060 {
		t.Errorf("from %v to %v", slices.Min(extra), slices.Max(extra))
	}
}

// Slow steps come on top of jitter, and the pace applies to both. With a share of 1 and
// equal quantiles both are known.
func TestSlowStepsAfterJitter(t *testing.T) {
	c := Config{
		Cost: Costs{Step: 1, JitterQuantiles: []float64{2, 2}, SlowSteps: &SlowSteps{Share: 1, Extra: []Seconds{3, 3}}},
		Pace: Pace{Slower: 0.5},
	}
	if got, want := finished(t, c, 2), 2*7500*time.Millisecond; got != want {
		t.Errorf("two steps take %v, want %v", got, want)
	}
}

// Slow steps that never come leave the draws of jitter and of drafts as they are.
func TestVariationLeavesOtherDraws(t *testing.T) {
	c := Config{Cost: Costs{Step: 1e-3, Jitter: 0.3}, Speculative: &Speculative{Drafts: 3, Acceptance: Acceptance{0.5}}}
	want := durations(t, c, 100)
	c.Cost.SlowSteps = &SlowSteps{Extra: []Seconds{1, 1}}
	if got := durations(t, c, 100); !slices.Equal(got, want) {
		t.Error("a share of 0 changes the steps")
	}
	c.Cost.SlowSteps.Share = 0.5
	if got := durations(t, c, 100); slices.Equal(got, want) {
		t.Error("a share of a half changes nothing")
	}
}

func TestQuantile(t *testing.T) {
	q := []Seconds{1, 2, 6}
	for p, want := range map[float64]Seconds{0: 1, 0.25: 1.5, 0.5: 2, 0.75: 4, 1: 6} {
		if got := quantile(q, p); got != want {
			t.Errorf("at %v: %v, want %v", p, got, want)
		}
	}
}
