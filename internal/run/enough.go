package run

import (
	"cmp"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Guesses for a closed loop that only time ends: how many requests it sends is the server's
// doing, and they are drawn before.
const (
	briefest = 20 * time.Millisecond // that a request takes
	mostDues = 200_000               // requests drawn: a second or two
	turnsOf  = 8                     // requests of a conversation
)

// requests are how many are drawn: those of the Spec, or enough for its time; 0 leaves it to
// the datasets.
func (l *load) requests() int { return cmp.Or(l.spec.Requests, l.enough) }

// findEnough finds how many requests a load has that its time alone limits: of arrivals with a
// rate those that are due by then, of a closed loop more than a server answers in that time.
func (l *load) findEnough() (p plan.Problems) {
	d := l.spec.Duration.Std()
	if l.spec.Requests > 0 || d <= 0 || d > plan.MaxSpan || l.timed() {
		return nil
	}
	n := 0
	for i, s := range l.streams {
		seed := l.spec.Seed
		if len(l.streams) > 1 {
			seed = tenantSeed(seed, i)
		}
		if paced, ok := s.arrival.(interface {
			DueBefore(d time.Duration, seed uint64) int
		}); ok {
			n += paced.DueBefore(d, seed)
		} else if places := l.spec.Gate.Concurrency; places > 0 {
			n += max(places, int(min(float64(places)*float64(d)/float64(briefest), mostDues)))
		}
	}
	p.If(n > plan.MaxRequests, "duration", l.spec.Duration, "more than %d requests are due in that time", plan.MaxRequests)
	if len(l.streams) == 1 && len(l.streams[0].Mix) == 0 && l.streams[0].parts[0].kind.Chats {
		n = min(turnsOf*n, plan.MaxRequests)
	}
	l.enough = n
	return p
}

// tenantSeed is the seed of the arrivals of tenant i.
func tenantSeed(seed uint64, i int) uint64 { return seed ^ uint64(i+1)<<16 }

// cut drops requests that are due after the end.
func (b *built) cut(until time.Duration) error {
	if until == 0 {
		return nil
	}
	n, first := 0, time.Duration(0)
	for due := range b.due.Schedule {
		if n == 0 {
			first = due
		}
		if due >= until {
			break
		}
		n++
	}
	if n == 0 {
		return plan.Problems{{Path: "duration", Value: until.String(), Why: "nothing is due in that time: the first request is due after " + first.Round(time.Millisecond).String()}}
	}
	b.due.Requests = b.work.All().Before(n)
	b.work.Cut(b.due.Requests)
	b.when = plan.Msg(arriveFor, "arrival", b.when, "time", until.String())
	return nil
}

// noteSpent notes a run that only its time should have ended, and that ran out of requests before.
func (x *execution) noteSpent(sent int, end time.Duration) {
	if x.spec.Requests == 0 && x.spec.Gate.Concurrency > 0 && sent == x.Requests().N && end < x.spec.Duration.Std() {
		x.note(requestsSpent, "requests", sent, "time", end.Round(100*time.Millisecond).String(), "duration", x.spec.Duration.String())
	}
}
