package transport

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// flight is exchanges of one client.
type flight struct {
	inFlight
	t *testing.T
}

type key struct{}

func newFlight(t *testing.T, limit time.Duration) *flight {
	t.Helper()
	return &flight{inFlight{clock: clock.New().Now, limit: limit}, t}
}

// begin adds an exchange.
func (f *flight) begin(ctx context.Context) *exchange {
	x := new(exchange)
	f.add(ctx, x)
	return x
}

// ended checks why an exchange was ended; nil: it was not.
func (f *flight) ended(x *exchange, want error) {
	f.t.Helper()
	synctest.Wait()
	if got := x.cause(context.Background()); !errors.Is(got, want) {
		f.t.Errorf("the exchange was ended by %v, want %v", got, want)
	}
}

// Each exchange has its whole time, whatever ends before it.
func TestExchangesExpireOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlight(t, time.Second)
		first := f.begin(t.Context())
		time.Sleep(300 * time.Millisecond)
		second, third := f.begin(t.Context()), f.begin(t.Context())
		time.Sleep(300 * time.Millisecond)
		f.remove(first)
		f.remove(second)
		fourth := f.begin(t.Context())
		time.Sleep(699 * time.Millisecond)
		f.ended(third, nil)
		time.Sleep(time.Millisecond)
		f.ended(third, ErrTimeout)
		f.ended(fourth, nil)
		time.Sleep(300 * time.Millisecond)
		f.ended(fourth, ErrTimeout)
		f.ended(first, nil)
		f.ended(second, nil)
		f.remove(third)
		f.remove(fourth)
		f.close()
		time.Sleep(time.Minute)
		last := f.begin(t.Context()) // after a pause the timer is set again
		time.Sleep(time.Second)
		f.ended(last, ErrTimeout)
	})
}

func TestExchangesEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlight(t, 0)
		why, other := errors.New("why"), errors.New("other")
		run, stop := context.WithCancelCause(t.Context())
		probe, stopProbe := context.WithCancelCause(t.Context())
		a, b, over := f.begin(run), f.begin(context.WithValue(run, key{}, 1)), f.begin(run)
		side, free := f.begin(probe), f.begin(context.Background())
		if !f.remove(over) {
			t.Error("an exchange that is over may still be ended")
		}
		stop(why)
		f.ended(a, why)
		f.ended(b, why)
		f.ended(f.begin(run), why)
		f.ended(over, nil)
		f.ended(side, nil)
		stopProbe(other)
		if f.ended(side, other); f.remove(side) {
			t.Error("an exchange with a context of its own that ended is said to be free")
		}
		f.ended(free, nil)
	})
}

// Once the exchanges of a context are over, those of another have one function in common.
func TestExchangesHaveAnotherContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlight(t, 0)
		why := errors.New("why")
		first, stopFirst := context.WithCancel(t.Context())
		second, stop := context.WithCancelCause(t.Context())
		f.remove(f.begin(first))
		x := f.begin(second)
		stopFirst()
		f.ended(x, nil)
		stop(why)
		if f.ended(x, why); x.forget != nil || !f.remove(x) {
			t.Error("it has a function of its own")
		}
		f.close()
		if f.first != nil || f.last != nil || f.ctx != nil {
			t.Error("something is left")
		}
	})
}
