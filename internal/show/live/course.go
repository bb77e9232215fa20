package live

import (
	"fmt"
	"iter"
	"time"
)

// A Load is what a run has to do, as far as that is known before it begins.
type Load struct {
	Requests int           // at most
	Output   int           // tokens of all answers together, at most; 0: unknown
	LastDue  time.Duration // when the last request is due; 0: all wait for a place or for an answer
	Until    time.Duration // nothing is sent from then on; 0: no limit
	Gate     int           // requests in flight at most; 0: no limit
	// Due yields the due times of the requests in order; nil if they wait for answers, or only for
	// places.
	Due iter.Seq[time.Duration]
}

// A course is how far a run is.
type course struct {
	Load
	elapsed        time.Duration
	sent, done     int
	tokens         int  // received, those of answers in flight included
	settled        int  // tokens of the requests that are done
	answers, whole int  // requests that succeeded, and their tokens
	ending         bool // nothing more is sent
}

// over reports whether nothing more is sent.
func (c course) over() bool { return c.ending || c.Until > 0 && c.elapsed >= c.Until }

// progress is how many requests are done, and of how many, if that is known: not while time
// decides it.
func (c course) progress() string {
	switch {
	case c.over():
		return fmt.Sprintf("%d/%d", c.done, c.sent)
	case c.Until > 0:
		return fmt.Sprintf("%d done", c.done)
	}
	return fmt.Sprintf("%d/%d", c.done, c.Requests)
}

// share is the share of the run that is done, from 0 to 1: of its requests, or of its time if that
// ends it.
func (c course) share() float64 {
	of := func(a, b float64) float64 {
		if b <= 0 {
			return 0
		}
		return min(1, a/b)
	}
	switch {
	case c.over():
		return of(c.work(), float64(c.sent))
	case c.Until > 0:
		return of(float64(c.elapsed), float64(c.Until))
	}
	return of(c.work(), float64(c.Requests))
}

// length is the mean length of an answer in tokens, 0 if it is unknown.
func (c course) length() float64 {
	switch {
	case c.answers > 0:
		return float64(c.whole) / float64(c.answers)
	case c.Requests > 0:
		return float64(c.Output) / float64(c.Requests)
	}
	return 0
}

// work is the number of requests that are done, and of those in flight the share that has
// come.
func (c course) work() float64 {
	inFlight := float64(c.sent - c.done)
	length := c.length()
	if length == 0 {
		return float64(c.done)
	}
	return float64(c.done) + min(inFlight, max(0, float64(c.tokens-c.settled)/length))
}

// left is the time until the last answer, false if nothing has come that tells it. While
// requests become due and the gate has places, that is when the schedule ends, and then
// the time of an answer, which by Little's law is what is in flight by the rate at which
// it leaves; else it is what remains by that rate.
func (c course) left() (time.Duration, bool) {
	work := c.work()
	if work == 0 || c.elapsed <= 0 {
		return 0, false
	}
	each := float64(c.elapsed) / work
	all := time.Duration((float64(c.Requests) - work) * each)
	inFlight := time.Duration((float64(c.sent) - work) * each)
	answer := time.Duration(float64(c.sent-c.done) * each)
	due := c.LastDue - c.elapsed
	switch full := c.Gate > 0 && c.sent-c.done >= c.Gate; {
	case c.over():
		all = inFlight
	case due > 0 && full:
		all = max(all, due+answer)
	case due > 0:
		all = due + answer
	}
	if c.Until > c.elapsed {
		all = min(all, c.Until-c.elapsed+answer)
	}
	return max(0, all), true
}
