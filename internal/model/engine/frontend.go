package engine

import (
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// A frontend is the API server between client and engine. It works on incoming
// requests (Request plus the costs per token), which then take Delay, and on
// outgoing tokens (Chunk each).
//
//	requests ──▶ ▒▒▒ ──▶ delay ──▶ engine
//	                                 │
//	client ◀── chunks ◀── ▒▒▒ ◀──────┘ output, merged by sequence
//
// Waiting output is merged: if the last token of a sequence has not left when the
// next one comes, both leave as one chunk. With Blocking both boxes are one worker,
// which alternates: one request, then all waiting output; or it is an eventLoop.
type frontend struct {
	Frontend
	chunk, delay time.Duration

	inbox   queue           // requests to process, when blocking
	outbox  []Emission      // waiting output, in order, without its instants
	free    time.Duration   // when the worker of output (and of requests, if blocking) is free
	busy    bool            // the worker works until free
	request *Seq            // in progress, if it is a request
	output  bool            // it worked on output last
	workers []time.Duration // when each worker of requests is free, if not blocking
	coming  arrivals        // requests on their way to the engine
	leaving []Emission      // chunks being sent, in order
	sent    int             // of leaving
	ended   int             // jobs with their last chunk sent
	loop    *eventLoop      // nil: none
}

func newFrontend(f Frontend, host *processor) *frontend {
	made := &frontend{
		Frontend: f, chunk: f.Chunk.Duration(), delay: f.Delay.Duration(), workers: make([]time.Duration, max(f.Workers, 1)),
	}
	if f.loops() {
		made.loop, made.Blocking = &eventLoop{host: host}, true
	}
	return made
}

func (f *Frontend) loops() bool {
	return f.Flush > 0 || f.Token > 0 || f.Finish > 0 || f.Head > 0 || f.Passes > 0 || f.Tokenize > 0
}

// work is the time to process s on its way in.
func (f *frontend) work(s *Seq) time.Duration {
	text := s.firstImage()
	return (f.Request + f.PromptToken.times(float64(text)) + f.ImageToken.times(float64(s.PromptTokens-text))).Duration()
}

// enter accepts a request at now.
func (f *frontend) enter(now time.Duration, s *Seq) {
	if f.Blocking {
		f.inbox.pushLast(s)
		f.next(now)
		return
	}
	first := 0
	for i, free := range f.workers {
		if free < f.workers[first] {
			first = i
		}
	}
	ready := later(max(now, f.workers[first]), f.work(s))
	f.workers[first] = ready
	f.coming.push(later(ready, f.delay), s)
}

// instant reports whether output leaves at once.
func (f *frontend) instant() bool { return f.chunk == 0 && !f.Blocking }

// put accepts output of the engine. It is appended to out if it leaves at once.
func (f *frontend) put(e Emission, out []Emission) []Emission { return f.take([]Emission{e}, out) }

// take accepts the output of a step, like put.
func (f *frontend) take(outputs, out []Emission) []Emission {
	if !f.instant() {
		if f.loop != nil && len(outputs) > 0 {
			f.loop.flushes++
		}
		f.merge(outputs)
		return out
	}
	for i := range outputs {
		if outputs[i].Done {
			f.ended++
		}
	}
	return append(out, outputs...)
}

// merge adds outputs to those of the same sequences in the outbox. Both are mostly in the
// same order, so each search begins behind the sequence found last.
func (f *frontend) merge(outputs []Emission) {
	next := 0
	for i := range outputs {
		e := &outputs[i]
		same := func(o Emission) bool { return o.ID == e.ID }
		at := slices.IndexFunc(f.outbox[next:], same) + next
		if at < next {
			at = slices.IndexFunc(f.outbox[:next], same)
		}
		if at < 0 {
			f.outbox = append(f.outbox, *e)
			continue
		}
		f.outbox[at].Tokens += e.Tokens
		f.outbox[at].Done = e.Done
		next = at + 1
	}
}

// next gives the worker its next work at now, if it is free.
func (f *frontend) next(now time.Duration) {
	if f.busy {
		return
	}
	if f.loop != nil {
		f.iterate(now)
		return
	}
	for f.inbox.len() > 0 && f.inbox.at(0).status == gone {
		f.inbox.popFirst()
	}
	requests, output := f.inbox.len() > 0, len(f.outbox) > 0
	switch {
	case output && (!requests || !f.output):
		f.output = true
		f.send(now)
	case requests:
		f.output = false
		f.request = f.inbox.popFirst()
		f.busy, f.free = true, later(now, f.work(f.request))
	}
}

// send starts sending all waiting output, a chunk for each sequence.
func (f *frontend) send(now time.Duration) {
	if f.sent == len(f.leaving) {
		f.leaving, f.sent = f.leaving[:0], 0
	}
	first := len(f.leaving)
	if first == 0 {
		f.leaving, f.outbox = f.outbox, f.leaving
	} else {
		f.leaving = append(f.leaving, f.outbox...)
		f.outbox = f.outbox[:0]
	}
	chunks := f.leaving[first:]
	for i := range chunks {
		now = later(now, f.chunk)
		chunks[i].At = now
	}
	f.busy, f.free = true, now
}

// done ends the worker's current work at now.
func (f *frontend) done(now time.Duration) {
	f.busy = false
	if s := f.request; s != nil {
		f.request = nil
		f.coming.push(later(now, f.delay), s)
	}
	f.next(now)
}

// rest ends the worker's current work at now if that is all that happens: there is nothing
// else to work on.
func (f *frontend) rest(now time.Duration) bool {
	if !f.busy || f.free != now || f.loop != nil || f.request != nil || len(f.outbox) > 0 || f.inbox.len() > 0 {
		return false
	}
	f.busy = false
	return true
}

// flush appends the output that has left until now to out; with early it stops
// after the instant at which a job was done.
func (f *frontend) flush(now time.Duration, out []Emission, early bool) []Emission {
	left := f.leaving[f.sent:]
	n := 0
	for ; n < len(left) && left[n].At <= now; n++ {
		if left[n].Done {
			f.ended++
			if early {
				now = left[n].At
			}
		}
	}
	f.sent += n
	return append(out, left[:n]...)
}

// forget discards the output of a cancelled sequence.
func (f *frontend) forget(s *Seq) {
	mine := func(e Emission) bool { return e.ID == s.ID }
	f.outbox = slices.DeleteFunc(f.outbox, mine)
	others := slices.DeleteFunc(f.leaving[f.sent:], mine)
	f.leaving = f.leaving[:f.sent+len(others)]
	if f.loop != nil {
		f.loop.writes = slices.DeleteFunc(f.loop.writes, mine)
	}
}

// arrivals are sequences with a later arrival, the earliest first; equal instants
// in the order of insertion.
type arrivals struct {
	arrival.Queue[*Seq]
	n int
}

func (a *arrivals) push(at time.Duration, s *Seq) {
	a.n++
	a.Push(at, a.n, s)
}

// next is the instant of the earliest, or forever.
func (a *arrivals) next() time.Duration {
	if _, at, ok := a.First(); ok {
		return at
	}
	return forever
}
