package driver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A talker is a fake that records the messages it gets and answers "answer to"
// followed by the last one.
type talker struct{ *fake }

func (s talker) Encode(req *workload.Request) ([]byte, error) {
	req, err := req.Unspooled()
	if err != nil {
		return nil, err
	}
	if req.Messages == nil {
		return []byte(req.Text), nil
	}
	return req.Messages, nil
}

func (s talker) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	s.fake.Send(ctx, req, body, rec)
	rec.ID = req.ID
	if req.Followed {
		rec.Text = "re:" + req.ID
	}
}

// talk is a conversation of turns, each waiting for the one before, from position
// first of the workload.
func talk(name string, first, turns int, think time.Duration) []workload.Request {
	var out []workload.Request
	for i := range turns {
		id := name + string(rune('0'+i))
		req := workload.Request{
			ID: id, Messages: json.RawMessage(`[{"role":"user","content":"` + id + `"}]`),
			Turn: workload.Turn{Session: name, Number: i, Followed: i < turns-1},
		}
		if i > 0 {
			req.After, req.Think, req.Remember = first+i, think, true
		}
		out = append(out, req)
	}
	return out
}

func converse(
	t *testing.T, p Plan, f func() *fake, with func(t *testing.T, d *Driver) (context.Context, chan struct{}),
	check func(t *testing.T, f *fake, o Outcome),
) {
	drive(t, f, p, func(t *testing.T, d *Driver) (context.Context, chan struct{}) {
		d.Sender = talker{d.Sender.(*fake)}
		if with != nil {
			return with(t, d)
		}
		return t.Context(), make(chan struct{})
	}, check)
}

func second() *fake { return newFake(always(time.Second)) }

func TestATurnIsDueWhenItsAnswerAndItsPauseAreOver(t *testing.T) {
	p := Plan{
		Requests: workload.Listed(slices.Concat(talk("a", 0, 3, 2*time.Second), talk("b", 3, 2, 500*time.Millisecond))),
		Schedule: arrival.New(arrival.Regular(), arrival.Constant(10)),
	}
	converse(t, p, second, nil, func(t *testing.T, _ *fake, o Outcome) {
		want := [][5]int{ // due, free, released, sent, done
			{0, -1, 0, 0, 1000},
			{3000, -1, 3000, 3000, 4000},
			{6000, -1, 6000, 6000, 7000},
			{100, -1, 100, 100, 1100},
			{1600, -1, 1600, 1600, 2600},
		}
		if diff := cmp.Diff(want, times(o.Records)); diff != "" {
			t.Error(diff)
		}
		if o.Stopped {
			t.Error("stopped")
		}
		if r := o.Records[2]; r.Session != "a" || r.Turn != 2 || r.Text != "" {
			t.Errorf("session %q, turn %d, text %q", r.Session, r.Turn, r.Text)
		}
	})
}

