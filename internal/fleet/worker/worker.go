// Package worker is one machine of a fleet: it prepares the runs that a controller orders, and
// sends its share of them.
//
//	idle ── Order ──> preparing ──> ready ── Start ──> armed ── the instant ──> sending ──> delivering ──> idle
//	                      └──> failed       (a further Start deals anew)  └── without Go: failed
//
// A worker has one run at a time. Once it sends it needs no controller: it comes to the end of its share, and its
// records are safe in the stream of the run when it is idle again. Records that it cannot deliver go to a file.
package worker

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/run"
)

// Options are those of a worker.
type Options struct {
	Self fleet.Worker // who it is; ID, State, Run and Wall are filled in
	Key  fleet.Key    // secret of this worker, named by its ID
	Bus  *bus.Bus
	// Deps are the dependencies of one run on this machine.
	Deps   func() run.Deps
	Folder string       // for inputs from controllers, and for undeliverable records
	Log    func(string) // one line for people; may be nil
	// Soon is closed when the worker is to end: it sends no more, waits for requests in flight, and delivers them;
	// nil: never.
	Soon <-chan struct{}
	// Deliver is how long a worker tries to deliver its records; 0: half an hour.
	Deliver time.Duration
	// Wall is its wall clock; nil: time.Now. It is shown, and nothing rests on it.
	Wall func() time.Time
}

// A Worker serves runs.
type Worker struct {
	o     Options
	epoch time.Time    // instant 0 of its monotonic clock
	stuck atomic.Int64 // preparations that were left; see awaitSetup

	mu      sync.Mutex
	task    *task // the present or the last one; nil: none yet
	leaving bool  // it takes no other one
	// outrun is a run whose end arrived ahead of its order, and when: each comes by a subject of its own.
	outrun   string
	outrunAt time.Time
}

// outrunFor is how long an order may be overtaken by the end of its run. It is shorter than a controller waits before it
// orders a worker again that was busy.
const outrunFor = time.Second

// Serve answers controllers until o.Soon is closed and the requests in flight are answered and delivered, or until
// ctx is done: then they are cancelled and delivered.
func Serve(ctx context.Context, o Options) error {
	if o.Wall == nil {
		o.Wall = time.Now
	}
	o.Self.ID = o.Key.ID()
	w := &Worker{o: o, epoch: time.Now()}
	end, err := w.listen()
	if err != nil {
		return err
	}
	defer end()
	select {
	case <-ctx.Done():
	case <-o.Soon:
		w.drain()
		if t := w.current(); t != nil {
			t.endSoon(fleet.NoMore)
			select {
			case <-t.over:
			case <-ctx.Done():
			}
		}
	}
	w.drain()
	w.current().cancelAndWait()
	return nil
}

// drain has the worker take no further order.
func (w *Worker) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving = true
}

// listen subscribes to everything that a worker is asked.
func (w *Worker) listen() (end func(), err error) {
	var ends []func()
	end = func() {
		for _, one := range ends {
			one()
		}
	}
	add := func(one func(), failed error) {
		if failed == nil {
			ends = append(ends, one)
		} else if err == nil {
			err = fmt.Errorf("listen to controllers: %w", failed)
		}
	}
	id, b := w.o.Self.ID, w.o.Bus
	add(bus.Answer(b, bus.SubjectOf(id, bus.Order), func(o fleet.Order) (any, error) { return w.order(o), nil }))
	add(bus.Answer(b, bus.SubjectOf(id, bus.Poll), func(q fleet.Poll) (any, error) { return w.poll(q), nil }))
	add(bus.Answer(b, bus.SubjectOf(id, bus.Start), func(s fleet.Start) (any, error) { return w.start(s), nil }))
	add(bus.Answer(b, bus.SubjectOf(id, bus.Beat), func(b fleet.Beat) (any, error) { return w.beat(b), nil }))
	add(bus.Answer(b, bus.Everybody, func(fleet.Question) (any, error) { return w.self(), nil })) // last
	if err != nil {
		end()
	}
	return end, err
}

