package fleet

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func abs(d int64) int64 { return max(d, -d) }

// A trial is a run of one minute beside simulated clocks.
type trial struct {
	*simulated
	rnd   *rand.Rand
	all   []reading
	clock Clock
	end   int64 // of the simulation
}

func newTrial(seed uint64, change func(*simulated, *network, *rand.Rand)) *trial {
	rnd := rand.New(rand.NewPCG(seed, 100))
	t := &trial{simulated: newSimulated(rnd, 60, seed%3 == 0), rnd: rnd, end: 60 * second}
	n := newNetwork(rnd)
	if change != nil {
		change(t.simulated, &n, rnd)
	}
	t.all = t.exchanges(rnd, n, t.end)
	return t
}

// outside counts instants at which the truth is farther from At than its bound times share: while
// the run goes on, after each exchange, and of all the run once it is over.
func (r *trial) outside(share float64) (bad, of int, bounds []int64) {
	check := func(at int64) {
		offset, bound := r.clock.At(r.ours(at))
		if of++; float64(abs(r.truth(at)-offset)) > share*float64(bound) {
			bad++
		}
		bounds = append(bounds, bound)
	}
	for k, e := range r.all {
		r.clock.Add(e.Exchange)
		until := r.end
		if k+1 < len(r.all) {
			until = r.all[k+1].received
		}
		for range 3 {
			check(e.received + r.rnd.Int64N(max(until-e.received, 1)))
		}
	}
	bounds = nil
	for range 1000 {
		check(r.all[0].sent + r.rnd.Int64N(r.end-r.all[0].sent))
	}
	slices.Sort(bounds)
	return bad, of, bounds
}

const trials = 200

func TestTheTruthIsWithinTheBound(t *testing.T) {
	for seed := range uint64(trials) {
		r := newTrial(seed, nil)
		if bad, of, _ := r.outside(1); bad > 0 {
			t.Errorf("seed %d: beyond the bound at %d of %d instants", seed, bad, of)
		}
		if r.clock.Steps() != 0 || r.clock.ignored != 0 || r.clock.Exchanges() != len(r.all) {
			t.Errorf("seed %d: %d steps, %d of %d exchanges ignored", seed, r.clock.Steps(), r.clock.ignored, len(r.all))
		}
	}
}

// The check above can fail: half of the bound is too little in most trials.
func TestHalfOfTheBoundIsTooLittle(t *testing.T) {
	failed := 0
	for seed := range uint64(trials) {
		if bad, _, _ := newTrial(seed, nil).outside(0.5); bad > 0 {
			failed++
		}
	}
	if failed < trials/2 {
		t.Errorf("half of the bound failed in %d of %d trials", failed, trials)
	}
}

// A run begins as agreed from what is known after 5 s. All that MaxOffset says of it then, of later times too,
// and once it is over, holds the truth.
func TestApartHoldsTheTruth(t *testing.T) {
	tight := 0
	for seed := range uint64(trials) {
		r := newTrial(seed, nil)
		start := 8 * second
		var at, promised int64
		for _, e := range r.all {
			if e.received > 5*second && at == 0 {
				at = r.clock.Theirs(start)
				promised = r.clock.MaxOffset(start, at, r.end)
			}
			r.clock.Add(e.Exchange)
		}
		worst := int64(0)
		for range 2000 {
			now := start + r.rnd.Int64N(r.end-start+1)
			worst = max(worst, abs(r.theirs(now)-at-(now-start)))
		}
		maxOffset := r.clock.MaxOffset(start, at, r.end)
		if worst > maxOffset || worst > promised || maxOffset > promised {
			t.Errorf("seed %d: %d ns apart, MaxOffset says %d, before the run %d", seed, worst, maxOffset, promised)
		}
		if worst > maxOffset/2 {
			tight++
		}
		for range 20 {
			a := start + r.rnd.Int64N(r.end-start)
			if _, bound := r.clock.At(a); r.clock.MaxOffset(a, r.clock.Theirs(a), a) > bound {
				t.Errorf("seed %d: MaxOffset is more than the bound at one instant", seed)
			}
		}
	}
	if tight < trials/4 {
		t.Errorf("only in %d of %d trials was the truth beyond half of MaxOffset", tight, trials)
	}
}

// MaxOffset is the most that At says of any instant, and barely more.
func TestApartIsTheMostOfAllInstants(t *testing.T) {
	for seed := range uint64(6) {
		r := newTrial(seed, nil)
		for _, e := range r.all {
			r.clock.Add(e.Exchange)
		}
		start, end := 7*second, 12*second
		at, most := r.clock.Theirs(start), int64(0)
		for now := start; now <= end; now += 20 * microsecond {
			offset, bound := r.clock.At(now)
			most = max(most, abs(offset-(at-start))+bound)
		}
		if maxOffset := r.clock.MaxOffset(start, at, end); maxOffset < most || maxOffset > most+20 {
			t.Errorf("seed %d: MaxOffset says %d, At %d", seed, maxOffset, most)
		}
	}
}

