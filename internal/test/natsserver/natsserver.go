// Package natsserver runs nats-server as a process, built from its module, for tests.
//
// The program is built once for each of its versions and kept in the user's cache. A test whose
// machine cannot build it is skipped.
package natsserver

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// Options are the settings of a server that listens on 127.0.0.1.
type Options struct {
	Token         string
	NKeys         []string // public keys of users
	CA, Cert, Key string   // files; with a CA, clients need a certificate
	NoJetStream   bool
	WebSocket     bool   // it listens for WebSockets too
	Dir           string // of the streams; a temporary one if empty
	MaxPayload    int    // bytes; 8 MiB if 0
	Config        string // more lines of its configuration file
}

// A Server is a process.
type Server struct {
	t       testing.TB
	options Options
	port    string
	webPort string
	cmd     *exec.Cmd
	ended   chan struct{}
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s := &Server{t: t, options: o, port: Port(t), webPort: "-1"}
	s.start()
	t.Cleanup(s.Kill)
	return s
}

// URL is where the server listens, the same after a restart, without a token.
func (s *Server) URL() string {
	scheme := "nats"
	if s.options.Cert != "" {
		scheme = "tls"
	}
	return scheme + "://127.0.0.1:" + s.port
}

// WebSocketURL is where it listens for WebSockets.
func (s *Server) WebSocketURL() string { return "ws://127.0.0.1:" + s.webPort }

// PID is that of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Stop ends the process as an operator would, Kill by force.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the process at once.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Restart stops the server, if it runs, and starts it on the same address and folder.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.start()
}

func (s *Server) end(signal syscall.Signal) {
	_ = s.cmd.Process.Signal(signal) // it may have ended
	<-s.ended
}

var (
	listening = regexp.MustCompile(`Listening for client connections on \S+:(\d+)`)
	webSocket = regexp.MustCompile(`Listening for websocket clients on ws://\S+:(\d+)`)
	isReady   = "Server is ready"
)

// start runs the program until it says that it is ready.
func (s *Server) start() {
	s.t.Helper()
	program, err := build()
	if err != nil {
		s.t.Skip(err)
	}
	config := filepath.Join(s.t.TempDir(), "nats.conf")
	if err := os.WriteFile(config, []byte(s.config()), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(program, "-c", config)
	log, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	scan, ready := bufio.NewScanner(log), false
	var lines []string
	for !ready && scan.Scan() {
		lines = append(lines, scan.Text())
		if m := listening.FindStringSubmatch(scan.Text()); m != nil {
			s.port = m[1]
		}
		if m := webSocket.FindStringSubmatch(scan.Text()); m != nil {
			s.webPort = m[1]
		}
		ready = strings.Contains(scan.Text(), isReady)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		_, _ = io.Copy(io.Discard, log)
		_ = s.cmd.Wait()
		close(ended)
	}()
	if !ready {
		s.Kill()
		s.t.Fatalf("nats-server did not start:\n%s", strings.Join(lines, "\n"))
	}
}

// config is the text of a configuration file.
func (s *Server) config() string {
	o := s.options
	var b strings.Builder
	put := func(format string, v ...any) { fmt.Fprintf(&b, format+"\n", v...) }
	put("listen: \"127.0.0.1:%s\"", s.port)
	if o.MaxPayload == 0 {
		o.MaxPayload = 8 << 20
	}
	put("max_payload: %d", o.MaxPayload)
	if !o.NoJetStream {
		put("jetstream { store_dir: %q, max_file_store: 1GB, max_memory_store: 64MB }", o.Dir)
	}
	if o.Token != "" {
		put("authorization { token: %q }", o.Token)
	}
	if len(o.NKeys) > 0 {
		put("authorization { users: [ { nkey: %s } ] }", strings.Join(o.NKeys, " }, { nkey: "))
	}
	if o.Cert != "" {
		put("tls {\n cert_file: %q\n key_file: %q", o.Cert, o.Key)
		if o.CA != "" {
			put(" ca_file: %q\n verify: true", o.CA)
		}
		put("}")
	}
	if o.WebSocket {
		put("websocket { host: 127.0.0.1, port: %s, no_tls: true }", s.webPort)
	}
	return b.String() + o.Config
}

// build returns the path of the program, which is built if it is not there.
var build = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "pitot-tests")
	program := filepath.Join(folder, "nats-server-"+server.VERSION+"-"+runtime.Version())
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(folder, "build")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	built := filepath.Join(fresh, "nats-server")
	cmd := exec.Command("go", "build", "-o", built, "github.com/nats-io/nats-server/v2")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build nats-server: %w\n%s", err, out)
	}
	return program, os.Rename(built, program)
})
