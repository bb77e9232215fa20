// Package sim runs a workload on a schedule against an engine model in virtual
// time, and returns the same records as package driver returns for a live endpoint.
//
// Requests are dispatched as in driver: in order, each at its due time and then
// when the gate has a place for it; none is dropped, and a late one delays no
// other. Only the engine takes time. A request is sent the instant it is released,
// a token arrives the instant it leaves the engine, and a place in the gate that
// becomes free at t is taken at t:
//
//	           due            free = released = sent            done = free for the next
//	schedule ───┼────── gate ───────────┼── engine: token, token, token ─┼──>
//
// A request that waits for the answer to another is due when that answer is
// complete and its pause is over. Its content has to be known beforehand
// nevertheless: the simulated engine's answers do not depend on time.
//
// This package reads no clock and starts no goroutine, so the same plan and model
// give the same records, as fast as the model can be computed.
package sim

import (
	"cmp"
	"iter"
	"math"
	"net/http"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Request is one request of a plan: the fields of its record, and its work for
// the engine.
type Request struct {
	ID           string // of the record
	PromptTokens int    // as counted by the workload
	VisionTokens int    // of these, the media's
	WantTokens   int    // requested output tokens, 0 = no limit
	Job          engine.Job
	Finish       string // the finish reason of its answer

	Tenant  string // these three are copied to the record
	Session string
	Number  int
	// After is 1 + the position of the earlier request that has to be answered before this one; 0:
	// it is sent by the schedule.
	After int
	Think time.Duration // from that answer until this one is due

	// Status, if not 0, is the HTTP status with which the server refuses the
	// request; Refused is the message.
	Status  int
	Refused string
}

// A SimulationPlan is a run to execute. A job's ID is the number of requests before it.
type SimulationPlan struct {
	Requests    []Request
	Schedule    arrival.Schedule // one due time for each request that does not wait for another
	Concurrency int              // requests in flight at most, 0 = no limit
	Until       time.Duration    // no request is released from then on; 0 = no limit
	// Hold makes a conversation keep its place in the gate from its first request
	// to its last, pauses included; otherwise every request takes its own.
	Hold   bool
	Stream bool // answers come chunk by chunk
	Chat   bool // a stream opens with a role chunk
	Native bool // a stream has its counts in the chunks, without a usage event
	Accept bool // answers report the tokens per step
	Cached bool // answers report how much of the prompt was in a cache
	// Stop, if not nil, is polled for whether to end the run: requests in flight
	// are then recorded as cancelled.
	Stop func() bool
	// Chunks, if not nil, is the memory for the chunks of the records.
	Chunks *trace.Arena
}

// An Outcome is the result of a run. All instants count from its start.
type Outcome struct {
	End     trace.Instant      // when the last request was done
	Records []*trace.Record    // in the order of completion
	Tokens  int                // output tokens that left the engine
	Stopped bool               // not every request was sent in the time of the plan, or some were cancelled
	Queued  time.Duration      // total time that requests waited for the engine to begin
	Done    int                // how many requests are done
	Load    engine.Utilization // the engine's, at the end
}

// Run runs p against m, which must be new.
func Run(m engine.Model, p SimulationPlan) Outcome {
	r := &run{
		model: m, plan: p, records: make([]trace.Record, len(p.Requests)), open: make([][]trace.Chunk, len(p.Requests)), order: make([]*trace.Record, 0, len(p.Requests)),
		chunks: cmp.Or(p.Chunks, new(trace.Arena)), gate: newGate(min(p.Concurrency, len(p.Requests))), due: make([]engine.Emission, 0, atOnce), turns: newTurns(p.Requests),
	}
	r.dispatch()
	for (r.inFlight > 0 || r.turns.held.Len() > 0) && !r.stopped && r.advance(math.MaxInt64) {
	}
	r.abandon()
	end := trace.Instant(0)
	for _, rec := range r.order {
		end = max(end, rec.Done)
	}
	return Outcome{End: end, Records: r.order, Tokens: r.tokens, Stopped: r.stopped || r.sent < len(p.Requests) && !r.late(), Queued: r.queued, Done: r.done, Load: m.Load()}
}

// A run is the state of one Run.
type run struct {
	model    engine.Model
	plan     SimulationPlan
	now      time.Duration
	gate     gate
	turns    turns
	sent     int
	records  []trace.Record  // by position
	open     [][]trace.Chunk // by position, while in flight: closer together than in the records
	order    []*trace.Record // completed
	inFlight int
	tokens   int
	queued   time.Duration
	done     int
	due      []engine.Emission
	chunks   *trace.Arena
	steps    uint
	stopped  bool
}

// dispatch releases requests until there are no more, the schedule ends, or the run
// is stopped.
func (r *run) dispatch() {
	schedule, end := iter.Pull(r.plan.Schedule)
	defer end()
	head := starter{requests: r.plan.Requests, schedule: schedule}
	for head.next(); ; {
		e, ok := r.turns.first(head.waiting, head.more)
		switch {
		case r.stopped || r.late():
			return
		case !ok && (r.inFlight == 0 || !r.turns.any() || !r.advance(r.limit())):
			return
		case !ok:
			continue
		case r.now < e.due:
			r.advance(min(e.due, r.limit()))
			continue
		}
		free, ok := r.enter()
		if !ok {
			return
		}
		if e.scheduled {
			head.next()
		} else {
			r.turns.take(e)
		}
		r.release(e.index, e.due, free)
	}
}

// late reports whether the time of the plan is over.
func (r *run) late() bool { return r.plan.Until > 0 && r.now >= r.plan.Until }

// limit is when that is, or never.
func (r *run) limit() time.Duration { return cmp.Or(r.plan.Until, math.MaxInt64) }

// A starter iterates over the requests that do not wait for another, with their due
// times.
type starter struct {
	requests []Request
	schedule func() (time.Duration, bool)
	waiting  waiting
	more     bool
}

func (s *starter) next() {
	i := s.waiting.index
	if s.more {
		i++
	}
	for i < len(s.requests) && s.requests[i].After != 0 {
		i++
	}
	s.waiting, s.more = waiting{index: i, scheduled: true}, i < len(s.requests)
	if s.more {
		s.waiting.due, s.more = s.schedule()
	}
}

// A runner is a model that finds the next event by itself, which is faster than
// asking for each one. It stops at the instant of a job's end, since a place in the
// gate becomes free then.
type runner interface {
	Run(limit time.Duration, out []engine.Emission) ([]engine.Emission, time.Duration)
}

// atOnce is the approximate number of emissions that a runner returns at a time:
// they are recorded while they are in the processor's cache.
const atOnce = 512

// advance advances the run to its next event, or further, but not beyond limit nor
// beyond the end of a job; false means that there is none until then, or that the
// run is stopped. The event can be the next turn of a conversation that holds its
// place.
func (r *run) advance(limit time.Duration) bool {
	held := &r.turns.held
	_, next, ok := held.First()
	if !ok || next > limit {
		return r.step(limit)
	}
	if r.now < next {
		r.step(next)
	}
	for !r.stopped {
		e, due, ok := held.First() // may have changed, if the step ended an answer
		if !ok || due > r.now {
			break
		}
		held.Pop()
		if r.late() {
			continue
		}
		free := e.free
		if free.Happened() {
			free = trace.Instant(e.due)
		}
		r.release(e.index, e.due, free)
	}
	return !r.stopped
}

// step is advance for the model only.
func (r *run) step(limit time.Duration) bool {
	if r.steps++; r.steps%stopCheckEvery == 0 && r.plan.Stop != nil && r.plan.Stop() {
		r.stopped = true
		return false
	}
	var ok bool
	to := limit
	if m, fast := r.model.(runner); fast {
		r.due, to = m.Run(limit, r.due[:0])
		ok = len(r.due) > 0 || to < limit
	} else {
		at, more := r.model.Next()
		ok = more && at <= limit
		if ok {
			to = at
		}
		r.due = r.due[:0]
		if ok || limit < math.MaxInt64 {
			r.due = r.model.Step(to, r.due)
		}
	}
	if ok || limit < math.MaxInt64 {
		r.now = max(r.now, to)
	}
	r.record()
	return ok
}

// enter waits for a place in the gate and returns the instant at which it became
// free, Never without a gate; false means that none will.
func (r *run) enter() (trace.Instant, bool) {
	for r.gate.full() && !r.stopped {
		if !r.advance(r.limit()) {
			return trace.Never, false
		}
	}
	return r.gate.acquire(), !r.stopped && !r.late()
}

// stopCheckEvery is the number of advances between two calls of Stop.
const stopCheckEvery = 1 << 10

// record adds the due emissions to the records.
func (r *run) record() {
	for i := range r.due {
		e := &r.due[i]
		n := r.turns.position(e.ID)
		if e.Tokens == 0 {
			r.records[n].FirstByte = trace.Instant(e.At)
			continue
		}
		list := &r.open[n]
		if len(*list) == 0 {
			r.records[n].Usage.Cached = int(e.Cached)
		}
		*list = append(*list, trace.Chunk{At: trace.Instant(e.At), Tokens: trace.Carried(int(e.Tokens)), Kind: trace.Text})
		if e.Done {
			r.finish(e, n, &r.records[n])
		}
	}
}

// release passes request n to the engine, or refuses it.
func (r *run) release(n int, due time.Duration, free trace.Instant) {
	req, rec, now := &r.plan.Requests[n], &r.records[n], trace.Instant(r.now)
	*rec = trace.Record{
		Index: n, ID: req.ID, PromptTokens: req.PromptTokens, VisionTokens: req.VisionTokens, WantTokens: req.WantTokens,
		Tenant: req.Tenant, Session: req.Session, Turn: req.Number,
		Due: trace.Instant(due), Free: free, Released: now, Dialed: trace.Never, Connected: trace.Never,
		Sent: now, FirstByte: now, Done: trace.Never, Usage: trace.Usage{At: trace.Never},
	}
	id := r.turns.arrive(n, r.sent)
	r.sent++
	if req.Status != 0 {
		rec.Status, rec.Class, rec.Error = req.Status, trace.HTTP, req.Refused
		r.leave(rec, now)
		return
	}
	rec.Status = http.StatusOK
	r.open[n] = r.chunks.Take(req.Job.OutputTokens + 1)
	r.inFlight++
	job := req.Job
	job.ID = id
	r.model.Add(r.now, job)
}

// finish closes the record of a request with its last tokens.
func (r *run) finish(e *engine.Emission, n int, rec *trace.Record) {
	req := &r.plan.Requests[n]
	rec.Chunks, r.open[n] = r.open[n], nil
	tokens := 0
	for _, c := range rec.Chunks {
		tokens += int(c.Tokens)
	}
	r.tokens += tokens
	r.inFlight--
	r.done++
	r.queued += e.Start - time.Duration(rec.Sent)
	rec.OutputTokens, rec.CountedFrom, rec.FinishReason = tokens, trace.FromUsage, req.Finish
	rec.Usage = trace.Usage{Prompt: req.Job.PromptTokens, Completion: tokens, Cached: rec.Usage.Cached, CachedReported: r.plan.Cached, At: trace.Never}
	if r.plan.Accept {
		rec.Accept = float64(tokens) / float64(len(rec.Chunks))
	}
	done := trace.Instant(e.At)
	switch {
	case !r.plan.Stream:
		rec.FirstByte = done
		rec.Chunks = append(rec.Chunks[:0], trace.Chunk{At: done, Tokens: trace.Carried(tokens), Kind: trace.Text | trace.Finish})
	case r.plan.Chat:
		rec.Chunks = append(rec.Chunks, trace.Chunk{})
		copy(rec.Chunks[1:], rec.Chunks)
		rec.Chunks[0] = trace.Chunk{At: rec.Chunks[1].At, Kind: trace.Role}
		fallthrough
	default:
		rec.Chunks[len(rec.Chunks)-1].Kind |= trace.Finish
		if !r.plan.Native {
			rec.Usage.At = done
		}
	}
	r.leave(rec, done)
}

// leave ends a request: its followers get their due times, and its place in the
// gate becomes free unless one of them holds it.
func (r *run) leave(rec *trace.Record, now trace.Instant) {
	rec.Done = now
	r.order = append(r.order, rec)
	followers := r.turns.followers[rec.Index]
	for _, i := range followers {
		e := waiting{index: i, due: time.Duration(now) + r.plan.Requests[i].Think, free: rec.Free}
		if r.plan.Hold {
			r.turns.held.Push(e.due, i, e)
		} else {
			r.turns.ready.Push(e.due, i, e)
		}
	}
	if !r.plan.Hold || len(followers) == 0 {
		r.gate.release(now)
	}
}

// abandon closes the records of the requests still in flight: the run was stopped,
// or the engine never finished them.
func (r *run) abandon() {
	for i := range r.records {
		rec := &r.records[i]
		if r.open[i] == nil {
			continue
		}
		rec.Chunks, rec.Class = r.open[i], trace.Cancelled
		if !r.stopped {
			rec.Class, rec.Error = trace.Other, "the simulated engine stopped before this request was complete"
		}
		rec.Done = trace.Instant(r.now)
		r.order = append(r.order, rec)
	}
}