func TestATurnRemembersWhatWasSaid(t *testing.T) {
	for _, spooled := range []bool{false, true} {
		p := Plan{Requests: workload.Listed(talk("a", 0, 3, 0)), Schedule: arrival.Burst()}
		spool := workload.NewSpool(new(file), 0)
		for _, r := range p.Requests.All() {
			if spooled && (spool.Spill(r) != nil || r.Later == nil) {
				t.Fatal("not spooled")
			}
		}
		converse(t, p, second, nil, func(t *testing.T, f *fake, _ Outcome) {
			want := `[{"role":"user","content":"a0"},{"role":"assistant","content":"re:a0"},{"role":"user","content":"a1"},` +
				`{"role":"assistant","content":"re:a1"},{"role":"user","content":"a2"}]a2`
			if got := f.seen[2]; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// file is a workload.File in memory.
type file struct{ b []byte }

func (f *file) WriteAt(p []byte, _ int64) (int, error) {
	f.b = append(f.b, p...)
	return len(p), nil
}

func (f *file) ReadAt(p []byte, at int64) (int, error) { return copy(p, f.b[at:]), nil }

func TestTextRemembersText(t *testing.T) {
	requests := talk("a", 0, 2, 0)
	requests[0].Messages, requests[0].Text = nil, "Once "
	requests[1].Messages, requests[1].Text = nil, " and then"
	converse(t, Plan{Requests: workload.Listed(requests), Schedule: arrival.Burst(), KeepText: true}, second, nil,
		func(t *testing.T, f *fake, o Outcome) {
			if got, want := f.seen[1], "Once re:a0 and thena1"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := o.Records[0].Text; got != "re:a0" {
				t.Errorf("the answer that was to be kept is %q", got)
			}
		})
}

func TestAConversationGoesOnAfterATurnThatFailed(t *testing.T) {
	failing := func() *fake {
		f := second()
		f.class = func(req *workload.Request) trace.Class {
			if req.ID == "a0" {
				return trace.Reset
			}
			return ""
		}
		return f
	}
	converse(t, Plan{Requests: workload.Listed(talk("a", 0, 2, 0)), Schedule: arrival.Burst()}, failing, nil,
		func(t *testing.T, f *fake, _ Outcome) {
			if len(f.seen) != 2 || !strings.Contains(f.seen[1], `{"role":"assistant","content":""}`) {
				t.Errorf("saw %q", f.seen)
			}
		})
}

// With one place in the gate, a turn that takes its own place lets the other
// conversation in during its pause; one that holds its place does not.
func TestHoldKeepsThePlaceOfAConversation(t *testing.T) {
	requests := slices.Concat(talk("a", 0, 2, time.Second), talk("b", 2, 1, 0))
	p := Plan{Requests: workload.Listed(requests), Schedule: arrival.Burst(), Concurrency: 1}
	order := func(f *fake) string {
		var ids []string
		for _, s := range f.seen {
			ids = append(ids, s[len(s)-2:])
		}
		return strings.Join(ids, " ")
	}
	converse(t, p, second, nil, func(t *testing.T, f *fake, _ Outcome) {
		if got := order(f); got != "a0 b0 a1" {
			t.Errorf("each a place: %s", got)
		}
	})
	p.Hold = true
	converse(t, p, second, nil, func(t *testing.T, f *fake, o Outcome) {
		if got := order(f); got != "a0 a1 b0" {
			t.Errorf("held: %s", got)
		}
		if got := times(o.Records)[1]; got != [5]int{2000, 2000, 2000, 2000, 3000} {
			t.Errorf("the second turn: %v", got)
		}
	})
}

func TestStoppingEndsConversations(t *testing.T) {
	for _, hold := range []bool{false, true} {
		p := Plan{Requests: workload.Listed(talk("a", 0, 3, 10*time.Second)), Schedule: arrival.Burst(), Concurrency: 1, Hold: hold}
		stopLater := func(t *testing.T, _ *Driver) (context.Context, chan struct{}) {
			stop := make(chan struct{})
			go func() { time.Sleep(5 * time.Second); close(stop) }()
			return t.Context(), stop
		}
		converse(t, p, second, stopLater, func(t *testing.T, _ *fake, o Outcome) {
			if len(o.Records) != 1 || !o.Stopped || o.End != 5000*ms {
				t.Errorf("hold %v: %d records, stopped %v, end %v", hold, len(o.Records), o.Stopped, o.End)
			}
		})
	}
}

func TestATurnCannotWaitForALaterOne(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("accepted")
		}
	}()
	newTurns(workload.Listed([]workload.Request{{Turn: workload.Turn{After: 1}}}), false)
}

// After first returns a request, an answer may arrive that makes another one due
// earlier.
func TestATurnIsTakenThoughAnotherCameBeforeIt(t *testing.T) {
	requests := slices.Concat(talk("a", 0, 2, 0), talk("b", 2, 2, 0))
	ts := newTurns(workload.Listed(requests), false)
	turn := func(i int, due trace.Instant) encoded { return encoded{index: i, req: &requests[i], due: due} }
	ts.take(turn(0, 0))
	ts.take(turn(2, 0))
	ts.add(0, []encoded{turn(1, 10)})
	seen, _, _ := ts.first()
	ts.add(2, []encoded{turn(3, 5)})
	ts.take(seen)
	if e, ok, _ := ts.first(); !ok || e.index != 3 {
		t.Fatalf("turn %d is left, %v; it was not taken", e.index, ok)
	}
	ts.take(turn(3, 5))
	if e, ok, awaited := ts.first(); ok || awaited {
		t.Errorf("turn %d, %v, awaited %v", e.index, ok, awaited)
	}
}
