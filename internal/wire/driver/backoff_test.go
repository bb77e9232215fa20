package driver

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// mortal is a server that is dead for a time: it refuses at once, and who is in flight
// then is reset.
type mortal struct {
	*fake
	from, to time.Duration // since the start of its clock
	hangs    bool          // in place of refusing
}

func (s mortal) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	now := time.Duration(s.Now())
	if now < s.from || now >= s.to {
		s.fake.Send(ctx, req, body, rec)
		return
	}
	if s.hangs {
		time.Sleep(time.Second)
	}
	rec.Class, rec.Done = trace.Refused, trace.Instant(s.Now())
}

// attempts counts the requests that were refused, and tells how the run ended.
func attempts(t *testing.T, p Plan, s mortal, check func(refused int, o Outcome)) {
	start := func() *fake { return newFake(always(100 * time.Millisecond)) }
	drive(t, start, p, func(t *testing.T, d *Driver) (context.Context, chan struct{}) {
		s.fake = d.Sender.(*fake)
		zero := time.Duration(s.Now())
		s.from, s.to = s.from+zero, s.to+zero
		d.Sender = s
		return t.Context(), make(chan struct{})
	}, func(t *testing.T, _ *fake, o Outcome) {
		n := 0
		for _, r := range o.Records {
			if r.Class == trace.Refused {
				n++
			}
			if late := r.Released.Sub(max(r.Due, r.Free)); late > 0 {
				t.Errorf("request %d was released %v late", r.Index, late)
			}
		}
		check(n, o)
	})
}

func TestAClosedLoopBacksOffFromADeadServer(t *testing.T) {
	p := Plan{Requests: workload.Listed(requests(200)), Schedule: arrival.Burst(), Concurrency: 8, BackOff: true}
	attempts(t, p, mortal{from: 500 * time.Millisecond, to: 10 * time.Second}, func(refused int, o Outcome) {
		// Up to 8 at once, then one each after 0.1 s, 0.3, 0.7, 1.5, 3.1, 6.3; the next, at
		// 11.3 s or later, is accepted.
		if refused < 1+6 || refused > 8+6 || o.End < 11*trace.Instant(time.Second) || o.Stopped {
			t.Errorf("%d refused, end %v, stopped %v", refused, o.End, o.Stopped)
		}
	})
}

func TestWhoDoesNotBackOff(t *testing.T) {
	open := arrival.New(arrival.Regular(), arrival.Constant(100))
	for name, tt := range map[string]struct {
		p       Plan
		s       mortal
		refused int
	}{
		"unwanted":       {Plan{Schedule: arrival.Burst(), Concurrency: 8}, mortal{to: time.Hour}, 200},
		"an open loop":   {Plan{Schedule: open, BackOff: true}, mortal{to: time.Hour}, 200},
		"after a minute": {Plan{Schedule: arrival.Burst(), Concurrency: 8, BackOff: true}, mortal{to: time.Hour}, 200},
		"of a server that is slow to refuse": {
			Plan{Schedule: arrival.Burst(), Concurrency: 200, BackOff: true},
			mortal{to: time.Hour, hangs: true},
			200,
		},
	} {
		tt.p.Requests = workload.Listed(requests(200))
		attempts(t, tt.p, tt.s, func(refused int, o Outcome) {
			if refused != tt.refused || o.End > trace.Instant(2*givesUp) {
				t.Errorf("%s: %d refused, end %v", name, refused, o.End)
			}
		})
	}
}

func TestAStopEndsABackoff(t *testing.T) {
	p := Plan{Requests: workload.Listed(requests(200)), Schedule: arrival.Burst(), Concurrency: 1, BackOff: true}
	drive(t, func() *fake { return newFake(always(0)) }, p,
		func(t *testing.T, d *Driver) (context.Context, chan struct{}) {
			d.Sender = mortal{fake: d.Sender.(*fake), to: time.Hour}
			stop := make(chan struct{})
			go func() { time.Sleep(2 * time.Second); close(stop) }()
			return t.Context(), stop
		}, func(t *testing.T, _ *fake, o Outcome) {
			if !o.Stopped || o.End != trace.Instant(2*time.Second) || len(o.Records) != 5 {
				t.Errorf("%d records, end %v, stopped %v", len(o.Records), o.End, o.Stopped)
			}
		})
}

func TestABackoffThatIsNotNeededChangesNothing(t *testing.T) {
	for _, backOff := range []bool{false, true} {
		p := Plan{
			Requests: workload.Listed(requests(4)), Schedule: arrival.New(arrival.Regular(), arrival.Constant(5)), Concurrency: 2,
			BackOff: backOff,
		}
		drive(t, func() *fake { return newFake(always(100 * time.Millisecond)) }, p, nil,
			func(t *testing.T, _ *fake, o Outcome) {
				want := [][5]int{{0, 0, 0, 0, 100}, {200, 0, 200, 200, 300}, {400, 100, 400, 400, 500}, {600, 300, 600, 600, 700}}
				if diff := cmp.Diff(want, times(o.Records)); diff != "" {
					t.Errorf("back off %v: %s", backOff, diff)
				}
			})
	}
}
