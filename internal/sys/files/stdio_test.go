package files

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"
)

// A gone reader takes a few bytes, and no more.
type gone struct{ takes int }

func (g *gone) Write(b []byte) (int, error) {
	n := min(g.takes, len(b))
	g.takes -= n
	if n < len(b) {
		return n, syscall.EPIPE
	}
	return n, nil
}

func TestWriter(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		var terminal bytes.Buffer
		first := &gone{takes: 4}
		files := []io.Writer{first, &gone{}, &terminal}
		w := new(Writer)
		for _, f := range files {
			w.open = append(w.open, func() (io.Writer, error) { return f, nil })
		}
		w.interrupted.Store(interrupted)
		n, err := w.Write([]byte("abcdef"))
		if _, again := w.Write([]byte("gh")); interrupted &&
			(n != 6 || err != nil || again != nil || terminal.String() != "efgh") {
			t.Errorf("%d, %v, %v: %q", n, err, again, terminal.String())
		} else if !interrupted && (n != 4 || !errors.Is(err, syscall.EPIPE) || terminal.Len() > 0) {
			t.Errorf("%d, %v: %q", n, err, terminal.String())
		}
	}
}

func TestNoTerminal(t *testing.T) {
	w := &Writer{open: []func() (io.Writer, error){func() (io.Writer, error) { return new(gone), nil }}}
	w.interrupted.Store(true)
	if n, err := w.Write([]byte("a")); n != 0 || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%d, %v", n, err)
	}
}
