package truth

import (
	"math"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

func TestLockstepWritesAtMultiplesOfThePeriod(t *testing.T) {
	cfg := Config{Lockstep: true, Step: 20 * time.Millisecond, TTFT: 30 * time.Millisecond}.withDefaults()
	for _, c := range []struct{ start, first int64 }{
		{0, 40 * ms}, {9*ms + 999_999, 40 * ms}, {10 * ms, 60 * ms}, {25 * ms, 60 * ms}, {31 * ms, 80 * ms},
	} {
		p := cfg.plan(3)
		if got := p.first(c.start); got != c.first {
			t.Errorf("a stream that starts at %d writes at %d, want %d", c.start, got, c.first)
		}
		if got := p.next(c.first, c.first+999); got != c.first+20*ms {
			t.Errorf("after %d comes %d", c.first, got)
		}
	}
}

func TestSpreadHasAPhaseAndGapsAroundTheStep(t *testing.T) {
	cfg := Config{Step: 10 * time.Millisecond, Jitter: 0.3, TTFT: 5 * time.Millisecond, Seed: 1}.withDefaults()
	const streams, gaps = 400, 50
	var phases, sum float64
	least, most := int64(math.MaxInt64), int64(0)
	for n := range uint64(streams) {
		p := cfg.plan(n)
		due := p.first(1000)
		phase := due - 1000 - 5*ms
		if phase < 0 || phase >= 10*ms {
			t.Fatalf("phase %d of stream %d", phase, n)
		}
		phases += float64(phase)
		for range gaps {
			next := p.next(due, 0)
			least, most = min(least, next-due), max(most, next-due)
			sum += float64(next - due)
			due = next
		}
	}
	// The phases are even over a step: 5 ms ± 10/√12/√400 = 0.14 ms. The gaps
	// over 7 to 13 ms: 10 ms ± 6/√12/√20000 = 0.012 ms. Five of these either way.
	if mean := phases / streams / float64(ms); math.Abs(mean-5) > 0.7 {
		t.Errorf("mean phase %v ms, want 5", mean)
	}
	if mean := sum / streams / gaps / float64(ms); math.Abs(mean-10) > 0.06 {
		t.Errorf("mean gap %v ms, want 10", mean)
	}
	if least < 7*ms || most > 13*ms || least > 7*ms+ms/10 || most < 13*ms-ms/10 {
		t.Errorf("gaps from %d to %d ns, want 7 to 13 ms", least, most)
	}
}

func TestPlansAreTheSameForTheSameSeed(t *testing.T) {
	dues := func(seed, n uint64) (out [20]int64) {
		cfg := Config{Step: time.Millisecond, Jitter: 1, Seed: seed}.withDefaults()
		p := cfg.plan(n)
		due := p.first(0)
		for i := range out {
			out[i] = due
			due = p.next(due, 0)
		}
		return out
	}
	if first, again := dues(1, 2), dues(1, 2); first != again {
		t.Error("one seed and number give two plans")
	}
	if dues(1, 2) == dues(2, 2) || dues(1, 2) == dues(1, 3) || dues(1, 2) == dues(2, 1) {
		t.Error("different seeds or numbers give one plan")
	}
}

func TestWithoutAStepStreamsTakeTurns(t *testing.T) {
	cfg := Config{TTFT: time.Second}.withDefaults()
	p := cfg.plan(0)
	if first := p.first(7); first != 7+int64(time.Second) || p.next(first, first+12) != first+12 {
		t.Errorf("first %d, next %d", first, p.next(first, first+12))
	}
}

func TestFaultsStrikeTheirShares(t *testing.T) {
	f := Faults{HTTP500: 0.1, Reset: 0.2, Truncate: 0.3}
	const n = 100_000
	counts := map[Ending]int{}
	for i := range uint64(n) {
		counts[f.draw(5, i)]++
	}
	for ending, share := range map[Ending]float64{HTTP500: 0.1, Reset: 0.2, Truncate: 0.3, Complete: 0.4} {
		five := 5 * math.Sqrt(n*share*(1-share)) // standard deviations
		if got := float64(counts[ending]); math.Abs(got-n*share) > five {
			t.Errorf("%v: %v of %d, want %v ± %v", ending, got, n, n*share, five)
		}
	}
}

func TestValidateReportsEverything(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	err := Config{
		Step: -1, Jitter: 2, TTFT: -1,
		OutputTokens: MaxTokens + 1,
		Faults:       Faults{HTTP500: math.NaN(), Reset: -1, Truncate: 2},
	}.Validate()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 5 {
		t.Errorf("want five mistakes, the faults' as one: %v", err)
	}
	for _, c := range []Config{
		{Lockstep: true},
		{Lockstep: true, Step: 1, Jitter: 0.5},
		{Faults: Faults{HTTP500: 0.5, Reset: 0.5, Truncate: 0.5}},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
