package cli

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// Whoever holds connections open takes few descriptors from a run, and gets room back by closing one.
func TestConnectionsAreBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x, err := listenMetrics("", func(string, string) (net.Listener, error) { return l, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var held []net.Conn
	for range mostConnections {
		held = append(held, dial())
	}
	more := dial()
	defer more.Close()
	_ = more.SetDeadline(time.Now().Add(20 * time.Second))
	if n, err := more.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection beyond the bound was kept: %d bytes, %v", n, err)
	}
	for _, c := range held {
		c.Close()
	}
	client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 1000 { // until the server has seen that they are closed
		answer, err := client.Get("http://" + l.Addr().String() + "/metrics")
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return
		}
	}
	t.Error("no room again")
}
