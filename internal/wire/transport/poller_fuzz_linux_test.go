//go:build linux && (amd64 || arm64)

package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A script is what a server says to a request.
type script struct {
	text string
	cuts []byte // the sizes of the pieces it comes in, in turn
	end  lastAct
}

// An lastAct is what a server does behind its last byte.
type lastAct byte

const (
	closes lastAct = iota
	resets
	waits
)

func (s *script) play(conn net.Conn) {
	if _, err := conn.Read(make([]byte, 4<<10)); err != nil {
		return
	}
	text := s.text
	for i := 0; text != ""; i++ {
		n := len(text)
		if len(s.cuts) > 0 {
			n = min(n, 1+int(s.cuts[i%len(s.cuts)]))
		}
		if _, err := io.WriteString(conn, text[:n]); err != nil {
			return
		}
		text = text[n:]
		runtime.Gosched()
	}
	switch s.end {
	case resets:
		raw := conn
		if secure, ok := conn.(*tls.Conn); ok {
			raw = secure.NetConn()
		}
		_ = raw.(*net.TCPConn).SetLinger(0)
		_ = raw.Close()
	case waits:
		_, _ = conn.Read(make([]byte, 1))
	}
}

// heard is what a client tells of an answer.
type heard struct {
	status      int
	body, class string
}

// class is the kind of an error: its text depends on the pieces.
func class(err error) string {
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, errResponse):
		return "malformed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "end"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, context.DeadlineExceeded):
		return "late"
	}
	return err.Error()
}

// Every answer, in whatever pieces and however it ends, is the same to a client with pollers and to one without.
func FuzzPolled(f *testing.F) {
	ok := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	for _, text := range []string{
		ok, ok + "more", ok[:len(ok)-1], ok[:10], "", "220 smtp\r\n", chunked("data: a\n\n", "data: b\n\n"),
		strings.Replace(chunked("abc"), "3\r\n", "x\r\n", 1), chunked("abc")[:58], "HTTP/1.1 100 Continue\r\n\r\n" + ok,
		"HTTP/1.0 200 OK\r\n\r\nto the end", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 101 X\r\n\r\nxyz",
	} {
		f.Add([]byte(text), []byte{0}, byte(closes), false)
		f.Add([]byte(text), []byte{20, 3, 200}, byte(closes), true)
		f.Add([]byte(text), []byte{7}, byte(resets), false)
	}
	f.Add([]byte(ok[:30]), []byte{7}, byte(waits), false)
	f.Add([]byte(ok), []byte{}, byte(waits), true)
	var now atomic.Pointer[script]
	urls, clients := [2]string{}, [2][3]*Client{}
	for i, secure := range []bool{false, true} {
		p := newPeer(f, secure, func(conn net.Conn) { now.Load().play(conn) })
		urls[i] = p.url
		for k, w := range []way{{}, {lazy: true}, {bare: true}} {
			w.secure = secure
			c := New(w.config(Config{NoReuse: true}, p.trust))
			f.Cleanup(c.Close)
			clients[i][k] = c
		}
	}
	f.Fuzz(func(t *testing.T, text, cuts []byte, end byte, secure bool) {
		if len(text) > maxLine { // longer lines depend on the pieces
			return
		}
		s, limit := &script{string(text), cuts, lastAct(end % 2)}, 20*time.Second // far more than it takes
		if end%16 == byte(waits) {
			s.end, limit = waits, 100*time.Millisecond
		}
		now.Store(s)
		i := map[bool]int{false: 0, true: 1}[secure]
		var all [3]heard
		for k, c := range clients[i] {
			var r tape
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			_, err := c.Do(ctx, &Request{Method: http.MethodGet, URL: urls[i]}, &r)
			cancel()
			all[k] = heard{r.status, r.body.String(), class(err)}
		}
		for _, got := range all[:2] {
			if got != all[2] && (s.end != resets || !got.loses(all[2])) {
				t.Errorf("eager, lazy, without a poller: %+v", all)
			}
		}
	})
}

// loses reports whether two accounts of an answer differ in no more than what a reset took from one.
func (h heard) loses(than heard) bool {
	known := h.class == "none" || h.class == "malformed" || h.class == "end" || h.class == "reset"
	return known && (strings.HasPrefix(h.body, than.body) || strings.HasPrefix(than.body, h.body))
}
