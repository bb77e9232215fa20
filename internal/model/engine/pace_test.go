package engine

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/plan"
)

// finished is when a job of this many steps is done.
func finished(t *testing.T, c Config, steps int) time.Duration {
	t.Helper()
	d := mustNew(t, c)
	d.Add(0, Job{ID: 1, PromptTokens: 1, OutputTokens: steps})
	out := d.Step(forever-1, nil)
	return out[len(out)-1].At
}

// Over many seeds the factors of starts are normal with the stated spread; of one seed it is
// one factor. Of 2000 draws the mean is known to 0.05 % and the spread to 0.03 % (one
// standard error each).
func TestStartSpread(t *testing.T) {
	const n, spread = 2000, 0.02
	var sum, squares float64
	for seed := range uint64(n) {
		c := Config{Cost: Costs{Step: 1}, Pace: Pace{StartSpread: spread}, Seed: seed}
		one := finished(t, c, 1).Seconds()
		if three := finished(t, c, 3).Seconds(); math.Abs(three-3*one) > 1e-8 {
			t.Fatalf("seed %d: three steps take %v, one %v", seed, three, one)
		}
		sum += one - 1
		squares += (one - 1) * (one - 1)
	}
	if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 4*0.0005 || math.Abs(sd-spread) > 4*0.0003 {
		t.Errorf("mean %v, spread %v, want 0 and %v", mean, sd, spread)
	}
}

// Random stalls are as frequent as stated, other seeds have others, and all replicas have
// the same.
func TestRandomStalls(t *testing.T) {
	law := Stalls{Every: parsed(t, "exponential(10s)"), Length: arrival.FixedDuration(200 * time.Millisecond)}
	c := Config{Cost: Costs{Step: 1}, Stalls: &law, Replicas: Replicas{Count: 2}, Scheduler: Scheduler{MaxSequences: 1}}
	first := finished(t, c, 20000)
	// About 2000 stalls in 20 000 s of work; their number has a standard deviation of 45.
	if n := (first.Seconds() - 20000) / 0.2; math.Abs(n-2000) > 4*45 {
		t.Errorf("%v stalls, want about 2000", n)
	}
	d := mustNew(t, c)
	d.Add(0, Job{ID: 1, PromptTokens: 1, OutputTokens: 100})
	d.Add(0, Job{ID: 2, PromptTokens: 1, OutputTokens: 100})
	at := map[uint64][]time.Duration{}
	for _, e := range d.Step(forever-1, nil) {
		at[e.ID] = append(at[e.ID], e.At)
	}
	if !slices.Equal(at[1], at[2]) {
		t.Errorf("replicas stall at different times: %v, %v", at[1], at[2])
	}
	if c.Seed = 1; finished(t, c, 20000) == first {
		t.Error("another seed has the same stalls")
	}
}

func parsed(t *testing.T, text string) arrival.Duration {
	t.Helper()
	d, err := arrival.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Engines that start at different instants are at one point of a drift with Since.
func TestStartedAt(t *testing.T) {
	since := time.Date(2026, 5, 4, 8, 30, 0, 0, time.UTC)
	c := Config{
		Cost: Costs{Step: 1},
		Pace: Pace{Drift: &Drift{Change: 0.5, Over: plan.Duration(100 * time.Second), Since: Moment(since)}},
	}
	for passed, want := range map[time.Duration]time.Duration{
		0: time.Second, 50 * time.Second: 1250 * time.Millisecond, -10 * time.Second: time.Second,
		24 * time.Hour: 1500 * time.Millisecond,
	} {
		if got := finished(t, c.StartedAt(since.Add(passed)), 1); got != want {
			t.Errorf("%v after: a step takes %v, want %v", passed, got, want)
		}
	}
	if c.Drift.Offset != 0 {
		t.Error("the configuration was changed")
	}
	c.Drift.Since, c.Drift.Offset = Moment(time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)), plan.Duration(time.Hour)
	if got := finished(t, c.StartedAt(since), 1); got != 1500*time.Millisecond {
		t.Errorf("a step takes %v after two thousand years", got)
	}
}

// Zeroes turn off what a profile has.
func TestPaceTurnedOff(t *testing.T) {
	c := Config{Cost: Costs{Step: 1}, Pace: Pace{Drift: &Drift{Settles: true, Offset: 1}}, Stalls: &Stalls{}}
	if got := finished(t, c, 2); got != 2*time.Second {
		t.Errorf("two steps take %v", got)
	}
}

func TestPaceText(t *testing.T) {
	for text, want := range map[string]Relative{"3%": 0.03, "0.03": 0.03, "-3 %": -0.03, "1e-2": 0.01} {
		var r Relative
		if err := r.UnmarshalText([]byte(text)); err != nil || math.Abs(float64(r-want)) > 1e-15 {
			t.Errorf("%s: %v, %v", text, float64(r), err)
		}
	}
	for _, text := range []string{"", "%", "3 percent", "nan", "inf%", "3%%"} {
		if err := new(Relative).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if got := Relative(0.035).String(); got != "3.5%" {
		t.Error(got)
	}
}
