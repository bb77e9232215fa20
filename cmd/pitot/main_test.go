package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/program"
)

var folder string // of the program

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "pitot-test-"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// build compiles the program as shipped: static, without cgo. All tests share it.
func build(t *testing.T) (pitot string) {
	t.Helper()
	pitot, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return pitot
}

var built = sync.OnceValues(func() (string, error) { return program.Build(folder) })

// serve starts `pitot serve` as a separate process and returns its URL.
func serve(t *testing.T, pitot string, args ...string) (url string) {
	t.Helper()
	_, url = startServer(t, pitot, args...)
	return url
}

func startServer(t *testing.T, pitot string, args ...string) (_ *os.Process, url string) {
	t.Helper()
	cmd := exec.Command(pitot, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, address, ok := strings.Cut(strings.TrimSpace(line), " on ")
	if !ok {
		t.Fatalf("serve said %q", line)
	}
	return cmd.Process, address
}

func command(t *testing.T, store, pitot string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(pitot, args...)
	cmd.Env = append(os.Environ(), "PITOT_STORE="+store)
	return cmd
}

// The built program measures a real server process.
func TestTheBuiltProgram(t *testing.T) {
	pitot := build(t)
	address := serve(t, pitot, "--ttft", "20ms", "--itl", "5ms")
	store := filepath.Join(t.TempDir(), "runs.db")
	out, err := command(t, store, pitot, "bench", "-q", "--url", address, "-n", "50", "--rate", "100", "--output-len", "8", "--report", "pitot,vllm").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"50 ok, 0 failed", "target  http://127.0.0.1:", "Successful requests:                     50        ", "Total generated tokens:                  400       "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// After kill -9 during a run the store has every record except those of the last
// second. Requests are sequential and take at least 50 ms, so a second holds at
// most 20 of them.
func TestKill9(t *testing.T) {
	if testing.Short() {
		t.Skip("long: runs without -short")
	}
	pitot := build(t)
	store := filepath.Join(t.TempDir(), "runs.db")
	const killAt = 60
	behind, err := url.Parse(serve(t, pitot, "--ttft", "45ms", "--itl", "5ms"))
	if err != nil {
		t.Fatal(err)
	}
	victim := make(chan *exec.Cmd, 1)
	var requests atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") && requests.Add(1) == killAt {
			_ = (<-victim).Process.Kill() // SIGKILL
		}
		// The answer begins before the proxy has read the whole body, which the
		// server then closes: the proxy would treat that as a failure.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the victim is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})}
	url := listen(t, front)
	cmd := command(t, store, pitot, "bench", "-q", "--url", url, "-n", "1000", "-c", "1", "--output-len", "2", "--warmup", "0", "--ready-timeout", "0", "--name", "killed")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	victim <- cmd
	if err := cmd.Wait(); err == nil {
		t.Fatal("the process was to be killed")
	}
	out, err := command(t, store, pitot, "runs", "show", "killed").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`records +(\d+) of 1000 requests`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no count of records in\n%s", out)
	}
	if n, _ := strconv.Atoi(string(m[1])); n < killAt-1-20 || n >= killAt || bytes.Count(out, []byte("ok length")) != n {
		t.Errorf("%d records after %d requests\n%s", n, killAt, out)
	}
	if out, err = command(t, store, pitot, "runs", "report", "killed").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("requests have no record: they were in flight when the run was last seen")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A signal ends a command that does not handle it, here one that waits for the rest
// of its file.
func TestASignalThatNobodyTakesEndsTheProcess(t *testing.T) {
	cmd := command(t, filepath.Join(t.TempDir(), "runs.db"), build(t), "bench", "--workload", "custom", "--data", "/dev/stdin")
	file, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	const pipe = 64 << 10 // what it holds: all of this is written once the process reads
	if _, err := file.Write(bytes.Repeat([]byte(" "), 2*pipe)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("ended with %v", err)
	}
}

func listen(t *testing.T, s *http.Server) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}
