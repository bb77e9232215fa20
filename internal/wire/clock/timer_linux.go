package clock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewPrecise returns a Timer that fires within microseconds, not set. An idle
// runtime sleeps in milliseconds but wakes at once for a file, so this timer
// is a file. Once it is waited for, it is not read: a read would also wake the runtime's
// monitor thread, which costs more than the timer itself, and the runtime is notified
// each time it fires.
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
		_ = raw.Read(func(fd uintptr) (closed bool) { // called once before the first wait, and after each
			fires := true
			if !waited { // it may have fired before the runtime took notice of it
				var count [8]byte
				_, err := unix.Read(int(fd), count[:])
				waited, fires = true, err == nil
			}
			if fires {
				select {
				case fired <- time.Now():
				default:
				}
			}
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
