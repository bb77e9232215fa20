package engine

import (
	"math/rand/v2"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// Stalls are times in which no step proceeds, in any replica, as when a server compiles
// kernels or collects garbage. Work that is done otherwise goes on: that of a frontend,
// transfers. One that would begin while another lasts is left out.
type Stalls struct {
	Every  arrival.Duration `yaml:"every"` // from the beginning of one to that of the next
	Length arrival.Duration `yaml:"length"`
}

// betweenStalls is the least time from one to the next, and from its end, so that every step
// ends.
const betweenStalls = time.Millisecond

// A standstill is the sequence of stalls of one engine. Every core has its own, with the
// same draws.
type standstill struct {
	law      Stalls
	rand     *rand.Rand
	from, to time.Duration // of the present stall or the next one
}

// newStandstill returns nil if there are no stalls.
func newStandstill(law *Stalls, seed uint64) *standstill {
	if law == nil || law.none() {
		return nil
	}
	dice := arrival.Dice(seed, "stalls", 0)
	s := &standstill{law: *law, rand: rand.New(&dice)}
	s.next()
	return s
}

func (s *standstill) next() {
	for s.from < later(s.to, betweenStalls) {
		s.from = later(s.from, max(s.law.Every.Draw(s.rand), betweenStalls))
	}
	s.to = later(s.from, s.law.Length.Draw(s.rand))
}

// stretch is how long work of d takes that begins at now. Calls come in order of the end
// of that work.
func (s *standstill) stretch(now, d time.Duration) time.Duration {
	if s == nil {
		return d
	}
	for at := now; ; at = s.to {
		for s.to <= at && s.from < forever {
			s.next()
		}
		if end := later(at, d); end <= s.from {
			return end - now
		}
		d -= max(s.from-at, 0)
	}
}

// none reports whether both are 0, which turns stalls off.
func (s Stalls) none() bool { return s == Stalls{} }

func (v *checker) stalls(s *Stalls) {
	if s == nil || s.none() {
		return
	}
	every, regular := s.Every.Fixed()
	length, alike := s.Length.Fixed()
	v.If(regular && every <= 0, "stalls.every", nil,
		"is missing: the time from one stall to the next, such as 30s or exponential(30s)")
	v.If(alike && length <= 0, "stalls.length", nil, "is missing: the time that a stall lasts, such as 800ms")
	v.If(regular && alike && every > 0 && length >= every, "stalls.length", s.Length,
		"must be below stalls.every (%v)", s.Every)
}
