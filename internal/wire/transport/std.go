package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

func (c *Client) roundTripper(noReuse bool) *http.Transport {
	rt := &http.Transport{
		DialContext:            c.dial,
		TLSClientConfig:        c.cfg.TLS,
		DisableCompression:     true,
		DisableKeepAlives:      noReuse,
		MaxIdleConnsPerHost:    1 << 20,
		IdleConnTimeout:        c.cfg.KeepAlive,
		MaxResponseHeaderBytes: maxHeadSize,
		Protocols:              new(http.Protocols),
	}
	if c.cfg.Proxy != nil {
		rt.Proxy = func(r *http.Request) (*url.URL, error) { return c.cfg.Proxy(r.URL) }
	}
	rt.Protocols.SetHTTP1(!c.cfg.HTTP2)
	rt.Protocols.SetHTTP2(c.cfg.HTTP2)
	rt.Protocols.SetUnencryptedHTTP2(c.cfg.HTTP2)
	return rt
}

// A stdExchange holds the events of one request in net/http, reported from its
// goroutines.
type stdExchange struct {
	*exchange
	conns       int
	over        atomic.Pointer[Conn] // the connection, nil if it is shared
	left, first atomic.Int64         // when the request left and its answer began
	reads       uint64               // of a body without a Conn
}

// runStd sends the request with net/http.
func (x *exchange) runStd(ctx context.Context, req *Request) error {
	x.spent, x.shared = true, true
	ctx, release := x.withExchange(ctx)
	defer release()
	s := &stdExchange{exchange: x}
	s.left.Store(Never)
	s.first.Store(Never)
	defer s.settle()
	hreq, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, s.hooks()), req.Method, req.URL,
		bytes.NewReader(req.Body))
	if err != nil {
		return err
	}
	hreq.Header = req.header().with(req.ID)
	if x.c.cfg.HTTP2 || repeatable(hreq.Header) {
		hreq.GetBody = nil // otherwise a refused or unanswered request would be sent again
	}
	if host := hreq.Header.Get("Host"); host != "" {
		hreq.Host = host
	}
	transport := x.c.std
	if x.fresh || x.c.newOnly() {
		transport = x.c.fresh
	}
	resp, err := transport.RoundTrip(hreq)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.alive()
	x.r.Head(resp.StatusCode, resp.Header)
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil // no request asked for another protocol, and net/http leaves the connection to us
	}
	return s.read(resp.Body)
}

// repeatable reports whether net/http would consider a request idempotent because
// of its headers.
func repeatable(h http.Header) bool {
	return h["Idempotency-Key"] != nil || h["X-Idempotency-Key"] != nil
}

func (s *stdExchange) hooks() *httptrace.ClientTrace {
	var asked int64
	return &httptrace.ClientTrace{
		GetConn: func(string) { asked = s.c.Now() },
		GotConn: func(info httptrace.GotConnInfo) {
			s.conns++
			s.Dialed, s.Connected, s.reused = Never, Never, info.Reused
			if !info.Reused || !info.WasIdle && !s.c.cfg.HTTP2 { // streams share a connection that is not idle
				s.Dialed, s.Connected = asked, s.c.Now()
			}
			if conn := under(info.Conn); conn != nil && !s.c.cfg.HTTP2 {
				conn.Arm()
				s.over.Store(conn)
			}
		},
		WroteHeaders: func() {
			if s.over.Load() == nil {
				s.left.Store(s.c.Now())
			}
		},
		GotFirstResponseByte: func() {
			at := s.c.Now()
			if conn := s.over.Load(); conn != nil {
				at = conn.Last().At
				s.left.Store(conn.Sent()) // at the end of the answer it may belong to another request
			}
			s.first.Store(at)
		},
	}
}

// under returns the timestamping connection below TLS.
func under(c net.Conn) *Conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	conn, _ := c.(*Conn)
	return conn
}

// settle stores the values from the hooks.
func (s *stdExchange) settle() {
	s.Sent, s.FirstByte = s.left.Load(), s.first.Load()
	if conn := s.over.Load(); conn != nil && s.FirstByte == Never {
		s.Sent = conn.Sent() // not shared: without an answer it is not given back
	}
	s.Redials = max(0, s.conns-1)
}

func (s *stdExchange) read(body io.Reader) error {
	buf := parked.Get().(*[]byte)
	defer parked.Put(buf)
	conn := s.over.Load()
	for {
		n, err := body.Read(*buf)
		if n > 0 && !s.enough {
			s.alive()
			if derr := s.data((*buf)[:n], s.stamp(conn)); derr != nil {
				return derr
			}
			if s.enough {
				s.stopDraining = time.AfterFunc(drainTime, func() { s.end(ErrEnough) }).Stop
			}
		}
		if s.enough && err != nil || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// stamp returns the stamp of the latest read.
func (s *stdExchange) stamp(conn *Conn) Stamp {
	if conn != nil {
		return conn.Last()
	}
	s.reads++
	now := s.c.Now()
	return Stamp{At: now, User: now, Lo: now, Seq: s.reads}
}
