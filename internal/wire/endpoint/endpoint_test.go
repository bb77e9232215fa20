package endpoint

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

const ms = trace.Instant(time.Millisecond)

func text(s string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"text\":%q,\"finish_reason\":null}]}\n\n", s)
}

func chat(delta string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
}

const (
	last    = "data: {\"choices\":[{\"index\":0,\"text\":\" c\",\"finish_reason\":\"length\"}]}\n\n"
	counted = `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,` +
		`"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}}` + "\n\n"
	end = "data: [DONE]\n\n"
)

func TestCompletionsStream(t *testing.T) {
	opts := Options{Protocol: Completions, Model: "m", Stream: true, IncludeUsage: true, KeepText: true}
	got := send(t, opts, transport.Config{}, workload.Request{ID: "bench-1", Text: "hello"},
		stream(text("a"), text(" b"), last, counted, end))
	want := &trace.Record{
		ID: "bench-1", Due: trace.Never, Free: trace.Never, Released: trace.Never,
		Dialed: 0, Connected: 0, Sent: 0, FirstByte: 100 * ms, Done: 140 * ms,
		Chunks: []trace.Chunk{
			{At: 100 * ms, Kind: trace.Text},
			{At: 110 * ms, Kind: trace.Text},
			{At: 120 * ms, Kind: trace.Text | trace.Finish},
		},
		Stamps: trace.UserStamps, Text: "a b c", Status: 200, FinishReason: "length",
		Usage:        trace.Usage{Prompt: 7, Completion: 3, Cached: 4, CachedReported: true, Reasoning: 1, At: 130 * ms},
		OutputTokens: 3, CountedFrom: trace.FromUsage,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChatStreamKinds(t *testing.T) {
	opts := Options{Protocol: Chat, Stream: true}
	got := send(t, opts, transport.Config{}, workload.Request{Text: "hello"}, stream(
		chat(`{"role":"assistant","content":""}`),
		chat(`{"reasoning_content":"hm"}`)+chat(`{"reasoning":"hm"}`),
		chat(`{"content":""}`),
		chat(`{"content":"yes"}`),
		chat(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`),
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
		end))
	want := []trace.Chunk{
		{At: 100 * ms, Kind: trace.Role},
		{At: 110 * ms, Kind: trace.Reasoning},
		{At: 110 * ms, Kind: trace.Reasoning | trace.Coalesced},
		{At: 120 * ms},
		{At: 130 * ms, Kind: trace.Text},
		{At: 140 * ms, Kind: trace.ToolCall},
		{At: 150 * ms, Kind: trace.Finish | trace.Bare},
	}
	if diff := cmp.Diff(want, got.Chunks); diff != "" {
		t.Error(diff)
	}
	if !got.OK() || got.OutputTokens != 5 || got.CountedFrom != trace.FromChunks {
		t.Errorf("class %q, %d tokens from %s", got.Class, got.OutputTokens, got.CountedFrom)
	}
}

func TestContinuousUsageCountsTokensOfEachChunk(t *testing.T) {
	event := func(n int) string {
		return fmt.Sprintf(`data: {"choices":[{"text":"x"}],"usage":{"prompt_tokens":5,"completion_tokens":%d}}`+"\n\n", n)
	}
	got := send(t, Options{Protocol: Completions, Stream: true, ContinuousUsage: true}, transport.Config{},
		workload.Request{},
		stream(event(1), event(4), event(5), end))
	var tokens []uint16
	for _, c := range got.Chunks {
		tokens = append(tokens, c.Tokens)
	}
	if !cmp.Equal(tokens, []uint16{1, 3, 1}) || got.Usage.At != trace.Never || got.OutputTokens != 5 {
		t.Errorf("tokens %v, usage at %v, %d in all", tokens, got.Usage.At, got.OutputTokens)
	}
}

func TestTokensAreCountedFromTheTextWhenTheServerDoesNot(t *testing.T) {
	opts := Options{Protocol: Completions, Stream: true, Count: func(s string) int { return len(strings.Fields(s)) }}
	got := send(t, opts, transport.Config{}, workload.Request{}, stream(text("one two"), text(" three"), last, end))
	if got.OutputTokens != 4 || got.CountedFrom != trace.FromTokenizer || got.Text != "" {
		t.Errorf("%d tokens from %s, kept text %q", got.OutputTokens, got.CountedFrom, got.Text)
	}
}

func TestWholeAnswers(t *testing.T) {
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(50 * time.Millisecond)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}
	}
	got := send(t, Options{Protocol: Chat, KeepText: true}, transport.Config{}, workload.Request{},
		answer(`{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":2,"completion_tokens":9}}`))
	want := []trace.Chunk{{At: 50 * ms, Tokens: 9, Kind: trace.Text | trace.Finish}}
	if diff := cmp.Diff(want, got.Chunks); diff != "" || !got.OK() || got.Text != "hi" || got.Done != 50*ms ||
		got.OutputTokens != 9 {
		t.Errorf("%+v\n%s", got, diff)
	}
	got = send(t, Options{Protocol: Chat}, transport.Config{}, workload.Request{},
		answer(`{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`))
	if !got.OK() || got.OutputTokens != 0 || got.CountedFrom != "" {
		t.Errorf("without usage %d tokens from %q", got.OutputTokens, got.CountedFrom)
	}
	for body, class := range map[string]trace.Class{
		`{"choices":[]}`:                    trace.Truncated,
		`{"choices":[{"message":{"content`:  trace.Malformed,
		`{"error":{"message":"no memory"}}`: trace.StreamError,
	} {
		if got := send(t, Options{Protocol: Chat}, transport.Config{}, workload.Request{}, answer(body)); got.Class != class {
			t.Errorf("%s: class %q, want %q", body, got.Class, class)
		}
	}
}

func TestFailures(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	abort := func(pieces ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			stream(pieces...)(w, r)
			panic(http.ErrAbortHandler)
		}
	}
	for _, tt := range []struct {
		name    string
		cfg     transport.Config
		handler http.HandlerFunc
		class   trace.Class
		status  int
		chunks  int
		err     string // part of the text
	}{
		{"status with a body", transport.Config{}, status(503, `{"error":"overloaded"}`), trace.HTTP, 503, 0, "overloaded"},
		{"a redirect to nowhere", transport.Config{}, status(307, ""), trace.HTTP, 307, 0, ""},
		{
			"clean end without a marker",
			transport.Config{},
			stream(text("a"), text("b")), trace.Truncated, 200, 2,
			"neither [DONE]",
		},
		{
			"clean end within an event",
			transport.Config{},
			stream(text("a"), "data: {\"choi"), trace.Truncated, 200, 1,
			"within an event",
		},
		{"connection lost", transport.Config{}, abort(text("a")), trace.Closed, 200, 1, "unexpected EOF"},
		{
			"error event, then the end",
			transport.Config{},
			stream(text("a"), "data: {\"error\":{\"message\":\"engine died\",\"code\":500}}\n\n", end), trace.StreamError, 200,
			1, "engine died",
		},
		{
			"broken JSON",
			transport.Config{},
			stream(text("a"), "data: {\"choices\":[\n\n", text("b")), trace.Malformed, 200,
			1, "event 2",
		},
		{
			"marker without a choice",
			transport.Config{},
			stream(counted, end), trace.Empty, 200, 0,
			"without anything that protocol completions calls output",
		},
		{"JSON in place of a stream", transport.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"text":"a"}]}`)
		}, trace.Malformed, 200, 0, `asked for an event stream, got application/json: "{\"choices\"`},
		{
			"too slow",
			transport.Config{Timeout: 105 * time.Millisecond},
			stream(text("a"), last, end), trace.Timeout, 200, 1,
			"request timeout",
		},
		{"stalled", transport.Config{Idle: 99 * time.Millisecond}, stream(text("a")), trace.Timeout, 0, 0, "idle"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, Options{Protocol: Completions, Stream: true}, tt.cfg, workload.Request{}, tt.handler)
			if got.Class != tt.class || got.Status != tt.status || len(got.Chunks) != tt.chunks ||
				!strings.Contains(got.Error, tt.err) {
				t.Errorf("class %q, status %d, %d chunks, error %q\nwant %q, %d, %d, %q", got.Class, got.Status, len(got.Chunks),
					got.Error, tt.class, tt.status, tt.chunks, tt.err)
			}
			if !got.Done.Happened() {
				t.Error("a failed attempt ends, too")
			}
		})
	}
}

func TestVariationsAreNoFailures(t *testing.T) {
	whole := text("a") + text(" b") + last + counted + end
	bytewise := strings.Split(whole, "")
	for name, pieces := range map[string][]string{
		"comments and keep-alives": {": ping\n\n", text("a"), ":\n\n" + text(" b"), last, counted, end},
		"CRLF":                     {strings.ReplaceAll(whole, "\n", "\r\n")},
		"split at every byte":      bytewise,
		"all in one write":         {whole},
		"no usage":                 {text("a"), text(" b"), last, end},
		"no [DONE]":                {text("a"), text(" b"), last, counted},
		"no empty line at the end": {text("a"), text(" b"), strings.TrimSuffix(last, "\n")},
	} {
		got := send(t, Options{Protocol: Completions, Stream: true, KeepText: true}, transport.Config{}, workload.Request{},
			stream(pieces...))
		if !got.OK() || got.Text != "a b c" || len(got.Chunks) != 3 || got.FinishReason != "length" {
			t.Errorf("%s: class %q (%s), text %q, %d chunks", name, got.Class, got.Error, got.Text, len(got.Chunks))
		}
	}
}

// An export has the texts, in formats that are UTF-8.
func TestTextsAreUTF8(t *testing.T) {
	got := send(t, Options{Protocol: Chat, Stream: true, KeepText: true}, transport.Config{}, workload.Request{},
		stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\xf9\xffb\"}}]}\n\n", "data: [DONE]\n\n"))
	if !got.OK() || got.Text != "a\uFFFDb" {
		t.Errorf("class %q (%s), text %q", got.Class, got.Error, got.Text)
	}
}

