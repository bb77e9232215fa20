package transport

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// ReadRate measures how many reads per second this machine makes that each have a stamp of their own,
// in a time of at most 2 s: over loopback connections to itself, of which each gets its next byte when
// the last one was read. Both ends take processor time, which a server elsewhere would not;
// nothing is parsed.
func ReadRate(
	ctx context.Context, clk *clock.Clock, connections int, span time.Duration,
) (perSecond float64, err error) {
	var reads atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, connections)
	begin := time.Now()
	for i := range connections {
		all.Go(func() {
			n, err := pingPong(ctx, clk, min(span, checkLimit))
			failed[i] = err
			reads.Add(n)
		})
	}
	all.Wait()
	took := time.Since(begin)
	for _, err := range failed {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return 0, fmt.Errorf("read from ourselves: %w", err)
		}
	}
	return float64(reads.Load()) / took.Seconds(), nil
}

// pingPong counts the bytes that go through one connection, one by one.
func pingPong(ctx context.Context, clk *clock.Clock, span time.Duration) (n int64, err error) {
	p, err := connectSelf(ctx, clk)
	if err != nil {
		return 0, err
	}
	defer p.close()
	defer context.AfterFunc(ctx, p.hangUp)()
	for begin := time.Now(); time.Since(begin) < span; n++ {
		if _, err := p.near.Write([]byte{0}); err != nil {
			return n, err
		}
		if _, ok := <-p.arrivals; !ok {
			return n, p.end
		}
	}
	return n, nil
}
