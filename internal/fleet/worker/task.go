package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
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

	// Used by one goroutine.
	setup
	secrets *secret.Set // nil: none are known yet

	mu     sync.Mutex
	state  fleet.State
	reply  fleet.Readiness // but for its State
	asked  time.Time       // when the controller was last heard of
	begin  *fleet.Start    // the last one
	going  bool            // and it holds
	level  fleet.Stop
	places *driver.Places // nil before there is a Start with places
	sender *delivery.Sender
}

func newTask(w *Worker, o fleet.Order) *task {
	t := &task{w: w, order: o, over: make(chan struct{}), noMore: make(chan struct{}), changed: make(chan struct{}, 1), state: fleet.Preparing, asked: time.Now()}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	t.sending, t.drop = context.WithCancel(t.ctx)
	go func() {
		defer t.cancel(nil)
		t.finish(t.live())
	}()
	go t.guard()
	return t
}

// silence is how long a controller may say nothing, while nothing is sent, until it counts as gone.
const silence = 15 * time.Second

// guard ends a task that has not begun once its controller stops asking.
func (t *task) guard() {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-t.over:
			return
		case <-look.C:
			if t.abandoned() {
				t.cancel(errAbandoned)
			}
		}
	}
}

func (t *task) live() error {
	if err := t.awaitSetup(); err != nil {
		return cmp.Or(context.Cause(t.ctx), err)
	}
	t.enter(fleet.Ready)
	t.w.logf("run %s: ready, %d requests", t.order.Run, t.job.Requests.N)
	s, part, err := t.awaitStart()
	if err != nil {
		return err
	}
	return t.send(s, part)
}

// finish releases the task's resources, and then publishes how it ended: whoever sees the end finds a free worker.
func (t *task) finish(err error) {
	t.close()
	err = t.secrets.Error(err)
	switch {
	case err == nil:
	case errors.Is(err, errDiscarded), errors.Is(err, errEnded):
		t.w.logf("run %s: %v", t.order.Run, err)
	default:
		t.w.logf("run %s failed: %v", t.order.Run, err)
	}
	t.mu.Lock()
	t.state = fleet.Idle
	if err != nil {
		t.state, t.reply.Why = fleet.Failed, err.Error()
	}
	close(t.over)
	t.mu.Unlock()
}

// Why a task ends that has not come to its own end.
var (
	errDiscarded = errors.New("the controller ended the run before it began")
	errAbandoned = errors.New("the controller is gone")
	errEnded     = errors.New("the worker was asked to end")
)

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

// updateReadiness changes the answer to the controller.
func (t *task) updateReadiness(change func(*fleet.Readiness)) {
	t.mu.Lock()
	change(&t.reply)
	t.mu.Unlock()
}

func (t *task) now() fleet.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// storedID is the id by which the controller keeps the run, empty before it says so.
func (t *task) storedID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begin == nil {
		return ""
	}
	return t.begin.StoredID
}

// heard notes that there is a controller.
func (t *task) heard() {
	t.mu.Lock()
	t.asked = time.Now()
	t.mu.Unlock()
}

// abandoned reports a run that is not under way and has lost its controller: that has been silent although there
// was a connection.
func (t *task) abandoned() bool {
	up, since := t.w.o.Bus.Up()
	t.mu.Lock()
	defer t.mu.Unlock()
	return up && !t.begun() && min(time.Since(since), time.Since(t.asked)) > silence
}

// begun reports whether the share is under way, or was. t.mu is held.
func (t *task) begun() bool { return t.state == fleet.Sending || t.state == fleet.Delivering }

// readiness is how far the worker is.
func (t *task) readiness() fleet.Readiness {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.reply
	r.State, r.Silent = t.state, time.Since(t.asked)
	return r
}

// arm takes a Start. A further one before the start is confirmed deals anew.
func (t *task) arm(s fleet.Start) fleet.Readiness {
	t.mu.Lock()
	if !t.going && (t.state == fleet.Ready || t.state == fleet.Armed) {
		if err := s.Check(t.order.Spec.Gate.Concurrency, t.w.now()); err != nil {
			r := t.reply
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

// stop ends the run as far as a level says; a lower one than before says nothing. A run that is to
// begin, and does not, still delivers its End.
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
	if level >= fleet.Cancel {
		t.drop()
	}
	if !t.going && !t.begun() || level >= fleet.Discard {
		t.cancel(errDiscarded)
	}
}

// endSoon ends a task that has not begun, and has one that has send no more.
func (t *task) endSoon(level fleet.Stop) {
	t.mu.Lock()
	if !t.begun() {
		t.reply.Leaving = true
		t.cancel(errEnded)
	}
	t.mu.Unlock()
	t.stop(level)
}

// cancelAndWait ends the task, and waits until its records are delivered or in a file, but not for a disk that
// takes nothing.
func (t *task) cancelAndWait() {
	if t == nil {
		return
	}
	t.endSoon(fleet.Cancel)
	select {
	case <-t.over:
	case <-time.After(lastWords):
		t.cancel(errEnded)
		select {
		case <-t.over:
		case <-time.After(lastWords):
		}
	}
}

// lastWords is how long a worker that is ended goes on delivering.
const lastWords = 10 * time.Second

// pulse is how the run gets on, without the clock.
func (t *task) pulse() fleet.Pulse {
	t.mu.Lock()
	p := fleet.Pulse{State: t.state, Why: t.reply.Why}
	sender := t.sender
	t.mu.Unlock()
	p.Progress = t.progress.Snapshot()
	if sender != nil {
		if why := sender.Refused(); why != nil && p.State != fleet.Failed {
			p.Why = fmt.Sprintf("its records are not stored: %v", why)
		}
	}
	return p
}

// rescue writes the records as a run that `pitot import` reads.
func (t *task) rescue(s fleet.Start, records []*trace.Record) (file string, err error) {
	r := t.prepared.Run()
	r.ID = fmt.Sprintf("%s-%d", t.order.Run, s.Share)
	r.Kind, r.Status, r.Started, r.End = trace.Measured, trace.Interrupted, t.w.epoch.Add(time.Duration(s.At)), trace.Never
	one := &trace.Trace{Run: secret.Clean(t.prepared.Secrets, r), Records: records}
	file = filepath.Join(t.w.o.Folder, "pitot-rescue-"+r.ID+".json")
	return file, files.WritePrivate(file, func(out io.Writer) error { return store.WriteJSON(out, one) })
}
