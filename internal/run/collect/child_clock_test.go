package collect

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// The host is 90 s ahead. An exchange of 40 ms bounds that by 20 ms, and a later one of 10 ms by 5.
func TestAnExchangeBoundsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 90 * time.Second
		var c Clock
		exchange := func(there, back time.Duration) {
			var asked string
			c.Ask(func(line string) error { asked = line; return nil })
			time.Sleep(there)
			host := time.Now().Add(ahead)
			time.Sleep(back)
			var n int
			if _, err := fmt.Sscanf(asked, "clock %d", &n); err != nil {
				t.Fatal(asked)
			}
			if err := c.Answer(fmt.Sprintf("%d %d.%09d", n, host.Unix(), host.Nanosecond()), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		check := func(bound time.Duration) {
			t.Helper()
			truth := time.Now()
			stamp := truth.Add(ahead).Round(0)
			time.Sleep(8 * time.Millisecond)
			at, clock := c.Instant(stamp, time.Now(), time.Second)
			if off := at.Sub(truth).Abs(); off > clock.Bound || !clock.Own || clock.Bound < bound ||
				clock.Bound > bound+10*time.Millisecond {
				t.Errorf("off by %v, clock %+v", off, clock)
			}
		}
		if at, clock := c.Instant(time.Now().Add(ahead), time.Now(), time.Second); !at.Equal(time.Now()) ||
			clock != (telemetry.Clock{Bound: time.Second}) {
			t.Errorf("of a clock that is not known: %v, %+v", at, clock)
		}
		exchange(38*time.Millisecond, 2*time.Millisecond)
		check(20 * time.Millisecond)
		time.Sleep(10 * time.Second)
		exchange(1*time.Millisecond, 9*time.Millisecond)
		check(5 * time.Millisecond)
		exchange(300*time.Millisecond, 300*time.Millisecond) // worse than the bound so far
		check(5 * time.Millisecond)
		time.Sleep(time.Hour)
		check(5*time.Millisecond + 3600*200*time.Microsecond)
	})
}

// Stamps of this machine need no exchange. One that cannot be is passed over.
func TestStamps(t *testing.T) {
	c, now := Clock{Same: true}, time.Now()
	for _, x := range []struct {
		late time.Duration
		own  bool
	}{
		{0, true},
		{30 * time.Millisecond, true},
		{4 * time.Minute, true},
		{-time.Second, false},
		{time.Hour, false},
		{-2 * time.Hour, false},
	} {
		at, clock := c.Instant(now.Add(-x.late).Round(0), now, time.Second)
		if clock.Own != x.own || x.own && now.Sub(at) != x.late || !x.own && !at.Equal(now) || clock.Bound > time.Second {
			t.Errorf("%v late: %v, %+v", x.late, now.Sub(at), clock)
		}
	}
	if _, clock := c.Instant(time.Time{}, now, time.Second); clock.Own {
		t.Error("no stamp")
	}
}

func FuzzClock(f *testing.F) {
	f.Add("1 1700000000.123456789")
	f.Add("1 1700000000.%N")
	f.Fuzz(func(t *testing.T, words string) {
		var c Clock
		c.Ask(func(string) error { return nil })
		now := time.Now()
		if err := c.Answer(words, now); err != nil && !c.best.at.IsZero() {
			t.Error("kept a clock that cannot be read")
		}
		if at, clock := c.Instant(now, now, time.Second); now.Sub(at) > oldestStamp || clock.Bound < 0 {
			t.Error(at, clock)
		}
	})
}

func TestHosts(t *testing.T) {
	for _, host := range []string{"gpu1", "me@gpu1", "10.0.0.1", "fe80::1%eth0", "gpu-1.example.com"} {
		if err := CheckHost(host); err != nil {
			t.Error(err)
		}
	}
	for _, host := range []string{"", "me@", "-oProxyCommand=x", "me@-x", "a b", "a\n", "a\x00b", "a\tb"} {
		if CheckHost(host) == nil {
			t.Errorf("%q", host)
		}
	}
}
