package control

import (
	"iter"
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// A timing says when the requests of a plan are sent, and how long none may be answered.
type timing struct {
	due  []trace.Instant // by request; Never if it waits for another, notSent after the schedule's end
	last trace.Instant   // when the last of them is due
	// longest is how long it can take, once all are due, until another one is done: the time limit of a request, and a
	// pause before it; 0: there is no limit.
	longest time.Duration
}

// notSent is when a request is due that comes after the end of the schedule.
const notSent trace.Instant = math.MaxInt64

func timingOf(j run.Job) (t timing) {
	next, done := iter.Pull(j.Due)
	defer done()
	t.due = make([]trace.Instant, j.Requests.N)
	until := trace.Instant(j.Spec.Duration.Std())
	var think time.Duration
	for i := range t.due {
		r := j.Requests.Brief(i)
		if think = max(think, r.Think); r.After > 0 {
			t.due[i] = trace.Never
		} else if at, ok := next(); !ok {
			t.due[i] = notSent
		} else {
			t.due[i] = trace.Instant(at)
			t.last = max(t.last, t.due[i])
		}
	}
	if until > 0 {
		t.last = min(t.last, until)
	}
	if limit := j.Spec.Client.Timeout.Std(); limit > 0 {
		t.longest = limit + think
	}
	return t
}

// overdue is how long ago something must have come of a worker that still goes on, if nothing has for some
// time; 0: it need not. Once all requests are due, one is in flight, or a pause before one passes, until none is left.
func (t *timing) overdue(at trace.Instant, quiet, patience time.Duration) time.Duration {
	over := min(at.Sub(t.last), quiet) - t.longest
	if t.longest == 0 || over <= patience {
		return 0
	}
	return over
}
