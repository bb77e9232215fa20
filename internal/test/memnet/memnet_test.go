package memnet

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
)

func TestBytesCross(t *testing.T) {
	l := Listen()
	defer func() { _ = l.Close() }()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "hello")
		_ = c.Close()
	}()
	c, err := l.Dial(t.Context(), "tcp", "anywhere:1")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if l.Addr().Network() != "memnet" || l.Addr().String() != "memnet" {
		t.Error(l.Addr())
	}
}

func TestAClosedListenerRefuses(t *testing.T) {
	l := Listen()
	_, _ = l.Close(), l.Close()
	if _, err := l.Dial(t.Context(), "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Listen().Dial(ctx, "", ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
