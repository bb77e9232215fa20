// Package driver runs a workload on a schedule against an endpoint.
//
// Requests are dispatched in order. Each waits for its due time, then for a place
// in the concurrency gate, and then runs in its own goroutine:
//
//	           due            free             released
//	schedule ───┼── timer ──────┼── gate ────────┼──> goroutine: send, read, record
//
// The schedule is absolute: a late request is released at once, delays no other,
// and is never dropped. With a gate a request waits until one in flight is done.
// Its record keeps that wait as the difference of due and released, so a load held
// back by the gate cannot pass for the requested load. The instant at which the
// gate had a place (Free) separates that wait from lateness of the client itself.
//
// Requests are made and encoded ahead of time, so that neither happens between release
// and the first byte.
//
// In a conversation only the first request is sent by the schedule. Each further
// one is due when the previous answer is complete and the pause after it is over;
// it is encoded, with the answer in it, during that pause. A failed turn has an
// empty answer, and the conversation goes on.
//
// A plan can limit the time of its arrivals: from Until on nothing is released, and
// requests in flight finish.
//
// A run can be ended early in two ways. Closing the stop channel ends dispatch and
// lets requests in flight finish; cancelling the context cancels those too, and
// they are recorded as cancelled.
package driver

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A Sender sends requests and fills records; endpoint.Client is one. A body that was
// given to Send may be overwritten: each is sent once.
type Sender interface {
	Encode(*workload.Request) ([]byte, error)
	Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record)
}

// A Plan is a run to execute.
type Plan struct {
	Requests    workload.List
	Made        func(i int, r *workload.Request) // is called with requests that are made as they are due, in order; may be nil
	Schedule    arrival.Schedule                 // one due time for each request that does not wait for another
	Concurrency int                              // requests in flight at most, 0 = no limit
	Places      *Places                          // can raise Concurrency during the run; nil: nothing does
	Until       time.Duration                    // no request is released from then on; 0 = no limit
	// Zero is the instant of the clock of the Driver from which the schedule counts, which Run
	// waits for; 0: that of the call.
	Zero int64
	// Hold makes a conversation keep its place in the gate from its first request
	// to its last, pauses included; otherwise every request takes its own. With
	// Hold no two requests may wait for the same one.
	Hold bool
	// KeepText keeps the answers of a conversation in the records.
	KeepText bool
	Probe    *Probe // nil: none
	// BackOff makes a closed loop wait while its requests are refused, for up to a
	// minute, instead of sending all of them to a server that is not there.
	BackOff bool
}

// A Probe is a small request sent repeatedly alongside the load, one at a time and
// outside the gate, with pauses of 1/Rate seconds.
type Probe struct {
	Request workload.Request
	Rate    float64 // per second
}

// A Driver runs plans. Now is the clock of Sender's timestamps, in nanoseconds;
// OnRecord, if not nil, is called with every completed record, from many
// goroutines.
type Driver struct {
	Sender   Sender
	Now      func() int64
	OnRecord func(*trace.Record)
	// Tokens returns the number of output tokens that Sender has received so far,
	// including those of requests in flight; nil: not counted.
	Tokens   func() int
	Progress *Progress    // nil: none
	Timer    *clock.Timer // wakes it when a request is due; nil: the runtime's
}

// An Outcome is the result of a run. All instants count from its start.
type Outcome struct {
	Started time.Time // wall clock at instant 0
	End     trace.Instant
	Records []*trace.Record // in the order of completion
	Probes  []*trace.Record
	Client  trace.Client
	Stopped bool // not every request was sent in the time of the plan, or some were cancelled
}

// Run runs p. It returns when every released request is done.
func (d Driver) Run(ctx context.Context, stop <-chan struct{}, p Plan) Outcome {
	r := &run{
		Driver: d, plan: p, ctx: ctx, stop: stop, gate: newGate(min(p.Concurrency, p.Requests.N), p.Places.most()),
		turns: newTurns(p.Requests, p.Hold), jobs: make(chan job),
	}
	r.backoff.on = p.BackOff && r.gate != nil
	if r.Progress == nil {
		r.Progress = new(Progress)
	}
	over := make(chan struct{})
	encoding := r.makeAhead(over)
	r.awaitFirst()
	before := r.begin()
	r.Progress.begin(r)
	p.Places.begin(r)
	stopped := r.untilOver(stop)
	stopProbes := r.startProbes()
	r.dispatch()
	close(over)
	close(r.jobs)
	r.inFlight.Wait()
	inTime := stopped()
	r.out.End = r.end(inTime)
	r.out.Client = processUsage().since(before)
	r.out.Client.Unmade, r.out.Client.UnmadeMax = r.unmade, r.unmadeMax
	p.Places.begin(nil)
	stopProbes()
	encoding.Wait()
	r.out.Stopped = len(r.out.Records) < p.Requests.N && !inTime || ctx.Err() != nil
	return r.out
}

