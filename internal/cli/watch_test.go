package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// watched runs `pitot watch` against a handler, in virtual time.
func watched(t *testing.T, page http.HandlerFunc, with func(*session.Session), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	l := memnet.Listen()
	server := &http.Server{Handler: page}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	var out, errs bytes.Buffer
	sess := &session.Session{
		Args: append([]string{"watch", "http://engine:80"}, args...), Stdout: &out, Stderr: &errs, Signals: make(chan os.Signal),
		Env: func(name string) (string, bool) { return "sk-hushhush1234", name == "OPENAI_API_KEY" }, Dial: l.Dial, Listen: net.Listen,
	}
	if with != nil {
		with(sess)
	}
	code = Run(sess)
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	return code, out.String(), errs.String()
}

// rising is a page of a server that generates 100 tokens per second from the start on.
func rising() http.HandlerFunc {
	start := time.Now()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" || r.Header.Get("Authorization") != "Bearer sk-hushhush1234" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		s := time.Since(start).Seconds()
		fmt.Fprintf(w, "vllm:num_requests_running 8\nvllm:kv_cache_usage_perc %g\nvllm:generation_tokens_total %g\n", s/100, 100*s)
	}
}

// A line of JSON each period has the newest values, and rates from the first line on.
func TestWatchTellsTheNewestValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		code, stdout, stderr := watched(t, rising(), nil, "-f", "json", "--for", "5s", "--every", "2s")
		if code != exitOK || stderr != "" || time.Since(begun) != 5*time.Second {
			t.Fatalf("code %d after %v: %s%s", code, time.Since(begun), stdout, stderr)
		}
		type line struct {
			Servers []struct {
				Running, KVUse, Output, CacheHits *float64
			}
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		for i, text := range lines {
			text = strings.NewReplacer("kv_use", "kvuse", "output_tokens_s", "output", "cache_hits", "cachehits").Replace(text)
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatal(err)
			}
			s := l.Servers[0]
			if *s.Running != 8 || *s.Output != 100 || *s.KVUse != float64(2*i+2)/100 || s.CacheHits != nil {
				t.Errorf("line %d: %s", i, text)
			}
		}
		if len(lines) != 2 { // after 2.5 s and 4.5 s
			t.Errorf("%d lines", len(lines))
		}
	})
}

// What lasts too short for a line gives one at its end; -n ends it too.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for args, want := range map[string]time.Duration{"--for 300ms": 300 * time.Millisecond, "-n 3": 3250 * time.Millisecond} {
			begun := time.Now()
			code, stdout, stderr := watched(t, rising(), nil, strings.Fields(args)...)
			if n := strings.Count(stdout, "running 8"); code != exitOK || stderr != "" || time.Since(begun) != want || n != map[string]int{"--for 300ms": 1, "-n 3": 3}[args] {
				t.Errorf("%s: code %d after %v: %s%s", args, code, time.Since(begun), stdout, stderr)
			}
		}
		begun := time.Now()
		signals := make(chan os.Signal)
		time.AfterFunc(10*time.Second, func() { signals <- os.Interrupt })
		code, _, stderr := watched(t, rising(), func(sess *session.Session) { sess.Signals = signals })
		if code != exitOK || stderr != "" || time.Since(begun) != 10*time.Second {
			t.Errorf("interrupted: code %d after %v: %s", code, time.Since(begun), stderr)
		}
	})
}

// The first line waits for the second answer of a slow server.
func TestWatchBeginsWithRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, page := time.Now(), rising()
		_, stdout, _ := watched(t, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(900 * time.Millisecond):
				page(w, r)
			case <-r.Context().Done():
			}
		}, nil, "-n", "1")
		if took := time.Since(begun); took != 2*time.Second || !strings.Contains(stdout, "output 100 tok/s") {
			t.Errorf("after %v: %q", took, stdout)
		}
	})
}

