package machine

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A Screen is a terminal that lines are drawn on between those that stay: nothing of how it works
// is changed.
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

// Foreground reports whether this process is of the job that the terminal is with. Of a terminal
// that controls no jobs it is.
func (s *Screen) Foreground() bool {
	group, err := unix.IoctlGetInt(s.fd, unix.TIOCGPGRP)
	return err != nil || group == syscall.Getpgrp()
}

// Resumed gets a value when this process goes on after it was stopped.
func (s *Screen) Resumed() <-chan struct{} { return s.resumed() }

func resumed() <-chan struct{} {
	caught, told := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(caught, syscall.SIGCONT)
	go func() {
		for range caught {
			select {
			case told <- struct{}{}:
			default: // it has not been asked since the last one
			}
		}
	}()
	return told
}
