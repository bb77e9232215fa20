package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

const (
	// maxPayload is the largest message: an order with its Spec.
	maxPayload = 8 << 20
	// maxMemory is for streams in memory, of which Pitot has none.
	maxMemory = 64 << 20
	// defaultStore is enough for a million and a half records of 2 kB.
	defaultStore = 4 << 30
	ready        = 30 * time.Second
)

// ServerOptions say where a server listens and who may connect.
type ServerOptions struct {
	// Listen is HOST:PORT; port 0, which is the default on 127.0.0.1, is any free one.
	Listen string
	Dir    string // folder of the streams, created if necessary
	Token  string // that clients must send, unless they have one of NKeys
	NKeys  []string
	// Cert and Key are the files of the server's certificate: connections must be encrypted. With a
	// CA, a file too, clients need a certificate that it signed.
	CA, Cert, Key string
	MaxStore      int64 // most bytes of all streams; 0: 4 GiB
	// Log receives one line when the streams cannot be written, and when they can again; may be nil.
	Log func(line string)
}

// A Server is a running NATS server.
type Server struct {
	addr  net.Addr
	url   string
	close func()
}

// StartServer starts a server and returns once clients can connect. Its error is one line.
func StartServer(o ServerOptions) (*Server, error) {
	options, err := o.convert()
	if err != nil {
		return nil, err
	}
	release, err := claim(o.Dir)
	if err != nil {
		return nil, err
	}
	log := new(logger)
	s, err := start(options, log)
	if err != nil {
		release()
		return nil, fmt.Errorf("start NATS server on %s: %s", o.listen(), reason(err))
	}
	end := watchDisk(s, options, log, lookEvery, o.Log)
	return &Server{addr: s.Addr(), url: serverURL(s, o.Cert != ""), close: sync.OnceFunc(func() {
		end()
		s.Shutdown()
		s.WaitForShutdown()
		release()
	})}, nil
}

// URL is where clients on this machine connect, without a token.
func (s *Server) URL() string { return s.url }

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.addr }

// Close ends the server; its streams stay in the folder.
func (s *Server) Close() { s.close() }

func (o ServerOptions) listen() string {
	if o.Listen == "" {
		return "127.0.0.1:0"
	}
	return o.Listen
}

// convert checks the options and gives those of nats-server.
func (o ServerOptions) convert() (*server.Options, error) {
	host, portText, err := net.SplitHostPort(o.listen())
	port, errPort := strconv.Atoi(portText)
	if err != nil || errPort != nil || port < 0 || port > 65535 {
		return nil, fmt.Errorf("listen address %q: use HOST:PORT, such as 127.0.0.1:4222", line(o.Listen))
	}
	if !IsLoopback(host) && o.Token == "" && len(o.NKeys) == 0 && o.CA == "" {
		return nil, fmt.Errorf("listen address %s can be reached from other machines: set a token, nkeys, or a CA for client certificates", o.listen())
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	n := &server.Options{
		Host: host, Port: port, NoSigs: true, NoLog: true, MaxPayload: maxPayload,
		JetStream: true, StoreDir: o.Dir, JetStreamMaxStore: o.MaxStore, JetStreamMaxMemory: maxMemory, DisableJetStreamBanner: true,
		Authorization: o.Token,
	}
	if n.JetStreamMaxStore == 0 {
		n.JetStreamMaxStore = defaultStore
	}
	if o.Dir == "" {
		return nil, errors.New("no folder for the streams of the NATS server is given")
	}
	for _, key := range o.NKeys {
		if !nkeys.IsValidPublicUserKey(key) {
			return nil, errors.New("an nkey of the NATS server is not the public key of a user: these begin with U")
		}
		n.Nkeys = append(n.Nkeys, &server.NkeyUser{Nkey: key})
	}
	n.TLSConfig, err = o.tls()
	n.TLS, n.TLSVerify = n.TLSConfig != nil, o.CA != ""
	return n, err
}

// tls is nil if nothing is encrypted.
func (o ServerOptions) tls() (*tls.Config, error) {
	if o.Cert == "" && o.Key == "" && o.CA == "" {
		return nil, nil
	}
	if o.Cert == "" || o.Key == "" {
		return nil, errors.New("TLS of the NATS server needs both its certificate file and its key file")
	}
	pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s and key %s of the NATS server: %s", o.Cert, o.Key, line(err.Error()))
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if o.CA == "" {
		return config, nil
	}
	pem, err := files.ReadSmall(o.CA)
	if err != nil {
		return nil, fmt.Errorf("CA of the NATS server: %s", line(err.Error()))
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file %s of the NATS server has no certificate in PEM", o.CA)
	}
	return config, nil
}

// claim makes the folder that of one server: two would destroy each other's streams.
func claim(dir string) (release func(), err error) {
	if err := files.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("folder of the NATS server: %s", line(err.Error()))
	}
	release, err = files.Lock(filepath.Join(dir, "lock"))
	if errors.Is(err, files.ErrLocked) {
		return nil, fmt.Errorf("folder %s of the NATS server is in use by another server; give another folder", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("folder of the NATS server: %s", line(err.Error()))
	}
	return release, nil
}

// start starts nats-server, which reports errors to a logger only.
func start(o *server.Options, log *logger) (*server.Server, error) {
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	s.SetLogger(log, false, false)
	s.Start()
	if fatal := log.first(); fatal != "" {
		err = errors.New(fatal)
	} else if !s.ReadyForConnections(ready) {
		err = fmt.Errorf("not ready within %v", ready)
	}
	if err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, err
	}
	return s, nil
}

// reason is the error of nats-server: of an address that cannot be bound, the system's part.
func reason(err error) string {
	text := line(err.Error())
	if _, system, ok := strings.Cut(text, "bind: "); ok {
		return strings.TrimRight(system, `"`) + "; give another address or port"
	}
	return text
}

// serverURL is the address for clients on this machine.
func serverURL(s *server.Server, encrypted bool) string {
	scheme, at := "nats", s.Addr().(*net.TCPAddr)
	if encrypted {
		scheme = "tls"
	}
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("%s://%s", scheme, net.JoinHostPort(host, strconv.Itoa(at.Port)))
}

// A logger keeps why a server could not start, and that it could not write.
type logger struct {
	mu     sync.Mutex
	fatal  string
	broken bool
}

func (l *logger) first() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

// Fatalf keeps the first.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = fmt.Sprintf(format, v...)
	}
}

// Errorf looks for the ends of streams.
func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = l.broken || strings.Contains(text, "critical write error") || strings.Contains(text, "will be DISABLED")
}

func (l *logger) Noticef(string, ...any) {}
func (l *logger) Warnf(string, ...any)   {}
func (l *logger) Debugf(string, ...any)  {}
func (l *logger) Tracef(string, ...any)  {}

// line is a text of others as a part of one line.
func line(text string) string { return strings.Join(strings.Fields(plain.Line(text)), " ") }
