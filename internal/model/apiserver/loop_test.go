package apiserver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A strictModel notes when it is brought something before what was due.
type strictModel struct {
	*engine.LatencyModel
	t       *testing.T
	stepped time.Duration
}

func (c *strictModel) Add(now time.Duration, j engine.Job) {
	c.check("Add", now)
	c.LatencyModel.Add(now, j)
}

func (c *strictModel) Cancel(now time.Duration, id uint64) {
	c.check("Cancel", now)
	c.LatencyModel.Cancel(now, id)
}

func (c *strictModel) Step(now time.Duration, out []engine.Emission) []engine.Emission {
	c.stepped = now
	return c.LatencyModel.Step(now, out)
}

func (c *strictModel) check(what string, now time.Duration) {
	if c.stepped != now {
		c.t.Errorf("%s at %v after a step to %v", what, now, c.stepped)
	}
}

// The loop keeps the order that engine.Model asks for: Step, then Add and Cancel.
func TestTheLoopStepsBeforeItsOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		latency := engine.Latency{TTFT: arrival.FixedDuration(10 * ms), ITL: arrival.FixedDuration(10 * ms), Slots: 2}
		model := &strictModel{LatencyModel: engine.NewLatencyModel(latency, 0), t: t, stepped: -1}
		l := newLoop(model, time.Now(), false, newMeters(100))
		tickets := make([]ticket, 4)
		for i, tokens := range []int{1, 9, 3, 1} {
			l.add(engine.Job{ID: uint64(i), OutputTokens: tokens}, &tickets[i])
			time.Sleep(7 * ms)
		}
		l.cancel(1)
		l.done.Wait()
		if n := tickets[3].tokens.Load(); n != 1 {
			t.Errorf("the last job got %d tokens", n)
		}
	})
}
