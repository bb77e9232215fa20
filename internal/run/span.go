package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// settle draws the times at which requests are due, and refuses a load that lasts longer
// than a run may: for its last request, or for the pauses of a conversation.
func (b *built) settle() error {
	all := b.work.All()
	due := make([]time.Duration, 0, all.Starts())
	for at := range b.due.Schedule {
		if len(due) == cap(due) {
			break
		}
		due = append(due, at)
	}
	b.due.Schedule = slices.Values(due)
	if len(due) > 0 {
		if last := max(due[len(due)-1], b.due.End); last > plan.MaxSpan {
			return tooLong(b.due.Setting(), "the last request", last)
		}
		if last := lastTurn(all, due); last > plan.MaxSpan {
			return tooLong("", "the last turn of a conversation", last)
		}
	}
	return nil
}

// rate is the mean rate at which requests are due that wait for no other, per second; 0 where others decide.
func (b *built) rate() float64 {
	n, last := 0, time.Duration(0)
	for last = range b.due.Schedule {
		n++
	}
	if last == 0 {
		return 0
	}
	return float64(n) / last.Seconds()
}

func tooLong(path, what string, last time.Duration) error {
	return plan.Problems{{Path: path, Why: fmt.Sprintf("%s would be due after %v; must be at most %v", what, last, plan.MaxSpan)}}
}

// lastTurn is when the last turn would be due if every answer were immediate. A turn stands
// behind the one that it waits for.
func lastTurn(all workload.List, due []time.Duration) (last time.Duration) {
	if !all.Chained {
		return 0
	}
	at, starts := make([]time.Duration, all.N), 0
	for i := range at {
		if r := all.Brief(i); r.After == 0 {
			at[i] = due[min(starts, len(due)-1)]
			starts++
		} else {
			at[i] = min(at[r.After-1]+r.Think, 2*plan.MaxSpan)
		}
		last = max(last, at[i])
	}
	return last
}
