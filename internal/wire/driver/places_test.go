package driver

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// slow answers every request after a second of virtual time.
type slow struct {
	epoch        time.Time
	flying, most atomic.Int64
}

func (*slow) Encode(*workload.Request) ([]byte, error) { return nil, nil }

func (s *slow) Send(_ context.Context, _ *workload.Request, _ []byte, rec *trace.Record) {
	if n := s.flying.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.flying.Add(-1)
	rec.Sent = trace.Instant(time.Since(s.epoch))
	time.Sleep(time.Second)
	rec.Done = trace.Instant(time.Since(s.epoch))
}

func (s *slow) now() int64 { return int64(time.Since(s.epoch)) }

// A gate gets more places while its run goes on, never fewer.
func TestPlacesAreRaised(t *testing.T) {
	for _, tt := range []struct {
		name        string
		have        int
		end         time.Duration
		mostAtOnce  int64
		firstOfLast trace.Instant // when the place of the last request was free
	}{
		{"two, then four", 2, 3 * time.Second, 4, trace.Instant(2 * time.Second)},
		{"none, then four", 0, 3500 * time.Millisecond, 4, trace.Instant(2500 * time.Millisecond)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slow{epoch: time.Now()}
				places := NewPlaces(tt.have, 4)
				go func() {
					time.Sleep(1500 * time.Millisecond)
					places.Raise(4)
					places.Raise(3)   // nothing
					places.Raise(100) // no more than the most
				}()
				out := Driver{Sender: s, Now: s.now}.Run(t.Context(), nil, Plan{
					Requests: workload.Listed(make([]workload.Request, 8)), Schedule: slices.Values(make([]time.Duration, 8)), Concurrency: tt.have,
					Places: places,
				})
				if got := time.Duration(out.End); got != tt.end || s.most.Load() != tt.mostAtOnce {
					t.Errorf("ended after %v with %d at once; want %v, %d", got, s.most.Load(), tt.end, tt.mostAtOnce)
				}
				last := slices.MaxFunc(out.Records, func(a, b *trace.Record) int { return int(a.Free - b.Free) })
				if last.Free != tt.firstOfLast {
					t.Errorf("the last place was free at %v; want %v", time.Duration(last.Free), time.Duration(tt.firstOfLast))
				}
			})
		})
	}
}

// A run that has an agreed start begins then, and its instants count from there.
func TestAnAgreedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{epoch: time.Now()}
		began := time.Now()
		at := s.now() + int64(3*time.Second)
		out := Driver{Sender: s, Now: s.now}.Run(t.Context(), nil, Plan{
			Requests: workload.Listed(make([]workload.Request, 2)), Schedule: slices.Values([]time.Duration{0, time.Second / 2}), Zero: at,
		})
		if out.Started.Sub(began) != 3*time.Second {
			t.Errorf("started %v after the call; want 3s", out.Started.Sub(began))
		}
		for i, rec := range out.Records {
			if want := trace.Instant(i) * trace.Instant(time.Second/2); rec.Due != want || rec.Sent != want {
				t.Errorf("request %d: due %v, sent %v; want %v", i, rec.Due, rec.Sent, want)
			}
		}
	})
}

// A run that is stopped before its agreed start sends nothing.
func TestStoppedBeforeAnAgreedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{epoch: time.Now()}
		stop := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(stop) })
		out := Driver{Sender: s, Now: s.now}.Run(t.Context(), stop, Plan{
			Requests: workload.Listed(make([]workload.Request, 2)), Schedule: slices.Values(make([]time.Duration, 2)), Zero: int64(time.Minute),
		})
		if len(out.Records) != 0 || !out.Stopped {
			t.Errorf("%d records, stopped %v", len(out.Records), out.Stopped)
		}
	})
}
