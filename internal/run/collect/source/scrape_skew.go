package source

import (
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// A skew bounds how far the wall clock of a source is ahead of this process's, by intersecting the bounds of the
// exchanges:
//
//	          sent                 received            here
//	            |--------- u ---------|
//	                 date <= u' < date+1s              there, u' being the clock at u
//
//	so that   date - received <= ahead < date + 1s - sent
//
// The age of a Date is at most a second, of uvicorn two: it refreshes it once per second. A
// sample is not from the future either: stamp - received <= ahead. Exchanges at changing
// fractions of a second narrow this to a sixteenth of a second or so.
//
// Clocks drift, so the bounds of an exchange widen with its age. Here an instant is the wall clock of the first
// exchange, moved on by the monotonic clock, so that setting the clock does not move it.
type skew struct {
	origin time.Time // of instants
	known  bool
	low    time.Duration // ahead, at least
	high   time.Duration // at most
	at     time.Duration // when this was so
	used   time.Duration // ahead, as values are moved by: it changes only where it must
	set    bool
}

// maxDrift is the largest drift between two clocks: a kernel that slews its clock towards another does so by 500
// ppm.
const maxDrift = 500e-6

// on is an instant, as the time since the origin.
func (s *skew) on(t time.Time) time.Duration {
	if s.origin.IsZero() {
		s.origin = t
	}
	return t.Sub(s.origin)
}

// stamped is a stamp of the source, as the time since the origin by its clock.
func (s *skew) stamped(t time.Time) time.Duration { return t.Sub(s.origin.Round(0)) }

// date learns from a Date header of a given age at most. It reports false if that contradicts the bounds: the clock
// was set, and the bounds are forgotten.
func (s *skew) date(sent, received, date time.Time, age time.Duration) bool {
	from, to := s.on(sent), s.on(received)
	low, high := s.stamped(date)-to, s.stamped(date)+age-from
	s.drift(to)
	if consistent := !s.known || low <= s.high && high >= s.low; !consistent || !s.known {
		s.low, s.high, s.known = low, high, true
		return consistent
	}
	s.low, s.high = max(s.low, low), min(s.high, high)
	return true
}

// drift widens the interval by the drift that is possible until now.
func (s *skew) drift(now time.Duration) {
	if wide := time.Duration(float64(now-s.at) * maxDrift); s.known && wide > 0 {
		s.low, s.high = s.low-wide, s.high+wide
	}
	s.at = now
}

// sample learns from a sample that it is not from the future. It reports false if it would be:
// then its stamp is by no clock that is known.
func (s *skew) sample(stamp, received time.Time) bool {
	low := s.stamped(stamp) - s.on(received)
	if !s.known || low > s.high {
		return false
	}
	s.low = max(s.low, low)
	return true
}

// drifted is how far the clocks may have drifted since an instant.
func (s *skew) drifted(since time.Time) time.Duration {
	return time.Duration(float64((s.at - s.on(since)).Abs()) * maxDrift)
}

// age is how old a sample was at least.
func (s *skew) age(stamp, received time.Time) time.Duration {
	return s.on(received) - (s.stamped(stamp) - s.low)
}

// bound is half the width of the interval.
func (s *skew) bound() time.Duration { return (s.high - s.low + 1) / 2 }

// clock is the present correction of stamps.
func (s *skew) clock() telemetry.Clock {
	if !s.set || s.used < s.low || s.used > s.high {
		s.used, s.set = s.low+(s.high-s.low)/2, true
	}
	return telemetry.Clock{Own: true, Offset: -s.used, Bound: max(s.high-s.used, s.used-s.low)}
}

// here is the instant of a stamp on this process's clock, by a clock of this skew.
func (s *skew) here(stamp time.Time, c telemetry.Clock) time.Time {
	return s.origin.Add(s.stamped(stamp) + c.Offset)
}