// A server may come later, and is asked for until then. One that never answers is an error, which
// does not tell the key.
func TestWatchWaitsForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, up := time.Now(), rising()
		code, stdout, stderr := watched(t, func(w http.ResponseWriter, r *http.Request) {
			if time.Since(begun) < 4*time.Second {
				http.Error(w, "loading", http.StatusServiceUnavailable)
				return
			}
			up(w, r)
		}, nil, "--for", "12s")
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if first := lines[0]; !strings.Contains(first, "server: nothing yet after 1s: HTTP 503") || strings.Contains(first, "running") {
			t.Error(first)
		}
		if last := lines[len(lines)-1]; code != exitOK || stderr != "" || !strings.Contains(last, "running 8  waiting -") || !strings.Contains(last, "readings lost: HTTP 503") {
			t.Errorf("code %d: %s%s", code, last, stderr)
		}

		code, stdout, stderr = watched(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere/?key="+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), http.StatusFound)
		}, nil, "--for", "3s")
		if all := stdout + stderr; code != exitFailed || !strings.HasPrefix(stderr, "pitot: nothing from http://engine:80/metrics: redirected to https://elsewhere") || strings.Contains(all, "hushhush") {
			t.Errorf("code %d: %s", code, all)
		}
	})
}

// A terminal is drawn on, and its size can change. Keys come from where somebody types.
type terminal80 struct {
	mu      sync.Mutex
	written bytes.Buffer
	columns int
	keys    chan byte
	raw     bool
}

func (f *terminal80) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written.Write(b)
}

func (f *terminal80) Size() (columns, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.columns, 24
}

func (f *terminal80) Keys() (keys <-chan byte, restore func(), err error) {
	f.raw = true
	return f.keys, func() { f.raw = false }, nil
}

// However it ends, the terminal is as it was: with its cursor, its page and its mode.
func TestWatchLeavesTheTerminalAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, end := range []string{"q", "\x03", "signal", "limit", "closed"} {
			screen, signals := &terminal80{columns: 80, keys: make(chan byte)}, make(chan os.Signal)
			var args []string
			switch end {
			case "limit":
				args = []string{"--for", "3s"}
			case "signal":
				time.AfterFunc(3*time.Second, func() { signals <- os.Interrupt })
			case "closed":
				args = []string{"--for", "3s"}
			default:
				time.AfterFunc(3*time.Second, func() {
					screen.keys <- 'x' // nothing
					screen.keys <- end[0]
				})
			}
			var shown session.Terminal = screen
			if end == "closed" {
				shown = broken{screen}
			}
			time.AfterFunc(2600*time.Millisecond, func() {
				screen.mu.Lock()
				defer screen.mu.Unlock()
				screen.columns = 60
			})
			code, stdout, stderr := watched(t, rising(), func(sess *session.Session) {
				sess.Terminal, sess.Signals = shown, signals
				sess.Columns = func() int { return 80 }
			}, args...)
			if end == "closed" {
				if code != exitFailed || screen.raw {
					t.Errorf("closed: code %d, raw %v: %s", code, screen.raw, stderr)
				}
				continue
			}
			got := screen.written.String()
			if code != exitOK || stdout+stderr != "" || screen.raw {
				t.Errorf("%q: code %d, raw %v: %s%s", end, code, screen.raw, stdout, stderr)
			}
			if !strings.HasPrefix(got, "\x1b[?1049h\x1b[?25l\x1b[H") || !strings.HasSuffix(got, "\x1b[?25h\x1b[?1049l") || strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") {
				t.Errorf("%q: %q", end, got)
			}
			if n := strings.Count(got, "\x1b[H"); n != 5 || !strings.Contains(got, "running") { // at once, after 0.2, 1.25, 2.25 s, and when the size has changed
				t.Errorf("%q: drawn %d times", end, n)
			}
		}
	})
}

// broken is a terminal that is gone.
type broken struct{ *terminal80 }

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
