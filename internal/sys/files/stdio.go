package files

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

// A Writer writes to the first of several files that takes it.
type Writer struct {
	open        []func() (io.Writer, error)
	interrupted atomic.Bool

	mu sync.Mutex // guards the fields below, and the order of writes
	to io.Writer  // nil: the next is to be opened
}

// New makes a Writer to files, behind which stands the terminal of the process.
func New(to ...*os.File) *Writer {
	w := new(Writer)
	for _, f := range to {
		w.open = append(w.open, func() (io.Writer, error) { return f, nil })
	}
	w.open = append(w.open, func() (io.Writer, error) { return os.OpenFile("/dev/tty", os.O_WRONLY, 0) })
	return w
}

// Interrupted says that readers may be gone, and that this must not end the program.
func (w *Writer) Interrupted() {
	signal.Ignore(syscall.SIGPIPE)
	w.interrupted.Store(true)
}

// Write writes b, or the rest of it, to the next file once the reader of one is gone.
func (w *Writer) Write(b []byte) (written int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if err := w.next(); err != nil {
			return written, err
		}
		n, err := w.to.Write(b[written:])
		written += n
		if err == nil || !errors.Is(err, syscall.EPIPE) || !w.interrupted.Load() {
			return written, err
		}
		w.to = nil
	}
}

// next opens the next file, unless one is open.
func (w *Writer) next() (err error) {
	if w.to == nil && len(w.open) == 0 {
		return syscall.EPIPE
	}
	if w.to == nil {
		w.to, err = w.open[0]()
		w.open = w.open[1:]
	}
	return err
}
