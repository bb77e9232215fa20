package transport

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

func TestReadRate(t *testing.T) {
	got, err := ReadRate(t.Context(), clock.New(), 2, 20*time.Millisecond)
	if err != nil || got < 100 || got > 1e8 {
		t.Errorf("%v reads per second, %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	cancel(why)
	if _, err := ReadRate(ctx, clock.New(), 1, time.Second); !errors.Is(err, why) {
		t.Errorf("it ended with %v", err)
	}
}