// With round trips of about 200 us the bound is about half of the least of them, and what clocks can
// drift between two exchanges.
func TestTheBoundIsUseful(t *testing.T) {
	var medians, drifts []float64
	for seed := range uint64(50) {
		r := newTrial(seed, func(s *simulated, n *network, _ *rand.Rand) {
			*n = network{there: 30e3, back: 30e3, least: 70e3}
			s.rates = slices.Repeat([]float64{s.rates[0]}, len(s.rates))
			for i := range s.sums {
				s.sums[i] = float64(i) * s.rates[0]
			}
		})
		_, _, bounds := r.outside(1)
		medians = append(medians, float64(bounds[len(bounds)/2]))
		drifts = append(drifts, math.Abs(r.clock.Drift()-r.rates[0]))
		if trip := r.clock.RoundTrip(); trip < 140*microsecond || trip > 170*microsecond {
			t.Errorf("the least round trip is %d ns", trip)
		}
	}
	slices.Sort(medians)
	t.Logf("median bound of trials: %.0f to %.0f us; drift is off by up to %.2f ppm", medians[0]/1e3, medians[49]/1e3, slices.Max(drifts)*1e6)
	if medians[49] > 180e3 {
		t.Errorf("the median bound is %.0f ns with round trips of 200 us", medians[49])
	}
	if worst := slices.Max(drifts); worst > 2e-6 {
		t.Errorf("the drift is off by %.2g", worst)
	}
}

// One of the machines is suspended for a while at any instant, with exchanges under way or not.
func TestASuspendedMachineIsFound(t *testing.T) {
	for seed := range uint64(trials) {
		r := newTrial(seed, func(s *simulated, n *network, rnd *rand.Rand) {
			s.stop = second/2 + rnd.Int64N(10*second)
			if seed%2 == 0 {
				s.theirsStops = 5*second + rnd.Int64N(40*second)
			} else {
				s.oursStops = 5*second + rnd.Int64N(40*second)
			}
			if seed%4 < 2 {
				n.spikes = 0.2
			}
		})
		if bad, of := r.outsideOfSteps(t, seed); bad > 0 {
			t.Errorf("seed %d: beyond the bound at %d of %d instants", seed, bad, of)
		}
		if r.clock.Steps() != 1 {
			t.Errorf("seed %d: %d steps", seed, r.clock.Steps())
		}
		offset, bound := r.clock.At(r.ours(r.end))
		if abs(r.truth(r.end)-offset) > bound || bound > 300*millisecond {
			t.Errorf("seed %d: at the end the bound is %d", seed, bound)
		}
	}
}

// outsideOfSteps counts, once the run is over, instants at which At, and spans for which MaxOffset, do
// not hold the truth.
func (r *trial) outsideOfSteps(t *testing.T, seed uint64) (bad, of int) {
	t.Helper()
	for _, e := range r.all {
		r.clock.Add(e.Exchange)
	}
	stops := min(r.theirsStops, r.oursStops)
	for k := range 2000 {
		now := r.rnd.Int64N(r.end)
		if k%2 == 0 {
			now = min(stops-second+r.rnd.Int64N(r.stop+2*second), r.end) // around the step
		}
		if r.oursStops < now && now < r.oursStops+r.stop {
			continue // there is no such instant of ours
		}
		offset, bound := r.clock.At(r.ours(now))
		if of++; abs(r.truth(now)-offset) > bound {
			bad++
		}
	}
	start := 2 * second
	at, worst := r.theirs(start), int64(0)
	for range 2000 {
		now := start + r.rnd.Int64N(r.end-start)
		worst = max(worst, abs(r.theirs(now)-at-(r.ours(now)-start)))
	}
	maxOffset := r.clock.MaxOffset(start, at, r.ours(r.end))
	if worst > maxOffset || maxOffset > worst+2*r.stop+second {
		t.Errorf("seed %d: %d ns apart, MaxOffset says %d", seed, worst, maxOffset)
	}
	return bad, of
}

