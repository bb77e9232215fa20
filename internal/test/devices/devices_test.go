package devices

import (
	"math"
	"testing"
	"time"
)

// 100 W for 10 s, up to 300 W within 20 s, and on: 1000 J, 4000 J, 300 W.
func TestACurve(t *testing.T) {
	from := time.Unix(1700000000, 0)
	at := func(s float64) time.Time { return from.Add(time.Duration(s * 1e9)) }
	c := Curve{from, []Corner{{0, 100}, {10 * time.Second, 100}, {30 * time.Second, 300}}}
	for s, want := range map[float64]float64{-5: 100, 0: 100, 10: 100, 20: 200, 25: 250, 30: 300, 99: 300} {
		if got := c.Watts(at(s)); got != want {
			t.Errorf("%v W at %v s, want %v", got, s, want)
		}
	}
	for _, x := range []struct{ from, to, want float64 }{{0, 10, 1000}, {10, 30, 4000}, {-1, 31, 5400}, {15, 25, 2000}, {40, 41, 300}, {12, 12, 0}} {
		if got := c.Joules(at(x.from), at(x.to)); math.Abs(got-x.want) > 1e-6 {
			t.Errorf("%v J from %v s to %v s, want %v", got, x.from, x.to, x.want)
		}
	}
}
