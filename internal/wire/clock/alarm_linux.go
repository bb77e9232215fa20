package clock

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// NewAlarm returns an Alarm.
func NewAlarm() *Alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newRuntimeAlarm()
	}
	file := os.NewFile(uintptr(fd), "alarm")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return newRuntimeAlarm()
	}
	a := &fileAlarm{raw: raw}
	a.try, a.now = a.attempt, fire // bound once: a wait allocates nothing
	return &Alarm{wait: a.wait, ring: a.ring, close: func() { _ = file.Close() }}
}

// A fileAlarm is a timerfd. It is never read: setting it again makes it unreadable,
// and the runtime is notified each time it fires.
type fileAlarm struct {
	raw  syscall.RawConn
	rung atomic.Bool

	time   unix.ItimerSpec
	parked bool // the timer was set
	try    func(fd uintptr) bool
	now    func(fd uintptr)
}

func (a *fileAlarm) wait(d time.Duration) {
	a.time.Value = unix.NsecToTimespec(int64(d))
	a.parked = false
	_ = a.raw.Read(a.try) // closed, it returns
}

// attempt is called by the runtime twice: before it waits for the file, and when
// the file has fired. The timer is set after the runtime forgets earlier events and
// before it waits, so that no event is lost.
func (a *fileAlarm) attempt(fd uintptr) bool {
	if a.parked {
		a.rung.Store(false)
		return true
	}
	a.parked = true
	_ = unix.TimerfdSettime(int(fd), 0, &a.time, nil)
	return a.rung.Swap(false) // rung since, and perhaps reset by this call
}

func (a *fileAlarm) ring() {
	a.rung.Store(true)
	_ = a.raw.Control(a.now) // closed, there is no waiter
}

var atOnce = unix.ItimerSpec{Value: unix.Timespec{Nsec: 1}}

func fire(fd uintptr) {
	_ = unix.TimerfdSettime(int(fd), 0, &atOnce, nil)
}