func (w *Worker) logf(format string, args ...any) {
	if w.o.Log != nil {
		w.o.Log(fmt.Sprintf(format, args...))
	}
}

// now is the worker's monotonic clock, in nanoseconds.
func (w *Worker) now() int64 { return int64(time.Since(w.epoch)) }

// current is the present or the last task, nil before the first one.
func (w *Worker) current() *task {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.task
}

func (w *Worker) self() fleet.Worker {
	me := w.o.Self
	me.Protocol, me.State, me.Wall = fleet.Protocol, fleet.Idle, w.o.Wall()
	me.Private = w.o.Bus.Private()
	if t := w.current(); t != nil && !t.ended() {
		me.State, me.Run, me.StoredID = t.now(), t.order.Run, t.storedID()
	}
	return me
}

// order begins to prepare a run.
func (w *Worker) order(o fleet.Order) fleet.Readiness {
	if why := w.refuses(o); why != "" {
		return fleet.Readiness{State: fleet.Failed, Why: why}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.leaving {
		return fleet.Readiness{State: fleet.Failed, Why: errEnded.Error(), Leaving: true}
	}
	if old := w.task; old != nil && !old.ended() {
		if old.order.Run == o.Run { // the reply was lost
			return old.readiness()
		}
		return fleet.Readiness{State: fleet.Failed, Why: fmt.Sprintf("it works on run %s", old.order.Run), Busy: old.order.Run}
	}
	if w.outrun == o.Run && time.Since(w.outrunAt) < outrunFor {
		return fleet.Readiness{State: fleet.Failed, Why: errDiscarded.Error()}
	}
	w.task = newTask(w, o)
	w.logf("run %s: preparing", o.Run)
	return w.task.readiness()
}

// mostStuck is how many preparations may be left: each keeps a thread.
const mostStuck = 16

// refuses says why an order is not for this worker, empty if it is.
func (w *Worker) refuses(o fleet.Order) string {
	switch {
	case o.Protocol != fleet.Protocol || o.Pitot != w.o.Self.Pitot:
		return fmt.Sprintf("it is pitot %s (protocol %d) and the controller is pitot %s (protocol %d); use one version for both", w.o.Self.Pitot, fleet.Protocol, o.Pitot, o.Protocol)
	case !fleet.IsRun(o.Run):
		return fmt.Sprintf("%.40q is not the id of a run", o.Run)
	case w.stuck.Load() >= mostStuck:
		return fmt.Sprintf("%d runs before this one still wait for files of this machine that cannot be read; start the worker anew", mostStuck)
	}
	return ""
}

// of is the task of a run, nil if this worker does not have it.
func (w *Worker) of(run string) *task {
	if t := w.current(); t != nil && t.order.Run == run {
		return t
	}
	return nil
}

// notHere answers for a run that the worker does not have: its process is another one.
const notHere = "it does not know the run; was it started anew?"

func (w *Worker) poll(q fleet.Poll) fleet.Readiness {
	t := w.of(q.Run)
	if t == nil {
		return fleet.Readiness{State: fleet.Failed, Why: notHere}
	}
	if !q.Observer {
		t.heard()
	}
	return t.readiness()
}

func (w *Worker) start(s fleet.Start) fleet.Readiness {
	t := w.of(s.Run)
	if t == nil {
		return fleet.Readiness{State: fleet.Failed, Why: notHere}
	}
	t.heard()
	return t.arm(s)
}

func (w *Worker) beat(b fleet.Beat) fleet.Pulse {
	arrived := w.now()
	p := fleet.Pulse{State: fleet.Failed, Why: notHere}
	if t := w.of(b.Run); t != nil {
		t.heard()
		t.follow(b)
		p = t.pulse()
	} else if b.Stop >= fleet.Discard && fleet.IsRun(b.Run) {
		w.mu.Lock()
		w.outrun, w.outrunAt = b.Run, time.Now()
		w.mu.Unlock()
	}
	p.Arrived, p.Wall, p.Answered = arrived, w.o.Wall().UnixNano(), w.now()
	return p
}
