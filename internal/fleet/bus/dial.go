package bus

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

// A dialer makes the connections of nats.go, and keeps why the first one failed: nats.go does not. It encrypts them
// too, so that it can follow messages before nats.go reads them.
type dialer struct {
	ctx   context.Context // ends with Connect
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	web   bool                            // WebSocket
	roots func() (*x509.CertPool, error)  // nil: those of the system
	cert  func() (tls.Certificate, error) // nil: none

	mu        sync.Mutex
	opening   bool
	conn      net.Conn
	err       error
	secure    bool // only encrypted connections are made
	encrypted bool // the last one
}

// newDialer takes the settings of connections out of options, which nats.go would apply otherwise.
func (b *Bus) newDialer(ctx context.Context, o Options, n *nats.Options) *dialer {
	d := &dialer{
		ctx: ctx, dial: o.Dial, web: isWebSocket(b.address[0]),
		roots: n.RootCAsCB, cert: n.TLSCertCB, secure: n.Secure || b.address.encrypted(),
	}
	if d.dial == nil {
		d.dial = new(net.Dialer).DialContext
	}
	n.Servers, n.CustomDialer = b.address.full(), d
	n.Secure, n.TLSConfig, n.RootCAsCB, n.TLSCertCB = false, nil, nil, nil
	return d
}

// connect is options.Connect, ended with the context. Once a server demands encryption, unencrypted connections are
// refused.
func (d *dialer) connect(options nats.Options) (*nats.Conn, error) {
	d.opening = true
	stop := context.AfterFunc(d.ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.opening && d.conn != nil {
			_ = d.conn.Close()
		}
	})
	defer stop()
	conn, err := options.Connect()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opening, d.conn = false, nil
	d.secure = d.secure || err == nil && d.encrypted
	if err == nil && d.ctx.Err() != nil {
		conn.Close()
		return nil, d.ctx.Err()
	}
	return conn, err
}

// SkipTLSHandshake makes nats.go leave encryption to Dial.
func (d *dialer) SkipTLSHandshake() bool { return true }

// Dial is for nats.go.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	raw, err := d.open(network, address)
	if err != nil {
		return nil, err
	}
	conn, err := d.begin(raw, address)
	if err != nil {
		_ = raw.Close()
		d.mu.Lock()
		d.err = err
		d.mu.Unlock()
		return nil, err
	}
	return conn, nil
}

func (d *dialer) open(network, address string) (net.Conn, error) {
	ctx := context.Background()
	if d.isOpening() {
		ctx = d.ctx
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := d.dial(ctx, network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opening {
		d.conn, d.err = conn, err
		if err == nil && d.ctx.Err() != nil {
			_ = conn.Close()
		}
		if err == nil {
			conn = &opened{conn, d}
		}
	}
	return conn, err
}

// begin encrypts a connection if needed: WebSocket at once, NATS after the greeting of the server.
func (d *dialer) begin(raw net.Conn, address string) (net.Conn, error) {
	if err := raw.SetDeadline(time.Now().Add(connectTimeout)); err != nil {
		return nil, err
	}
	d.mu.Lock()
	secure := d.secure
	d.mu.Unlock()
	c := &followed{Conn: raw, dialer: d, follower: new(framing)}
	if d.web {
		c.follower = new(webFraming)
	} else {
		var err error
		if c.begun, secure, err = greeting(raw, secure); err != nil {
			return nil, err
		}
	}
	if secure {
		encrypted, err := d.encrypt(raw, address)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", nats.ErrTLS, err)
		}
		c.Conn, c.encrypted = encrypted, true
	}
	d.mu.Lock()
	d.encrypted = secure
	d.mu.Unlock()
	return c, raw.SetDeadline(time.Time{})
}

// greeting reads the first line of a server, and bytes that come with it. It demands or offers TLS there; bytes
// that follow must not be read as if they were encrypted.
func greeting(conn net.Conn, secure bool) (text []byte, encrypt bool, err error) {
	end := 0
	for b := make([]byte, 4<<10); end == 0; {
		n, err := conn.Read(b)
		text = append(text, b[:n]...)
		switch end = bytes.IndexByte(text, '\n') + 1; {
		case end > 0:
		case err != nil:
			return nil, false, err
		case len(text) > longestLine:
			return nil, false, fmt.Errorf("the server sends a line of more than %d bytes", longestLine)
		}
	}
	var info struct {
		Required  bool `json:"tls_required"`
		Available bool `json:"tls_available"`
	}
	args, ok := bytes.CutPrefix(text[:end], []byte("INFO "))
	switch {
	case !ok:
		return nil, false, nats.ErrNoInfoReceived
	case json.Unmarshal(args, &info) != nil:
		return nil, false, errNoLine
	case secure && !info.Required && !info.Available:
		return nil, false, nats.ErrSecureConnWanted
	case !secure && !info.Required:
		return text, false, nil
	}
	return text[:end], true, nil
}

// encrypt is the client's part of TLS.
func (d *dialer) encrypt(raw net.Conn, address string) (_ net.Conn, err error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
		return nil, err
	}
	if d.roots != nil {
		if config.RootCAs, err = d.roots(); err != nil {
			return nil, err
		}
	}
	if d.cert != nil {
		cert, err := d.cert()
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	conn := tls.Client(raw, config)
	return conn, conn.Handshake()
}

// followed is a connection to a followed server; its first bytes have been read.
type followed struct {
	net.Conn
	follower
	dialer    *dialer
	begun     []byte
	encrypted bool
	refused   error
}

func (c *followed) Read(b []byte) (n int, err error) {
	if c.refused != nil {
		return 0, c.refused
	}
	if n = copy(b, c.begun); n > 0 {
		c.begun = c.begun[n:]
	} else {
		n, err = c.Conn.Read(b)
	}
	if c.refused = c.follow(b[:n]); c.refused != nil {
		return 0, c.refused
	}
	if c.encrypted && (errors.Is(err, io.EOF) || isGone(err)) && c.dialer.isOpening() {
		err = fmt.Errorf("%w: connection closed by remote after TLS handshake: %w", nats.ErrTLS, err)
	}
	return n, err
}

// opened is a connection on which a server that closed it is heard to the end: nats.go writes twice before it
// reads, and if the second write fails it would never see why the server refused the first.
type opened struct {
	net.Conn
	dialer *dialer
}

func (c *opened) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if isGone(err) && c.dialer.isOpening() {
		return len(b), nil // the next read gets the server's reason, or fails
	}
	return n, err
}

func (d *dialer) isOpening() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opening
}

// isGone reports an error of writing to a connection that the other side has closed.
func isGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
