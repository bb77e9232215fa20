package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// The test binary is also the server that is started, a Pitot that is killed, and what keeps a log
// short afterwards.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "keep-log" {
		if err := proc.TrimLog(os.Args[2]); err != nil {
			panic(err)
		}
		return
	}
	switch os.Getenv("TEST_AS") {
	case "server":
		serve()
	case "pitot":
		pitot()
	default:
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each server would take a second to end under the race detector
		os.Exit(m.Run())
	}
}

// serve is a server: TEST_ANSWERS says what its routes answer, TEST_TERM that it ignores a
// TERM. It holds TEST_PIPE open, and writes a line into it when it is up.
func serve() {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("TEST_PORT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	answers := map[string]int{"/health": 200}
	if text := os.Getenv("TEST_ANSWERS"); text != "" {
		answers = map[string]int{}
		if err := json.Unmarshal([]byte(text), &answers); err != nil {
			panic(err)
		}
	}
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answers[r.URL.Path] == 0 {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(answers[r.URL.Path])
		}))
	}() // until the process ends
	fmt.Println("up with the key", os.Getenv("API_KEY"))
	if name := os.Getenv("TEST_PIPE"); name != "" {
		pipe, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(pipe, "up")
		defer pipe.Close()
	}
	for range terms {
		fmt.Println("got a TERM")
		if os.Getenv("TEST_TERM") == "" {
			os.Exit(0)
		}
	}
}

// pitot is a process that starts the server of TEST_SERVER with the log TEST_LOG, and writes
// its handle to TEST_HANDLE. It never ends.
func pitot() {
	var s design.ServerSetup
	if err := json.Unmarshal([]byte(os.Getenv("TEST_SERVER")), &s); err != nil {
		panic(err)
	}
	_, err := Start(context.Background(), s, Options{
		URL: os.Getenv("TEST_URL"), Log: os.Getenv("TEST_LOG"), TrimCommand: []string{"pitot", "keep-log"},
		SaveHandle: func(h Handle) error {
			b, err := json.Marshal(h)
			if err != nil {
				return err
			}
			pipe, err := os.OpenFile(os.Getenv("TEST_HANDLE"), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer pipe.Close()
			if _, err := pipe.Write(append(b, '\n')); err != nil {
				return err
			}
			if os.Getenv("TEST_HANG") != "" {
				select {}
			}
			return nil
		},
	})
	fmt.Fprintln(os.Stderr, "started", err)
	select {}
}

// self is a command line that runs this binary as a server.
func self(t *testing.T) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "TEST_AS=server exec " + quoted(name)
}

// A stage is where a test starts servers.
type stage struct {
	o    Options
	s    design.ServerSetup
	pipe string
	told chan plan.Code
	r    *Running // nil: started by another process
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	g := &stage{pipe: filepath.Join(dir, "pipe"), told: make(chan plan.Code, 100)}
	if err := syscall.Mkfifo(g.pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	g.s = design.ServerSetup{
		Command: "TEST_PIPE=" + g.pipe + " " + self(t), Env: map[string]string{"TEST_PORT": port, "API_KEY": "sesame-sesame"},
		StopTimeout: plan.Duration(time.Minute), ReadyTimeout: plan.Duration(time.Minute),
	}
	g.o = Options{
		URL: "http://127.0.0.1:" + port, Log: filepath.Join(dir, "log"),
		OnWait: func(m plan.Message) {
			select {
			case g.told <- m.Code:
			default:
			}
		},
		Waits: Waits{Poll: time.Millisecond},
	}
	return g
}

// start starts the server, which ends with the test.
func (g *stage) start(t *testing.T) *Running {
	t.Helper()
	saved := Handle{}
	keep := g.o.SaveHandle
	g.o.SaveHandle = func(h Handle) error {
		saved = h
		if keep != nil {
			return keep(h)
		}
		return nil
	}
	r, err := Start(t.Context(), g.s, g.o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // whatever the test did
		hurry := make(chan struct{})
		close(hurry)
		o := g.o
		o.Hurry = hurry
		if err := EndLeftover(context.Background(), saved, o); err != nil {
			t.Error(err)
		}
	})
	g.r = r
	return r
}

// up waits until the server is up; the reader ends when no process of it has the pipe open.
func (g *stage) up(t *testing.T) *bufio.Reader {
	t.Helper()
	opened := make(chan struct{})
	if g.r != nil {
		go func() {
			select {
			case <-opened:
			case <-g.r.Done(): // it will not open the pipe any more, which then has an end all the same
				if f, err := os.OpenFile(g.pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
					f.Close()
				}
			}
		}()
	}
	f, err := os.Open(g.pipe)
	close(opened)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r := bufio.NewReader(f)
	if line, err := r.ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("%q, %v; its log:\n%s", line, err, text(t, g.o.Log))
	}
	return r
}

// gone waits until no process has the pipe open.
func gone(t *testing.T, r *bufio.Reader) {
	t.Helper()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

// nothing fails if there is anything of a server.
func (g *stage) nothing(t *testing.T, h Handle) {
	t.Helper()
	if alive, what, err := Leftover(t.Context(), h, g.o); alive || err != nil {
		t.Errorf("left behind: %v, %v", what, err)
	}
}

// program writes a shell script of that name into a folder, which is the only one on PATH
// ahead of the system's.
func program(t *testing.T, name, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// secretless fails if a value has what the server was given as a secret.
func secretless(t *testing.T, values ...any) {
	t.Helper()
	for _, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := v.(error); ok {
			b = []byte(e.Error())
		}
		if strings.Contains(string(b), "sesame") {
			t.Errorf("has a secret: %s", b)
		}
	}
}
