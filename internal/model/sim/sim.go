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
// A plan has its requests in a list, or a Source makes each when it is released. Only the
// requests in flight are in memory then, unless the caller collects their records.
//
// This package reads no clock and starts no goroutine, so the same plan and model
// give the same records, as fast as the model can be computed.
package sim

import (
	"cmp"
	"iter"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/grade"
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
	Blank        bool   // its answer has no text
	Marks        trace.Marks
	Grade        grade.Grade
	Defects      trace.Defects

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

// kind is that of the chunks of its answer.
func (r *Request) kind() trace.Kind {
	if r.Blank {
		return 0
	}
	return trace.Text
}

// A Source makes the requests of a plan one by one.
type Source interface {
	// Len is the number of requests.
	Len() int
	// Turn is Request.After and Request.Think of request i, before it is made.
	Turn(i int) (after int, think time.Duration)
	// Request makes request i. It is called once for each that is released: in order for those
	// of the schedule, and for another after the request that it waits for. An error ends the run.
	Request(i int) (*Request, error)
}

// A list is a Source of requests that are made.
type list []Request

func (l list) Len() int                        { return len(l) }
func (l list) Turn(i int) (int, time.Duration) { return l[i].After, l[i].Think }
func (l list) Request(i int) (*Request, error) { return &l[i], nil }

// A SimulationPlan is a run to execute. A job's ID is the number of requests before it.
type SimulationPlan struct {
	Requests    []Request
	Source      Source           // of the requests; nil: Requests are all
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
	// Each, if not nil, is called with each record, in the order of completion. The Outcome then
	// has no records.
	Each func(*trace.Record)
	// Chunks, if not nil, is the memory for the chunks of the records in the Outcome.
	Chunks *trace.Arena
}

// An Outcome is the result of a run. All instants count from its start.
type Outcome struct {
	End     trace.Instant      // when the last request was done
	Records []*trace.Record    // in the order of completion; nil if the plan has Each
	Tokens  int                // output tokens that left the engine
	Stopped bool               // not every request was sent in the time of the plan, or some were cancelled
	Queued  time.Duration      // total time that requests waited for the engine to begin
	Done    int                // how many requests are done
	Load    engine.Utilization // the engine's, at the end
	Err     error              // of the Source, which ended the run
}

// Run runs p against m, which must be new.
func Run(m engine.Model, p SimulationPlan) Outcome {
	if p.Source == nil {
		p.Source = list(p.Requests)
	}
	n := p.Source.Len()
	r := &run{model: m, plan: p, gate: newGate(min(p.Concurrency, n)), due: make([]engine.Emission, 0, atOnce)}
	r.turns.followers = arrival.NewFollowers(n, func(i int) int { after, _ := p.Source.Turn(i); return after })
	if p.Each == nil {
		r.out.Records, r.chunks = make([]*trace.Record, 0, n), cmp.Or(p.Chunks, new(trace.Arena))
	}
	r.dispatch()
	for (r.inFlight > 0 || r.turns.held.Len() > 0) && !r.stopped && r.advance(math.MaxInt64) {
	}
	r.abandon()
	r.out.Stopped, r.out.Load = r.stopped || r.released < n && !r.late(), m.Load()
	return r.out
}

// A run is the state of one Run.
type run struct {
	model    engine.Model
	plan     SimulationPlan
	now      time.Duration
	gate     gate
	turns    turns
	flights  []*flight // by the ID of the job, from that of the oldest one in flight on; nil once done
	released int       // in all: the ID of the next one
	spare    []*flight // done, to be used again
	inFlight int
	due      []engine.Emission
	chunks   *trace.Arena // nil: each list of chunks has memory of its own
	steps    uint
	stopped  bool
	out      Outcome
}

// A flight is a request in flight: all that its record needs.
type flight struct {
	chunks    []trace.Chunk // from its first token on
	request   *Request
	index     int
	due       time.Duration
	free      trace.Instant
	released  trace.Instant
	firstByte trace.Instant
	cached    int32
}

// dispatch releases requests until there are no more, the schedule ends, or the run
// is stopped.
func (r *run) dispatch() {
	schedule, end := iter.Pull(r.plan.Schedule)
	defer end()
	head := starter{source: r.plan.Source, schedule: schedule}
	for head.next(); ; {
		e, ok := r.turns.first(head.waiting, head.more)
		switch {
		case r.stopped || r.late():
			return
		case !ok && (r.inFlight == 0 || !r.turns.followers.Any() || !r.advance(r.limit())):
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
	source   Source
	schedule func() (time.Duration, bool)
	waiting  waiting
	more     bool
}

func (s *starter) next() {
	i := s.waiting.index
	if s.more {
		i++
	}
	for ; i < s.source.Len(); i++ {
		if after, _ := s.source.Turn(i); after == 0 {
			break
		}
	}
	s.waiting, s.more = waiting{index: i, scheduled: true}, i < s.source.Len()
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

// record adds the due emissions to their flights.
func (r *run) record() {
	for i := range r.due {
		e := &r.due[i]
		f := r.flights[r.place(e.ID)]
		if e.Tokens == 0 {
			f.firstByte = trace.Instant(e.At)
			continue
		}
		if f.chunks == nil {
			f.chunks, f.cached = r.list(f.request.Job.OutputTokens+1), e.Cached
		}
		f.chunks = append(f.chunks, trace.Chunk{At: trace.Instant(e.At), Tokens: trace.Carried(int(e.Tokens)), Kind: f.request.kind()})
		if e.Done {
			r.finish(e, f.request)
		}
	}
}

// list is an empty list of chunks with capacity n.
func (r *run) list(n int) []trace.Chunk {
	if r.chunks == nil {
		return make([]trace.Chunk, 0, n)
	}
	return r.chunks.Take(n)
}

// release passes request n to the engine, or refuses it.
func (r *run) release(n int, due time.Duration, free trace.Instant) {
	req, err := r.plan.Source.Request(n)
	if err != nil {
		r.out.Err, r.stopped = err, true
		return
	}
	f, now := r.flight(), trace.Instant(r.now)
	*f = flight{request: req, index: n, due: due, free: free, released: now, firstByte: now}
	id := uint64(r.released)
	r.flights, r.released = append(r.flights, f), r.released+1
	if req.Status != 0 {
		rec := r.end(id)
		rec.Status, rec.Class, rec.Error = req.Status, trace.HTTP, req.Refused
		r.leave(rec, now)
		return
	}
	r.inFlight++
	job := req.Job
	job.ID = id
	r.model.Add(r.now, job)
}

// flight is a new one, or one that is done.
func (r *run) flight() *flight {
	last := len(r.spare) - 1
	if last < 0 {
		return new(flight)
	}
	f := r.spare[last]
	r.spare = r.spare[:last]
	return f
}

// end ends the flight of a job, and returns its record so far.
func (r *run) end(id uint64) *trace.Record {
	place := r.place(id)
	f := r.flights[place]
	req := f.request
	rec := &trace.Record{
		Index: f.index, ID: req.ID, PromptTokens: req.PromptTokens, VisionTokens: req.VisionTokens, WantTokens: req.WantTokens,
		Tenant: req.Tenant, Session: req.Session, Turn: req.Number,
		Due: trace.Instant(f.due), Free: f.free, Released: f.released, Dialed: trace.Never, Connected: trace.Never,
		Sent: f.released, FirstByte: f.firstByte, Done: trace.Never, Chunks: f.chunks, Status: http.StatusOK,
		Usage: trace.Usage{Cached: int(f.cached), At: trace.Never},
	}
	f.chunks, f.request = nil, nil
	r.flights[place], r.spare = nil, append(r.spare, f)
	for len(r.flights) > 0 && r.flights[0] == nil {
		r.flights = r.flights[1:]
	}
	return rec
}

// place is where the flight of a job stands.
func (r *run) place(id uint64) int { return int(id) - r.released + len(r.flights) }

// finish closes the record of a request with its last tokens.
func (r *run) finish(e *engine.Emission, req *Request) {
	rec := r.end(e.ID)
	tokens := 0
	for _, c := range rec.Chunks {
		tokens += int(c.Tokens)
	}
	r.out.Tokens += tokens
	r.inFlight--
	r.out.Done++
	r.out.Queued += e.Start - time.Duration(rec.Sent)
	rec.OutputTokens, rec.CountedFrom, rec.FinishReason = tokens, trace.FromUsage, req.Finish
	rec.Marks, rec.Defects, rec.Grade = req.Marks, req.Defects, req.Grade
	rec.Usage = trace.Usage{Prompt: req.Job.PromptTokens, Completion: tokens, Cached: rec.Usage.Cached, CachedReported: r.plan.Cached, At: trace.Never}
	if r.plan.Accept {
		rec.Accept = float64(tokens) / float64(len(rec.Chunks))
	}
	done := trace.Instant(e.At)
	switch {
	case !r.plan.Stream:
		rec.FirstByte = done
		rec.Chunks = []trace.Chunk{{At: done, Tokens: trace.Carried(tokens), Kind: req.kind() | trace.Finish}}
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

// leave ends a request: its record is complete, its followers get their due times, and its
// place in the gate becomes free unless one of them holds it.
func (r *run) leave(rec *trace.Record, now trace.Instant) {
	r.emit(rec, now)
	free := true
	for i := range r.turns.followers.Of(rec.Index) {
		_, think := r.plan.Source.Turn(i)
		e := waiting{index: i, due: time.Duration(now) + think, free: rec.Free}
		if r.plan.Hold {
			r.turns.held.Push(e.due, i, e)
			free = false
		} else {
			r.turns.ready.Push(e.due, i, e)
		}
	}
	if free {
		r.gate.release(now)
	}
}

// emit returns a record that is done.
func (r *run) emit(rec *trace.Record, done trace.Instant) {
	rec.Done = done
	r.out.End = max(r.out.End, done)
	if r.plan.Each != nil {
		r.plan.Each(rec)
		return
	}
	r.out.Records = append(r.out.Records, rec)
}

// abandon closes the records of the requests still in flight, in the order of the plan: the
// run was stopped, or the engine never finished them.
func (r *run) abandon() {
	var left []*trace.Record
	for first, all := r.released-len(r.flights), r.flights; len(all) > 0; first, all = first+1, all[1:] {
		if all[0] != nil {
			left = append(left, r.end(uint64(first)))
		}
	}
	slices.SortFunc(left, func(a, b *trace.Record) int { return cmp.Compare(a.Index, b.Index) })
	for _, rec := range left {
		rec.Class = trace.Cancelled
		if !r.stopped {
			rec.Class, rec.Error = trace.Other, "the simulated engine stopped before this request was complete"
		}
		r.emit(rec, trace.Instant(r.now))
	}
}
