package bus

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// longest is the length of a text of others in an error or a line, in bytes.
const longest = 300

// short is a text of others as a part of one line.
func short(text string) string {
	text = strings.Join(strings.Fields(plain.Line(text)), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}

// clean is the text of an error as a part of one line, without secrets.
func (b *Bus) clean(err error) string {
	text := secret.Mask(b.secrets.Hide(strings.TrimPrefix(err.Error(), "nats: ")))
	return short(text)
}

// explain is why a server could not be reached, with a way out.
func (b *Bus) explain(ctx context.Context, o Options, d *dialer, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, "connect to "+b.address.String())
	}
	if errors.Is(err, nats.ErrNoServers) && d.err != nil {
		err = d.err
	}
	why, hint := b.reason(o, err)
	if hint != "" {
		hint = "; " + hint
	}
	return fmt.Errorf("connect to %s: %s%s", b.address, why, hint)
}

// reason is why a connection failed and what to do.
func (b *Bus) reason(o Options, err error) (why, hint string) {
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return b.refused(o)
	case errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAccountAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return b.clean(err), "renew the credentials"
	case errors.Is(err, nats.ErrNkeysNotSupported):
		return "the server does not authenticate with nkeys", "use a token or a credentials file, or add the nkey to the server's settings"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the server does not offer TLS", "use nats:// without certificates, or configure TLS on the server"
	case errors.Is(err, nats.ErrTLS), strings.Contains(err.Error(), "tls: "):
		return b.reasonTLS(err)
	case isTimeout(err):
		return fmt.Sprintf("no answer within %v", connectTimeout), "check the address and firewalls"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, nats.ErrNoServers):
		return "connection refused", "start a server there with `pitot fleet up` or `nats-server -js`"
	case errors.Is(err, io.EOF):
		return "the connection was closed at once", "check that a NATS server listens there"
	case isWebSocket(b.address[0]) && strings.Contains(err.Error(), "malformed HTTP"):
		return "the server does not speak WebSocket there", "use nats://, or the server's WebSocket port"
	case errors.As(err, new(*net.OpError)), errors.As(err, new(*net.DNSError)):
		return b.clean(err), "check the address"
	}
	return b.clean(err), "check that a NATS server listens there"
}

// reasonTLS is reason for errors of TLS. A server that does not accept a client's certificate closes
// the connection, and whether its alert can still be read is chance.
func (b *Bus) reasonTLS(err error) (why, hint string) {
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	text := err.Error()
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "the server's certificate is signed by an unknown authority", "name the certificate of its CA with --ca, or --fleet-ca of a measuring command"
	case errors.As(err, &host):
		return "the server's certificate: " + b.clean(host), ""
	case errors.As(err, &invalid):
		return "the server's certificate: " + b.clean(invalid), ""
	case strings.Contains(text, "after TLS handshake"), strings.Contains(text, "remote error") && strings.Contains(text, "certificate"):
		return "the server closed the connection for want of a client certificate that it accepts", "name one that its CA signed with --tls-cert and --tls-key, or --fleet-cert and --fleet-key of a measuring command"
	}
	return b.clean(err), "check that the address speaks TLS"
}

// refused is for a server that does not let us in.
func (b *Bus) refused(o Options) (why, hint string) {
	const ways = "a token (PITOT_FLEET_TOKEN, or nats://TOKEN@HOST:PORT), a credentials file or an nkey"
	switch {
	case o.Creds != "":
		return "the server does not accept the credentials in " + o.Creds, "use credentials of an account of this server"
	case o.NKey != "":
		return "the server does not accept the nkey in " + o.NKey, "add its public key to the server's settings"
	case o.Token != "" || len(b.address.secrets()) > 0:
		return "the server does not accept the token or password", "use that of the server's settings"
	}
	return "the server demands authentication", "give " + ways
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

func (b *Bus) checkJetStream(ctx context.Context) error {
	asking, cancel := context.WithTimeoutCause(ctx, connectTimeout, ErrSilent)
	defer cancel()
	asking, deny := context.WithCancelCause(asking)
	defer deny(nil)
	defer b.watch("$JS.API.INFO", deny)()
	_, err := b.stream.AccountInfo(asking)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return fmt.Errorf("connect to %s: the server has no JetStream; start it with nats-server -js", b.address)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("connect to %s: JetStream is not enabled for this account; enable it in the server's settings", b.address)
	case ctx.Err() != nil:
		return ended(ctx, "connect to "+b.address.String())
	case asking.Err() != nil && errors.Is(context.Cause(asking), ErrSilent):
		return fmt.Errorf("connect to %s: no answer from JetStream within %v; check the server", b.address, connectTimeout)
	case asking.Err() != nil:
		return fmt.Errorf("connect to %s: %w", b.address, context.Cause(asking))
	}
	return fmt.Errorf("connect to %s: JetStream: %s", b.address, b.clean(err))
}

var (
	// ErrGone means that no worker listens on a subject: none of that id is connected.
	ErrGone = errors.New("nobody is connected")
	// ErrSilent means that a question was not answered in time.
	ErrSilent = errors.New("no answer in time")
)

// A Refusal is the error that whoever was asked replied with.
type Refusal struct{ Text string }

func (r Refusal) Error() string { return r.Text }
