package control_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/fleet/worker"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

// A Fleet sends one run after the other, and a Close too many does nothing.
func TestOneRunAfterTheOther(t *testing.T) {
	t.Parallel()
	_, url := fleettest.Truth(t, truth.Config{})
	s := fleettest.Embedded(t, fleettest.Options{})
	hire(t, s, 2, nil)
	o := options(t, s, 2)
	f := control.New(o)
	for range 2 {
		result, err := execute(t, spec(t, url, open), f)
		if err != nil {
			t.Fatal(err)
		}
		if workers, _ := result.Trace.Run.Fleet.Lost(); workers > 0 || result.Summary.Requests.OK != 60 {
			t.Errorf("%d workers lost, %d answers", workers, result.Summary.Requests.OK)
		}
		f.Close()
	}
	if left, err := control.Orphans(t.Context(), o.Bus); err != nil || len(left) > 0 {
		t.Errorf("%d runs left, %v", len(left), err)
	}
}

// Workers that were asked to prepare a run that is given up are idle at once, not when they have
// waited for its start.
func TestLetGo(t *testing.T) {
	t.Parallel()
	_, url := fleettest.Truth(t, truth.Config{})
	s := fleettest.Embedded(t, fleettest.Options{})
	asked := make(chan struct{})
	hire(t, s, 2, func(i int, o *worker.Options) {
		if i == 1 { // it prepares until it is told not to
			o.Deps = func() run.Deps {
				d := deps()
				d.Dial = blocked(asked)
				return d
			}
		}
	})
	o := options(t, s, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		cancel(errEnough)
	}()
	d := deps()
	d.Fleet = control.New(o)
	if _, err := run.Prepare(ctx, spec(t, url, open), d); !errors.Is(err, errEnough) {
		t.Fatalf("prepared, %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		all, err := control.Look(t.Context(), o.Bus, version, 100*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 2 && all[0].State == fleet.Idle && all[1].State == fleet.Idle {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", all)
		}
	}
}

var errEnough = errors.New("enough")

// blocked dials nothing until it is told to stop, and says when it was first asked.
func blocked(asked chan<- struct{}) func(context.Context, string, string) (net.Conn, error) {
	first := sync.OnceFunc(func() { close(asked) })
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		first()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

// A run that is stopped before its instant has lost nobody.
func TestStoppedBeforeTheInstant(t *testing.T) {
	t.Parallel()
	server, url := fleettest.Truth(t, truth.Config{})
	s := fleettest.Embedded(t, fleettest.Options{})
	hire(t, s, 2, nil)
	d := deps()
	d.Fleet = control.New(options(t, s, 2))
	p, err := run.Prepare(t.Context(), spec(t, url, open), d)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	stop := make(chan struct{})
	result, err := p.Execute(t.Context(), stop, run.SinkFunc(func(e run.Event) error {
		if _, ok := e.(run.Starting); ok {
			close(stop)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	workers, missing := result.Trace.Run.Fleet.Lost()
	if n := len(server.Log().Requests); n > 0 || workers > 0 || missing > 0 || result.Trace.Run.Status != trace.Interrupted {
		t.Errorf("%d requests sent, %d workers lost with %d, %s", n, workers, missing, result.Trace.Run.Status)
	}
	for _, why := range result.Trace.Run.Verdict.Reasons {
		if strings.HasPrefix(string(why.Code), "verdict.workers") {
			t.Errorf("%+v", why)
		}
	}
}
