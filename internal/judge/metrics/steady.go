package metrics

import (
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Steady is the part of a run between filling up and draining, and its figures.
//
// The load has built up when the number in flight first reaches its median over the
// time of sending. The requests that are in flight then are the first wave; the window opens
// when the answers to all of them are under way, and closes when the last request is released.
// Where that leaves no steady state, and the first wave did not stand still, it opens when the
// load has built up. It must be long
// against the time a request takes, hold enough requests, and the load must not
// drift in it: under an open loop faster than the server the number in flight
// only ever grows, and there is no steady state to report.
type Steady struct {
	From     float64 `json:"from"` // seconds since the start of the run
	To       float64 `json:"to"`
	Requests int     `json:"requests"` // released within, and succeeded
	// Why says why there is no steady state; the figures are then zero.
	Why plan.Message `json:"why,omitzero"`

	Level     float64   `json:"level"`     // mean number in flight
	Completed float64   `json:"completed"` // answers a second
	Output    float64   `json:"output"`    // output tokens a second
	Service   Latencies `json:"service"`   // of the requests released within, with intervals
	// NoIntervals says why there are none.
	NoIntervals plan.Message `json:"no_intervals,omitzero"`
}

// Found reports whether there is a steady state.
func (s Steady) Found() bool { return s.Requests > 0 && s.Why.IsZero() }

// Limits of a steady state.
const (
	atOnce         = 20 * time.Millisecond // of sending: less is no window
	steadyRequests = 20                    // released within at least
	steadyLength   = 3                     // times the mean time a request takes, at least
	steadyDrift    = 0.10                  // change of the level from one half to the other, relative
	steadySigmas   = 3                     // and beyond what chance explains
)

// steady adds the figures of the window, which is a steady state, to a summary.
func (x *observed) steady(s *Summary, w *window, gaps *gapSample, out *flowCount, percentiles []float64) {
	of := &s.Steady
	of.Level = x.flight().mean(w.from, w.to)
	of.Completed, of.Output = out.rates()
	of.Service = x.latencies(w.has, sent, gaps, nil, percentiles)
	x.intervals(of, w)
}

// A window is a steady state without its figures.
type window struct {
	Steady
	from, to trace.Instant
	waits    stillness
	still    []Standstill
}

// has reports whether a request belongs to the window.
func (w *window) has(h *head) bool { return h.released >= w.from && h.ok }

// window finds the steady state of the run.
func (x *observed) window() (w window) {
	first, last := x.released.first, x.released.last
	if x.gap.some {
		w.Why = plan.Msg(steadyIncomplete, "records", x.gap.requests+x.requests.Lost())
		return w
	}
	if x.run.Plan.Ramp {
		w.Why, w.waits = plan.Msg("steady.ramp"), x.stillness(first)
		w.still = w.waits.standstills()
		return w
	}
	if last.Sub(first) < atOnce {
		w.Why = plan.Msg("steady.at-once")
		return w
	}
	level := x.flight().median(first, last)
	full := x.flight().reaches(level, first)
	w.waits, w.to = x.stillness(full), last
	w.still = w.waits.standstills()
	from, cold := x.waveBegun(full), false
	for _, s := range w.still {
		if s.First {
			from, cold = max(from, seconds(s.To)), true
		}
	}
	if cold { // what piled up in the meantime is no steady load
		from = x.flight().returns(level, from)
	}
	if w.open(x, from); !w.Found() && !cold {
		w.open(x, full)
	}
	return w
}

// open makes the window begin at an instant, and says whether it is a steady state.
func (w *window) open(x *observed, from trace.Instant) {
	w.from = from
	w.From, w.To = w.from.Seconds(), w.to.Seconds()
	n := 0
	for h := range x.heads.all {
		if w.has(h) {
			n++
		}
	}
	if w.Why = x.unsteady(w, n); w.Why.IsZero() {
		w.Requests = n
	}
}

// waveBegun is when the answers to all requests that were in flight at an instant were under
// way.
func (x *observed) waveBegun(at trace.Instant) trace.Instant {
	last := at
	for h := range x.heads.all {
		if h.ok && h.released.Happened() && h.released <= at && h.done > at {
			last = max(last, h.begun) // without a stream: done
		}
	}
	return last
}

// reaches is the first instant from which on at least n are in flight.
func (f *flight) reaches(n int, first trace.Instant) trace.Instant {
	for s := range f.steps {
		if s.N >= n && s.At >= first {
			return s.At
		}
	}
	return first
}

// returns is the first instant, from one on, at which at most n are in flight, or that one if
// they always are more.
func (f *flight) returns(n int, from trace.Instant) trace.Instant {
	level := 0
	for s := range f.steps {
		switch {
		case s.At <= from:
			level = s.N
		case level <= n:
			return from
		default:
			if level = s.N; level <= n {
				return s.At
			}
		}
	}
	return from
}

// unsteady says why the window, which has n requests, is no steady state, if it is none.
func (x *observed) unsteady(w *window, n int) plan.Message {
	if n < steadyRequests || w.to <= w.from {
		return plan.Msg("steady.few", "requests", n, "needed", steadyRequests)
	}
	took := 0.0
	for h := range x.heads.all {
		if w.has(h) {
			took += Between(h.released, h.done) / float64(n)
		}
	}
	length := Between(w.from, w.to)
	if length < steadyLength*took {
		if early, late := x.halves(w, n); late > early*(1+2*steadyDrift) {
			return plan.Msg("steady.slowing", "early", early, "late", late)
		}
		return plan.Msg("steady.short", "length", length, "took", took)
	}
	return x.flight().drift(w.from, w.to, took)
}

// halves is the mean time that the first and the second half of the n requests of the window
// took, in the order of the workload.
func (x *observed) halves(w *window, n int) (early, late float64) {
	half, i := n/2, 0
	for h := range x.heads.all {
		if !w.has(h) {
			continue
		}
		took := Between(h.released, h.done)
		if i < half {
			early += took / float64(half)
		} else {
			late += took / float64(n-half)
		}
		i++
	}
	return early, late
}

// drift reports how the level changed between the halves of the window, if it
// changed by more than chance explains: the time average over T of a Poisson
// flow whose requests take s each, N at a time, has a variance of about N·s/T.
func (f *flight) drift(from, to trace.Instant, took float64) plan.Message {
	half := from + (to-from)/2
	before, after := f.mean(from, half), f.mean(half, to)
	level := (before + after) / 2
	noise := math.Sqrt(2 * level * took / Between(from, half))
	if math.Abs(after-before) <= steadyDrift*level+steadySigmas*noise {
		return plan.Message{}
	}
	if after > before {
		return plan.Msg("steady.growing", "before", before, "after", after)
	}
	return plan.Msg("steady.falling", "before", before, "after", after)
}

// A flowCount counts the answers and the output tokens within [from, to). The tokens of an answer are spread evenly over its
// output chunks.
type flowCount struct {
	from, to        trace.Instant
	answers, tokens float64
}

func (f *flowCount) add(r *trace.Record) {
	if !r.OK() {
		return
	}
	if r.Done >= f.from && r.Done < f.to {
		f.answers++
	}
	within, chunks := 0, 0
	for i := range r.Chunks {
		if c := &r.Chunks[i]; c.Kind.Output() {
			if chunks++; c.At >= f.from && c.At < f.to {
				within++
			}
		}
	}
	if chunks > 0 {
		f.tokens += float64(r.OutputTokens) * float64(within) / float64(chunks)
	}
}

// next: one pass is all.
func (f *flowCount) next() bool { return false }

// rates are those of both, per second.
func (f *flowCount) rates() (answers, tokens float64) {
	seconds := (f.to - f.from).Seconds()
	return f.answers / seconds, f.tokens / seconds
}
