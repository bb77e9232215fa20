package worker

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
)

// A hung folder is that of a mount whose server is away: what looks at its files waits until it is there again.
type hung chan struct{}

func (h hung) Open(name string) (fs.File, error) {
	<-h
	return fstest.MapFS{"a": {Data: []byte("another content")}}.Open(name)
}

// A run whose files cannot be read ends within seconds when it is to end. The worker is free then; after many of them it
// takes no more, until the files can be read.
func TestAReadThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mount := make(hung)
		w := &Worker{epoch: time.Now(), o: Options{
			Bus: new(bus.Bus), Self: fleet.Worker{Pitot: "v1"}, Folder: t.TempDir(),
			Deps: func() run.Deps { return run.Deps{Folder: func(string) fs.FS { return mount }} },
		}}
		o := fleet.Order{
			Run: "fleet-hung", Protocol: fleet.Protocol, Pitot: "v1", Spec: plan.Spec{Target: plan.Target{URL: "http://127.0.0.1:1"}},
			Inputs: []fleet.Input{{Kind: fleet.FileInput, Name: "a", Digest: strings.Repeat("0a", 32), Size: 1, Object: "0"}},
		}
		for range mostStuck {
			if why := w.refuses(o); why != "" {
				t.Fatal(why)
			}
			task := &task{w: w, order: o, over: make(chan struct{}), noMore: make(chan struct{})}
			task.ctx, task.cancel = context.WithCancelCause(t.Context())
			task.sending, task.drop = context.WithCancel(task.ctx)
			go func() { task.finish(task.live()) }()
			synctest.Wait()
			began := time.Now()
			task.cancelAndWait()
			if !task.ended() || time.Since(began) > prepareFor || !strings.Contains(task.readiness().Why, errEnded.Error()) {
				t.Fatalf("after %v: ended %t, %+v", time.Since(began), task.ended(), task.readiness())
			}
		}
		if why := w.refuses(o); !strings.Contains(why, "cannot be read; start the worker anew") {
			t.Errorf("it refuses another one with %q", why)
		}
		close(mount)
		synctest.Wait()
		if why := w.refuses(o); why != "" {
			t.Errorf("once the files can be read it refuses another one with %q", why)
		}
	})
}

// A task that does not end, such as one whose records no disk takes, is not waited for.
func TestATaskThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := &task{w: new(Worker), over: make(chan struct{}), noMore: make(chan struct{}), state: fleet.Delivering}
		task.ctx, task.cancel = context.WithCancelCause(t.Context())
		task.sending, task.drop = context.WithCancel(task.ctx)
		began := time.Now()
		task.cancelAndWait()
		if took := time.Since(began); took > 2*lastWords || !errors.Is(context.Cause(task.ctx), errEnded) {
			t.Errorf("waited %v, the cause is %v", took, context.Cause(task.ctx))
		}
	})
}

// The end of a run may arrive ahead of its order: the worker does not prepare it, and is free for the same run later.
func TestAnEndAheadOfItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Worker{epoch: time.Now(), o: Options{Bus: new(bus.Bus), Wall: time.Now, Self: fleet.Worker{Pitot: "v1"}, Deps: func() run.Deps { return run.Deps{} }}}
		o := fleet.Order{Run: "fleet-outrun", Protocol: fleet.Protocol, Pitot: "v1", Spec: plan.Spec{Target: plan.Target{URL: "http://127.0.0.1:1"}}}
		w.beat(fleet.Beat{Run: o.Run, Stop: fleet.Finished})
		if r := w.order(o); r.State != fleet.Failed || r.Why != errDiscarded.Error() || w.current() != nil {
			t.Errorf("%+v", r)
		}
		time.Sleep(outrunFor)
		if r := w.order(o); r.State != fleet.Preparing {
			t.Errorf("later: %+v", r)
		}
		w.current().cancelAndWait()
	})
}
