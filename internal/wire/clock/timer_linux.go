package clock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewPrecise returns a Timer that fires within microseconds, not set. An idle
// runtime sleeps in whole milliseconds but wakes at once for a file, so this timer
// is a file.
func NewPrecise() *Timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return NewTimer()
	}
	file := os.NewFile(uintptr(fd), "timer")
	fired := make(chan time.Time, 1)
	go func() {
		var count [8]byte
		for {
			if _, err := file.Read(count[:]); err != nil {
				return // closed
			}
			select {
			case fired <- time.Now():
			default:
			}
		}
	}()
	return &Timer{
		C: fired,
		reset: func(d time.Duration) {
			select {
			case <-fired:
			default:
			}
			_ = unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
		},
		stop: func() { _ = file.Close() },
	}
}
