package metrics

import (
	"math"
	"slices"
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

// figures are those of the window, if it is a steady state.
func (w window) figures(t *trace.Trace, records []*trace.Record, percentiles []float64) Steady {
	s := w.Steady
	if s.Found() {
		s.Level = meanBetween(w.steps, w.from, w.to)
		s.Completed, s.Output = flow(records, w.from, w.to)
		s.Service = latencies(w.records, t.Run.Plan.Stream, percentiles, sent, nil)
		s.intervals(w, t.Run.Plan.Stream)
	}
	return s
}

// A window is a steady state without its figures.
type window struct {
	Steady
	from, to trace.Instant
	steps    []step
	records  []*trace.Record
	waits    stillness
	still    []Standstill
}

func windowOf(t *trace.Trace, records []*trace.Record) (w window) {
	first, last, _ := span(records, func(r *trace.Record) trace.Instant { return r.Released })
	if t.Run.Plan.Ramp {
		w.Why, w.waits = plan.Msg("steady.ramp"), stillnessOf(t, records, first)
		w.still = w.waits.standstills(t, records)
		return w
	}
	w.steps = inFlight(records)
	if last.Sub(first) < atOnce {
		w.Why = plan.Msg("steady.at-once")
		return w
	}
	level := medianBetween(w.steps, first, last)
	full := reaches(w.steps, level, first)
	w.waits, w.to = stillnessOf(t, records, full), last
	w.still = w.waits.standstills(t, records)
	from, cold := waveBegun(records, full, t.Run.Plan.Stream), false
	for _, s := range w.still {
		if s.First {
			from, cold = max(from, seconds(s.To)), true
		}
	}
	if cold { // what piled up in the meantime is no steady load
		from = returns(w.steps, level, from)
	}
	if w.open(records, from); !w.Found() && !cold {
		w.open(records, full)
	}
	return w
}

// open makes the window begin at an instant, and says whether it is a steady state.
func (w *window) open(records []*trace.Record, from trace.Instant) {
	w.from, w.records = from, nil
	w.From, w.To = w.from.Seconds(), w.to.Seconds()
	for _, r := range records {
		if r.Released >= w.from && r.OK() {
			w.records = append(w.records, r)
		}
	}
	if w.Why = unsteady(w.steps, w.records, w.from, w.to); w.Why.IsZero() {
		w.Requests = len(w.records)
	}
}

// waveBegun is when the answers to all requests that were in flight at an instant were under
// way.
func waveBegun(records []*trace.Record, at trace.Instant, stream bool) trace.Instant {
	last := at
	for _, r := range records {
		if r.OK() && r.Released.Happened() && r.Released <= at && r.Done > at {
			if stream {
				last = max(last, begun(r))
			} else {
				last = max(last, r.Done)
			}
		}
	}
	return last
}

// reaches is the first instant from which on at least n are in flight.
func reaches(steps []step, n int, first trace.Instant) trace.Instant {
	if i := slices.IndexFunc(steps, func(s step) bool { return s.N >= n && s.At >= first }); i >= 0 {
		return steps[i].At
	}
	return first
}

// returns is the first instant, from one on, at which at most n are in flight, or that one if
// they always are more.
func returns(steps []step, n int, from trace.Instant) trace.Instant {
	level := 0
	for _, s := range steps {
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

// unsteady says why the window from..to is no steady state, if it is none.
func unsteady(steps []step, within []*trace.Record, from, to trace.Instant) plan.Message {
	if len(within) < steadyRequests || to <= from {
		return plan.Msg("steady.few", "requests", len(within), "needed", steadyRequests)
	}
	took := 0.0
	for _, r := range within {
		took += Between(r.Released, r.Done) / float64(len(within))
	}
	length := Between(from, to)
	if length < steadyLength*took {
		if early, late := halves(within); late > early*(1+2*steadyDrift) {
			return plan.Msg("steady.slowing", "early", early, "late", late)
		}
		return plan.Msg("steady.short", "length", length, "took", took)
	}
	return drift(steps, from, to, took)
}

// halves is the mean time that the first and the second half of the requests
// took, in the order of the workload.
func halves(records []*trace.Record) (early, late float64) {
	half := len(records) / 2
	for i, r := range records {
		took := Between(r.Released, r.Done)
		if i < half {
			early += took / float64(half)
		} else {
			late += took / float64(len(records)-half)
		}
	}
	return early, late
}

// drift reports how the level changed between the halves of the window, if it
// changed by more than chance explains: the time average over T of a Poisson
// flow whose requests take s each, N at a time, has a variance of about N·s/T.
func drift(steps []step, from, to trace.Instant, took float64) plan.Message {
	half := from + (to-from)/2
	before, after := meanBetween(steps, from, half), meanBetween(steps, half, to)
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

// flow is the answers and the output tokens a second within [from, to). The
// tokens of an answer are spread evenly over its output chunks.
func flow(records []*trace.Record, from, to trace.Instant) (answers, tokens float64) {
	for _, r := range records {
		if !r.OK() {
			continue
		}
		if r.Done >= from && r.Done < to {
			answers++
		}
		_, _, chunks := r.Output()
		within := 0
		for _, c := range r.Chunks {
			if c.Kind.Output() && c.At >= from && c.At < to {
				within++
			}
		}
		if chunks > 0 {
			tokens += float64(r.OutputTokens) * float64(within) / float64(chunks)
		}
	}
	seconds := (to - from).Seconds()
	return answers / seconds, tokens / seconds
}
