package run

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A server that does not answer for its counters is asked no longer than 10 s, and the run says that
// they are unknown.
func TestCountersAreNotWaitedForLongerThanTheirLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		defer l.Close()
		go func() {
			for {
				if _, err := l.Accept(); err != nil {
					return
				}
			}
		}()
		c := transport.New(transport.Config{Dial: l.Dial})
		defer c.Close()
		x := &execution{Prepared: &Prepared{Deps: &Deps{}, target: &target{base: "http://engine", transport: c}}}
		began := time.Now()
		if got := x.counters(t.Context()); got != nil || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %v", got, time.Since(began))
		}
		if len(x.run.Notes) != 1 || x.run.Notes[0].Code != countersUnknown {
			t.Error(x.run.Notes)
		}
	})
}
