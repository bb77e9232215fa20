package transport

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A Client sends requests. It is safe for concurrent use.
type Client struct {
	cfg    Config
	clock  *clock.Clock
	watch  *watch
	std    *http.Transport
	fresh  *http.Transport // std without reuse
	reuse  reuse
	idle   idleConns
	polls  pollers
	heads  headCache
	under  inFlight
	direct bool                   // connections to addresses in digits need no dialer
	urls   sync.Map               // of a Request: *origin
	latest atomic.Pointer[origin] // of them

	release func() // ends the hold on kernel timestamping
}

// Sizes and limits of the client.
const (
	readSize    = 64 << 10               // one read of a socket
	parkedSize  = 8 << 10                // one read above TLS: a stream holds its buffer
	keepAlive   = 4 * time.Second        // Config.KeepAlive if none is given: uvicorn closes its own after 5 s
	drainTime   = 100 * time.Millisecond // for the rest of a body after ErrEnough
	maxHeadSize = 1 << 20
)

// parked are buffers of parkedSize.
var parked = sync.Pool{New: func() any { b := make([]byte, parkedSize); return &b }}

// New returns a Client. Close it when its requests are done.
func New(cfg Config) *Client {
	direct := cfg.Dial == nil
	if direct {
		cfg.Dial = (&net.Dialer{}).DialContext
	}
	cfg.KeepAlive = cmp.Or(cfg.KeepAlive, keepAlive)
	c := &Client{
		cfg: cfg, clock: cfg.Clock, direct: direct, watch: newWatch(), release: holdStamping(),
		idle: idleConns{conns: map[string][]idleConn{}},
	}
	if c.clock == nil {
		c.clock = clock.New()
	}
	c.under.clock, c.under.limit = c.clock.Now, cfg.Timeout
	c.polls.watch, c.polls.clock, c.polls.lazy = c.watch, c.clock, cfg.lazy
	c.std, c.fresh = c.roundTripper(cfg.NoReuse), c.roundTripper(true)
	return c
}

// Close drops the idle connections.
func (c *Client) Close() {
	c.std.CloseIdleConnections()
	c.idle.close()
	c.polls.close()
	c.under.close()
	c.release()
}

// Hurry says whether something waits for the ends of answers, such as the next turn of a conversation. Without it,
// an answer of any length may be read a few milliseconds late. A new Client is in a hurry.
func (c *Client) Hurry(yes bool) { c.polls.patient.Store(!yes) }

// Now returns the current instant on the client's clock.
func (c *Client) Now() int64 { return c.clock.Now() }

// Engine returns the engine for requests to a URL: h1 or nethttp.
func (c *Client) Engine(url string) string {
	if o, err := c.origin(url); err == nil && !o.std {
		return "h1"
	}
	return "nethttp"
}

// dial opens a connection that timestamps its reads.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.cfg.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return newConn(conn, c.clock, c.watch), nil
}

// TakeLag sums up how promptly the client read since the last call: the delay from the
// kernel's timestamp to the client's, to an eighth, and the number of reads without a
// timestamp on connections that have them.
func (c *Client) TakeLag() (lag trace.Lag, unstamped int) {
	counts, bare := c.watch.take()
	return counts.Lag(), bare
}

// Do sends req and feeds the response to r. The error is nil if the body was read
// to its end or r had enough; ErrTimeout or ErrIdle if that limit was hit; the
// context's cause if ctx ended; r's own error; or the error of the exchange.
// Redirects are not followed, and the timing holds the events until then. A request
// is sent once, with two exceptions: if its connection turns out closed before a
// byte was written, another one is used; and if it turns out closed before a byte
// was read, the request is sent once more (Config.NoResend).
func (c *Client) Do(ctx context.Context, req *Request, r Receiver) (Timing, error) {
	x := newExchange(c, r)
	c.under.add(ctx, x)
	err := x.run(ctx, req)
	x.Done = c.Now()
	err = x.retry(ctx, req, err)
	x.spend(req)
	if cause := x.cause(ctx); err != nil && cause != nil {
		err = cause
	}
	timing := x.Timing
	if alone := c.under.remove(x); x.stop() && alone && !x.shared {
		*x = exchange{}
		exchanges.Put(x)
	}
	return timing, err
}

