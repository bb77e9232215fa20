package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// An h1Conn is a connection of the client's own HTTP/1.1.
type h1Conn struct {
	*Conn
	secure *tls.Conn // on top of Conn; nil without TLS
}

// receive reads until the taker wants no more, or the data ends. polled: a poller does already.
func (c *h1Conn) receive(to consumer, polled bool) error {
	switch {
	case polled:
		return c.finish()
	case c.secure != nil:
		return receiveFrom(c.secure, c.Conn, to)
	}
	return receiveFrom(c.Conn, c.Conn, to)
}

// begin has a poller read for the taker from now on. It reports false if there is none.
func (c *h1Conn) begin(to consumer) bool {
	if c.secure != nil {
		return c.Conn.begin(c.secure, to)
	}
	return c.Conn.begin(nil, to)
}

func (c *h1Conn) close() { c.drop(true) }

// drop closes the connection. Only one in order sends TLS's close notification: a
// server that does not read would block it.
func (c *h1Conn) drop(inOrder bool) {
	if c.secure != nil && inOrder {
		_ = c.secure.Close()
		return
	}
	_ = c.Close()
}

// runH1 sends the request over an HTTP/1.1 connection of the client.
func (x *exchange) runH1(ctx context.Context, req *Request, o *origin) error {
	if o.path == "" || !httpguts.ValidHeaderFieldName(req.Method) { // a method is a token, like a header name
		return errors.New("the request has no valid method or path")
	}
	if err := req.header().check(req.ID); err != nil {
		return err
	}
	for {
		conn, err := x.connect(ctx, o)
		if err != nil {
			return err
		}
		again, err := x.converse(ctx, conn, req, o)
		if !again {
			return err
		}
		x.Redials++
	}
}

// requests are write buffers.
var requests = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// writeRequest writes the request to one buffer, so that it leaves in one write.
func writeRequest(b *bytes.Buffer, req *Request, o *origin, noReuse bool) {
	b.Reset()
	b.WriteString(req.Method)
	b.WriteString(" ")
	b.WriteString(o.path)
	b.WriteString(" HTTP/1.1\r\nHost: ")
	header := req.header()
	b.WriteString(cmp.Or(header.host, o.host))
	b.WriteString("\r\n")
	header.write(b, req.ID)
	if noReuse {
		b.WriteString("Connection: close\r\n")
	}
	if len(req.Body) > 0 || req.Method != http.MethodGet {
		b.WriteString("Content-Length: ")
		b.WriteString(strconv.Itoa(len(req.Body)))
		b.WriteString("\r\n")
	}
	b.WriteString("\r\n")
	b.Write(req.Body)
}

// connect finds an idle connection or opens one.
func (x *exchange) connect(ctx context.Context, o *origin) (*h1Conn, error) {
	x.Dialed, x.Connected, x.reused = Never, Never, true
	for !x.fresh && !x.c.newOnly() {
		conn := x.c.idle.take(o, x.c.cfg.KeepAlive)
		if conn == nil {
			break
		}
		if !conn.stale(conn.secure != nil) {
			return conn, nil
		}
		conn.close()
		x.Redials++
	}
	x.Dialed, x.reused = x.c.Now(), false
	conn, err := x.open(ctx, o)
	if err == nil {
		x.Connected = x.c.Now()
	}
	return conn, err
}

// open opens a connection.
func (x *exchange) open(ctx context.Context, o *origin) (*h1Conn, error) {
	if why := x.cause(ctx); why != nil {
		return nil, why
	}
	if o.digits != nil {
		conn, err := x.c.polls.dial(func() (context.Context, func()) { return x.withExchange(ctx) }, o.digits)
		if err != nil {
			return nil, err
		}
		if conn != nil {
			return &h1Conn{Conn: conn}, nil
		}
	}
	within, release := x.withExchange(ctx)
	defer release()
	return x.c.openInBackground(within, o)
}

// openInBackground opens a connection with the client's dialer. A goroutine keeps the largest stack it needed, and
// that of a request lives as long as its stream: so another one makes the deep calls.
func (c *Client) openInBackground(ctx context.Context, o *origin) (*h1Conn, error) {
	type opened struct {
		conn *h1Conn
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		conn, err := c.openAny(ctx, o)
		done <- opened{conn, err}
	}()
	to := <-done
	return to.conn, to.err
}

// openAny opens a connection with the client's dialer, and with TLS if the origin wants it.
func (c *Client) openAny(ctx context.Context, o *origin) (*h1Conn, error) {
	raw, err := c.dial(ctx, "tcp", o.addr)
	if err != nil {
		return nil, err
	}
	conn := &h1Conn{Conn: raw.(*Conn)}
	if o.secure {
		if err := conn.handshake(ctx, c.cfg.TLS, o.name); err != nil {
			return nil, err
		}
	}
	c.polls.adopt(conn.Conn, o.secure)
	return conn, nil
}

