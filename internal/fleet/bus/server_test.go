package bus_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/test/fleettest"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

func start(t *testing.T, o bus.ServerOptions) *bus.Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := bus.StartServer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func serverConnect(t *testing.T, url string) (*bus.Bus, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	b, err := bus.Connect(ctx, bus.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b, ctx
}

func TestStreamsAreThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	first := start(t, bus.ServerOptions{Dir: dir})
	b, ctx := serverConnect(t, first.URL())
	if _, err := b.Stream().CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Storage: jetstream.FileStorage}); err != nil {
		t.Fatal(err)
	}
	large := []byte(strings.Repeat("x", 6<<20))
	if _, err := b.Stream().Publish(ctx, "s.1", large); err != nil {
		t.Fatal(err)
	}
	b.Close()
	first.Close()
	first.Close() // again
	second := start(t, bus.ServerOptions{Dir: dir, Listen: first.Addr().String()})
	if second.URL() != first.URL() {
		t.Errorf("%s, before %s", second.URL(), first.URL())
	}
	b, ctx = serverConnect(t, second.URL())
	stream, err := b.Stream().Stream(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetMsg(ctx, 1)
	if err != nil || string(m.Data) != string(large) {
		t.Errorf("%d bytes, %v", len(m.Data), err)
	}
}

func TestTheStoreIsLimited(t *testing.T) {
	b, ctx := serverConnect(t, start(t, bus.ServerOptions{MaxStore: 1 << 20}).URL())
	if _, err := b.Stream().CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	stored := 0
	for ; stored < 10; stored++ {
		if _, err := b.Stream().Publish(ctx, "s", make([]byte, 256<<10)); err != nil {
			break
		}
	}
	if stored < 1 || stored > 4 {
		t.Errorf("%d messages of 256 KiB fit into 1 MiB", stored)
	}
}

var (
	numbers       = regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`)
	serverFolders = regexp.MustCompile(`/\S*/`)
)

func TestMistakes(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	running := start(t, bus.ServerOptions{Dir: dir})
	ca := fleettest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	other, _ := ca.Issue(t, "other")
	var lines []string
	for _, test := range []struct {
		name string
		o    bus.ServerOptions
	}{
		{"anybody on the network", bus.ServerOptions{Listen: "0.0.0.0:0"}},
		{"anybody on the network, no host", bus.ServerOptions{Listen: ":0"}},
		{"anybody on the network, a name", bus.ServerOptions{Listen: "far.example:4222", Cert: cert, Key: key}},
		{"no port", bus.ServerOptions{Listen: "127.0.0.1"}},
		{"a port too high", bus.ServerOptions{Listen: "127.0.0.1:65536"}},
		{"an address in use", bus.ServerOptions{Listen: running.Addr().String()}},
		{"an address of another machine", bus.ServerOptions{Listen: "192.0.2.1:0", Token: "s3cr3t"}},
		{"a folder in use", bus.ServerOptions{Dir: dir}},
		{"a folder that is a file", bus.ServerOptions{Dir: file}},
		{"a folder in a file", bus.ServerOptions{Dir: filepath.Join(file, "streams")}},
		{"no key", bus.ServerOptions{Cert: cert}},
		{"a CA alone", bus.ServerOptions{CA: ca.File}},
		{"no certificate", bus.ServerOptions{Cert: key, Key: key}},
		{"another key", bus.ServerOptions{Cert: other, Key: key}},
		{"no CA", bus.ServerOptions{Cert: cert, Key: key, CA: key}},
		{"no CA file", bus.ServerOptions{Cert: cert, Key: key, CA: "/missing/ca.pem"}},
		{"no nkey", bus.ServerOptions{NKeys: []string{"SUs3cr3t"}}},
	} {
		if test.o.Dir == "" {
			test.o.Dir = t.TempDir()
		}
		s, err := bus.StartServer(test.o)
		if err == nil {
			s.Close()
			t.Errorf("%s: started", test.name)
			continue
		}
		text := err.Error()
		if strings.ContainsAny(text, "\n\r") || strings.Contains(text, "s3cr3t") {
			t.Errorf("%s: %q", test.name, text)
		}
		text = serverFolders.ReplaceAllString(numbers.ReplaceAllString(text, "127.0.0.1:PORT"), "DIR/")
		lines = append(lines, test.name+": "+text+"\n")
	}
	golden.Check(t, "testdata/mistakes.txt", strings.Join(lines, ""))
	if _, err := bus.StartServer(bus.ServerOptions{}); err == nil {
		t.Error("started without a folder")
	}
}

// One socket listens, on the address that was asked for.
func TestNothingElseListens(t *testing.T) {
	fleettest.Each(t, fleettest.Options{}, func(*testing.T, fleettest.Server) {}) // what tests share is there
	before := listening(t)
	local := start(t, bus.ServerOptions{})
	for address := range listening(t) {
		if !before[address] && address != local.Addr().String() {
			t.Errorf("%s listens", address)
		}
	}
	if host, _, _ := net.SplitHostPort(local.Addr().String()); host != "127.0.0.1" {
		t.Errorf("by default it listens on %s", host)
	}
	asked := start(t, bus.ServerOptions{Listen: "0.0.0.0:0", Token: "the-token"})
	_, port, _ := net.SplitHostPort(asked.Addr().String())
	if want := "nats://127.0.0.1:" + port; asked.URL() != want {
		t.Errorf("URL %s, want %s", asked.URL(), want)
	}
	if n := len(listening(t)) - len(before); len(before) > 0 && n != 2 {
		t.Errorf("%d sockets listen, want 2", n)
	}
}

// listening are the addresses on which this process listens, as far as the system tells.
func listening(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	links, _ := filepath.Glob("/proc/self/fd/*")
	ours := map[string]bool{}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			ours[to] = true
		}
	}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			t.Log(err)
			continue
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && ours["socket:["+f[9]+"]"] {
				found[serverAddress(f[1])] = true
			}
		}
	}
	return found
}

// address is ADDRESS:PORT of /proc/net/tcp, as far as IPv4 has it.
func serverAddress(hex string) string {
	var b [4]byte
	var port uint16
	host, portHex, _ := strings.Cut(hex, ":")
	if len(host) != 8 {
		return hex
	}
	for i := range b {
		b[3-i] = byte(number(host[2*i : 2*i+2]))
	}
	port = uint16(number(portHex))
	return (&net.TCPAddr{IP: b[:], Port: int(port)}).String()
}

func number(hex string) (n int) {
	for _, c := range hex {
		n = n*16 + strings.IndexRune("0123456789ABCDEF", c)
	}
	return n
}

func TestNoGoroutineIsLeft(t *testing.T) {
	s := start(t, bus.ServerOptions{})
	b, _ := serverConnect(t, s.URL())
	end, err := bus.Answer(b, bus.Everybody, func(struct{}) (any, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	end()
	b.Close()
	s.Close()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		left := goroutines("nats-io", "internal/fleet")
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d are left:\n%s", len(left), strings.Join(left, "\n\n"))
		}
	}
}

// goroutines are the stacks, but for that of the caller, that have one of the words.
func goroutines(words ...string) (found []string) {
	stacks := make([]byte, 1<<20)
	all := strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")
	for _, stack := range all[1:] {
		for _, word := range words {
			if strings.Contains(stack, word) && !strings.Contains(stack, "testing.(*T).Run") {
				found = append(found, stack)
				break
			}
		}
	}
	return found
}
