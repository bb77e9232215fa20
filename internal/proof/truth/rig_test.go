package truth

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// A rig is a server and a client of it.
type rig struct {
	t      *testing.T
	srv    *Server
	client *http.Client
	dial   func() net.Conn
}

// virtual runs f with a rig in virtual time. Whatever Serve started must have
// ended after it.
func virtual(t *testing.T, cfg Config, f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		run(t, cfg, l, func() (net.Conn, error) { return l.Dial(t.Context(), "", "") }, f)
	})
}

// loopback runs f with a rig on real sockets.
func loopback(t *testing.T, cfg Config, f func(r *rig)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	run(t, cfg, l, func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }, f)
}

func run(t *testing.T, cfg Config, l net.Listener, dial func() (net.Conn, error), f func(r *rig)) {
	t.Helper()
	srv, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l) }()
	transport := &http.Transport{
		MaxIdleConnsPerHost: 1000,
		DialContext:         func(context.Context, string, string) (net.Conn, error) { return dial() },
	}
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		transport.CloseIdleConnections()
	}()
	f(&rig{t: t, srv: srv, client: &http.Client{Transport: transport}, dial: func() net.Conn {
		c, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}})
}

// post sends a request and returns the response; the caller reads its body.
func (r *rig) post(path, body string) *http.Response {
	resp, err := r.client.Post("http://server"+path, "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	return resp
}

// ask sends a request and reads the whole response.
func (r *rig) ask(path, body string) (status int, answer string, err error) {
	resp := r.post(path, body)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// request is the log of the only request.
func (r *rig) request() Request {
	r.t.Helper()
	log := r.srv.Log()
	if len(log.Requests) != 1 {
		r.t.Fatalf("%d requests in the log, want 1", len(log.Requests))
	}
	return log.Requests[0]
}

// An arrived is what a client sees of one event.
type arrived struct {
	at   time.Duration // since start
	data string
}

// events reads a stream event by event.
func events(t *testing.T, body io.Reader, start time.Time) (out []arrived) {
	t.Helper()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			out = append(out, arrived{time.Since(start), data})
		}
	}
	return out
}

// A chunk is the union of what events say.
type chunk struct {
	ID, Object, Model string
	Text              string // of /generate
	OutputIDs         []int  `json:"output_ids"`
	Choices           []struct {
		Text         *string
		Delta        struct{ Role, Content *string }
		Message      struct{ Content string }
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Total      int `json:"total_tokens"`
		Completion int `json:"completion_tokens"`
	}
	Meta struct {
		ID           string
		FinishReason *struct {
			Type   string
			Length int
		} `json:"finish_reason"`
		Prompt     int     `json:"prompt_tokens"`
		Completion int     `json:"completion_tokens"`
		E2E        float64 `json:"e2e_latency"`
	} `json:"meta_info"`
}

func parse(t *testing.T, data string) (c chunk) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		t.Errorf("event %q: %v", data, err)
	}
	return c
}

// answer is the text of the n tokens of the first request.
func answer(t *testing.T, n int) (s string) {
	t.Helper()
	tokens := newScript(0)
	for range n {
		s += tokens.Next()
	}
	if err := json.Unmarshal([]byte(`"`+s+`"`), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