// A run is the state of one Run.
type run struct {
	Driver
	plan     Plan
	ctx      context.Context
	stop     <-chan struct{} // closed when the time of the plan is over, too
	zero     trace.Instant   // start of the run on the driver's clock
	gate     gate
	backoff  backoff
	turns    *turns
	inFlight sync.WaitGroup
	ahead    window
	litter   litter
	jobs     chan job // for goroutines without one

	unmade    int           // requests that were made later than they could have been sent
	unmadeMax time.Duration // by how much at most

	idle atomic.Int32
	mu   sync.Mutex // guards out.Records
	out  Outcome
}

// beforehand is how long before an agreed start the usage of the process is read.
const beforehand = 20 * time.Millisecond

// begin waits for the start of the run, and returns what the process used until then.
func (r *run) begin() usage {
	at := r.plan.Zero
	if at == 0 {
		before := processUsage()
		r.out.Started, r.zero = time.Now(), trace.Instant(r.Now())
		return before
	}
	r.sleepUntil(at - int64(beforehand))
	before := processUsage()
	r.sleepUntil(at)
	r.out.Started, r.zero = time.Now().Add(time.Duration(at-r.Now())), trace.Instant(at)
	return before
}

// sleepUntil waits for an instant of the clock, or until the run is stopped.
func (r *run) sleepUntil(at int64) {
	timer := r.Timer
	if timer == nil {
		timer = clock.NewTimer()
		defer timer.Close()
	}
	for left := time.Duration(at - r.Now()); left > 0; left = time.Duration(at - r.Now()) {
		timer.Reset(left)
		select {
		case <-timer.C:
		case <-r.stop:
			return
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *run) now() trace.Instant { return trace.Instant(r.Now()) - r.zero }

// end is now, or after a conversation held its place until the time of the plan was over,
// when the last request was done.
func (r *run) end(inTime bool) (last trace.Instant) {
	if !inTime {
		return max(0, r.now())
	}
	for _, rec := range r.out.Records {
		last = max(last, rec.Done)
	}
	return last
}

// beyond reports whether the time of the plan is over before an instant.
func (r *run) beyond(due trace.Instant) bool {
	return r.plan.Until > 0 && due >= trace.Instant(r.plan.Until)
}

// late reports whether the time of the plan is over.
func (r *run) late() bool { return r.beyond(r.now()) }

// untilOver closes the run's stop when the time of the plan is over, or when stop is closed,
// until ended is called, which reports whether it was the time, or nothing.
func (r *run) untilOver(stop <-chan struct{}) (ended func() (inTime bool)) {
	if r.plan.Until == 0 {
		return func() bool { return false }
	}
	either, done, inTime := make(chan struct{}), make(chan struct{}), true
	r.stop = either
	var waiting sync.WaitGroup
	waiting.Go(func() {
		defer close(either)
		timer := time.NewTimer(r.plan.Until - time.Duration(r.now()))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-done:
		case <-stop:
			inTime = false
		}
	})
	return func() bool {
		close(done)
		waiting.Wait()
		return inTime
	}
}

// An encoded request is ready to send.
type encoded struct {
	index int
	req   *workload.Request // with its history
	body  []byte
	err   error
	due   trace.Instant
	made  trace.Instant // when dispatch got it; Never where it had not to wait for it
}

func (r *run) encode(index int, req *workload.Request) encoded {
	body, err := r.Sender.Encode(req)
	return encoded{index: index, req: req, body: body, err: err, made: trace.Never}
}

// behind is the lateness from which dispatch lets the requests before it leave first. Of thousands with one due
// time, only a few are then being sent at once, and each reuses the buffers of the one before.
const behind = trace.Instant(time.Millisecond)

// dispatch releases requests until there are no more, the schedule ends, or the run
// is stopped.
func (r *run) dispatch() {
	timer := r.Timer
	if timer == nil {
		timer = clock.NewTimer()
		defer timer.Close()
	}
	schedule, end := iter.Pull(r.plan.Schedule)
	defer end()
	scheduled := func() (encoded, bool) {
		e, ok := r.ahead.take(r.now)
		if !ok {
			return e, false
		}
		due, ok := schedule()
		e.due = trace.Instant(due)
		return e, ok
	}
	head, more := scheduled()
	for {
		e, ok := r.next(timer, head, more)
		if !ok {
			return
		}
		free, ok := r.enter()
		if !ok {
			return
		}
		r.start(r.released(e, free))
		if r.now()-e.due > behind {
			runtime.Gosched()
		}
		if more && e.index == head.index {
			head, more = scheduled()
		}
	}
}

// mostIdle is the number of goroutines that wait for another request: those of short
// requests, which would else grow a new stack for each. A stream that lasts keeps its own.
const mostIdle = 64

// A job is a request that was released.
type job struct {
	encoded
	rec *trace.Record
}

// start does a job in another goroutine.
func (r *run) start(j job) {
	select {
	case r.jobs <- j:
	default:
		r.inFlight.Go(func() { r.work(j) })
	}
}

// work does a job, and others, until there are no more, or enough goroutines wait for them.
func (r *run) work(j job) {
	for ok := true; ok; {
		r.send(j)
		ok = false
		if r.idle.Add(1) <= mostIdle {
			j, ok = <-r.jobs
		}
		r.idle.Add(-1)
	}
}

// enter waits for a place in the gate, and for a server that refused requests. It
// returns the instant from which the request could go.
func (r *run) enter() (free trace.Instant, ok bool) {
	if free, ok = r.gate.enter(r); !ok {
		return free, false
	}
	return r.backoff.wait(r, free)
}

// released notes that a request is released now.
func (r *run) released(e encoded, free trace.Instant) job {
	rec := trace.NewRecord(e.index)
	rec.Due, rec.Free, rec.Released = e.due, free, r.now()
	if late := e.made.Sub(max(e.due, free)); e.made.Happened() && late > time.Duration(behind) {
		r.unmade++
		r.unmadeMax = max(r.unmadeMax, late)
	}
	r.Progress.Released.Add(1)
	return job{e, rec}
}

// next waits for the request that is due first: the next of the schedule, if there
// are more, or one of a conversation. It returns false if there will be none, or if
// the run was stopped.
func (r *run) next(timer *clock.Timer, head encoded, more bool) (encoded, bool) {
	for {
		e, ok, awaited := r.turns.first()
		if more && (!ok || head.due <= e.due) {
			e, ok = head, true
		}
		if !ok && !awaited || r.stopping() || ok && !awaited && r.beyond(e.due) {
			return encoded{}, false
		}
		var alarm <-chan time.Time
		if ok {
			left := e.due.Sub(r.now())
			if left <= 0 {
				r.turns.take(e)
				return e, true
			}
			timer.Reset(left)
			alarm = timer.C
		}
		select {
		case <-alarm:
		case <-r.turns.changed:
		case <-r.stop:
		case <-r.ctx.Done():
		}
	}
}

// stopping reports whether no more requests are to be released.
func (r *run) stopping() bool {
	select {
	case <-r.stop:
		return true
	case <-r.ctx.Done():
		return true
	default:
		return r.late()
	}
}

// send takes one request from release to its record, and makes its followers ready.
func (r *run) send(e job) {
	req, rec := e.req, e.rec
	rec.PromptTokens, rec.VisionTokens, rec.WantTokens = req.PromptTokens, req.VisionTokens, req.OutputTokens
	rec.Tenant, rec.Session, rec.Turn = req.Tenant, req.Session, req.Number
	if e.err != nil {
		rec.ID, rec.Done, rec.Class, rec.Error = req.ID, r.now(), trace.Other, e.err.Error()
	} else {
		rec = r.transmit(req, e.body, rec)
	}
	r.backoff.saw(rec, r.now())
	if !r.plan.Hold {
		r.gate.release(r.now())
	}
	followers := r.follow(e.encoded, rec)
	r.turns.add(e.index, followers)
	r.note(rec)
	if r.plan.Hold {
		r.goOn(followers, rec.Free)
	}
}

// note adds a completed record.
func (r *run) note(rec *trace.Record) {
	r.Progress.Done.Add(1)
	if !rec.OK() {
		r.Progress.Failed.Add(1)
	}
	r.mu.Lock()
	r.out.Records = append(r.out.Records, rec)
	r.mu.Unlock()
	if r.OnRecord != nil {
		r.OnRecord(rec)
	}
}

// transmit sends req and converts the sender's timestamps to the run's clock.
func (r *run) transmit(req *workload.Request, body []byte, rec *trace.Record) *trace.Record {
	due, free, released := rec.Due, rec.Free, rec.Released
	r.Sender.Send(r.ctx, req, body, rec)
	rec.Rebase(r.zero)
	rec.Due, rec.Free, rec.Released = due, free, released
	return rec
}
