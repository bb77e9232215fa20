package driver

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// counting is a server with ten tokens in every answer. It counts them as they
// come.
type counting struct {
	*fake
	tokens *atomic.Int64
}

func (s counting) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	s.tokens.Add(4)
	s.fake.Send(ctx, req, body, rec)
	s.tokens.Add(6)
	rec.OutputTokens = 10
}

// A snapshot counts only the run: neither the tokens that its sender received
// before, nor the answers to probes.
func TestSnapshotsOfARun(t *testing.T) {
	second := func() *fake {
		f := newFake(always(time.Second))
		f.class = func(req *workload.Request) trace.Class {
			if req.Text == "b" {
				return trace.Reset
			}
			return ""
		}
		return f
	}
	p := Plan{
		Requests: workload.Listed(requests(3)), Schedule: arrival.New(arrival.Regular(), arrival.Constant(2)),
		Probe: &Probe{Request: workload.Request{Text: "p"}, Rate: 0.1},
	}
	var tokens atomic.Int64
	tokens.Store(1000) // of the warm-up
	progress := new(Progress)
	during := make(chan trace.Snapshot, 2)
	drive(t, second, p, func(t *testing.T, d *Driver) (context.Context, chan struct{}) {
		d.Sender, d.Tokens, d.Progress = counting{d.Sender.(*fake), &tokens},
			func() int { return int(tokens.Load()) }, progress
		if s := progress.Snapshot(); s != (trace.Snapshot{At: trace.Never}) {
			t.Errorf("before the run: %+v", s)
		}
		for _, after := range []time.Duration{1200 * time.Millisecond, 1700 * time.Millisecond} {
			time.AfterFunc(after, func() { during <- progress.Snapshot() })
		}
		return t.Context(), nil
	}, func(t *testing.T, _ *fake, o Outcome) {
		want := []trace.Snapshot{
			{At: 1200 * ms, Released: 3, Done: 1, Tokens: 18}, {At: 1700 * ms, Released: 3, Done: 2, Failed: 1, Tokens: 24},
		}
		if diff := cmp.Diff(want, []trace.Snapshot{<-during, <-during}); diff != "" {
			t.Error(diff)
		}
		if s := progress.Snapshot(); s != (trace.Snapshot{At: o.End, Released: 3, Done: 3, Failed: 1, Tokens: 30}) ||
			s.InFlight() != 0 {
			t.Errorf("after the run: %+v", s)
		}
	})
}
