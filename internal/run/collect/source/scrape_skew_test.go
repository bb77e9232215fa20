package source

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A source with a clock up to 5 s off that drifts by up to 100 ppm stamps samples that are up to
// a second old. In each of 200 trials of 10 minutes the truth is within the bound after every
// exchange, and the bound is narrow after 20.
func TestTheBoundHoldsTheTruth(t *testing.T) {
	for trial := range 200 {
		r := rand.New(rand.NewPCG(19, uint64(trial)))
		begun := time.Date(2026, 11, 1, 0, 0, 0, r.IntN(1e9), time.UTC)
		offset := time.Duration((r.Float64()*2 - 1) * float64(5*time.Second))
		drift := (r.Float64()*2 - 1) * 100e-6
		there := func(now time.Duration) time.Time {
			return begun.Round(0).Add(now + offset + time.Duration(float64(now)*drift))
		}
		var s skew
		now := time.Duration(0)
		for i := range 600 {
			now += cadence(time.Second, s.known && s.bound() > narrow) + time.Duration(r.ExpFloat64()*float64(100*time.Microsecond))
			up, down := time.Duration(r.ExpFloat64()*float64(time.Millisecond)), time.Duration(r.ExpFloat64()*float64(3*time.Millisecond))
			answered, received := now+up, now+up+down
			if !s.date(begun.Add(now), begun.Add(received), there(answered).Truncate(time.Second), time.Second) {
				t.Fatalf("trial %d: a contradiction at %v", trial, now)
			}
			taken := answered - time.Duration(r.Float64()*float64(time.Second))
			stamp := there(taken).Truncate(time.Millisecond)
			if !s.sample(stamp, begun.Add(received)) {
				t.Fatalf("trial %d: a sample from the future at %v", trial, now)
			}
			c := s.clock()
			at := s.here(there(taken), c)
			off, bound := at.Sub(begun.Add(taken)), c.Bound+s.drifted(at)
			if off.Abs() > bound {
				t.Fatalf("trial %d at %v: off by %v, bound %v", trial, now, off, bound)
			}
			if i > 20 && c.Bound > 120*time.Millisecond {
				t.Fatalf("trial %d at %v: bound %v", trial, now, c.Bound)
			}
		}
	}
}

// A clock that is set starts anew, and one that was never reported is not used.
func TestClocksThatAreSet(t *testing.T) {
	var s skew
	begun := time.Now()
	if s.on(begun); s.sample(begun, begun) {
		t.Error("a stamp without a Date to bound it")
	}
	day := begun.Round(0).Truncate(time.Second)
	s.date(begun, begun, day, time.Second)
	if s.sample(begun.Add(time.Hour), begun) {
		t.Error("a sample of the next hour")
	}
	later := begun.Add(10 * time.Second)
	if s.date(later, later, day.Add(time.Minute), time.Second) || !s.known {
		t.Error("the clock was set by 50 s")
	}
	if c := s.clock(); c.Offset > -49*time.Second+c.Bound || c.Offset < -51*time.Second-c.Bound || c.Bound > 501*time.Millisecond {
		t.Errorf("%+v", c)
	}
}
