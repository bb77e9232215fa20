// Package transport moves bytes over HTTP and timestamps them.
//
// It knows nothing about tokens. A Client sends one Request and passes the response
// to a Receiver read by read, each with a Stamp: on Linux the kernel's timestamp of
// the arrival, however late the client reads. Events splits such a byte stream into
// server-sent events. Package endpoint interprets the events.
//
// One of two engines carries each request over the same timestamping connection
// (Conn):
//
//	         Client.Do
//	        ┌────┴─────────────┐
//	       h1               net/http
//	our own HTTP/1.1     HTTP/2, proxies, and
//	  over plain TCP     the rest that h1 does
//	     and TLS            not support
//	        │                  │
//	     pollers               │
//	        └───── Conn ───────┘
//	         recvmsg, kernel timestamps
//
// On Linux the connections of h1 are read by pollers, one for some hundreds of them, in
// a goroutine each: a Receiver is called from there, and must not wait.
//
// HTTP/2 has user-space timestamps, since its streams share reads.
//
// All instants are nanoseconds on the Client's clock, or Never.
package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// Never marks an event that did not happen.
const Never = -1

// A Request is one HTTP request, ready to be written.
type Request struct {
	Method string
	URL    string
	Header *Header
	ID     string // its X-Request-Id, empty: that of Header, if it has one
	Body   []byte
	// Sent, if there is one, is called with Body when the request has left and will not be sent again. The
	// caller may then reuse the memory. It may be called before Do returns, or not at all.
	Sent func(body []byte)
}

// A Receiver takes a response as it arrives. Its methods are called sequentially,
// and not after Do has returned.
type Receiver interface {
	// Head is called once, when the response head has been read. The header must not be changed: other
	// responses may share it.
	Head(status int, header http.Header)
	// Data is called for each decoded piece of the body, with the stamp of the read
	// that contained it. Several pieces may come from one read: their stamps have
	// the same Seq. p is valid until Data returns. ErrEnough means that the answer
	// is complete; any other error ends Do.
	Data(p []byte, s Stamp) error
}

// ErrEnough is returned by Receiver.Data when it has all it needs. The rest of the
// body is read and discarded for a moment, so that the connection can be reused,
// and Do succeeds.
var ErrEnough = errors.New("answer complete")

// The errors of a request that exceeded its own limits.
var (
	ErrTimeout = errors.New("no complete answer within the request timeout")
	ErrIdle    = errors.New("no data received within the idle timeout")
)

// Timing holds the instants of an exchange.
type Timing struct {
	// Dialed and Connected enclose the wait for a connection: DNS, TCP and TLS.
	// They are Never if an idle one was used. With net/http a request that waits
	// for a new connection may get one that another request has just released: that
	// counts as a wait too.
	Dialed, Connected int64
	Sent              int64 // just before the first byte of the request was written
	// FirstSent is when a request left that was sent twice: its first, reused
	// connection was closed without an answer. The other instants are those of the
	// second. Never for a request that was sent once.
	FirstSent int64
	FirstByte int64 // first byte of the response
	Done      int64 // end of the body, or of the attempt
	// Redials counts idle connections found closed by the server, each replaced
	// before anything was written on it.
	Redials int
}

// Config says how to connect. The zero value uses HTTP/1.1 over TCP, keeps
// connections open, and has no proxy and no timeouts.
type Config struct {
	Clock   *clock.Clock // nil: a new one with instant 0 at the creation of the Client
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS     *tls.Config
	Proxy   func(*url.URL) (*url.URL, error)
	HTTP2   bool // HTTP/2 only: by ALPN over TLS, with prior knowledge without
	NetHTTP bool // net/http carries every request
	NoReuse bool // a new connection for every request
	// NoResend fails a request if the server closed its reused connection without an
	// answer; otherwise it is sent once more, on a new one. After a few of them every
	// request gets a new connection, unless KeepReusing is set, which implies NoResend.
	NoResend, KeepReusing bool
	Timeout               time.Duration // for an exchange, 0 = none
	// KeepAlive is how long an idle connection stays open, 4 s if 0.
	KeepAlive time.Duration
	Idle      time.Duration // between two reads with data, 0 = none

	lazy bool // for tests: connections are always read by pollers that sleep
}
