package clock

import "time"

// An Alarm wakes one waiting goroutine: when its time has come, with the precision
// of a precise Timer, or when another goroutine calls Ring.
//
// Use it for a goroutine that waits thousands of times per second. A Timer sends on
// a channel, which takes a goroutine and several system calls per wait; an Alarm
// takes one system call.
type Alarm struct {
	wait  func(time.Duration)
	ring  func()
	close func()
}

// Wait returns when d has passed, or when Ring was called since the last Wait. It
// may return early. One goroutine may call it at a time.
func (a *Alarm) Wait(d time.Duration) { a.wait(max(d, 1)) }

// Ring ends the current Wait, or the next one. Any goroutine may call it.
func (a *Alarm) Ring() { a.ring() }

// Close ends the Alarm. Wait then returns at once.
func (a *Alarm) Close() { a.close() }

func newRuntimeAlarm() *Alarm {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	rung := make(chan struct{}, 1)
	closed := make(chan struct{})
	return &Alarm{
		wait: func(d time.Duration) {
			timer.Reset(d)
			select {
			case <-timer.C:
			case <-rung:
			case <-closed:
			}
		},
		ring: func() {
			select {
			case rung <- struct{}{}:
			default:
			}
		},
		close: func() {
			timer.Stop()
			close(closed)
		},
	}
}
