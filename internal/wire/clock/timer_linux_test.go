package clock

import (
	"testing"
	"time"
)

// A timer that fires before anybody waits for it has fired.
func TestATimerThatFiresAtOnceIsHeard(t *testing.T) {
	for range 2000 {
		timer := NewPrecise()
		timer.Reset(1)
		select {
		case <-timer.C:
		case <-time.After(5 * time.Second):
			t.Fatal("it was not heard")
		}
		timer.Close()
	}
}
