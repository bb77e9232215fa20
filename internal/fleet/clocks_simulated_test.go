package fleet

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	microsecond = int64(1e3)
	millisecond = int64(1e6)
	second      = int64(1e9)
	beat        = second / 4
)

// simulated is the clock of another machine. Ours shows the time of the simulation, less what it
// was suspended for.
type simulated struct {
	offset float64
	rates  []float64 // of the offset, in each second from its first
	sums   []float64 // of the rates of the seconds before
	// Theirs, or ours, stands still from an instant of the simulation for some time.
	theirsStops, oursStops, stop int64
}

// newSimulated has an offset of up to 5 s and a rate of up to 100 ppm, which wanders if asked to.
func newSimulated(rnd *rand.Rand, seconds int, wanders bool) *simulated {
	s := &simulated{offset: (rnd.Float64()*2 - 1) * 5e9, theirsStops: math.MaxInt64, oursStops: math.MaxInt64}
	rate, sum := (rnd.Float64()*2-1)*100e-6, 0.0
	for range seconds + 30 {
		s.rates, s.sums = append(s.rates, rate), append(s.sums, sum)
		if sum += rate; wanders {
			rate = min(max(rate+rnd.NormFloat64()*30e-6, -100e-6), 100e-6)
		}
	}
	return s
}

// stopped is how long a clock that stops at an instant has stood still at t.
func (s *simulated) stopped(at, t int64) int64 {
	if t <= at {
		return 0
	}
	return min(t-at, s.stop)
}

func (s *simulated) theirs(t int64) int64 {
	t -= s.stopped(s.theirsStops, t)
	i := min(max(int(t/second), 0), len(s.rates)-1)
	drift := s.sums[i]*1e9 + s.rates[i]*float64(t-int64(i)*second)
	return t + int64(math.Floor(s.offset+drift))
}

func (s *simulated) ours(t int64) int64 { return t - s.stopped(s.oursStops, t) }

// truth is the offset at an instant of the simulation.
func (s *simulated) truth(t int64) int64 { return s.theirs(t) - s.ours(t) }

// A network delays each way by its own distribution.
type network struct {
	there, back float64 // mean delay in nanoseconds
	least       float64 // delay
	spikes      float64 // their share
}

func newNetwork(rnd *rand.Rand) network {
	mean := func() float64 { return 50e3 * math.Pow(400, rnd.Float64()) } // 50 us to 20 ms
	return network{mean(), mean(), rnd.Float64() * 50e3, 0.02}
}

func (n network) delay(rnd *rand.Rand, mean float64) int64 {
	d := n.least + rnd.ExpFloat64()*mean
	if rnd.Float64() < n.spikes {
		d += rnd.Float64() * 400e6
	}
	return int64(d)
}

// A reading is an exchange, and when in the simulation it began and ended.
type reading struct {
	Exchange
	sent, received int64
}

// awake is when a machine that stops at an instant does what is due at t.
func (s *simulated) awake(at, t int64) int64 {
	if at <= t && t < at+s.stop {
		return at + s.stop
	}
	return t
}

// exchange is one that begins at an instant of the simulation.
func (s *simulated) exchange(rnd *rand.Rand, n network, due int64) reading {
	sent := s.awake(s.oursStops, due)
	arrived := s.awake(s.theirsStops, s.awake(s.oursStops, sent+int64(rnd.ExpFloat64()*20e3))+n.delay(rnd, n.there))
	answered := s.awake(s.theirsStops, arrived+int64(rnd.ExpFloat64()*20e3))
	received := s.awake(s.oursStops, s.awake(s.theirsStops, answered+int64(rnd.ExpFloat64()*20e3))+n.delay(rnd, n.back))
	return reading{Exchange{s.ours(sent), s.theirs(arrived), s.theirs(answered), s.ours(received)}, sent, received}
}

// exchanges are 16 in a row and then four a second, in the order in which answers are received.
func (s *simulated) exchanges(rnd *rand.Rand, n network, end int64) (all []reading) {
	at := int64(0)
	for range 16 {
		r := s.exchange(rnd, n, at)
		all, at = append(all, r), r.received
	}
	for ; at < end; at += beat {
		all = append(all, s.exchange(rnd, n, at))
	}
	slices.SortStableFunc(all, func(a, b reading) int { return int(a.received - b.received) })
	return all
}
