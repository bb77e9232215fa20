package engine

import (
	"math"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// Levels are drawn from the quantiles and last for the hold on average, whenever they are asked for.
func TestHostJumpsBetweenLevels(t *testing.T) {
	law := Host{Factors: []float64{0.5, 1, 2}, Hold: 0.1}
	p, rare := newProcessor(&law, arrival.Dice(1, "host", 0)), newProcessor(&law, arrival.Dice(1, "host", 0))
	const over = 2000 * time.Second
	changes, last, sum, low := 0, 0.0, 0.0, 0
	for at := time.Duration(0); at < over; at += time.Millisecond {
		x := p.at(at)
		if x != last {
			changes++
		}
		if at%time.Second == 0 && rare.at(at) != x {
			t.Fatalf("another level at %v if it is asked for less often", at)
		}
		if last = x; x < 0.5 || x > 2 {
			t.Fatalf("factor %v", x)
		}
		if sum += x; x < 1 {
			low++
		}
	}
	n := over.Seconds() * 1000
	// 20 000 levels: their mean has a standard error of 0.4 % of 1.125 each way, twice that for holds of any length.
	if mean := sum / n; math.Abs(mean-1.125) > 0.03 || math.Abs(float64(low)/n-0.5) > 0.03 || math.Abs(float64(changes)/20_000-1) > 0.03 {
		t.Errorf("mean %v, %d of %v below 1, %d levels", mean, low, n, changes)
	}
}

// The factor of a start is lognormal, and constant.
func TestHostHasAFactorForEachStart(t *testing.T) {
	var sum, squares float64
	const starts = 4000
	for seed := range uint64(starts) {
		p := newProcessor(&Host{Run: 0.1}, arrival.Dice(seed, "host", 0))
		x := math.Log(p.at(0))
		if p.at(time.Hour) != p.at(0) {
			t.Fatal("it changes")
		}
		sum, squares = sum+x, squares+x*x
	}
	if mean, sd := sum/starts, math.Sqrt(squares/starts); math.Abs(mean) > 0.008 || math.Abs(sd-0.1) > 0.005 {
		t.Errorf("mean %v, deviation %v of the logarithm", mean, sd)
	}
	if p := newProcessor(&Host{}, arrival.Dice(1, "host", 0)); p != nil || p.at(0) != 1 {
		t.Error("a host without factors has one")
	}
}

// Launches take longer by the factor, steps without launches do not, nor do other draws change.
func TestHostOnlySlowsLaunches(t *testing.T) {
	jobs := []move{{add: Job{ID: 1, PromptTokens: 5, OutputTokens: 50}}}
	run := func(c Config) (out []Emission) {
		d := mustNew(t, c)
		play(d, jobs, func(now time.Duration) { out = d.Step(min(now, forever-1), out) })
		return out
	}
	c := Config{Seed: 3, Cost: Costs{Step: 10e-3, Jitter: 0.2}}
	free := run(c)
	c.Cost.Host = &Host{Factors: []float64{2, 4}, Hold: 1e-2}
	if slow := run(c); slow[49] != free[49] {
		t.Errorf("%v, without a host %v", slow[49].At, free[49].At)
	}
	c.Cost.Launch = 1e-3 // times 4 at most: below the device's time
	if slow := run(c); slow[49].At != free[49].At {
		t.Errorf("with launches that are hidden %v, without %v", slow[49].At, free[49].At)
	}
	c.Cost.Launch = 20e-3
	if slow := run(c); slow[49].At < 50*40*time.Millisecond || slow[49].At > 50*80*time.Millisecond {
		t.Errorf("50 launches of 40 to 80 ms end at %v", slow[49].At)
	}
}
