package driver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// due are n requests that are made as they are due, each of a length and in a time.
func due(n, length int, takes time.Duration, made *atomic.Int64) workload.List {
	return workload.List{
		N: n, Brief: func(int) (b workload.Brief) { return b },
		At: func(i int) *workload.Request {
			return &workload.Request{PromptTokens: 1, Later: func(whole *workload.Request) error {
				time.Sleep(takes)
				made.Add(1)
				whole.Text, whole.PromptTokens = strings.Repeat("x", length), i
				return nil
			}}
		},
	}
}

// Requests that are made in time are not late, and their records have what is known since they are made.
func TestRequestsAreMadeAhead(t *testing.T) {
	var made atomic.Int64
	var order []int
	p := Plan{
		Requests: due(200, 3, time.Millisecond, &made), Schedule: arrival.New(arrival.Regular(), arrival.Constant(100)),
		Made: func(i int, r *workload.Request) {
			if order = append(order, i); r.Text != "xxx" {
				t.Errorf("request %d: %q", i, r.Text)
			}
		},
	}
	drive(t, func() *fake { return newFake(always(time.Second)) }, p, nil, func(t *testing.T, f *fake, o Outcome) {
		if o.Client.Unmade != 0 || len(o.Records) != 200 || len(order) != 200 || order[7] != 7 || f.seen[9] != "xxx" {
			t.Errorf("%d of %d were not made in time, %d seen", o.Client.Unmade, len(o.Records), len(order))
		}
		for _, r := range o.Records {
			if r.PromptTokens != r.Index || r.Released != r.Due {
				t.Fatalf("request %d: %d tokens, released at %v, due at %v", r.Index, r.PromptTokens, r.Released, r.Due)
			}
		}
	})
}

// Requests that take longer to make than the load leaves are late, and counted.
func TestRequestsThatAreNotMadeInTime(t *testing.T) {
	var made atomic.Int64
	p := Plan{Requests: due(100, 3, 20*time.Millisecond, &made), Schedule: arrival.New(arrival.Regular(), arrival.Constant(100))}
	drive(t, func() *fake { return newFake(always(time.Second)) }, p, nil, func(t *testing.T, _ *fake, o Outcome) {
		// 64 are made before the start; the last is due at 990 ms and made after 36 times 20 ms more, in time
		if o.Client.Unmade != 0 {
			t.Errorf("%d were not made in time", o.Client.Unmade)
		}
	})
	p.Requests, p.Schedule = due(100, 3, 50*time.Millisecond, &made), arrival.New(arrival.Regular(), arrival.Constant(100))
	drive(t, func() *fake { return newFake(always(time.Second)) }, p, nil, func(t *testing.T, _ *fake, o Outcome) {
		last := trace.Instant(0)
		for _, r := range o.Records {
			last = max(last, r.Released)
		}
		// request i is made (i-63) times 50 ms after the start: the first one late is 79, which is due at 790 ms
		if o.Client.Unmade != 21 || o.Client.UnmadeMax != 810*time.Millisecond || last != 1800*ms {
			t.Errorf("%d were not made in time, by up to %v; the last left at %v", o.Client.Unmade, o.Client.UnmadeMax, last)
		}
	})
}

// No more is made than a window has room for.
func TestTheWindowIsBounded(t *testing.T) {
	for name, tt := range map[string]struct{ length, want int }{"of few bytes": {1, mostAhead}, "large": {1 << 20, leastAhead}} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int64
			p := Plan{Requests: due(20_000, tt.length, 0, &made), Schedule: arrival.Burst(), Concurrency: 1}
			with := func(t *testing.T, _ *Driver) (context.Context, chan struct{}) {
				stop := make(chan struct{})
				go func() {
					time.Sleep(time.Second)
					close(stop)
				}()
				return t.Context(), stop
			}
			drive(t, func() *fake { return newFake(always(time.Hour)) }, p, with, func(t *testing.T, _ *fake, o Outcome) {
				if n := int(made.Load()); n < tt.want || n > tt.want+2 || !o.Stopped { // one is sent, one waits for the gate
					t.Errorf("%d were made, want %d", n, tt.want)
				}
			})
		})
	}
}

// A request that cannot be made is a record with the error.
func TestARequestThatCannotBeMade(t *testing.T) {
	broken := workload.List{N: 1, Brief: func(int) (b workload.Brief) { return b }, At: func(int) *workload.Request {
		return &workload.Request{Later: func(*workload.Request) error { return errors.New("no such prompt") }}
	}}
	drive(t, func() *fake { return newFake(always(time.Second)) }, Plan{Requests: broken, Schedule: arrival.Burst()}, nil,
		func(t *testing.T, f *fake, o Outcome) {
			if r := o.Records[0]; r.Class != trace.Other || r.Error != "no such prompt" || f.seen != nil {
				t.Errorf("%+v", r)
			}
		})
}

// Conversations that are made as they are due go as those that are made before.
func TestTurnsThatAreMadeAsTheyAreDue(t *testing.T) {
	requests := slices.Concat(talk("a", 0, 3, 2*time.Second), talk("b", 3, 2, 500*time.Millisecond))
	whole := workload.Listed(requests)
	later := whole.Amend(func(_ int, r *workload.Request) {
		text, messages := r.Text, r.Messages
		r.Text, r.Messages = "", workload.NoMessages
		r.Later = func(whole *workload.Request) error {
			whole.Text, whole.Messages = text, messages
			return nil
		}
	})
	var want []string
	for _, all := range []workload.List{whole, later} {
		p := Plan{Requests: all, Schedule: arrival.New(arrival.Regular(), arrival.Constant(10))}
		converse(t, p, second, nil, func(t *testing.T, f *fake, o Outcome) {
			if want == nil {
				want = f.seen
			}
			if diff := cmp.Diff(want, f.seen); diff != "" || len(f.seen) != 5 || len(o.Records) != 5 {
				t.Error(diff)
			}
		})
	}
}
