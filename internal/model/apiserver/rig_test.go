package apiserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/test/memnet"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

const ms = time.Millisecond

// A rig is a server on an in-memory network, inside a synctest bubble.
type rig struct {
	t      *testing.T
	s      *Server
	l      *memnet.Listener
	client *http.Client
	start  time.Time
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := memnet.Listen()
	transport := &http.Transport{DialContext: l.Dial, DisableCompression: true}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &rig{t: t, s: s, l: l, client: &http.Client{Transport: transport}, start: time.Now()}
}

func (r *rig) do(ctx context.Context, method, path, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://engine"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return r.client.Do(req)
}

// whole is a request and its complete response.
func (r *rig) whole(method, path, body string, header ...string) (status int, text string) {
	r.t.Helper()
	resp, err := r.do(r.t.Context(), method, path, body, header...)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, string(b)
}

// wire sends a request on a connection of its own and returns every byte of
// the response, headers and framing included.
func (r *rig) wire(path, body string) string {
	r.t.Helper()
	conn, err := r.l.Dial(r.t.Context(), "", "")
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	request := "POST " + path + " HTTP/1.1\r\nHost: engine\r\nConnection: close\r\nContent-Type: application/json\r\n" +
		"x-request-id: w\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(conn, request); err != nil {
		r.t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if err != nil {
		r.t.Fatalf("read: %v", err)
	}
	return string(b)
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func (r *rig) truth(query string) Truth {
	r.t.Helper()
	_, text := r.whole("GET", "/pitot/truth"+query, "")
	var truth Truth
	if err := json.Unmarshal([]byte(text), &truth); err != nil {
		r.t.Fatalf("truth: %v in %s", err, text)
	}
	return truth
}

// An event is one server-sent event and when its last line was read.
type event struct {
	at   time.Duration
	data string
}

// A chunk is what the tests look at in an event.
type chunk struct {
	ID      string
	Object  string
	Choices []struct {
		Text  string
		Delta struct {
			Role    *string
			Content *string
		}
		FinishReason *string `json:"finish_reason"`
		StopReason   *string `json:"stop_reason"`
	}
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		TotalTokens      int `json:"total_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	}
	Error *struct {
		Message, Type string
		Code          int
	}
}

func (e event) chunk(t *testing.T) chunk {
	t.Helper()
	var c chunk
	if err := json.Unmarshal([]byte(e.data), &c); err != nil {
		t.Fatalf("event %q: %v", e.data, err)
	}
	return c
}

// stream posts a streaming request and reads its events to the end.
func (r *rig) stream(path, body string, header ...string) ([]event, error) {
	r.t.Helper()
	resp, err := r.do(r.t.Context(), "POST", path, body, header...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return r.events(resp.Body)
}

func (r *rig) events(body io.Reader) ([]event, error) {
	var out []event
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
			out = append(out, event{at: time.Since(r.start), data: strings.TrimPrefix(data, " ")})
		}
	}
	return out, lines.Err()
}

// instants are the times of the events that carry choices.
func instants(t *testing.T, events []event) []time.Duration {
	t.Helper()
	var out []time.Duration
	for _, e := range events {
		if e.data != "[DONE]" && len(e.chunk(t).Choices) > 0 {
			out = append(out, e.at)
		}
	}
	return out
}

// text is the output of a stream.
func text(t *testing.T, events []event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		if e.data == "[DONE]" {
			continue
		}
		for _, c := range e.chunk(t).Choices {
			b.WriteString(c.Text)
			if c.Delta.Content != nil {
				b.WriteString(*c.Delta.Content)
			}
		}
	}
	return b.String()
}

// constantConfig emits the first token after 20 ms and another each 5 ms.
func constantConfig() Config {
	return Config{Latency: engine.Latency{TTFT: arrival.FixedDuration(20 * ms), ITL: arrival.FixedDuration(5 * ms)}}
}

func listenLoopback(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serveLoopback runs a server on l until the test ends, and gives its URL.
func serveLoopback(t testing.TB, l net.Listener, cfg Config) string {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}
