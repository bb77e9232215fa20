package doctor

import (
	"context"
	"runtime"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/stats"
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
	var late []float64
	for len(late) < firings && ctx.Err() == nil {
		due := time.Now().Add(wait)
		t.Reset(wait)
		<-t.C
		late = append(late, float64(time.Since(due)))
	}
	s := stats.Sort(late)
	return trace.Lag{
		Reads: len(late), P50: time.Duration(s.Median()), P99: time.Duration(s.Percentile(99)), Max: time.Duration(s.Max()),
	}
}

// SelfTest measures the kernel's receive timestamps and judges them. It repeats the
// measurement once if another process disturbed it.
func SelfTest(ctx context.Context, clk *clock.Clock) (*trace.SelfTest, Finding, error) {
	for again := false; ; again = true {
		c, err := transport.SelfTest(ctx, clk)
		if err != nil {
			return nil, Finding{}, err
		}
		t := &trace.SelfTest{
			Writes: c.Writes, Stamped: c.Stamped, Inside: c.Inside, Bare: c.Bare, Waited: c.Waited,
			Error: lagOf(c.Error, c.Stamped), Lag: lagOf(c.Lag, c.Stamped),
		}
		if f := Stamps(runtime.GOOS, t); again || f.Verdict == OK || t.Stamped == 0 {
			return t, f, nil
		}
	}
}

func lagOf(s transport.Spread, n int) trace.Lag {
	return trace.Lag{Reads: n, P50: s.Median, P99: s.P99, Max: s.Max}
}
