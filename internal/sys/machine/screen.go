package machine

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A Screen reports the state of a terminal. It changes nothing.
type Screen struct {
	fd      int
	resumed func() <-chan struct{}
}

// ScreenOf is the terminal behind a stream; nil if there is none.
func ScreenOf(stream *os.File) *Screen {
	fd := int(stream.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return &Screen{fd, sync.OnceValue(resumed)}
}

// Size is how many columns and rows it has.
func (s *Screen) Size() (columns, rows int) { return size(s.fd) }

// Foreground reports whether this process belongs to the foreground job of the terminal. It does if
// the terminal does not control jobs.
func (s *Screen) Foreground() bool {
	group, err := unix.IoctlGetInt(s.fd, unix.TIOCGPGRP)
	return err != nil || group == syscall.Getpgrp()
}

// Resumed gets a value each time this process continues after a stop.
func (s *Screen) Resumed() <-chan struct{} { return s.resumed() }

func resumed() <-chan struct{} {
	caught, changed := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(caught, syscall.SIGCONT)
	go func() {
		for range caught {
			select {
			case changed <- struct{}{}:
			default: // the last one has not been received yet
			}
		}
	}()
	return changed
}