func TestClassify(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", err)} }
	for _, tt := range []struct {
		err  error
		want trace.Class
	}{
		{dial(syscall.ECONNREFUSED), trace.Refused},
		{dial(syscall.EMFILE), trace.Files},
		{dial(syscall.ENFILE), trace.Files},
		{dial(syscall.EADDRNOTAVAIL), trace.Ports},
		{dial(syscall.EHOSTUNREACH), trace.Unreachable},
		{dial(syscall.ETIMEDOUT), trace.Timeout},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}}, trace.DNS},
		{
			&net.OpError{Op: "dial", Err: &net.DNSError{Err: "dial udp 127.0.0.53:53: socket: too many open files", Name: "x"}},
			trace.Files,
		},
		{errors.New("net/http: server response headers exceeded 1048576 bytes; aborted"), trace.Malformed},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, trace.Reset},
		{&net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}, trace.Reset},
		{fmt.Errorf("Post: %w", x509.UnknownAuthorityError{}), trace.TLS},
		{errors.New("remote error: tls: handshake failure"), trace.TLS},
		{http.ErrSchemeMismatch, trace.TLS},
		{errors.New("net/http: HTTP/1.x transport connection broken: malformed HTTP response \"SSH\""), trace.Malformed},
		{errors.New("http: server closed idle connection"), trace.Closed},
		{io.ErrUnexpectedEOF, trace.Closed},
		{context.Canceled, trace.Cancelled},
		{errors.New("something new"), trace.Other},
	} {
		if got := classify(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

var encodeCases = []struct {
	name string
	opts Options
	req  workload.Request
	want string
}{
	{
		"completions",
		Options{Protocol: Completions, Model: "m", Stream: true, IncludeUsage: true},
		workload.Request{Text: "a\"\n", OutputTokens: 5},
		`{"model":"m","prompt":"a\"\n","max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}`,
	},
	{
		"no limit, no stream",
		Options{Protocol: Completions, Model: "m"},
		workload.Request{Text: "a"},
		`{"model":"m","prompt":"a","stream":false}`,
	},
	{
		"token ids",
		Options{Protocol: Completions, IgnoreEOS: true},
		workload.Request{Tokens: []int32{3, 4}},
		`{"model":"","prompt":[3,4],"ignore_eos":true,"stream":false}`,
	},
	{
		"chat",
		Options{Protocol: Chat, Stream: true, ContinuousUsage: true},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"model":"","messages":[{"role":"user","content":"a"}],"max_completion_tokens":5,"stream":true,` +
			`"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`,
	},
	{
		"chat in parts",
		Options{Protocol: Chat, PartsAlways: true},
		workload.Request{Text: "a"},
		`{"model":"","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stream":false}`,
	},
	{
		"pictures",
		Options{Protocol: Chat},
		workload.Request{
			Text: "a", Media: []workload.Media{{MIME: "image/jpeg", Data: []byte{1, 2, 3}}, {URL: "http://h/p.png"}},
		},
		`{"model":"","stream":false,"messages":[{"role":"user","content":[{"type":"text","text":"a"},
		 {"type":"image_url","image_url":{"url":"data:image/jpeg;base64,AQID"}},
		 {"type":"image_url","image_url":{"url":"http://h/p.png"}}]}]}`,
	},
	{
		"messages as given",
		Options{Protocol: Chat},
		workload.Request{Messages: rawJSON(`[{"role":"system","content":"x"}]`)},
		`{"model":"","stream":false,"messages":[{"role":"system","content":"x"}]}`,
	},
	{
		"run's extras win over the protocol",
		Options{
			Protocol: Completions, Model: "m", Extra: map[string]json.RawMessage{
				"max_tokens": rawJSON("9"), "logprobs": rawJSON("null"), "stream": rawJSON("true"),
			},
		},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"model":"m","prompt":"a","max_tokens":9,"logprobs":null,"stream":true}`,
	},
	{
		"the request's win over both",
		Options{Protocol: Completions, Model: "m", Extra: map[string]json.RawMessage{"top_k": rawJSON("1")}},
		workload.Request{
			Text: "a", Model: "lora", Extra: map[string]json.RawMessage{"top_k": rawJSON("2"), "prompt": rawJSON(`"b"`)},
		},
		`{"model":"lora","prompt":"b","top_k":2,"stream":false}`,
	},
}

func TestEncode(t *testing.T) {
	for _, tt := range encodeCases {
		c, err := New(nil, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		body, err := c.Encode(&tt.req)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got, want map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%s: %v in %s", tt.name, err, body)
		}
		_ = json.Unmarshal([]byte(tt.want), &want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if n := strings.Count(string(body), `"model":`); n != 1 {
			t.Errorf("%s: model stands %d times in %s", tt.name, n, body)
		}
	}
}

func TestEncodeRefusesWhatTheProtocolCannotSay(t *testing.T) {
	for _, tt := range []struct {
		p   Protocol
		req workload.Request
	}{
		{Chat, workload.Request{Tokens: []int32{1}}},
		{Completions, workload.Request{Messages: json.RawMessage(`[]`)}},
		{Completions, workload.Request{Media: []workload.Media{{}}}},
	} {
		c, _ := New(nil, Options{Protocol: tt.p})
		if _, err := c.Encode(&tt.req); err == nil {
			t.Errorf("%s: %+v was encoded", tt.p, tt.req)
		}
	}
	if _, err := New(nil, Options{Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}}); err == nil {
		t.Error("an extra field that is not JSON was accepted")
	}
}

func TestFirstKilobyte(t *testing.T) {
	got := FirstKilobyte(strings.Repeat("é", 1000))
	if len(got) > errorText+len("…") || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-6:])
	}
}

func TestServer(t *testing.T) {
	routes := map[string]string{
		"GET /v1/models":      `{"object":"list","data":[{"id":"m","root":"org/m","max_model_len":4096}]}`,
		"GET /version":        `{"version":"0.11.0"}`,
		"POST /tokenize":      `{"count":2,"max_model_len":4096,"tokens":[5,6]}`,
		"POST /detokenize":    `{"prompt":"hi"}`,
		"POST /start_profile": ``,
		"GET /metrics": "# TYPE vllm:spec_decode_num_drafts counter\n" +
			"vllm:spec_decode_num_drafts_total{engine=\"0\"} 7\n# TYPE x gauge\nx 1.5\n# TYPE h histogram\n" +
			"h_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, ok := routes[r.Method+" "+r.URL.Path]
		if !ok || r.Header.Get("Authorization") != "Bearer sk-verysecret" {
			w.WriteHeader(404)
			_, _ = io.WriteString(w, "nothing here for sk-verysecret")
			return
		}
		_, _ = io.WriteString(w, body)
	}
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{Handler: http.HandlerFunc(handler)}
		go func() { _ = srv.Serve(l) }()
		tr := transport.New(transport.Config{Dial: l.Dial})
		s := Server{
			Transport: tr, URL: "http://engine", Header: http.Header{"Authorization": {"Bearer sk-verysecret"}},
			Secrets: new(secret.Set),
		}
		s.Secrets.Add("sk-verysecret")
		ctx := t.Context()
		check := func(what string, got, want any, err error) {
			t.Helper()
			if diff := cmp.Diff(want, got,
				cmpopts.SortSlices(func(a, b exposition.Sample) bool { return a.Name < b.Name })); diff != "" || err != nil {
				t.Errorf("%s: %v %s", what, err, diff)
			}
		}
		models, err := s.Models(ctx)
		check("models", models, []Model{{ID: "m", Root: "org/m", MaxLength: 4096}}, err)
		version, err := s.Version(ctx)
		check("version", version, "0.11.0", err)
		tok := &Tokenizer{Server: s, Model: "m"}
		ids, err := tok.Encode(ctx, "hi", false)
		check("tokenize", ids, []int32{5, 6}, err)
		words, err := tok.Decode(ctx, ids)
		check("detokenize", words, "hi", err)
		routes["POST /detokenize"] = `{"text":"hi"}` // as SGLang calls it
		words, err = tok.Decode(ctx, ids)
		check("detokenize", words, "hi", err)
		check("profile", nil, nil, s.Post(ctx, "/start_profile", nil))
		samples, err := s.Metrics(ctx)
		check("metrics", samples, []exposition.Sample{
			{Name: "h_count", Value: 1, Counter: true},
			{Name: "h_sum", Value: 1, Counter: true},
			{
				Name: "vllm:spec_decode_num_drafts_total", Labels: exposition.Labels{{Name: "engine", Value: "0"}}, Value: 7,
				Counter: true,
			},
			{Name: "x", Value: 1.5},
		}, err)
		var status *StatusError
		if err := s.Post(ctx, "/stop_profile", nil); !errors.As(err, &status) || status.Status != 404 ||
			strings.Contains(err.Error(), "for k") {
			t.Errorf("missing route: %v", err)
		}
		tr.Close()
		_ = srv.Shutdown(ctx)
		_ = l.Close()
		var call *CallError
		if _, err := s.Version(ctx); !errors.As(err, &call) || call.Class != trace.Refused {
			t.Errorf("closed server: %v", err)
		}
	})
}

func TestAChoiceWithoutAnythingToSayIsNoToken(t *testing.T) {
	for choice, want := range map[string]trace.Kind{
		`{"index":0}`:                                          trace.Bare,
		`{"index":0,"delta":null}`:                             trace.Bare,
		`{"index":0,"delta":{}}`:                               trace.Bare,
		`{"index":0,"delta":{},"finish_reason":"stop"}`:        trace.Bare | trace.Finish,
		`{"index":0,"delta":{"content":null}}`:                 trace.Bare,
		`{"index":0,"delta":{"role":"assistant"}}`:             trace.Bare | trace.Role,
		`{"index":0,"delta":{"reasoning_content":""}}`:         0,
		`{"index":0,"delta":{"reasoning":"","content":null}}`:  0,
		`{"index":0,"delta":{"content":""}}`:                   0,
		`{"index":0,"delta":{"role":"a","content":""}}`:        trace.Role,
		`{"index":0,"delta":{"function_call":{"name":"f"}}}`:   trace.ToolCall,
		`{"index":0,"delta":{"reasoning":"x","content":null}}`: trace.Reasoning,
		`{"index":0,"delta":{"refusal":"x"}}`:                  trace.Text | trace.Elsewhere | trace.Bare,
		`{"index":0,"delta":{"content":"","role":"a","reasoning_details":[{"type":"reasoning.text","text":"x"}]}}`:      trace.Reasoning | trace.Elsewhere | trace.Role,
		`{"index":0,"delta":{"content":"","role":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}}`: trace.Role,
		`{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"x"}]}]}}`:                 trace.Reasoning | trace.Elsewhere | trace.Bare,
		`{"index":0,"delta":{"content":[]}}`:                                     trace.Bare,
		`{"index":0,"delta":{"audio":{"id":"x","transcript":"x"}}}`:              trace.Text | trace.Elsewhere | trace.Bare,
		`{"index":0,"delta":{"role":"a","audio":{"id":"x","expires_at":3}}}`:     trace.Role | trace.Bare,
		`{"index":0,"delta":{"thinking":"x","signature":"y"}}`:                   trace.Reasoning | trace.Elsewhere | trace.Bare,
		`{"index":0,"message":{"content":"x"}}`:                                  trace.Text | trace.Elsewhere | trace.Bare,
		`{"index":0,"delta":"x"}`:                                                trace.Text | trace.Elsewhere | trace.Bare,
		`{"index":0,"delta":{"text":"x"}}`:                                       trace.Text | trace.Elsewhere | trace.Bare,
		`{"index":0,"text":"x"}`:                                                 trace.Text | trace.Elsewhere | trace.Bare,
		`{"index":0,"delta":{"content":"x","reasoning_details":[{"text":"y"}]}}`: trace.Text | trace.Reasoning,
	} {
		d, err := decode(Chat, false, []byte(`{"choices":[`+choice+`]}`))
		if err != nil || d.kind != want {
			t.Errorf("%s: kind %b, want %b (%v)", choice, d.kind, want, err)
		}
	}
	if d, _ := decode(Completions, false, []byte(`{"choices":[{"text":""}]}`)); !d.kind.Output() {
		t.Error("an empty text is a token that cannot be seen")
	}
}
