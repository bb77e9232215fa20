package clock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewPrecise returns a Timer that fires within microseconds, not set. An idle
// runtime sleeps in whole milliseconds but wakes at once for a file, so this timer
// is a file. It is never read, see fileAlarm: a read would also wake the runtime's
// monitor thread, which costs more than the timer itself.
func NewPrecise() *Timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return NewTimer()
	}
	file := os.NewFile(uintptr(fd), "timer")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return NewTimer()
	}
	fired := make(chan time.Time, 1)
	go func() {
		waited := false
		_ = raw.Read(func(uintptr) (closed bool) { // called once before the first firing, and after each
			if waited {
				select {
				case fired <- time.Now():
				default:
				}
			}
			waited = true
			return false
		})
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
