package clock

import "time"

// A Timer sends on C when its time has come. One goroutine may use it at a time.
type Timer struct {
	C <-chan time.Time

	reset func(time.Duration)
	stop  func()
}

// NewTimer returns a Timer based on the runtime's, not set.
func NewTimer() *Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Timer{C: t.C, reset: func(d time.Duration) { t.Reset(d) }, stop: func() { t.Stop() }}
}

// Reset sets the Timer to fire once, after d. An earlier firing may still arrive:
// check the clock.
func (t *Timer) Reset(d time.Duration) { t.reset(max(d, 1)) }

// Close ends the Timer.
func (t *Timer) Close() { t.stop() }
