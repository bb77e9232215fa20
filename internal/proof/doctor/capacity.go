package doctor

import (
	"context"
	"runtime"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// Capacity is about how many chunks per second this machine reads with a stamp for each; it takes half
// a second. See transport.ReadRate.
func Capacity(ctx context.Context) (float64, error) {
	const streams, span = 4, 500 * time.Millisecond // streams for each processor: none of them idles
	return transport.ReadRate(ctx, clock.New(), streams*runtime.GOMAXPROCS(0), span)
}
