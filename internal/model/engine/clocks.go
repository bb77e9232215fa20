package engine

import (
	"slices"
	"time"
)

// clocks run a server with Scheduler.Async and costs of launching: its host launches a step
// before it hands out the tokens of the one before, as vLLM does with two batches in flight
// (v0.33, v1/engine/core.py: step_with_batch_queue). For step k, with l the time that its launch
// takes and g that of the device,
//
//	H(k)   = F(k-2)                                    it is planned; its launch begins
//	E(k)   = max(max(H(k), E(k-1)) + g, H(k) + l) + tail   the device is done with it
//	F(k-1) = max(H(k) + l, E(k-1))                     the tokens of step k-1 are handed out
//
//	host    │ launch 1 │ launch 2 │ F1 launch 3       │ F2 launch 4 │ F3
//	device  │ ▒▒▒ 1 ▒▒▒│▒▒▒ 2 ▒▒▒ │         ▒▒ 3 ▒▒▒  │
//
// With fewer than two steps in flight the next is planned at once; if there is nothing to plan,
// the host waits for the device: F(k-1) = E(k-1). A step has the requests that have come by
// H(k), and knows what the step before it will have made.
type clocks struct {
	flying  [2]launched // the oldest first
	n       int         // of them
	device  time.Duration
	waiting bool // the host waits for the oldest, otherwise it launches
}

// A launched step has tokens that have not been handed out.
type launched struct {
	end     time.Duration // E
	planned bool          // its end is part of the state of the core, outputs and ended are set
	outputs []Emission
	ended   []*Seq
}

// proceed gives the host of s its next work at now, when it has none.
func (s *server) proceed(now time.Duration) {
	c := s.clocks
	if c.n < len(c.flying) && s.launch(now) {
		return
	}
	if c.n > 0 {
		c.waiting, s.end = true, max(now, c.flying[0].end)
	}
}

// launch plans a step at now and launches it; false if there is none.
func (s *server) launch(now time.Duration) bool {
	c := s.clocks
	if c.n > 0 {
		s.anticipate(&c.flying[c.n-1], now)
	}
	if len(s.running) == 0 && s.waiting.len() == 0 || !s.prepare(now) {
		return false
	}
	took, begin := s.launchTime(now), max(now, c.device)
	device := s.stalls.stretch(begin, s.pace.apply(s.deviceTime(), begin).Duration())
	s.end = later(now, took)
	if s.plan.PrefillTokens > 0 {
		s.end = max(s.end, later(begin, Seconds(device.Seconds()).times(s.cost.LaunchShare).Duration()))
	}
	c.device = later(max(later(begin, device), s.end), s.pace.apply(s.tail(), begin).Duration())
	c.waiting = false
	last := &c.flying[c.n]
	last.end, last.planned = c.device, false
	c.n++
	s.show(c.device - begin)
	return true
}

// anticipate makes the end of a launched step part of the state of the core.
func (s *server) anticipate(last *launched, now time.Duration) {
	if last.planned {
		return
	}
	last.planned = true
	last.outputs = s.End(now, last.outputs[:0])
	last.ended = append(last.ended[:0], s.ended...)
}

// handOut returns the oldest step in flight if its tokens are handed out at now; nil if a launch
// has ended. It is valid until the next launch.
func (s *server) handOut(now time.Duration) *launched {
	c := s.clocks
	if !c.waiting {
		return nil
	}
	s.anticipate(&c.flying[0], now)
	c.waiting = false
	c.flying[0], c.flying[1] = c.flying[1], c.flying[0]
	c.n--
	last := &c.flying[1]
	for i := range last.outputs {
		last.outputs[i].At = now
	}
	return last
}

// forget discards the tokens of a cancelled sequence that have not been handed out. It reports
// whether the last was among them.
func (c *clocks) forget(s *Seq) (ended bool) {
	for i := range c.flying[:c.n] {
		f := &c.flying[i]
		f.outputs = slices.DeleteFunc(f.outputs, func(e Emission) bool { return e.ID == s.ID })
		had := len(f.ended)
		f.ended = slices.DeleteFunc(f.ended, func(q *Seq) bool { return q == s })
		ended = ended || len(f.ended) < had
	}
	return ended
}
