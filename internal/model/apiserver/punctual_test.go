package apiserver

import (
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

func TestInVirtualTimeNoTokenIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, constantConfig())
		for _, body := range []string{
			`{"prompt":"a","max_tokens":4,"ignore_eos":true,"stream":true}`, `{"prompt":"a","max_tokens":4,"ignore_eos":true}`,
		} {
			if _, err := r.stream(completions, body); err != nil {
				t.Fatal(err)
			}
		}
		if lag := r.s.TakeLateness(); lag.Reads != 5 || lag.Max != 0 { // four events, and a whole answer
			t.Errorf("%+v", lag)
		}
		if lag := r.s.TakeLateness(); lag.Reads != 0 {
			t.Errorf("%+v is counted twice", lag)
		}
	})
}

func TestLatenessIsThatOfTheOldestTokenOfAStream(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream bool
		traits traits
		fatal  *Fault
		want   trace.Lag
	}{
		{"a stream", true, nil, nil, trace.Lag{Reads: 1, P50: 9 * ms, P99: 9 * ms, Max: 9 * ms}},
		{"a whole answer", false, nil, nil, trace.Lag{Reads: 1, P50: 3 * ms, P99: 3 * ms, Max: 3 * ms}},
		{"batches", true, traits{FaultBatch}, nil, trace.Lag{}},
		{"a fault", true, nil, &Fault{Name: FaultStall}, trace.Lag{}},
	} {
		x := &exchange{s: new(Server), req: &request{Request: &phrase.Request{Stream: c.stream}}, traits: c.traits}
		x.faults.fatal = c.fatal
		x.ticket.wake = make(chan struct{}, 1)
		x.ticket.put(1, 1*ms)
		x.ticket.put(1, 7*ms)
		x.written(10 * ms)
		x.ticket.oldest.Store(0) // nothing is waiting
		if got := x.s.TakeLateness(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
