package ui

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
)

// The binary of the tests is the second process too, and a command beside which it runs.
func TestMain(m *testing.M) {
	sess := &session.Session{Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv, Listen: net.Listen, Secrets: new(secret.Set), Version: "test"}
	switch {
	case len(os.Args) > 4 && os.Args[1] == "ui": // --beside --store FILE
		if err := (Cmd{Beside: true, Listen: "127.0.0.1:0", StoreFlag: flags.StoreFlag{Store: os.Args[4]}}).Run(sess); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 2 && os.Args[1] == "command":
		ServePage(sess, true, os.Args[2])
		select {} // until it is killed
	}
	os.Exit(m.Run())
}

// A page is a Cmd that serves, and what it said.
type page struct {
	url     string
	lines   *bufio.Reader // of stderr, after the address
	signals chan os.Signal
	ended   chan error
}

func serve(t *testing.T, c Cmd) *page {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close() })
	p := &page{lines: bufio.NewReader(read), signals: make(chan os.Signal), ended: make(chan error, 1)}
	sess := &session.Session{Stdout: io.Discard, Stderr: write, Env: os.LookupEnv, Listen: net.Listen, Signals: p.signals, Secrets: new(secret.Set), Version: "test"}
	go func() {
		err := c.Run(sess)
		_ = write.Close()
		p.ended <- err
	}()
	for {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("it ended: %v", <-p.ended)
		}
		if m := regexp.MustCompile(`^showing .* at (http\S+)\n`).FindStringSubmatch(line); m != nil {
			p.url = m[1]
			return p
		}
	}
}

// end interrupts it.
func (p *page) end(t *testing.T) {
	t.Helper()
	p.signals <- os.Interrupt
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

func ask(t *testing.T, client *http.Client, url string) (code int, body string) {
	t.Helper()
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func total(t *testing.T, url string) (n int) {
	t.Helper()
	code, body := ask(t, http.DefaultClient, url+"api/runs")
	var found struct{ Total int }
	if err := json.Unmarshal([]byte(body), &found); err != nil || code != 200 {
		t.Fatal(code, err, body)
	}
	return found.Total
}

// A store that is not there is made, and shows the runs that another process makes.
func TestAStoreThatIsNotThereYet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "runs.db")
	p := serve(t, Cmd{Listen: "127.0.0.1:0", StoreFlag: flags.StoreFlag{Store: file}})
	if line, err := p.lines.ReadString('\n'); err != nil || line != "the store is new: the page shows runs as soon as there are some\n" {
		t.Errorf("%v %q", err, line)
	}
	if n := total(t, p.url); n != 0 {
		t.Errorf("%d runs", n)
	}
	other, err := store.OpenWrite(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Import(trace.Run{ID: "a", Kind: trace.Imported, Status: trace.Complete}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if n := total(t, p.url); n != 1 {
		t.Errorf("%d runs", n)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	p.end(t)
}

// Without --write nothing is written, and a store that cannot be written is no obstacle.
func TestAStoreThatCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	file := filepath.Join(t.TempDir(), "runs.db")
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(file), 0o700) })
	for _, name := range []string{file, filepath.Dir(file)} {
		if err := os.Chmod(name, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	p := serve(t, Cmd{Listen: "127.0.0.1:0", StoreFlag: flags.StoreFlag{Store: file}})
	if n := total(t, p.url); n != 0 {
		t.Errorf("%d runs", n)
	}
	p.end(t)
	sess := &session.Session{Stderr: io.Discard, Env: os.LookupEnv, Listen: net.Listen, Secrets: new(secret.Set)}
	if err := (Cmd{Listen: "127.0.0.1:0", Write: true, StoreFlag: flags.StoreFlag{Store: file}}).Run(sess); err == nil || !strings.HasPrefix(err.Error(), "--write: open store ") {
		t.Error(err)
	}
}

// An address that other machines reach, or --token, is a token that the printed address has; the
// browser has a cookie afterwards.
func TestTheAddressHasAToken(t *testing.T) {
	for name, c := range map[string]Cmd{"all addresses": {Listen: "0.0.0.0:0"}, "loopback": {Listen: "127.0.0.1:0", Token: true}} {
		c.Store = filepath.Join(t.TempDir(), "runs.db")
		p := serve(t, c)
		at, err := url.Parse(p.url)
		if err != nil || at.Query().Get("token") == "" {
			t.Fatalf("%s: %s", name, p.url)
		}
		here := "http://127.0.0.1:" + at.Port() + "/"
		if code, _ := ask(t, http.DefaultClient, here+"api/hello"); code != http.StatusUnauthorized {
			t.Errorf("%s: without the token: %d", name, code)
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := &http.Client{Jar: jar}
		if code, _ := ask(t, browser, here+"?"+at.RawQuery); code != http.StatusOK {
			t.Errorf("%s: with the token: %d", name, code)
		}
		if code, body := ask(t, browser, here+"api/hello"); code != http.StatusOK || !strings.Contains(body, `"version":"test"`) {
			t.Errorf("%s: with the cookie: %d %s", name, code, body)
		}
		p.end(t)
	}
}

func TestAPageOverTLS(t *testing.T) {
	cert, key := certificate(t)
	p := serve(t, Cmd{Listen: "127.0.0.1:0", TLS: flags.TLS{TLSCert: cert, TLSKey: key}, StoreFlag: flags.StoreFlag{Store: filepath.Join(t.TempDir(), "runs.db")}})
	if !strings.HasPrefix(p.url, "https://127.0.0.1:") {
		t.Error(p.url)
	}
	pool := x509.NewCertPool()
	if data, err := os.ReadFile(cert); err != nil || !pool.AppendCertsFromPEM(data) {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	r, err := client.Get(p.url + "api/hello")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != 200 || r.Proto != "HTTP/2.0" {
		t.Errorf("%d over %s", r.StatusCode, r.Proto)
	}
	p.end(t)
}

// certificate makes one for 127.0.0.1, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A port that is taken is one line with a way out: by the same page, or by something else.
func TestAPortThatIsTaken(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.db")
	p := serve(t, Cmd{Listen: "127.0.0.1:0", StoreFlag: flags.StoreFlag{Store: file}})
	at, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	sess := &session.Session{Stderr: io.Discard, Env: os.LookupEnv, Listen: net.Listen, Secrets: new(secret.Set)}
	for store, want := range map[string]string{
		file:                           "--listen " + at.Host + ": pitot ui already shows this store at " + p.url,
		filepath.Join(dir, "other.db"): "--listen " + at.Host + ": the port is in use; another one is chosen by --listen 127.0.0.1:0",
	} {
		if err := (Cmd{Listen: at.Host, StoreFlag: flags.StoreFlag{Store: store}}).Run(sess); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	p.end(t)
}

// The page ends although the command beside which it is served is killed, once nobody looks.
func TestThePageEndsWithAKilledCommand(t *testing.T) {
	cmd := exec.Command(os.Args[0], "command", filepath.Join(t.TempDir(), "runs.db"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	m := regexp.MustCompile(`^the page is at http://(\S+)/ `).FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatal(err, line)
	}
	c, err := net.Dial("tcp", m[1])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("the page goes on: %v", err)
	}
}
