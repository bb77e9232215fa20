package bus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/test/natsserver"
)

// works asks and answers over connections of its own, and with JetStream.
func works(t *testing.T, o bus.Options) {
	t.Helper()
	asker, worker := connect(t, o), connect(t, o)
	twice(t, worker, bus.SubjectOf("w", bus.Poll))
	if got, err := bus.Request[answer](limited(t), asker, bus.SubjectOf("w", bus.Poll), question{3}); err != nil || got.Twice != 6 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := asker.Stream().AccountInfo(limited(t)); err != nil {
		t.Error(err)
	}
	if !asker.Private() {
		t.Error("not private")
	}
}

// Refusals are the errors of Connect, a line for each name.
type refusals struct {
	t       *testing.T
	lines   []string
	secrets []string
}

var (
	ports   = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`)
	inboxes = regexp.MustCompile(`_INBOX\.\w+`)
	folders = regexp.MustCompile(`/\S*/`)
)

// connect notes why it fails, which it must.
func (r *refusals) connect(name string, o bus.Options) {
	r.t.Helper()
	b, err := bus.Connect(limited(r.t), o)
	if err == nil {
		b.Close()
		r.t.Errorf("%s: connected", name)
		return
	}
	r.note(name, err)
}

func (r *refusals) note(name string, err error) {
	r.t.Helper()
	text := err.Error()
	if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 }) || len(text) > 600 {
		r.t.Errorf("%s: not a short line: %q", name, text)
	}
	for _, secret := range r.secrets {
		if strings.Contains(text, secret) {
			r.t.Errorf("%s: %q has the secret %q", name, text, secret)
		}
	}
	text = ports.ReplaceAllString(text, "$1:PORT")
	text = folders.ReplaceAllStringFunc(text, func(path string) string {
		if strings.HasPrefix(path, "//") {
			return path
		}
		return "DIR/"
	})
	text = inboxes.ReplaceAllString(text, "_INBOX.ID")
	r.lines = append(r.lines, name+": "+text+"\n")
}

// check holds the errors against a file, whichever server gave them.
func (r *refusals) check(file string) {
	r.t.Helper()
	golden.Check(r.t, filepath.Join("testdata", file), strings.Join(r.lines, ""))
}

// withUser puts a token or user:password into a URL.
func withUser(t *testing.T, address string, user *url.Userinfo) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = user
	return u.String()
}

func TestToken(t *testing.T) {
	const token = "s3cr3t/t@ken:x"
	fleettest.Each(t, fleettest.Options{Token: token}, func(t *testing.T, s fleettest.Server) {
		works(t, bus.Options{URL: s.URL(), Token: token})
		works(t, bus.Options{URL: withUser(t, s.URL(), url.User(token))})
		_, seed := fleettest.NewNKey(t)
		r := &refusals{t: t, secrets: []string{token, "wr0ng", "hunter2"}}
		r.connect("none", bus.Options{URL: s.URL()})
		r.connect("wrong", bus.Options{URL: s.URL(), Token: "wr0ng-token"})
		r.connect("wrong in the URL", bus.Options{URL: withUser(t, s.URL(), url.User("wr0ng-token"))})
		r.connect("a password", bus.Options{URL: withUser(t, s.URL(), url.UserPassword("user", "hunter2"))})
		r.connect("an nkey", bus.Options{URL: s.URL(), NKey: seed})
		r.connect("token and nkey", bus.Options{URL: s.URL(), NKey: seed, Token: token})
		r.connect("TLS", bus.Options{URL: strings.Replace(s.URL(), "nats:", "tls:", 1), Token: token})
		r.check("token.txt")
	})
}

func TestPassword(t *testing.T) {
	const password = "hunter/2:x@"
	s := natsserver.Start(t, natsserver.Options{WebSocket: true, Config: fmt.Sprintf("authorization { user: worker, password: %q }", password)})
	for _, address := range []string{s.URL(), s.WebSocketURL(), "nats://127.0.0.1:1," + s.URL()} {
		urls := strings.Split(address, ",")
		for i := range urls {
			urls[i] = withUser(t, urls[i], url.UserPassword("worker", password))
		}
		works(t, bus.Options{URL: strings.Join(urls, ",")})
	}
	r := &refusals{t: t, secrets: []string{"hunter", "wr0ng"}}
	r.connect("wrong", bus.Options{URL: withUser(t, s.URL(), url.UserPassword("worker", "wr0ng-password"))})
	r.connect("wrong, WebSocket", bus.Options{URL: withUser(t, s.WebSocketURL(), url.UserPassword("worker", "wr0ng-password"))})
	r.connect("none, WebSocket", bus.Options{URL: s.WebSocketURL()})
	r.connect("WebSocket where there is none", bus.Options{URL: strings.Replace(s.URL(), "nats:", "ws:", 1)})
	r.check("password.txt")
}

// closing is a connection that the server has closed by the second write of nats.go, after it said why.
type closing struct{ net.Conn }

func (c closing) Write(b []byte) (int, error) {
	if string(b) == "PING\r\n" {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	}
	return c.Conn.Write(b)
}

// Why a server refuses is heard also if it has closed the connection before all is written.
func TestLastWordsAreHeard(t *testing.T) {
	s := fleettest.Embedded(t, fleettest.Options{Token: "the-token"})
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return closing{conn}, err
	}
	_, err := bus.Connect(limited(t), bus.Options{URL: s.URL(), Token: "another", Dial: dial})
	if err == nil || !strings.Contains(err.Error(), "does not accept the token") {
		t.Error(err)
	}
}

func TestNKey(t *testing.T) {
	public, seed := fleettest.NewNKey(t)
	_, other := fleettest.NewNKey(t)
	bad := filepath.Join(t.TempDir(), "bad.nk")
	if err := os.WriteFile(bad, []byte("SUsecretseed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fleettest.Each(t, fleettest.Options{NKeys: []string{public}}, func(t *testing.T, s fleettest.Server) {
		works(t, bus.Options{URL: s.URL(), NKey: seed})
		r := &refusals{t: t, secrets: []string{"SUsecret"}}
		r.connect("none", bus.Options{URL: s.URL()})
		r.connect("another", bus.Options{URL: s.URL(), NKey: other})
		r.connect("no file", bus.Options{URL: s.URL(), NKey: "/missing/user.nk"})
		r.connect("no seed", bus.Options{URL: s.URL(), NKey: bad})
		r.check("nkey.txt")
	})
}

// One server takes either.
func TestTokenOrNKey(t *testing.T) {
	public, seed := fleettest.NewNKey(t)
	s := fleettest.Embedded(t, fleettest.Options{Token: "the-token", NKeys: []string{public}})
	works(t, bus.Options{URL: s.URL(), NKey: seed})
	works(t, bus.Options{URL: s.URL(), Token: "the-token"})
	for _, o := range []bus.Options{{URL: s.URL()}, {URL: s.URL(), Token: "another"}} {
		if b, err := bus.Connect(limited(t), o); err == nil {
			b.Close()
			t.Errorf("%+v connected", o)
		}
	}
}

func TestTLS(t *testing.T) {
	ca, stranger := fleettest.NewCA(t), fleettest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	fleettest.Each(t, fleettest.Options{Cert: cert, Key: key}, func(t *testing.T, s fleettest.Server) {
		plain := strings.Replace(s.URL(), "tls:", "nats:", 1)
		works(t, bus.Options{URL: s.URL(), CA: ca.File})
		works(t, bus.Options{URL: plain, CA: ca.File})
		r := &refusals{t: t}
		r.connect("unknown CA", bus.Options{URL: s.URL()})
		r.connect("unknown CA, TLS not asked for", bus.Options{URL: plain})
		r.connect("another CA", bus.Options{URL: s.URL(), CA: stranger.File})
		r.connect("no CA file", bus.Options{URL: s.URL(), CA: "/missing/ca.pem"})
		r.connect("a CA file without certificates", bus.Options{URL: s.URL(), CA: key})
		r.connect("another host", bus.Options{URL: strings.Replace(s.URL(), "127.0.0.1", "localhost", 1), CA: ca.File})
		r.check("tls.txt")
	})
}

func TestClientCertificates(t *testing.T) {
	ca, stranger := fleettest.NewCA(t), fleettest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	clientCert, clientKey := ca.Issue(t, "client")
	strangeCert, strangeKey := stranger.Issue(t, "client")
	fleettest.Each(t, fleettest.Options{CA: ca.File, Cert: cert, Key: key}, func(t *testing.T, s fleettest.Server) {
		works(t, bus.Options{URL: s.URL(), CA: ca.File, Cert: clientCert, Key: clientKey})
		r := &refusals{t: t}
		r.connect("none", bus.Options{URL: s.URL(), CA: ca.File})
		r.connect("of another CA", bus.Options{URL: s.URL(), CA: ca.File, Cert: strangeCert, Key: strangeKey})
		r.connect("with another key", bus.Options{URL: s.URL(), CA: ca.File, Cert: clientCert, Key: strangeKey})
		r.connect("without a key", bus.Options{URL: s.URL(), CA: ca.File, Cert: clientCert})
		r.check("clients.txt")
	})
}

func TestCredentials(t *testing.T) {
	operator := fleettest.NewOperator(t)
	s := natsserver.Start(t, natsserver.Options{Config: operator.Config})
	works(t, bus.Options{URL: s.URL(), Creds: operator.User(t, nil)})
	_, seed := fleettest.NewNKey(t)
	r := &refusals{t: t}
	r.connect("none", bus.Options{URL: s.URL()})
	r.connect("of another operator", bus.Options{URL: s.URL(), Creds: fleettest.NewOperator(t).User(t, nil)})
	r.connect("expired", bus.Options{URL: s.URL(), Creds: operator.User(t, func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Hour).Unix() })})
	r.connect("no file", bus.Options{URL: s.URL(), Creds: "/missing/user.creds"})
	r.connect("a seed alone", bus.Options{URL: s.URL(), Creds: seed})
	denied := operator.User(t, func(c *jwt.UserClaims) { c.Pub.Deny.Add("$JS.>") })
	r.connect("no permission for JetStream", bus.Options{URL: s.URL(), Creds: denied})
	deaf := operator.User(t, func(c *jwt.UserClaims) { c.Sub.Deny.Add("_INBOX.>") })
	r.connect("no permission for replies", bus.Options{URL: s.URL(), Creds: deaf})
	r.check("creds.txt")
}

// What a user may not do ends with an error, not with the wait for a reply.
func TestPermissions(t *testing.T) {
	operator := fleettest.NewOperator(t)
	s := natsserver.Start(t, natsserver.Options{Config: operator.Config})
	all := connect(t, bus.Options{URL: s.URL(), Creds: operator.User(t, nil)})
	twice(t, all, bus.Everybody)
	some := connect(t, bus.Options{URL: s.URL(), Creds: operator.User(t, func(c *jwt.UserClaims) {
		c.Pub.Deny.Add("pitot.fleet.>")
		c.Sub.Deny.Add("pitot.worker.>")
	})})
	r := &refusals{t: t}
	_, err := bus.Request[answer](limited(t), some, bus.Everybody, question{})
	r.note("ask", err)
	err = bus.RequestAll(limited(t), some, bus.Everybody, question{}, time.Hour, func(answer) bool { return true })
	r.note("ask all", err)
	_, err = bus.Answer(some, bus.SubjectOf("w", bus.Beat), func(question) (any, error) { return nil, nil })
	r.note("answer", err)
	r.check("permissions.txt")
}

func TestServersThatAreNone(t *testing.T) {
	r := &refusals{t: t, secrets: []string{"hunter2", "s3cr3t"}}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	r.connect("nobody listens", bus.Options{URL: "nats://s3cr3t@" + nobody.Addr().String()})
	r.connect("no host", bus.Options{URL: "nats://s3cr3t@"})
	r.connect("a slash in a password", bus.Options{URL: "nats://user:hun/hunter2@127.0.0.1:4222"})
	r.connect("another scheme", bus.Options{URL: "http://s3cr3t@127.0.0.1:4222"})
	r.connect("schemes that differ", bus.Options{URL: "nats://127.0.0.1,ws://127.0.0.1"})
	r.connect("HTTP", bus.Options{URL: "nats://" + speaks(t, "HTTP/1.1 400 Bad Request\r\n\r\n")})
	r.connect("bytes", bus.Options{URL: "nats://" + speaks(t, "\x1b[2J\x00\xff\u202e\r\n")})
	r.connect("an error with what was sent", bus.Options{URL: "nats://user:hunter2@" + speaks(t, "INFO {}\r\n-ERR 'no \x1b[31m user:hunter2 "+strings.Repeat("x", 5000)+"'\r\n")})
	r.connect("nested INFO", bus.Options{URL: "nats://" + speaks(t, "INFO "+strings.Repeat("[", 20000)+"\r\n")})
	r.connect("the end", bus.Options{URL: "nats://" + speaks(t, "")})
	r.connect("the end after INFO", bus.Options{URL: "nats://" + speaks(t, "INFO {}\r\n")})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = bus.Connect(ctx, bus.Options{URL: "nats://s3cr3t@" + silentError(t)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silence: %v", err)
	}
	r.note("silence", err)
	r.connect("no JetStream", bus.Options{URL: natsserver.Start(t, natsserver.Options{NoJetStream: true}).URL()})
	r.check("none.txt")
}

// speaks listens, and says the same to everybody, then closes.
func speaks(t *testing.T, text string) string {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		_, _ = conn.Write([]byte(text))
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = conn.Read(make([]byte, 4096)) // what is unread would reset the connection
	})
}

// silentError accepts and says nothing.
func silentError(t *testing.T) string {
	t.Helper()
	return listen(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) })
}

func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// A token that anybody on the way can read is warned about.
func TestWhatIsNotPrivate(t *testing.T) {
	s := fleettest.Embedded(t, fleettest.Options{Token: "the-token"})
	at := strings.TrimPrefix(s.URL(), "nats://")
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, at)
	}
	logged := make(lines, 10)
	b := connect(t, bus.Options{URL: "nats://the-token@far.example", Dial: dial, Log: logged.say})
	if b.Private() {
		t.Error("plain text to another machine is private")
	}
	logged.next(t, "nats://far.example:4222 is sent unencrypted")
	for _, host := range []string{"localhost", "127.8.9.1", "[::1]", "LOCALHOST:99"} {
		if b := connect(t, bus.Options{URL: "nats://the-token@" + host, Dial: dial, Log: logged.say}); !b.Private() {
			t.Errorf("%s is not private", host)
		}
	}
	select {
	case line := <-logged:
		t.Errorf("said %q", line)
	default:
	}
}

// What is encrypted because the server demands it, is so after a reconnect too, or there is none. The
// test is a process of its own, since a process reads the CAs of its system once.
func TestEncryptionIsNotGivenUp(t *testing.T) {
	folder := os.Getenv("PITOT_TEST_CA")
	if folder != "" {
		upgraded(t, folder+"/server.pem", folder+"/server.key")
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the CAs of the system cannot be replaced")
	}
	ca := fleettest.NewCA(t)
	ca.Issue(t, "server", "far.example")
	cmd := exec.Command(os.Args[0], "-test.run=^TestEncryptionIsNotGivenUp$", "-test.v")
	cmd.Env = append(os.Environ(), "PITOT_TEST_CA="+filepath.Dir(ca.File), "SSL_CERT_FILE="+ca.File)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestEncryptionIsNotGivenUp") {
		t.Errorf("%v\n%s", err, out)
	}
}

// upgraded connects to a server that demands TLS, in whose place one comes that has none.
func upgraded(t *testing.T, cert, key string) {
	encrypted, plain := fleettest.Embedded(t, fleettest.Options{Cert: cert, Key: key}), fleettest.Embedded(t, fleettest.Options{})
	var other atomic.Bool
	attempts := make(chan struct{}, 2)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		to := encrypted.URL()
		if other.Load() {
			to = plain.URL()
			select {
			case attempts <- struct{}{}:
			default:
			}
		}
		_, to, _ = strings.Cut(to, "://")
		return new(net.Dialer).DialContext(ctx, network, to)
	}
	b := connect(t, bus.Options{URL: "nats://far.example", Dial: dial})
	if !b.Private() {
		t.Error("TLS is not private")
	}
	other.Store(true)
	encrypted.Kill()
	for range 2 { // the first attempt is over when the second begins
		select {
		case <-attempts:
		case <-limited(t).Done():
			t.Fatal("no attempt to reconnect")
		}
	}
	if up, _ := b.Up(); up {
		t.Error("connected without TLS")
	}
}