// A run of four hours takes no more memory than it is allowed to, and the bound still holds.
func TestLongRuns(t *testing.T) {
	const seconds = 4 * 3600
	rnd := rand.New(rand.NewPCG(1, 2))
	s := newSimulated(rnd, seconds, true)
	all := s.exchanges(rnd, network{there: 60e3, back: 40e3, least: 50e3, spikes: 0.02}, seconds*second)
	var c Clock
	start := 10 * second
	for _, e := range all {
		c.Add(e.Exchange)
		if marks := len(c.last().upper.marks); marks > mostMarks {
			t.Fatalf("%d marks are kept", marks)
		}
	}
	var bounds []int64
	worst, at := int64(0), s.theirs(start)
	for range 20000 {
		now := start + rnd.Int64N(seconds*second-start)
		offset, bound := c.At(now)
		if abs(s.truth(now)-offset) > bound {
			t.Fatalf("at %d the offset is %d, not %d +- %d", now, s.truth(now), offset, bound)
		}
		worst = max(worst, abs(s.theirs(now)-at-(now-start)))
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	median, most := bounds[len(bounds)/2], bounds[len(bounds)-1]
	maxOffset := c.MaxOffset(start, at, seconds*second)
	t.Logf("%d exchanges, %d marks, slots of %d ms; bound: median %d us, most %d us; MaxOffset %d us, truth %d us", len(all),
		len(c.last().upper.marks), c.last().upper.width/millisecond, median/microsecond, most/microsecond, maxOffset/microsecond, worst/microsecond)
	if median > 5*millisecond || worst > maxOffset || maxOffset > worst+10*millisecond {
		t.Errorf("median bound %d, MaxOffset %d, truth %d", median, maxOffset, worst)
	}
}

func TestAClockWithoutExchangesSaysNothing(t *testing.T) {
	var c Clock
	if offset, bound := c.At(5); offset != 0 || bound != Unknown {
		t.Errorf("offset %d, bound %d", offset, bound)
	}
	if c.MaxOffset(0, 0, 1) != Unknown || c.Drift() != 0 || c.RoundTrip() != 0 || c.Theirs(7) != 7 {
		t.Error("it says something")
	}
}

func TestAnExchange(t *testing.T) {
	var c Clock
	c.Add(Exchange{Sent: 1000, Arrived: 5100, Answered: 5150, Received: 1250})
	// At 1000 theirs is between 5150-250, less the drift of 250 ns, and 5100.
	for _, want := range []struct{ ours, offset, bound int64 }{
		{1000, 4000, 101},
		{1250, 4000, 101},
		{1250 + 1e6, 4000, 601},
	} {
		if offset, bound := c.At(want.ours); abs(offset-want.offset) > 1 || abs(bound-want.bound) > 1 {
			t.Errorf("at %d: %d +- %d, want %d +- %d", want.ours, offset, bound, want.offset, want.bound)
		}
	}
	if c.RoundTrip() != 200 || c.Exchanges() != 1 {
		t.Errorf("round trip %d, %d exchanges", c.RoundTrip(), c.Exchanges())
	}
}

func TestWhatCannotBeIsIgnored(t *testing.T) {
	for _, e := range []Exchange{
		{Sent: 10, Arrived: 0, Answered: 0, Received: 9},
		{Sent: 0, Arrived: 2, Answered: 1, Received: 9},
		{Sent: 0, Arrived: 0, Answered: 100, Received: 9},
		{Sent: 0, Arrived: math.MinInt64, Answered: math.MaxInt64, Received: 9},
		{Sent: math.MinInt64, Arrived: 0, Answered: 0, Received: math.MaxInt64},
	} {
		var c Clock
		c.Add(Exchange{0, 100, 100, 9})
		c.Add(e)
		if offset, bound := c.At(5); c.ignored != 1 || c.Exchanges() != 1 || c.Steps() != 0 || abs(offset-95) > 1 || bound > 7 {
			t.Errorf("%+v: %d ignored, offset %d +- %d", e, c.ignored, offset, bound)
		}
	}
}

// Whatever is read, nothing panics, nothing grows without limit, and each exchange is counted once.
func TestHostileReadings(t *testing.T) {
	instant := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1000, 1000), rapid.Int64Range(0, 100*second))
	rapid.Check(t, func(t *rapid.T) {
		var c Clock
		n := rapid.IntRange(0, 200).Draw(t, "exchanges")
		for range n {
			e := Exchange{instant.Draw(t, "sent"), instant.Draw(t, "arrived"), instant.Draw(t, "answered"), instant.Draw(t, "received")}
			if rapid.Bool().Draw(t, "in order") {
				e.Received, e.Answered = max(e.Sent, e.Received), e.Arrived
			}
			c.Add(e)
			ours := instant.Draw(t, "ours")
			if _, bound := c.At(ours); bound < 0 {
				t.Fatalf("bound %d", bound)
			}
			if maxOffset := c.MaxOffset(ours, instant.Draw(t, "at"), instant.Draw(t, "end")); maxOffset < 0 {
				t.Fatalf("MaxOffset is %d", maxOffset)
			}
			c.Theirs(ours)
			if d := c.Drift(); math.IsNaN(d) || math.IsInf(d, 0) {
				t.Fatalf("drift %v", d)
			}
		}
		if c.Exchanges()+c.ignored != n || len(c.epochs) > mostEpochs {
			t.Errorf("%d exchanges: %d used, %d ignored, %d epochs", n, c.Exchanges(), c.ignored, len(c.epochs))
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := newSimulated(rnd, 1, false)
	var c Clock
	at := int64(0)
	for b.Loop() {
		c.Add(s.exchange(rnd, network{there: 60e3, back: 40e3, least: 50e3}, at).Exchange)
		at += beat
	}
}

func BenchmarkAt(b *testing.B) {
	r := newTrial(1, nil)
	for _, e := range r.all {
		r.clock.Add(e.Exchange)
	}
	for b.Loop() {
		r.clock.At(r.end / 2)
	}
}
