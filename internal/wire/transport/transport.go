// Package transport moves bytes over HTTP and says when they moved.
//
// It knows nothing of tokens. A Client sends one Request and hands the response
// to a Receiver read by read, each with a Stamp: on Linux the kernel's own note of
// when the bytes came, however late the client got round to reading them. Events
// splits such a byte stream into server-sent events. What an event means is the
// endpoint's business.
//
// Requests are carried by one of two engines over the same stamping connection
// (Conn):
//
//	         Client.Do
//	        ┌────┴─────────────┐
//	       h1               net/http
//	our own HTTP/1.1     HTTP/2, proxies, and
//	  over plain TCP     what h1 does not know
//	     and TLS               │
//	        └───── Conn ───────┘
//	            recvmsg, kernel stamps
//
// The stamps of HTTP/2 are the client's own, since its streams share reads.
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

// Never marks an instant that did not come.
const Never = -1

// A Request is one HTTP request, ready to be written.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// A Receiver takes a response as it arrives. Its methods are called one after the
// other, and not after Do has returned.
type Receiver interface {
	// Head is called once, when the response head has been read.
	Head(status int, header http.Header)
	// Data is called for each piece of the body, decoded, with the stamp of the
	// read that brought it. Several pieces may come from one read: their stamps
	// have the same Seq. p is valid until Data returns. ErrEnough says that the
	// answer is complete; any other error ends Do.
	Data(p []byte, s Stamp) error
}

// ErrEnough is what Receiver.Data returns when it has all it needs. The rest of
// the body is read and dropped for a moment, so that the connection can be used
// again, and Do succeeds.
var ErrEnough = errors.New("answer complete")

// The causes of a request that ran into one of its own limits.
var (
	ErrTimeout = errors.New("no complete answer within the time limit of the request")
	ErrIdle    = errors.New("no byte arrived within the idle limit")
)

// Timing is when the parts of an exchange happened.
type Timing struct {
	// Dialed and Connected enclose the wait for a connection: DNS, TCP and TLS.
	// Never if one lay idle. Over net/http a request that waits for a new one may
	// be given one that another request has just left: that was a wait too.
	Dialed, Connected int64
	Sent              int64 // just before the first byte of the request was written
	FirstByte         int64 // first byte of the response
	Done              int64 // end of the body, or of the attempt
	// Redials counts idle connections found closed by the server, each replaced
	// before anything was written on it.
	Redials int
}

// Config says how to connect. The zero value speaks HTTP/1.1 over TCP, keeps
// connections open, uses no proxy and no time limit.
type Config struct {
	Clock   *clock.Clock // nil: one whose instant 0 is when the Client was made
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS     *tls.Config
	Proxy   func(*url.URL) (*url.URL, error)
	HTTP2   bool          // HTTP/2 only: by ALPN over TLS, with prior knowledge without
	NetHTTP bool          // net/http carries everything
	NoReuse bool          // a new connection for every request
	Timeout time.Duration // for a whole exchange, 0 = none
	// KeepAlive is how long an unused connection stays open, 4 s if 0.
	KeepAlive time.Duration
	Idle      time.Duration // between two arrivals of bytes, 0 = none
}
