package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// serving runs Serve on a network in memory until the test ends, and returns a dialer and what was
// said.
func serving(t *testing.T, h http.Handler) (dial func() net.Conn, lines *[]string) {
	t.Helper()
	l := memnet.Listen()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	lines = new([]string)
	go func() { done <- Serve(ctx, l, h, nil, func(line string) { *lines = append(*lines, line) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // net/http waits for clients that it refused, in virtual time
	})
	return func() net.Conn {
		c, err := l.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}, lines
}

// request writes a request and reads its answer.
func request(t *testing.T, c net.Conn, path string) (code int, body string) {
	t.Helper()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:7070\r\n\r\n", path)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func TestAPanicIsOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, lines := serving(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/bad" {
				panic("a bug")
			}
		}))
		c := dial()
		defer c.Close()
		if code, body := request(t, c, "/bad"); code != 500 || strings.Contains(body, "bug") {
			t.Errorf("%d %s", code, body)
		}
		if code, _ := request(t, c, "/good"); code != 200 {
			t.Errorf("after it %d", code)
		}
		if len(*lines) != 1 || !strings.Contains((*lines)[0], "GET /bad: panic: a bug at ") || !strings.Contains((*lines)[0], "serve_test.go:") {
			t.Error(*lines)
		}
	})
}

// Heads and bodies that do not come to an end are cut off.
func TestSlowRequestsAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, _ := serving(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
		for name, tt := range map[string]struct {
			send  string
			after time.Duration
		}{
			"nothing":        {"", headerTime},
			"half a head":    {"GET / HTTP/1.1\r\nHost: x\r\n", headerTime},
			"half a body":    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345", requestTime},
			"body of a GET":  {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345", requestTime},
			"an idle client": {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", idleTime},
		} {
			c, start := dial(), time.Now()
			if _, err := io.WriteString(c, tt.send); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, c) // until the server closes it
			if took := time.Since(start); took < tt.after || took > tt.after+5*time.Second {
				t.Errorf("%s: cut off after %v, want %v", name, took, tt.after)
			}
			_ = c.Close()
		}
	})
}

// Who reads nothing more of an answer is cut off, and the handler ends.
func TestSlowReadersAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		dial, _ := serving(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			var err error
			for err == nil {
				_, err = w.Write(make([]byte, 1<<20))
			}
			ended <- err
		}))
		c, start := dial(), time.Now()
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil || time.Since(start) > stuckTime+time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// A long answer to who reads all the time takes as long as it takes.
func TestLongAnswersAreNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, _ := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 100 {
				time.Sleep(10 * time.Second)
				if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil || r.Context().Err() != nil {
					t.Error(err, r.Context().Err())
					return
				}
				_ = http.NewResponseController(w).Flush()
			}
		}))
		c := dial()
		defer c.Close()
		if code, body := request(t, c, "/"); code != 200 || len(body) != 100_000 {
			t.Errorf("%d, %d bytes", code, len(body))
		}
	})
}

func TestManyRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		dial, _ := serving(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
		var open []net.Conn
		for range manyAnswers {
			c := dial()
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			open = append(open, c)
		}
		synctest.Wait()
		c := dial()
		if code, body := request(t, c, "/"); code != http.StatusServiceUnavailable {
			t.Errorf("%d %s", code, body)
		}
		close(hold)
		synctest.Wait()
		if code, _ := request(t, c, "/"); code != http.StatusOK {
			t.Errorf("afterwards %d", code)
		}
		for _, c := range append(open, c) {
			_ = c.Close()
		}
	})
}

// Very long heads are refused before anything looks at them.
func TestLongHeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, _ := serving(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		for _, head := range []string{"GET /?q=" + strings.Repeat("a", 2*headerBytes) + " HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("a", 2*headerBytes) + "\r\n\r\n"} {
			c := dial()
			go func() { _, _ = io.WriteString(c, head) }()
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("%v %v", err, r)
			}
			_ = c.Close()
		}
	})
}

// The server ends although somebody holds a connection.
func TestTheServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		ctx, cancel := context.WithCancel(t.Context())
		done, asked := make(chan error), make(chan struct{})
		go func() {
			done <- Serve(ctx, l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				close(asked)
				<-r.Context().Done()
			}), nil, nil)
		}()
		c, err := l.Dial(ctx, "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-asked
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = c.Close()
		if err := Serve(t.Context(), l, http.NotFoundHandler(), nil, nil); err == nil || errors.Is(err, http.ErrServerClosed) {
			t.Errorf("a closed listener: %v", err)
		}
	})
}
