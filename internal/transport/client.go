package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// A Client sends requests over net/http. It is safe for concurrent use.
type Client struct {
	epoch   time.Time
	rt      *http.Transport
	http2   bool
	timeout time.Duration
	idle    time.Duration
	buffers sync.Pool
}

// Sizes and limits of the client.
const (
	readSize    = 8 << 10                // one read of a body
	keepAlive   = 4 * time.Second        // Config.KeepAlive if none is given: uvicorn closes its own after 5 s
	drainTime   = 100 * time.Millisecond // for the rest of a body after ErrEnough
	maxHeadSize = 1 << 20
)

// New returns a Client. Close it when its requests are done.
func New(cfg Config) *Client {
	c := &Client{epoch: cfg.Epoch, http2: cfg.HTTP2, timeout: cfg.Timeout, idle: cfg.Idle}
	if c.epoch.IsZero() {
		c.epoch = time.Now()
	}
	c.buffers.New = func() any { b := make([]byte, readSize); return &b }
	c.rt = roundTripper(cfg)
	return c
}

func roundTripper(cfg Config) *http.Transport {
	rt := &http.Transport{
		DialContext:            cfg.Dial,
		TLSClientConfig:        cfg.TLS,
		DisableCompression:     true,
		DisableKeepAlives:      cfg.NoReuse,
		MaxIdleConnsPerHost:    1 << 20,
		IdleConnTimeout:        cmp.Or(cfg.KeepAlive, keepAlive),
		MaxResponseHeaderBytes: maxHeadSize,
		Protocols:              new(http.Protocols),
	}
	if rt.DialContext == nil {
		rt.DialContext = (&net.Dialer{}).DialContext
	}
	if cfg.Proxy != nil {
		rt.Proxy = func(r *http.Request) (*url.URL, error) { return cfg.Proxy(r.URL) }
	}
	rt.Protocols.SetHTTP1(!cfg.HTTP2)
	rt.Protocols.SetHTTP2(cfg.HTTP2)
	rt.Protocols.SetUnencryptedHTTP2(cfg.HTTP2)
	return rt
}

// Close drops the idle connections.
func (c *Client) Close() { c.rt.CloseIdleConnections() }

// Now is the current instant on the client's clock.
func (c *Client) Now() int64 { return int64(time.Since(c.epoch)) }

// Do sends req and feeds the response to r. The error is nil when the body was
// read to its end or r had enough; ErrTimeout or ErrIdle when that limit was
// hit; the context's cause when ctx ended; r's own error; or what net/http
// says. Redirects are not followed, and the timing holds whatever happened until
// then. A request is sent once: only one that finds its connection closed before
// a byte was written goes out on another.
func (c *Client) Do(ctx context.Context, req *Request, r Receiver) (Timing, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if c.timeout > 0 {
		defer time.AfterFunc(c.timeout, func() { cancel(ErrTimeout) }).Stop()
	}
	x := newExchange(c, cancel)
	defer x.stop()
	err := x.run(ctx, req, r)
	x.done = c.Now()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return x.timing(), err
}

// An exchange is one request on its way. net/http calls the trace hooks from
// its own goroutines, hence the atomics.
type exchange struct {
	c                 *Client
	cancel            context.CancelCauseFunc
	watchdog          *time.Timer // nil without an idle limit
	dialed, connected int64
	conns             int
	sent, first       atomic.Int64
	done              int64
}

func newExchange(c *Client, cancel context.CancelCauseFunc) *exchange {
	x := &exchange{c: c, cancel: cancel, dialed: Never, connected: Never, done: Never}
	x.sent.Store(Never)
	x.first.Store(Never)
	if c.idle > 0 {
		x.watchdog = time.AfterFunc(c.idle, func() { cancel(ErrIdle) })
	}
	return x
}

func (x *exchange) run(ctx context.Context, req *Request, r Receiver) error {
	hreq, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, x.hooks()), req.Method, req.URL, bytes.NewReader(req.Body))
	if err != nil {
		return err
	}
	if req.Header != nil {
		hreq.Header = req.Header
	}
	if x.c.http2 || repeatable(hreq.Header) {
		hreq.GetBody = nil // else what the server refused or did not answer would be sent again
	}
	if host := hreq.Header.Get("Host"); host != "" {
		hreq.Host = host
	}
	resp, err := x.c.rt.RoundTrip(hreq)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.alive()
	r.Head(resp.StatusCode, resp.Header)
	return x.read(resp.Body, r)
}

// repeatable tells headers by which net/http takes a request for one that does no
// harm when it is sent twice.
func repeatable(h http.Header) bool {
	return h["Idempotency-Key"] != nil || h["X-Idempotency-Key"] != nil
}

func (x *exchange) hooks() *httptrace.ClientTrace {
	var asked int64
	return &httptrace.ClientTrace{
		GetConn: func(string) { asked = x.c.Now() },
		GotConn: func(info httptrace.GotConnInfo) {
			x.conns++
			x.dialed, x.connected = Never, Never
			if !info.Reused || !info.WasIdle && !x.c.http2 { // streams share a connection that is not idle
				x.dialed, x.connected = asked, x.c.Now()
			}
		},
		WroteHeaders:         func() { x.sent.Store(x.c.Now()) },
		GotFirstResponseByte: func() { x.first.Store(x.c.Now()) },
	}
}

func (x *exchange) read(body io.Reader, r Receiver) error {
	buf := x.c.buffers.Get().(*[]byte)
	defer x.c.buffers.Put(buf)
	enough := false
	for {
		n, err := body.Read(*buf)
		at := x.c.Now()
		if n > 0 && !enough {
			x.alive()
			switch derr := r.Data((*buf)[:n], at); {
			case errors.Is(derr, ErrEnough):
				enough = true
				defer time.AfterFunc(drainTime, func() { x.cancel(ErrEnough) }).Stop()
			case derr != nil:
				return derr
			}
		}
		if enough && err != nil || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// alive pushes the idle limit back.
func (x *exchange) alive() {
	if x.watchdog != nil {
		x.watchdog.Reset(x.c.idle)
	}
}

func (x *exchange) stop() {
	if x.watchdog != nil {
		x.watchdog.Stop()
	}
}

func (x *exchange) timing() Timing {
	return Timing{
		Dialed:    x.dialed,
		Connected: x.connected,
		Sent:      x.sent.Load(),
		FirstByte: x.first.Load(),
		Done:      x.done,
		Redials:   max(0, x.conns-1),
	}
}
