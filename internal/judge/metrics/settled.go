package metrics

import (
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Codes of a load of a rate that says nothing of that rate.
const (
	steadyShort   plan.Code = "steady.short"
	steadySlowing plan.Code = "steady.slowing"
	steadyGrowing plan.Code = "steady.growing"
	steadyWaiting plan.Code = "steady.waiting"
	tooShort      plan.Code = "steady.too-short"
)

// QueueGrows reports whether a load was not steady since the queue in front of the server only
// grew. A load that was too short may be of a rate that the server can serve.
func QueueGrows(why plan.Message) bool {
	return why.Code == steadyGrowing || why.Code == steadySlowing || why.Code == steadyWaiting
}

// Unsettled says why a run under a rate does not show what that rate does to a server: its queue
// only grows, or requests were sent for less than a few answers take, so that no queue could
// build up. Of a run that shows it, and of one without a constant rate, it says nothing.
func Unsettled(t *trace.Trace) plan.Message {
	if !paced(t.Run.Plan) {
		return plan.Message{}
	}
	x, _ := observe(t, InMemory(t.Records), Options{}, false, false)
	return x.unsettled(x.window().Why)
}

// MostUnsettled is why at least half of some runs do not show what their rate does, by Unsettled of
// each: what most of these say, in the words of the first.
func MostUnsettled(runs []plan.Message) plan.Message {
	var grow, short []plan.Message
	for _, why := range runs {
		switch {
		case QueueGrows(why):
			grow = append(grow, why)
		case !why.IsZero():
			short = append(short, why)
		}
	}
	switch {
	case len(grow)+len(short) == 0 || 2*(len(grow)+len(short)) < len(runs):
		return plan.Message{}
	case len(grow) >= len(short):
		return grow[0]
	}
	return short[0]
}

// paced reports whether requests of a run were due at a constant rate.
func paced(p trace.Load) bool {
	return !p.Ramp && (p.Rate > 0 || p.Spec != nil && p.Spec.Rate() > 0)
}

func (x *observed) unsettled(why plan.Message) plan.Message {
	switch {
	case x.gap.some:
		return plan.Message{} // it is not known
	case QueueGrows(why):
		return why
	}
	took, answers := 0.0, 0
	for h := range x.heads.all {
		if h.ok {
			took, answers = took+Between(h.released, h.done), answers+1
		}
	}
	took = over(1, float64(answers)) * took
	if early, late := x.waitHalves(); answers > 0 && late > took && late > early*(1+2*steadyDrift) {
		return plan.Msg(steadyWaiting, "early", early, "late", late)
	}
	if why.IsZero() {
		return why
	}
	if sent := Between(x.released.first, x.released.last); answers > 0 && (why.Code == steadyShort || sent < steadyLength*took) {
		return plan.Msg(tooShort, "length", roughly(sent), "took", roughly(took), "needs", lastingFor(took))
	}
	return plan.Message{}
}

// waitHalves is how long the first and the second half of the requests waited to be sent, on
// average: with a limit of those in flight the queue stands in the client.
func (x *observed) waitHalves() (early, late float64) {
	half, i := x.heads.n/2, 0
	for h := range x.heads.all {
		switch wait := Between(h.due, h.released); {
		case !h.released.Happened() || h.turn > 0:
		case i < half:
			early += wait / float64(half)
		default:
			late += wait / float64(x.heads.n-half)
		}
		i++
	}
	return early, late
}

// roughly is a time in seconds as it is read.
func roughly(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	return d.Round(max(time.Millisecond, (d / 100).Round(10*time.Millisecond)))
}

// NeedsTime is how long a load should be sent that Unsettled says was too short; 0 of others.
func NeedsTime(why plan.Message) time.Duration {
	seconds, _ := why.Args["needs"].(float64)
	return time.Duration(seconds * float64(time.Second))
}

// lastingFor is how long to send a load if its answers take took seconds.
func lastingFor(took float64) time.Duration {
	const least, answers = 30, 12
	return time.Duration(math.Ceil(max(least, answers*took))) * time.Second
}

// Settle is what counts of a run: the requests of its steady state, failures among them, or all of
// a run without one. Why is that of Unsettled.
func Settle(t *trace.Trace) (counted *trace.Trace, why plan.Message) {
	x, _ := observe(t, InMemory(t.Records), Options{}, false, false)
	w := x.window()
	if paced(t.Run.Plan) {
		why = x.unsettled(w.Why)
	}
	if !w.Found() {
		return t, why
	}
	out := &trace.Trace{Run: t.Run}
	for _, r := range InOrder(t.Records) {
		if r.Released >= w.from {
			out.Records = append(out.Records, r)
		}
	}
	return out, why
}

// SettledFigures are the figures of the steady state of a run, under their usual names;
// without a steady state, those of all of the run. The counts of requests and tokens, and the
// duration, are always of all of it.
func SettledFigures(t *trace.Trace) []trace.ReportedFigure {
	return Summarize(t, Options{brief: true, settled: true}).Figures()
}

// settle replaces the figures of the run by those of the steady state.
func (x *observed) settle(s *Summary, w window) {
	if !w.Found() {
		return
	}
	s.useSteady()
	if s.Goodput == nil {
		return
	}
	met := 0
	for h := range x.heads.all {
		if w.has(h) && h.meets(x.objectives) {
			met++
		}
	}
	s.Goodput = newGoodput(x.objectives, met, w.Requests, s.Steady.To-s.Steady.From)
}

// SteadyFigures are the figures of the steady state of a summary that has one, goodput excepted.
func (s Summary) SteadyFigures() []trace.ReportedFigure {
	s.useSteady()
	return s.Figures()
}

func (s *Summary) useSteady() {
	share := over(s.Steady.Completed, s.Rates.Requests)
	s.Rates.Requests, s.Rates.Output = s.Steady.Completed, s.Steady.Output
	for _, rate := range []*float64{&s.Rates.Input, &s.Rates.Inputs, &s.Rates.Audio} {
		*rate *= share
	}
	s.Service, s.Concurrency.Mean = s.Steady.Service, s.Steady.Level
}
