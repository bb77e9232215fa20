package control_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/fleet/worker"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

// Nothing rests on the wall clocks of workers: one is days ahead, and one is set during the run. What
// they show is kept.
func TestWallClocksAreSet(t *testing.T) {
	t.Parallel()
	var set atomic.Int64
	_, url := fleettest.Truth(t, truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond})
	s := fleettest.Embedded(t, fleettest.Options{})
	hire(t, s, 3, func(i int, o *worker.Options) {
		switch i {
		case 1:
			o.Wall = func() time.Time { return time.Now().Add(72 * time.Hour) }
		case 2:
			o.Wall = func() time.Time { return time.Now().Add(time.Duration(set.Load())) }
		}
	})
	result, err := execute(t, spec(t, url, open), control.New(options(t, s, 3)), after(t, 20, func() { set.Store(int64(-time.Hour)) }))
	if err != nil {
		t.Fatal(err)
	}
	if result.Summary.Requests.OK != 60 {
		t.Errorf("%d answers", result.Summary.Requests.OK)
	}
	for i, w := range result.Trace.Run.Fleet.Workers {
		want := []time.Duration{0, 72 * time.Hour, -time.Hour}[i]
		if w.IsLost() || w.Clock.Steps > 0 || w.Clock.Bound <= 0 || w.Clock.Bound > 50*time.Millisecond || (w.Clock.Wall-want).Abs() > time.Second {
			t.Errorf("worker %d: clock %+v, its wall clock is to be %v ahead", i, w.Clock, want)
		}
	}
}
