package doctor

import (
	"context"
	"runtime"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// Look collects the facts of this machine, in less than a second.
func Look(ctx context.Context) (Facts, error) {
	load := machine.WatchLoad()
	f := Facts{Facts: machine.Look(), Clock: Clock{Source: machine.ClockSource(), Reading: readingCost()}}
	precise, plain := clock.NewPrecise(), clock.NewTimer()
	defer precise.Close()
	defer plain.Close()
	f.Timer, f.Runtime = lateness(ctx, precise), lateness(ctx, plain)
	var err error
	f.Stamps, _, err = SelfTest(ctx, clock.New())
	f.Others = load.Others()
	return f, err
}

// Neighbours is the finding about the other programs of this machine, of half a second.
func Neighbours(ctx context.Context) Finding {
	load := machine.WatchLoad()
	select {
	case <-time.After(500 * time.Millisecond):
	case <-ctx.Done():
	}
	f := Facts{Facts: machine.Facts{OS: runtime.GOOS}}
	if load.Seen() >= 200*time.Millisecond { // else, as where time is virtual, it is chance
		f.Others = load.Others()
	}
	return others(f)
}

// readingCost is the cost of reading the clock without interference: that of the
// fastest of many batches.
func readingCost() time.Duration {
	const batches, readings = 20, 1000
	c := clock.New()
	best := time.Hour
	for range batches {
		start := c.Now()
		for range readings {
			c.Now()
		}
		best = min(best, time.Duration(c.Now()-start)/readings)
	}
	return best
}

// lateness measures how late a timer fires in an otherwise idle process.
func lateness(ctx context.Context, t *clock.Timer) trace.Lag {
	const firings, wait = 100, 700 * time.Microsecond
	var late []int64
	for len(late) < firings && ctx.Err() == nil {
		due := time.Now().Add(wait)
		t.Reset(wait)
		<-t.C
		late = append(late, int64(time.Since(due)))
	}
	return transport.Spread(late)
}

// SelfTest measures the kernel's receive timestamps and judges them. It repeats the
// measurement once if another process disturbed it.
func SelfTest(ctx context.Context, clk *clock.Clock) (*trace.SelfTest, Finding, error) {
	for again := false; ; again = true {
		t, err := transport.SelfTest(ctx, clk)
		if err != nil {
			return nil, Finding{}, err
		}
		if f := Stamps(runtime.GOOS, &t); again || f.Verdict == OK || t.Stamped == 0 {
			return &t, f, nil
		}
	}
}
