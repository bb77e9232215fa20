package cli

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/test/devices"
	"github.com/pitot-bench/pitot/internal/test/program"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// noRest is what the race detector wants to hear, lest each process sleep a second at its end.
const noRest = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	devices.Main()
	if len(os.Args) > 2 && os.Args[1] == "ui" && os.Args[2] == "--beside" { // the page beside a run
		Main()
	}
	if err := os.Setenv("GORACE", noRest); err != nil {
		log.Fatal(err)
	}
	testscript.Main(m, map[string]func(){"pitot": Main})
}

// The scripts have notes with result tables in $NOTES, and know three commands beside
// pitot:
//
//	engine [-tls] [fault...]  starts an engine that answers in milliseconds and sets $URL and $PORT; with -tls
//	                          its certificate is in ca.pem
//	retry COMMAND...          runs a command until it succeeds
//	mask FILE                 replaces in FILE what differs from run to run: digits by 0
func TestScripts(t *testing.T) {
	race.Skip(t)
	testscript.Run(t, testscript.Params{
		ContinueOnError:     true,
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TZ", "UTC")
			env.Setenv("LANG", "C")
			env.Setenv("GORACE", noRest)
			env.Setenv("GOGC", "400") // hundreds of commands start and end
			notes, err := filepath.Abs("../tool/ingest/testdata/notes")
			env.Setenv("NOTES", notes)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"engine":   startEngine,
			"freeport": freePort,
			"mask":     mask,
			"retry":    retry,
		},
	})
}

// freePort sets a variable to a port of the loopback that nobody listens on.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	port, err := program.FreePort()
	ts.Check(err)
	ts.Setenv(args[0], port)
}

func startEngine(ts *testscript.TestScript, _ bool, args []string) {
	cfg := apiserver.Config{
		Latency:   engine.Latency{TTFT: arrival.FixedDuration(2 * time.Millisecond), ITL: arrival.FixedDuration(time.Millisecond)},
		OutputLen: arrival.ConstantCount(5),
	}
	var secure *tls.Config
	scheme := "http"
	for _, arg := range args {
		if arg == "-tls" {
			scheme, secure = "https", selfSigned(ts)
			continue
		}
		f, err := apiserver.ParseFault(arg)
		ts.Check(err)
		cfg.Faults = append(cfg.Faults, f)
	}
	server, err := apiserver.New(cfg)
	ts.Check(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, secure) }()
	ts.Defer(func() {
		cancel()
		ts.Check(<-done)
	})
	ts.Setenv("URL", scheme+"://"+l.Addr().String())
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv("PORT", port)
}

// selfSigned makes a certificate for 127.0.0.1 and writes it to ca.pem.
func selfSigned(ts *testscript.TestScript) *tls.Config {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	ts.Check(err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	ts.Check(err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), cert, 0o644))
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func mask(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		var text string
		if name == "stdout" || name == "stderr" {
			text = ts.ReadFile(name)
		} else {
			b, err := os.ReadFile(ts.MkAbs(name))
			ts.Check(err)
			text = string(b)
		}
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "masked"), []byte(maskDigits(text)), 0o644))
	}
}

// maskDigits replaces every run of digits by 0 and every run of blanks by one.
func maskDigits(s string) string {
	var b strings.Builder
	var last rune
	for _, r := range s {
		if r >= '0' && r <= '9' {
			r = '0'
		}
		if (r == '0' || r == ' ') && r == last {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// retry runs a command until it succeeds, for 30 s at most.
func retry(ts *testscript.TestScript, _ bool, args []string) {
	var err error
	for begin := time.Now(); time.Since(begin) < 30*time.Second; {
		if err = ts.Exec(args[0], args[1:]...); err == nil {
			return
		}
	}
	ts.Fatalf("it goes on failing: %v", err)
}
