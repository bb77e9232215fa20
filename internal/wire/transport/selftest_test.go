package transport

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

func TestSelfTest(t *testing.T) {
	c, err := SelfTest(t.Context(), clock.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", c)
	if runtime.GOOS != "linux" {
		if c.Stamped != 0 || c.Writes != checkWrites {
			t.Errorf("%+v, want no stamps", c)
		}
		return
	}
	if c.Writes != checkWrites || c.Stamped == 0 || c.Stamped > c.Writes || c.Inside == 0 || c.Inside > c.Stamped {
		t.Errorf("%+v, want %d writes, some of them stamped", c, checkWrites)
	}
	for name, s := range map[string]trace.Lag{"error": c.Error, "lag": c.Lag} {
		if s.P50 > s.P99 || s.P99 > s.Max || s.Max <= 0 {
			t.Errorf("%s: %+v is not in order", name, s)
		}
	}
}

func TestSelfTestEndsWithItsContext(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if c, err := SelfTest(ctx, clock.New()); err == nil || c.Writes != 0 {
		t.Errorf("%+v, error %v", c, err)
	}
	p, err := connectSelf(t.Context(), clock.New())
	if err != nil {
		t.Fatal(err)
	}
	p.hangUp() // as in the middle of the test
	if c, err := p.check(); err == nil {
		t.Errorf("%+v over a closed connection", c)
	}
	p.close()
}

func TestSpread(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(100 - i)
	}
	for _, c := range []struct {
		of   []int64
		want trace.Lag
	}{
		{nil, trace.Lag{}},
		{[]int64{7}, trace.Lag{Reads: 1, P50: 7, P99: 7, Max: 7}},
		{hundred, trace.Lag{Reads: 100, P50: 50, P99: 99, Max: 100}},
	} {
		if got := Spread(c.of); got != c.want {
			t.Errorf("of %d: %+v, want %+v", len(c.of), got, c.want)
		}
	}
}
