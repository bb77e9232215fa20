package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 250 * time.Millisecond
	pingInterval   = time.Second
	pingsMissed    = 2
	// reconnectBuffer is how much may be published while the connection is down, in bytes.
	reconnectBuffer = 16 << 20
	// writeTimeout is when a server that takes nothing counts as lost. Everything that sends waits
	// for a write that does not end.
	writeTimeout = 10 * time.Second
)

// Options are how a NATS server is reached. Only URL is necessary.
type Options struct {
	// URL is nats://, tls://, ws:// or wss://, or several separated by commas, each with a token
	// or user:password before the host if that is how the server authenticates.
	URL   string
	Token string // for all of the URLs
	Creds string // file with a JWT and the seed of its user
	NKey  string // file with the seed of an nkey
	// CA is a file of certificates in PEM that sign the server's; with any of CA and Cert the
	// connection must be encrypted. Cert and Key are the files of a client's certificate.
	CA, Cert, Key string
	Name          string // of the connection, as the server lists it
	// Ping is the interval of pings, 0 for a second; when the third is due and none was answered, the
	// connection is lost.
	Ping time.Duration
	// Dial replaces net.Dialer.DialContext.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log receives one line when the connection is lost or restored, or is not private.
	Log func(line string)
}

// A Bus is a connection to a NATS server with JetStream.
type Bus struct {
	conn    *nats.Conn
	stream  jetstream.JetStream
	address address
	private bool
	secrets secret.Set
	log     func(string)

	mu      sync.Mutex
	up      bool
	since   time.Time
	changed chan struct{} // closed when up changes, or the Bus is closed
	last    string        // line that was reported
	waiting map[*wait]bool
	closed  bool
	running sync.WaitGroup // handlers of Answer
}

// Connect connects to a NATS server and checks that it has JetStream. Its error is one line, and
// wraps that of ctx if that ended first.
func Connect(ctx context.Context, o Options) (*Bus, error) {
	where, err := parseAddress(o.URL)
	if err != nil {
		return nil, err
	}
	b := &Bus{address: where, log: o.Log, changed: make(chan struct{}), waiting: map[*wait]bool{}}
	if b.log == nil {
		b.log = func(string) {}
	}
	b.secrets.Add(append(where.secrets(), o.Token)...)
	options, err := b.options(o)
	if err != nil {
		return nil, err
	}
	if err := b.open(ctx, o, options); err != nil {
		return nil, err
	}
	if err := b.checkJetStream(ctx); err != nil {
		b.Close()
		return nil, err
	}
	if sent := o.Token != "" || len(where.secrets()) > 0; sent && !b.private {
		b.report(fmt.Sprintf("the token or password for %s is sent unencrypted: use tls://, or a credentials file or nkey", where))
	}
	return b, nil
}

// open connects. A server that refuses us says why and closes, maybe while nats.go still writes: its message may be
// lost then, so open tries again.
func (b *Bus) open(ctx context.Context, o Options, options nats.Options) error {
	for attempt := 1; ; attempt++ {
		n := options
		d := b.newDialer(ctx, o, &n)
		conn, err := d.connect(n)
		if err == nil {
			b.conn, b.private = conn, d.secure || b.address.local()
			b.stream, err = jetstream.New(conn)
			b.set(conn.IsConnected())
			return err
		}
		if !isGone(err) || attempt == 5 {
			return b.explain(ctx, o, d, err)
		}
	}
}

func (b *Bus) options(o Options) (nats.Options, error) {
	n := nats.GetDefaultOptions()
	n.Name, n.Token = o.Name, o.Token
	n.Timeout, n.SkipHostLookup, n.IgnoreDiscoveredServers = connectTimeout, true, true
	n.MaxReconnect, n.ReconnectWait, n.ReconnectJitter, n.ReconnectJitterTLS = -1, reconnectWait, reconnectWait/4, reconnectWait/4
	n.PingInterval, n.MaxPingsOut, n.ReconnectBufSize = cmp.Or(o.Ping, pingInterval), pingsMissed, reconnectBuffer
	n.FlusherTimeout = writeTimeout
	n.IgnoreAuthErrorAbort, n.NoCallbacksAfterClientClose = true, true
	n.DisconnectedErrCB, n.ReconnectedCB, n.AsyncErrorCB = b.lost, b.back, b.trouble
	n.ReconnectErrCB = func(*nats.Conn, error) {} // the loss was already reported
	if o.Creds != "" && o.NKey != "" || (o.Creds != "" || o.NKey != "") && (o.Token != "" || len(b.address.secrets()) > 0) {
		return n, errors.New("more than one way to authenticate is given: use a token or password, a credentials file, or an nkey")
	}
	if (o.Cert == "") != (o.Key == "") {
		return n, errors.New("a client certificate needs both its certificate file and its key file")
	}
	for _, file := range []struct {
		what, name string
		option     func(name string) (nats.Option, error)
	}{
		{"credentials file", o.Creds, credentials},
		{"nkey file", o.NKey, seed},
		{"CA file", o.CA, authority},
		{"client certificate", o.Cert, func(cert string) (nats.Option, error) { return certificate(cert, o.Key) }},
	} {
		if file.name == "" {
			continue
		}
		option, err := file.option(file.name)
		if err == nil {
			err = option(&n)
		}
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // the name is in front
		}
		if err != nil {
			return n, fmt.Errorf("%s %s: %s", file.what, short(file.name), b.clean(err))
		}
	}
	return n, nil
}

// Close ends the connection and waits for handlers that are running. No handler may call it.
func (b *Bus) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.conn.Close()
	b.mu.Lock()
	b.wake()
	b.mu.Unlock()
	b.running.Wait()
}

// Stream is JetStream of the server.
func (b *Bus) Stream() jetstream.JetStream { return b.stream }

// Private reports whether nobody between here and the server can read messages: the connection is encrypted and
// will be, or the server is on this machine.
func (b *Bus) Private() bool { return b.private }

// Address is the server's URL, without token or password.
func (b *Bus) Address() string { return b.address.String() }