func (c *h1Conn) handshake(ctx context.Context, base *tls.Config, name string) error {
	config := new(tls.Config)
	if base != nil {
		config = base.Clone()
	}
	config.ServerName = cmp.Or(config.ServerName, name)
	config.NextProtos = []string{"http/1.1"}
	c.secure = tls.Client(c.Conn, config)
	if err := c.secure.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		if spoke := (tls.RecordHeaderError{}); errors.As(err, &spoke) && string(spoke.RecordHeader[:]) == "HTTP/" {
			return http.ErrSchemeMismatch
		}
		return err
	}
	return nil
}

// bigRequest is the size from which a request is written concurrently with reading,
// since the server may answer, or hang up, before it has read all of it.
const bigRequest = 32 << 10

// converse sends the request and reads the response. again means that the
// connection was closed before anything was written on it.
func (x *exchange) converse(ctx context.Context, conn *h1Conn, req *Request, o *origin) (again bool, err error) {
	x.watch(func(error) {
		x.over.Store(true)
		_ = conn.SetDeadline(time.Unix(1, 0))
	})
	conn.Arm()
	x.res = response{x: x}
	res := &x.res
	defer func() {
		x.Sent = conn.Sent()
		if x.unwatch() && !again && err == nil && res.reusable() && !x.c.newOnly() {
			x.c.idle.put(o, conn)
			return
		}
		conn.drop(res.state == complete && !res.broken)
	}()
	var sending chan error // nil: the request is written before anything is read
	var sent error
	polled := false
	if big := len(req.Body) >= bigRequest; big {
		// TLS may have to write while it reads, and the poller must not wait for a server that takes nothing:
		// so nothing else is written then.
		polled = conn.secure == nil && conn.begin(res)
		written := make(chan error, 1)
		sending = written
		go func() {
			_, err := x.request(conn, req, o)
			written <- err
		}()
	} else {
		n := 0
		if n, sent = x.request(conn, req, o); sent != nil && n == 0 {
			return x.Dialed == Never && x.cause(ctx) == nil, sent
		}
		polled = conn.begin(res) // not before: what came without a request is no answer
	}
	err = conn.receive(res, polled)
	if sending != nil {
		sent = conn.written(sending, res.state == complete)
	}
	res.broken = res.broken || sent != nil
	return false, res.outcome(err, sent)
}

// written waits for the end of writing. A server may answer without reading all of
// the request: writing then gets a moment to finish; without an answer it is
// aborted.
func (c *h1Conn) written(sending <-chan error, answered bool) error {
	select {
	case err := <-sending:
		return err
	default:
	}
	limit := time.Unix(1, 0)
	if answered {
		limit = time.Now().Add(drainTime)
	}
	_ = c.SetWriteDeadline(limit)
	err := <-sending
	if err == nil {
		err = c.SetWriteDeadline(time.Time{})
	}
	return err
}

// request writes a request; n is 0 if no byte left.
func (x *exchange) request(c *h1Conn, req *Request, o *origin) (n int, err error) {
	b := requests.Get().(*bytes.Buffer)
	defer requests.Put(b)
	writeRequest(b, req, o, x.c.newOnly())
	if !x.reused {
		x.spend(req)
	}
	if c.secure != nil {
		return c.secure.Write(b.Bytes())
	}
	return c.Write(b.Bytes())
}

// take handles the bytes of each read; it reports whether it wants more. A deadline ends
// only a wait, and a server that sends fast enough never lets the client wait.
func (p *response) take(b []byte, s Stamp) bool {
	x := p.x
	if x.over.Load() {
		return false
	}
	if !p.begun {
		x.FirstByte = s.At
	}
	x.alive()
	drained := x.enough
	if p.err = p.feed(b, s); p.err != nil || p.state == complete {
		return false
	}
	if x.enough && !drained { // drain the rest for a moment
		x.stopDraining = time.AfterFunc(drainTime, func() { x.end(ErrEnough) }).Stop
	}
	return true
}

// outcome returns the error of the exchange: received is that of reading, sent that of writing.
func (p *response) outcome(received, sent error) error {
	switch {
	case p.err != nil:
		return p.err
	case p.state == complete:
		return nil
	case p.x.enough:
		return nil
	case p.x.over.Load() && received == nil:
		return context.Canceled // the cause is known to Do
	case errors.Is(received, io.EOF):
		return p.end(sent)
	}
	return received
}

// idleConns are open, unused connections.
type idleConns struct {
	mu    sync.Mutex
	conns map[string][]idleConn // by scheme and address, the newest last
}

type idleConn struct {
	*h1Conn
	since time.Time
}

// take removes the newest, nil if none is younger than limit. It closes older ones.
func (i *idleConns) take(o *origin, limit time.Duration) *h1Conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := i.conns[o.key]
	for len(list) > 0 && time.Since(list[0].since) >= limit {
		list[0].close()
		list[0] = idleConn{}
		list = list[1:]
	}
	var newest *h1Conn
	if last := len(list) - 1; last >= 0 {
		newest = list[last].h1Conn
		list[last] = idleConn{}
		list = list[:last]
	}
	i.conns[o.key] = list
	return newest
}

func (i *idleConns) put(o *origin, c *h1Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.conns[o.key] = append(i.conns[o.key], idleConn{c, time.Now()})
}

// close closes them all.
func (i *idleConns) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, list := range i.conns {
		for _, c := range list {
			c.close()
		}
	}
	clear(i.conns)
}
