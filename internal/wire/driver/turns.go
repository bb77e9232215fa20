package driver

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// turns are the waiting requests of conversations: waiting for an answer, or for
// the end of the pause after it.
type turns struct {
	followers arrival.Followers
	hold      bool          // the goroutine of an answer sends its followers: the dispatcher gets none
	changed   chan struct{} // has an element when ready or awaited changed

	mu      sync.Mutex
	ready   arrival.Queue[encoded] // answered; due at some time
	awaited int                    // requests that will be ready, unless the run ends
}

// newTurns finds the followers of each request. One that waits for itself or a
// later one would wait forever, and a place can be held for only one.
func newTurns(requests workload.List, hold bool) *turns {
	t := &turns{hold: hold, changed: make(chan struct{}, 1)}
	if !requests.Chained {
		return t
	}
	t.followers = arrival.NewFollowers(requests.N, func(i int) int { return requests.Brief(i).After })
	for i := 0; hold && i < requests.N; i++ {
		if t.followers.Count(i) > 1 {
			panic("driver: two requests of a conversation that holds its place wait for the same one")
		}
	}
	return t
}

// first returns the ready request that is due first; awaited tells whether answers will
// make more ready.
func (t *turns) first() (e encoded, ok, awaited bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, _, ok = t.ready.First()
	return e, ok, t.awaited > 0
}

// take removes e, if it belongs to a conversation, and awaits its followers.
func (t *turns) take(e encoded) {
	if !t.followers.Any() || t.hold {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.req.After != 0 { // it may no longer be first: another may have become ready since
		t.ready.Remove(e.index)
	}
	t.awaited += t.followers.Count(e.index)
}

// add makes the followers of a request ready.
func (t *turns) add(index int, followers []encoded) {
	n := t.followers.Count(index)
	if n == 0 || t.hold {
		return
	}
	t.mu.Lock()
	t.awaited -= n
	for _, e := range followers {
		t.ready.Push(time.Duration(e.due), e.index, e)
	}
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// follow encodes the requests that waited for the answer in rec, and then drops its text unless the
// run stores texts.
func (r *run) follow(before encoded, rec *trace.Record) []encoded {
	if !before.req.Followed && r.turns.followers.Count(before.index) == 0 {
		return nil // its text, if it has one, is there since the run keeps texts
	}
	answer := rec.Text
	if !rec.OK() {
		answer = ""
	}
	var out []encoded
	for i := range r.turns.followers.Of(before.index) {
		req := *r.plan.Requests.At(i)
		var e encoded
		if err := Remember(&req, before.req, answer); err != nil {
			e = encoded{index: i, req: &req, err: err, made: trace.Never}
		} else {
			e = r.encode(i, &req)
		}
		e.due = rec.Done + trace.Instant(req.Think)
		out = append(out, e)
	}
	if !r.plan.KeepText {
		rec.Text = ""
	}
	return out
}

// goOn sends the next request of a conversation that keeps its place in the gate,
// and returns the place if the conversation ends here.
func (r *run) goOn(followers []encoded, free trace.Instant) {
	if len(followers) == 0 || !r.pause(followers[0].due) {
		r.gate.release(r.now())
		return
	}
	e := followers[0]
	if free.Happened() {
		free = e.due
	}
	free, ok := r.backoff.wait(r, free)
	if !ok {
		r.gate.release(r.now())
		return
	}
	r.send(r.released(e, free))
}

// pause waits until due; false means that the run was stopped, or is over before.
func (r *run) pause(due trace.Instant) bool {
	if left := due.Sub(r.now()); left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.stop:
		case <-r.ctx.Done():
		}
	}
	return !r.stopping()
}

// Remember puts the conversation so far, and the answer to it, before req, if req
// has a history.
func Remember(req, before *workload.Request, answer string) error {
	if !req.Remember {
		return nil
	}
	before, err := before.Unspooled()
	if err != nil {
		return err
	}
	mine, err := req.Unspooled()
	if err != nil {
		return err
	}
	*req = *mine
	if req.Messages == nil {
		req.Text = before.Text + answer + req.Text
		return nil
	}
	earlier, err := messages(before)
	if err != nil {
		return err
	}
	reply, err := json.Marshal([]message{{"assistant", answer}})
	if err != nil {
		return err
	}
	req.Messages = join(earlier, reply, req.Messages)
	return nil
}

// messages returns a request as chat messages.
func messages(req *workload.Request) (json.RawMessage, error) {
	if req.Messages != nil {
		return req.Messages, nil
	}
	return json.Marshal([]message{{"user", req.Text}})
}

// A message is one of a chat.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// join concatenates arrays.
func join(arrays ...json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for _, a := range arrays {
		inner := bytes.TrimSpace(a)
		inner = bytes.TrimSpace(inner[1 : len(inner)-1])
		if len(inner) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, inner...)
	}
	return append(out, ']')
}
