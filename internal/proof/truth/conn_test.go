package truth

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

const streamBody = `{"prompt":"a","max_tokens":3,"stream":true}`

// send writes raw bytes on a new connection.
func (r *rig) send(format string, args ...any) (net.Conn, *bufio.Reader) {
	r.t.Helper()
	c := r.dial()
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		r.t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// response reads a whole one.
func (r *rig) response(in *bufio.Reader) (*http.Response, string) {
	r.t.Helper()
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Error(err)
	}
	return resp, string(b)
}

func TestAConnectionServesManyRequests(t *testing.T) {
	for _, bed := range []func(*testing.T, Config, func(*rig)){virtual, loopback} {
		bed(t, Config{Step: time.Millisecond}, func(r *rig) {
			c := r.dial()
			in := bufio.NewReader(c)
			for range 5 {
				fmt.Fprintf(c, "POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(streamBody), streamBody)
				if _, body := r.response(in); strings.Count(body, "data: {") != 3 {
					t.Errorf("body %q", body)
				}
				fmt.Fprintf(c, "GET /health HTTP/1.1\r\n\r\n")
				if resp, _ := r.response(in); resp.StatusCode != 200 {
					t.Errorf("health %d", resp.StatusCode)
				}
			}
			c.Close()
		})
	}
}

func TestRequestsThatDoNotWaitAreAnsweredInOrder(t *testing.T) {
	loopback(t, Config{Step: time.Millisecond}, func(r *rig) {
		c, in := r.send("POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%sGET /version HTTP/1.1\r\n\r\n"+
			"BAD\r\n\r\n", len(streamBody), streamBody)
		defer c.Close()
		if _, body := r.response(in); strings.Count(body, "data: {") != 3 {
			t.Errorf("first %q", body)
		}
		if _, body := r.response(in); !strings.Contains(body, "version") {
			t.Errorf("second %q", body)
		}
		if resp, body := r.response(in); resp.StatusCode != 400 || !resp.Close {
			t.Errorf("third %d %q, want it refused and the connection closed", resp.StatusCode, body)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("then %v", err)
		}
	})
}

func TestAClientThatWaitsIsToldToSendTheBody(t *testing.T) {
	virtual(t, Config{}, func(r *rig) {
		c, in := r.send("POST /v1/completions HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
		defer c.Close()
		if resp, _ := r.response(in); resp.StatusCode != 100 {
			t.Fatalf("status %d", resp.StatusCode)
		}
		fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(streamBody), streamBody)
		if resp, body := r.response(in); resp.StatusCode != 200 || strings.Count(body, "data: {") != 3 {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
	})
}

func TestTheConnectionIsClosedWhenTheClientWantsIt(t *testing.T) {
	for _, bed := range []func(*testing.T, Config, func(*rig)){virtual, loopback} {
		bed(t, Config{}, func(r *rig) {
			c, in := r.send("POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
				len(streamBody), streamBody)
			defer c.Close()
			if resp, body := r.response(in); !resp.Close || !strings.HasSuffix(body, "data: [DONE]\n\n") {
				t.Errorf("%v %q", resp.Header, body)
			}
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("then %v", err)
			}
		})
	}
}

func TestALargePrompt(t *testing.T) {
	loopback(t, Config{}, func(r *rig) {
		body := fmt.Sprintf(`{"prompt":%q,"max_tokens":1,"stream":true}`, strings.Repeat("word ", 1<<20/5))
		if status, got, err := r.ask("/v1/completions", body); status != 200 || err != nil ||
			strings.Count(got, "data: {") != 1 {
			t.Errorf("%d %.100s %v", status, got, err)
		}
		r.srv.waitIdle()
		if req := r.request(); req.PromptTokens != 1<<20/5 {
			t.Errorf("%d words", req.PromptTokens)
		}
	})
}

// A client that does not read holds up neither the others nor, once it reads,
// its own answer.
func TestAFullSocketHoldsUpNobody(t *testing.T) {
	loopback(t, Config{}, func(r *rig) {
		const tokens = 1 << 16 // of some 200 bytes: more than sockets hold
		body := fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"stream":true}`, tokens)
		c, in := r.send("POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		defer c.Close()
		if _, err := in.Peek(1); err != nil {
			t.Fatal(err)
		}
		// Streams take turns, so one that had none during another has no room.
		for before := -1; before < r.srv.Log().Requests[0].Tokens; {
			before = r.srv.Log().Requests[0].Tokens
			if got := r.streams(1, `{"prompt":"a","max_tokens":50,"stream":true}`); got[0] != 50 {
				t.Errorf("another stream had %d events", got[0])
			}
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: {") {
				got++
			}
		}
		r.srv.waitIdle()
		log := r.srv.Log()
		blocked := 0
		for _, w := range log.Requests[0].Writes {
			if w.Blocked {
				blocked++
			}
		}
		if got != tokens || log.Requests[0].Tokens != tokens || blocked == 0 || log.Requests[0].Ended != Complete {
			t.Errorf("the client read %d tokens, the log has %d and %d blocked writes", got, log.Requests[0].Tokens, blocked)
		}
	})
}

func TestAClientThatLeaves(t *testing.T) {
	check := func(wait func(*rig)) func(*rig) {
		return func(r *rig) {
			body := `{"prompt":"a","max_tokens":100000,"stream":true}`
			c, in := r.send("POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			for range 20 {
				if _, err := in.ReadString('\n'); err != nil {
					r.t.Fatal(err)
				}
			}
			c.Close()
			wait(r)
			if req := r.request(); req.Ended != ClientGone || req.Tokens == 0 || req.Tokens == 100000 {
				r.t.Errorf("ended %v after %d tokens", req.Ended, req.Tokens)
			}
		}
	}
	cfg := Config{Step: time.Millisecond}
	virtual(t, cfg, check(func(*rig) { time.Sleep(10 * time.Millisecond) }))
	loopback(t, cfg, check(func(r *rig) { r.srv.waitIdle() }))
}

func TestServeEndsWithStreamsOpen(t *testing.T) {
	for _, bed := range []func(*testing.T, Config, func(*rig)){virtual, loopback} {
		var srv *Server
		cfg := Config{Step: time.Hour}
		bed(t, cfg, func(r *rig) {
			srv = r.srv
			for range 4 {
				c, in := r.send("POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(streamBody), streamBody)
				defer c.Close()
				if line, err := in.ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
					t.Errorf("%q %v", line, err)
				}
			}
		})
		for _, req := range srv.Log().Requests {
			if req.Ended != Stopped {
				t.Errorf("logged %+v", req)
			}
		}
		if n := len(srv.Log().Requests); n != 4 {
			t.Errorf("%d requests in the log, want 4", n)
		}
	}
}

func TestTheLogCanBeReadDuringARun(t *testing.T) {
	loopback(t, Config{Step: 100 * time.Microsecond}, func(r *rig) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.streams(20, `{"prompt":"a","max_tokens":200,"stream":true}`)
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			for _, req := range r.srv.Log().Requests {
				if req.Tokens > req.Wanted || len(req.Writes) > 0 && req.Writes[len(req.Writes)-1].After == 0 {
					t.Errorf("%+v", req)
				}
			}
		}
	})
}

func TestALog(t *testing.T) {
	virtual(t, Config{}, func(r *rig) {
		if log := r.srv.Log(); len(log.Requests) != 0 || log.Lateness != (trace.Lag{}) {
			t.Errorf("of an idle server: %+v", log)
		}
		synctest.Wait()
	})
	rec := &record{writes: []Write{
		{Planned: 100, Before: 105, After: 115, Tokens: 1},
		{Planned: 200, Before: 201, After: 900, Tokens: 1, Blocked: true},
		{Planned: 300, Before: 901, After: 921, Tokens: 1}, // the client's fault
		{Planned: 950, Before: 951, After: 955, Tokens: 1},
		{Planned: 950, Before: 960, After: 963}, // usage
	}}
	rec.n.Store(5)
	log := newLog([]*record{rec})
	if want := (trace.Lag{Reads: 3, P50: 1, P99: 5, Max: 5}); log.Lateness != want {
		t.Errorf("lateness %+v, want %+v", log.Lateness, want)
	}
	if want := (trace.Lag{Reads: 4, P50: 4, P99: 20, Max: 20}); log.WriteTime != want || log.WriteCPU != 37 {
		t.Errorf("writes took %+v and %d, want %+v and 37", log.WriteTime, log.WriteCPU, want)
	}
	if log.Requests[0].Tokens != 4 {
		t.Errorf("%d tokens", log.Requests[0].Tokens)
	}
}
