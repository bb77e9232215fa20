package servers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is the time that a program has to start.
const patience = 5 * time.Minute

// A buffer is written by a process while a test reads it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// part is the path of something installed; without it the test is skipped.
func part(t *testing.T, names ...string) string {
	t.Helper()
	if *installed == "" {
		t.Skip("real servers are not installed: make servers")
	}
	path := filepath.Join(append([]string{*installed}, names...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("not installed: %v", err)
	}
	return path
}

// start starts a program, which ends with the test, with all that it started.
func start(t *testing.T, name string, args ...string) *buffer {
	t.Helper()
	cmd, out := exec.Command(name, args...), &buffer{}
	cmd.Dir = t.TempDir()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Join(*installed, "debian/usr/lib/x86_64-linux-gnu"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", filepath.Base(name), tail(out.String()))
		}
	})
	return out
}

func tail(s string) string { return s[max(0, len(s)-1500):] }

// answers waits until a URL is answered, with whatever status.
func answers(t *testing.T, url string, out *buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not answer: %s", url, tail(out.String()))
		case <-tick.C:
		}
	}
}

// port is one that is free.
func port(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func local(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// engine is `pitot serve`, the server behind routers and proxies.
func engine(t *testing.T, args ...string) string {
	t.Helper()
	p := port(t)
	out := start(t, pitot, append([]string{"serve", "--addr", fmt.Sprintf("127.0.0.1:%d", p), "--ttft", "30ms", "--itl", "5ms"}, args...)...)
	answers(t, local(p)+"/health", out)
	return local(p)
}

// config writes a file in which NAME stands for what names has.
func config(t *testing.T, text string, names map[string]string) string {
	t.Helper()
	for name, value := range names {
		text = strings.ReplaceAll(text, name, value)
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
