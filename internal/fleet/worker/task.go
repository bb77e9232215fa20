package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// A task is one run on this worker, from its Order until all of it is delivered.
type task struct {
	w     *Worker
	order fleet.Order
	over  chan struct{} // closed when nothing of it goes on

	ctx      context.Context // of all of it
	cancel   context.CancelCauseFunc
	sending  context.Context // of the requests
	drop     context.CancelFunc
	noMore   chan struct{} // closed when no further request is to be sent
	changed  chan struct{} // has an element when there is a Start, or a Go
	progress driver.Progress

	// What prepare leaves to send; used by one goroutine.
	prepared *run.Prepared
	job      run.Job
	secrets  *secret.Set // nil: none are known yet
	selfTest *trace.SelfTest
	notes    []plan.Message

	mu     sync.Mutex
	state  fleet.State
	told   fleet.Readiness // but for its State
	asked  time.Time       // when the controller was last heard of
	begin  *fleet.Start    // the last one
	going  bool            // and it holds
	level  fleet.Stop
	places *driver.Places // nil before there is a Start with places
	sender *delivery.Sender
}

// newTask begins to prepare an order, once the task before it is over.
func newTask(w *Worker, o fleet.Order, before *task) *task {
	t := &task{w: w, order: o, over: make(chan struct{}), noMore: make(chan struct{}), changed: make(chan struct{}, 1), state: fleet.Preparing, asked: time.Now()}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	t.sending, t.drop = context.WithCancel(t.ctx)
	go func() {
		defer close(t.over)
		defer t.cancel(nil)
		if before != nil {
			<-before.over
		}
		t.live()
	}()
	return t
}

// live is all of it.
func (t *task) live() {
	err := t.prepare()
	if t.prepared != nil {
		defer t.prepared.Close()
	}
	if err == nil {
		t.enter(fleet.Ready)
		t.w.say("run %s: ready, %d requests", t.order.Run, len(t.job.Requests))
		err = t.sendAndDeliver()
	}
	if err != nil {
		t.fail(err)
	}
	t.prepared, t.job = nil, run.Job{} // the task is kept, and its requests can take gigabytes
}

func (t *task) sendAndDeliver() error {
	s, part, err := t.awaitStart()
	if err != nil {
		return err
	}
	return t.send(s, part)
}

var errDiscarded = errors.New("the controller ended the run before it began")

// fail ends the task with a reason that the controller gets to see.
func (t *task) fail(err error) {
	err = t.secrets.Error(cmp.Or(context.Cause(t.ctx), err))
	t.mu.Lock()
	t.state = fleet.Failed
	t.told.Why = err.Error()
	t.mu.Unlock()
	if errors.Is(err, errDiscarded) {
		t.w.say("run %s: %v", t.order.Run, err)
		return
	}
	t.w.say("run %s failed: %v", t.order.Run, err)
}

func (t *task) ended() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

func (t *task) enter(s fleet.State) {
	t.mu.Lock()
	t.state = s
	t.mu.Unlock()
}

func (t *task) now() fleet.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// heard notes that there is a controller.
func (t *task) heard() {
	t.mu.Lock()
	t.asked = time.Now()
	t.mu.Unlock()
}

// abandoned reports a run that is not under way and whose controller has been silent for so long.
func (t *task) abandoned(after time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.state {
	case fleet.Sending, fleet.Delivering:
		return false
	}
	return time.Since(t.asked) > after
}

// readiness is how far the worker is.
func (t *task) readiness() fleet.Readiness {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.told
	r.State, r.Silent = t.state, time.Since(t.asked)
	return r
}

// arm takes a Start. A further one before the start is confirmed deals anew.
func (t *task) arm(s fleet.Start) fleet.Readiness {
	t.mu.Lock()
	if !t.going && (t.state == fleet.Ready || t.state == fleet.Armed) {
		if err := s.Check(t.order.Spec.Gate.Concurrency, t.w.now()); err != nil {
			r := t.told
			r.State, r.Why = t.state, err.Error()
			t.mu.Unlock()
			return r
		}
		t.begin, t.state = &s, fleet.Armed
		t.wake()
	}
	t.mu.Unlock()
	return t.readiness()
}

func (t *task) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// follow does what a Beat says.
func (t *task) follow(b fleet.Beat) {
	t.mu.Lock()
	if b.Go && t.state == fleet.Armed && !t.going {
		t.going = true
		t.wake()
	}
	places := t.places
	t.mu.Unlock()
	if places != nil {
		places.Raise(b.Places)
	}
	t.stop(b.Stop)
}

// stop ends the run as far as a level says; a lower one than before says nothing.
func (t *task) stop(level fleet.Stop) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if level <= t.level {
		return
	}
	if t.level < fleet.NoMore {
		close(t.noMore)
	}
	t.level = level
	begun := t.state == fleet.Sending || t.state == fleet.Delivering
	if level >= fleet.Cancel {
		t.drop()
	}
	if !begun || level >= fleet.Discard {
		t.cancel(errDiscarded)
	}
}

// cancelAndWait ends the task, and waits until what it measured is delivered, or in a file.
func (t *task) cancelAndWait() {
	if t == nil {
		return
	}
	t.stop(fleet.Cancel)
	select {
	case <-t.over:
	case <-time.After(lastWords):
		t.cancel(errEnded)
		<-t.over
	}
}

// lastWords is how long a worker that is ended goes on delivering.
const lastWords = 10 * time.Second

var errEnded = errors.New("the worker was ended")

// pulse is how the run gets on, without the clock.
func (t *task) pulse() fleet.Pulse {
	t.mu.Lock()
	p := fleet.Pulse{State: t.state, Why: t.told.Why, Go: t.going}
	sender := t.sender
	t.mu.Unlock()
	p.Progress = t.progress.Snapshot()
	if sender != nil {
		p.Undelivered = sender.Undelivered()
		if why := sender.Refused(); why != nil && p.State != fleet.Failed {
			p.Why = fmt.Sprintf("its records are not stored: %v", why)
		}
	}
	return p
}

func (t *task) String() string { return fmt.Sprintf("run %s, %s", t.order.Run, t.now()) }
