package doctor

import (
	"context"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// SelfTest measures the kernel's receive stamps on a system, by its GOOS, and judges them.
// What a neighbour spoiled by its turn on the processor is measured once more.
func SelfTest(ctx context.Context, goos string, clk *clock.Clock) (*trace.SelfTest, Finding, error) {
	for again := false; ; again = true {
		c, err := transport.SelfTest(ctx, clk)
		if err != nil {
			return nil, Finding{}, err
		}
		t := &trace.SelfTest{
			Writes: c.Writes, Stamped: c.Stamped, Inside: c.Inside, Bare: c.Bare, Waited: c.Waited,
			Error: lagOf(c.Error, c.Stamped), Lag: lagOf(c.Lag, c.Stamped),
		}
		if f := Stamps(goos, t); again || f.Verdict == OK || t.Stamped == 0 {
			return t, f, nil
		}
	}
}

func lagOf(s transport.Spread, n int) trace.Lag {
	return trace.Lag{Reads: n, P50: s.Median, P99: s.P99, Max: s.Max}
}