// run selects the engine for the request.
func (x *exchange) run(ctx context.Context, req *Request) error {
	o, err := x.c.origin(req.URL)
	if err != nil {
		return err
	}
	if o.std {
		return x.runStd(ctx, req)
	}
	return x.runH1(ctx, req, o)
}

// An origin is a parsed URL.
type origin struct {
	text             string
	secure           bool
	name, addr, host string // of the server: for TLS, to connect to, for the Host header
	path             string
	key              string   // scheme and address
	std              bool     // only net/http supports it
	digits           *address // nil: net.Dialer connects
}

// origin parses the URL of a request, once for each URL.
func (c *Client) origin(text string) (*origin, error) {
	if o := c.latest.Load(); o != nil && o.text == text {
		return o, nil
	}
	if o, ok := c.urls.Load(text); ok {
		c.latest.Store(o.(*origin))
		return o.(*origin), nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	o := &origin{
		text: text, secure: u.Scheme == "https", name: u.Hostname(), host: strings.TrimSuffix(u.Host, ":"), path: u.RequestURI(),
	}
	port := "80"
	if o.secure {
		port = "443"
	}
	o.addr = net.JoinHostPort(o.name, cmp.Or(u.Port(), port))
	o.key = u.Scheme + " " + o.addr
	o.std = c.cfg.NetHTTP || c.cfg.HTTP2 || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		!plainName(o.name)
	if c.cfg.Proxy != nil && !o.std {
		proxy, err := c.cfg.Proxy(u)
		o.std = proxy != nil || err != nil
	}
	if c.direct && !o.secure {
		o.digits = newAddress(o.addr)
	}
	c.urls.Store(text, o)
	return o, nil
}

// plainName reports whether a host name can be copied to a Host header unchanged:
// names with non-ASCII letters and addresses with zones cannot.
func plainName(name string) bool {
	odd := func(r rune) bool { return r >= utf8.RuneSelf || r == '%' }
	return name != "" && !strings.ContainsFunc(name, odd)
}

// An exchange is one request in progress.
type exchange struct {
	hotExchange
	Timing
	cancellation
	c            *Client
	fresh        bool        // wants a new connection
	spent        bool        // the body of the request is given back, or belongs to net/http
	reused       bool        // has one that was idle, or that another request released
	stopDraining func() bool // stops the timer for the rest of a body; nil before
	shared       bool        // net/http has it, and may use it for longer

	previous, next *exchange   // of those in flight
	due            int64       // when its time is over
	member         bool        // of those of the context that they have in common
	forget         func() bool // undoes its registration with another context
}

// hotExchange is what every read needs.
type hotExchange struct {
	r        Receiver
	res      response    // of HTTP/1.1
	watchdog *time.Timer // nil without an idle limit
	over     atomic.Bool // the exchange has been ended
	enough   bool
}

// exchanges are those that are over, for others.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newExchange(c *Client, r Receiver) *exchange {
	x := exchanges.Get().(*exchange)
	x.r, x.c, x.Timing = r, c, noTiming()
	if c.cfg.Idle > 0 {
		x.watchdog = time.AfterFunc(c.cfg.Idle, func() { x.end(ErrIdle) })
	}
	return x
}

func noTiming() Timing {
	return Timing{Dialed: Never, Connected: Never, Sent: Never, FirstSent: Never, FirstByte: Never, Done: Never}
}

// data passes a piece of the body to the receiver.
func (x *exchange) data(p []byte, s Stamp) error {
	if x.enough {
		return nil
	}
	err := x.r.Data(p, s)
	if errors.Is(err, ErrEnough) {
		x.enough = true
		return nil
	}
	return err
}

// alive resets the idle limit.
func (x *exchange) alive() {
	if x.watchdog != nil {
		x.watchdog.Reset(x.c.cfg.Idle)
	}
}

// stop stops the timers of the exchange. It reports false if one of them may still end it.
func (x *exchange) stop() bool {
	stopped := x.watchdog == nil || x.watchdog.Stop()
	return (x.stopDraining == nil || x.stopDraining()) && stopped
}

// receiveFrom reads from c, or from a layer on top of it, until it wants no more
// or the data ends.
func receiveFrom(from io.Reader, c *Conn, to consumer) error {
	buf := parked.Get().(*[]byte)
	defer parked.Put(buf)
	for {
		n, err := from.Read(*buf)
		if n > 0 && !to.take((*buf)[:n], c.Last()) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
