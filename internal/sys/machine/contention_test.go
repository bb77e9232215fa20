package machine

import (
	"runtime"
	"testing"
	"time"
)

func TestParseSchedstat(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1500000 2783048 17": 2783048, "0 0 0": 0,
		"": -1, "1 2": -1, "1 -2 3": -1, "1 x 3": -1, "1 99999999999999999999 3": -1, "1 2 3 4": -1,
	} {
		got, ok := parseSchedstat(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestPressure(t *testing.T) {
	const full = "full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
	for text, want := range map[string]time.Duration{
		"some avg10=69.24 avg60=75.77 avg300=75.66 total=2500000\n" + full: 2500 * time.Millisecond,
		"some total=0": 0,
		full:           -1, "": -1, "some": -1, "some total=": -1, "some total=-4": -1, "some total=9223372036854775807": -1,
		"\x00some": -1,
	} {
		if got := Pressed(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A thread that came later counts from its beginning, and one that has ended not at all.
func TestWaitedBetween(t *testing.T) {
	before, after := map[string]time.Duration{"1": 5, "2": 7, "4": 9}, map[string]time.Duration{"1": 8, "3": 4, "4": 2}
	if got := waitedBetween(before, after); got != 7 {
		t.Errorf("%d ns, want 7", got)
	}
	if got := waitedBetween(nil, nil); got >= 0 {
		t.Errorf("%d ns of a system that tells nothing", got)
	}
}

func TestContentionIsKnownOnLinuxAlone(t *testing.T) {
	c := WatchContention().Contention()
	if c.Waited >= 0 != (runtime.GOOS == "linux") {
		t.Errorf("waited %v on %s", c.Waited, runtime.GOOS)
	}
	if c.Others > 1 || c.Steal > 1 || c.Pressure > 1 {
		t.Errorf("shares beyond all: %+v", c)
	}
}
