package torture

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// A hostile is one way in which a server can hurt a client.
type hostile struct {
	name  string
	route string   // of the answer; empty: that of the measured requests
	args  []string // flags of the run besides the usual
	ends  string   // what becomes of the request: ok, failed, or empty for either
	reply reply
}

// much is how many bytes an answer without an end has at most.
func much() int { return either(8<<20, 512<<20) }

const (
	delta  = `{"id":"x","choices":[{"index":0,"text":"a"}]}`
	finish = `{"id":"x","choices":[{"index":0,"text":"","finish_reason":"length"}]}`
	// escape clears a screen, sets a title, and moves the cursor, in C0 and in C1.
	escape = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u009b31m\x7f"
)

// text writes fixed pieces, one write each.
func text(pieces ...string) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, p := range pieces {
			if _, err := io.WriteString(w, p); err != nil {
				return err
			}
		}
		return nil
	}
}

// times writes a piece so many times.
func times(piece string, n int) func(io.Writer) error {
	each := min(n, max(1, 64<<10/len(piece)))
	block := strings.Repeat(piece, each)
	return func(w io.Writer) error {
		for left := n; left > 0; left -= each {
			if _, err := io.WriteString(w, block[:min(left, each)*len(piece)]); err != nil {
				return err
			}
		}
		return nil
	}
}

// inTurn writes one after the other.
func inTurn(parts ...func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, write := range parts {
			if err := write(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// events writes server-sent events, and then the end of a good stream.
func events(data ...string) func(io.Writer) error {
	var b strings.Builder
	for _, d := range append(data, finish, "[DONE]") {
		b.WriteString("data: " + d + "\n\n")
	}
	return text(b.String())
}

// usage is a good stream with this count.
func usage(count string) func(io.Writer) error {
	return events(delta, delta, `{"choices":[],"usage":`+count+`}`)
}

// said is a good stream whose last event has this member as JSON.
func said(member string) func(io.Writer) error {
	return text("data: "+delta+"\n\n", "data: {"+member+"}\n\n", "data: [DONE]\n\n")
}

// flood writes a piece again and again, after what stands before it.
func flood(before, piece string) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		block := []byte(strings.Repeat(piece, max(1, 64<<10/len(piece))))
		for n := 0; n < much(); n += len(block) {
			if _, err := w.Write(block); err != nil {
				return err
			}
		}
		return nil
	}
}

// drip writes a piece at a time, slowly, for as long as anybody reads.
func drip(before, piece string) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		for range time.NewTicker(20 * time.Millisecond).C {
			if _, err := io.WriteString(w, piece); err != nil {
				return err
			}
		}
		return nil
	}
}

// singly writes a text byte by byte.
func singly(s string) func(io.Writer) error { return text(strings.Split(s, "")...) }

// zipped is a gzip file of n zeros.
func zipped(n int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range n >> 20 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	return b.String()
}

// whole is a run that asks for answers in one piece.
var whole = []string{"--no-stream"}

// hurried are the limits of a run. A case that needs nobody's patience ends long
// before them.
var hurried = []string{"--timeout", "3s", "--idle-timeout", "1s"}

// answers is the table of what every transport carries. It is made once: the peak memory
// of a child is at least that of the process that starts it.
var answers = sync.OnceValue(func() []hostile {
	return slices.Concat(statuses(), streams(), contents(), asides())
})

// statuses are answers with a status that is not 200, and other heads.
func statuses() []hostile {
	own := `{"error":{"message":"key ` + secret + ` is wrong ` + `\u001b[2J"}}`
	return []hostile{
		{name: "204-empty", ends: "failed", reply: reply{status: 204}},
		{name: "301-elsewhere", ends: "failed", reply: reply{status: 301, header: [][2]string{{"Location", "http://127.0.0.1:1/"}}}},
		{name: "302-to-itself", ends: "failed", reply: reply{status: 302, header: [][2]string{{"Location", "/v1/completions"}}}},
		{name: "307-other-scheme", ends: "failed", reply: reply{status: 307, header: [][2]string{{"Location", "file:///etc/passwd"}}}},
		{name: "308-no-location", ends: "failed", reply: reply{status: 308}},
		{name: "400-raw-escapes", ends: "failed", reply: reply{status: 400, kind: "text/plain", body: text(escape)}},
		{name: "401-with-the-key", ends: "failed", reply: reply{status: 401, kind: "application/json", body: text(own)}},
		{name: "401-key-in-pieces", ends: "failed", reply: reply{status: 401, kind: "text/plain", body: text("Bearer "+secret[:7], secret[7:])}},
		{name: "404-page", ends: "failed", reply: reply{status: 404, kind: "text/html", body: text("<html>\x00<script>")}},
		{name: "429-retry-in-a-century", ends: "failed", reply: reply{status: 429, header: [][2]string{{"Retry-After", "3153600000"}}}},
		{name: "429-retry-negative", ends: "failed", reply: reply{status: 429, header: [][2]string{{"Retry-After", "-1e999"}}}},
		{name: "500-deep", ends: "failed", reply: reply{status: 500, kind: "application/json", body: text(strings.Repeat("[", 1_000_000))}},
		{name: "503-flood", ends: "failed", reply: reply{status: 503, kind: "text/plain", body: flood("", "busy ")}},
		{name: "503-drip", ends: "failed", reply: reply{status: 503, kind: "text/plain", body: drip("", ".")}},
		{name: "503-silent", ends: "failed", reply: reply{status: 503, kind: "text/plain", body: text("wait"), hold: true}},
		{name: "503-cut", ends: "failed", reply: reply{status: 503, kind: "text/plain", body: text("wa"), abort: true}},
		{name: "599", ends: "failed", reply: reply{status: 599}},
		{name: "999", ends: "failed", reply: reply{status: 999}},
		{name: "header-escapes", reply: reply{header: [][2]string{{"Content-Type", "text/event-stream; charset=\u009b31m"}}, body: events(delta)}},
		{name: "header-large", reply: reply{header: [][2]string{{"X-Large", strings.Repeat("x", 512<<10)}}, body: events(delta)}},
		{name: "headers-many", reply: reply{header: repeated("X-Many", "value", 20_000), body: events(delta)}},
		{name: "kind-html", reply: reply{kind: "text/html", body: events(delta)}},
		{name: "kind-image", reply: reply{kind: "image/png", body: text("\x89PNG\r\n\x1a\n\x00\x00")}},
		{name: "kind-utf16", reply: reply{kind: "text/event-stream; charset=utf-16", body: text("d\x00a\x00t\x00a\x00")}},
		{name: "gzip-bomb", reply: reply{header: [][2]string{{"Content-Encoding", "gzip"}}, body: text(zipped(much()))}},
		{name: "gzip-not", ends: "failed", reply: reply{header: [][2]string{{"Content-Encoding", "gzip"}}, body: text("\x1f\x8b\x08 no")}},
		{name: "silence", ends: "failed", reply: reply{hold: true}},
		{name: "empty", ends: "failed", reply: reply{}},
	}
}

func repeated(name, value string, n int) (h [][2]string) {
	for range n {
		h = append(h, [2]string{name, value})
	}
	return h
}

// streams are streams of events that are wrong as such.
func streams() []hostile {
	good := "data: " + delta + "\n\ndata: " + finish + "\n\ndata: [DONE]\n\n"
	return []hostile{
		{name: "comments-flood", reply: reply{body: flood("", ": no\n\n")}},
		{name: "comments-drip", ends: "failed", reply: reply{body: drip("", ": no\n\n")}},
		{name: "newlines-flood", reply: reply{body: flood("", "\n\n")}},
		{name: "line-without-end", ends: "failed", reply: reply{body: flood("data: ", "x")}},
		{name: "event-without-end", ends: "failed", reply: reply{body: flood("", "data: x\n")}},
		{name: "events-empty-flood", reply: reply{body: flood("", "data: {}\n\n")}},
		{name: "events-not-json-flood", reply: reply{body: flood("", "data: no\n\n")}},
		{name: "events-text-flood", reply: reply{body: flood("", "data: "+delta+"\n\n")}},
		{name: "events-after-done", reply: reply{body: flood(good, "data: "+delta+"\n\n")}},
		{name: "open-after-done", reply: reply{body: text(good), hold: true}},
		{name: "done-first", reply: reply{body: text("data: [DONE]\n\n" + good)}},
		{name: "done-often", reply: reply{body: text(good + strings.Repeat("data: [DONE]\n\n", 1000))}},
		{name: "cut-in-a-chunk", ends: "failed", reply: reply{body: text("data: " + delta[:20]), abort: true}},
		{name: "end-without-end", ends: "failed", reply: reply{body: text("data: " + delta + "\n\n")}},
		{name: "stop-without-end", ends: "failed", reply: reply{body: text("data: " + delta + "\n\n"), hold: true}},
		{name: "stream-error", ends: "failed", reply: reply{body: text("event: error\ndata: {\"error\":{\"message\":\"\\u001b]0;x\\u0007 " + secret + "\"}}\n\n")}},
		{name: "byte-order-mark", reply: reply{body: text("\ufeff" + good)}},
		{name: "carriage-returns", reply: reply{body: text(strings.ReplaceAll(good, "\n", "\r"))}},
		{name: "null-bytes", reply: reply{body: text(strings.Repeat("\x00", 1000) + good)}},
		{name: "not-utf8", reply: reply{body: text("data: {\"choices\":[{\"text\":\"\xff\xfe\xc0\x80\"}]}\n\n" + good)}},
		{name: "noise", reply: reply{body: text(noise(64 << 10))}},
		{name: "byte-by-byte", ends: "ok", reply: reply{body: singly(good)}},
		{name: "id-large", reply: reply{body: text("id: " + strings.Repeat("9", 1<<20) + "\n" + good)}},
		{name: "event-name-large", reply: reply{body: text("event: " + strings.Repeat("e", 1<<20) + "\n" + good)}},
		{name: "retry-field", ends: "ok", reply: reply{body: text("retry: 99999999999999999999\n\n" + good)}},
		{name: "no-colon", reply: reply{body: text("data\ndata\n\n" + good)}},
	}
}

// noise are bytes without a meaning, always the same.
func noise(n int) string {
	b := make([]byte, n)
	for i, x := 0, uint32(1); i < n; i++ {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

// contents are events whose JSON is wrong, or says what cannot be.
func contents() []hostile {
	list := []hostile{
		{name: "json-cut", reply: reply{body: events(`{"choices":[{"te`)}},
		{name: "json-array", reply: reply{body: events(`[[[]]]`)}},
		{name: "json-number", reply: reply{body: events(`1e999`, `-`, `NaN`)}},
		{name: "json-null", reply: reply{body: events(`null`, `{"choices":null}`, `{"choices":[null]}`)}},
		{name: "choices-object", reply: reply{body: events(`{"choices":{"text":"a"}}`)}},
		{name: "choices-many", reply: reply{body: events(`{"choices":[` + strings.Repeat(`{"text":""},`, 100_000) + `{}]}`)}},
		{name: "text-number", reply: reply{body: events(`{"choices":[{"text":12}]}`)}},
		{name: "text-deep", reply: reply{body: events(`{"choices":[{"text":` + strings.Repeat("[", 400_000) + `}]}`)}},
		{name: "event-deep", reply: reply{body: events(strings.Repeat("[", 900_000))}},
		{name: "event-deep-objects", reply: reply{body: events(strings.Repeat(`{"a":`, 190_000))}},
		{name: "text-large", reply: reply{body: events(`{"choices":[{"text":"` + strings.Repeat("x", 900<<10) + `"}]}`)}},
		{name: "keys-many", reply: reply{body: events(`{` + strings.Repeat(`"a":1,`, 150_000) + `"a":1}`)}},
		{name: "key-large", reply: reply{body: events(`{"` + strings.Repeat("k", 900<<10) + `":1}`)}},
		{name: "number-large", reply: reply{body: events(`{"created":` + strings.Repeat("9", 900<<10) + `}`)}},
		{name: "lone-surrogates", reply: reply{body: events(`{"choices":[{"text":"\ud800\udfff\uDC00"}]}`)}},
		{name: "escape-at-the-end", reply: reply{body: events(`{"choices":[{"text":"\`, `{"choices":[{"text":"\u12`)}},
		{name: "index-negative", reply: reply{body: events(`{"choices":[{"index":-1,"text":"a"}]}`)}},
		{name: "index-huge", reply: reply{body: events(`{"choices":[{"index":4611686018427387904,"text":"a"}]}`)}},
		{name: "finish-escapes", reply: reply{body: said(`"choices":[{"text":"","finish_reason":"\u001b[2J\u009b31m\r\n\u0007x"}]`)}},
		{name: "finish-key", reply: reply{body: said(`"choices":[{"text":"","finish_reason":"` + secret + `"}]`)}},
		{name: "finish-key-escaped", reply: reply{body: said(`"choices":[{"text":"","finish_reason":"\u0073` + secret[1:] + `"}]`)}},
		{name: "finish-large", reply: reply{body: said(`"choices":[{"text":"","finish_reason":"` + strings.Repeat("stop", 100_000) + `"}]`)}},
		{name: "text-key", args: []string{"--keep-text"}, reply: reply{body: events(`{"choices":[{"text":"your key is ` + secret + `"}]}`)}},
		{name: "text-escapes", args: []string{"--keep-text"}, reply: reply{body: events(`{"choices":[{"text":"\u001b[2J\u009b\u0000"}]}`)}},
		{name: "text-bytes", args: []string{"--keep-text"}, reply: reply{body: text("data: {\"choices\":[{\"text\":\"" + escape + "\"}]}\n\ndata: " + finish + "\n\ndata: [DONE]\n\n")}},
		{name: "model-escapes", reply: reply{body: events(`{"model":"\u001b[2J","id":"\u0007\r\n","choices":[{"text":"a"}]}`)}},
		{name: "logprobs-large", ends: "ok", reply: reply{body: events(`{"choices":[{"text":"a","logprobs":{"top":[` + strings.Repeat(`{"x":-1},`, 100_000) + `{}]}}]}`)}},
	}
	for i, count := range []string{
		"-1", "1e999", "-1e999", "4611686018427387904", "9223372036854775808", "1000000000000", "1.5", `"12"`, "null", "[]", "{}", "NaN", "0", "1e-9",
	} {
		list = append(list, hostile{
			name:  fmt.Sprintf("usage-%d", i),
			reply: reply{body: usage(`{"completion_tokens":` + count + `,"prompt_tokens":` + count + `,"total_tokens":` + count + `}`)},
		})
	}
	list = append(list, hostile{name: "usage-details", reply: reply{body: usage(`{"completion_tokens":2,"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":4611686018427387904},"completion_tokens_details":{"reasoning_tokens":-7}}`)}})
	list = append(list, hostile{name: "usage-each", args: []string{"--token-usage"}, reply: reply{body: events(
		`{"choices":[{"text":"a"}],"usage":{"completion_tokens":5}}`, `{"choices":[{"text":"b"}],"usage":{"completion_tokens":3}}`, `{"choices":[{"text":"c"}],"usage":{"completion_tokens":1e30}}`)}})
	return append(list, bodies()...)
}

// bodies are answers in one piece.
func bodies() []hostile {
	list := []hostile{
		{name: "body-deep", reply: reply{body: times("[", either(1_000_000, 10_000_000))}},
		{name: "body-deep-objects", reply: reply{body: text(strings.Repeat(`{"a":`, 400_000))}},
		{name: "body-flood", reply: reply{body: flood(`{"choices":[{"text":"`, "x")}},
		{name: "body-drip", ends: "failed", reply: reply{body: drip("{", " ")}},
		{name: "body-cut", ends: "failed", reply: reply{body: text(`{"choices":[{"text":"a","fin`)}},
		{name: "body-usage", reply: reply{body: text(`{"choices":[{"text":"a","finish_reason":"stop"}],"usage":{"completion_tokens":1e999,"prompt_tokens":-5}}`)}},
		{name: "body-escapes", reply: reply{body: text(`{"choices":[{"text":"a","finish_reason":"\u001b[2J` + secret + `"}]}`)}},
		{name: "body-empty", ends: "failed", reply: reply{}},
	}
	for i := range list {
		list[i].args, list[i].reply.kind = whole, "application/json"
	}
	return list
}

// asides are answers to what is asked beside the measured requests.
func asides() []hostile {
	var list []hostile
	add := func(route, name string, r reply) {
		h := hostile{name: strings.Trim(strings.ReplaceAll(route, "/", "-"), "-") + "-" + name, route: route, reply: r}
		switch route {
		case "/tokenize":
			h.args = []string{"--tokenizer", "server"}
		}
		list = append(list, h)
	}
	for _, route := range []string{"/metrics", "/v1/models", "/version", "/tokenize"} {
		kind := "application/json"
		if route == "/metrics" {
			kind = "text/plain"
		}
		add(route, "flood", reply{kind: kind, body: flood("", "vllm:a{b=\"c\"} 1\n")})
		add(route, "line", reply{kind: kind, body: flood(`{"data":[{"id":"`, "x")})
		add(route, "drip", reply{kind: kind, body: drip(`{"`, "x")})
		add(route, "silence", reply{kind: kind, hold: true})
		add(route, "deep", reply{kind: kind, body: text(strings.Repeat("[", 1_000_000))})
		add(route, "noise", reply{kind: kind, body: text(noise(4 << 10))})
		add(route, "503-key", reply{status: 503, kind: kind, body: text(secret + escape)})
	}
	add("/metrics", "numbers", reply{kind: "text/plain", body: text("vllm:prompt_tokens_total NaN\nvllm:generation_tokens_total -1e999\nvllm:x_total 1e400\n")})
	add("/metrics", "names", reply{kind: "text/plain", body: text("vllm:x_total{a=\"\x1b[2J" + secret + "\"} 1\n\x1b]0;x\x07_total 2\n")})
	add("/v1/models", "escapes", reply{kind: "application/json", body: text(`{"data":[{"id":"\u001b[2J\u009b31m\n\u0007","root":"../../../../etc"}]}`)})
	add("/v1/models", "key", reply{kind: "application/json", body: text(`{"data":[{"id":"` + secret + `"}]}`)})
	add("/v1/models", "many", reply{kind: "application/json", body: text(`{"data":[` + strings.Repeat(`{"id":"m"},`, 200_000) + `{}]}`)})
	add("/v1/models", "lengths", reply{kind: "application/json", body: text(`{"data":[{"id":"m","max_model_len":-9223372036854775808}]}`)})
	add("/version", "escapes", reply{kind: "application/json", body: text(`{"version":"\u001b[2J\u009b31m\n` + secret + `"}`)})
	add("/tokenize", "counts", reply{kind: "application/json", body: text(`{"count":-1,"max_model_len":1e999,"tokens":[-1,1e30,4611686018427387904]}`)})
	add("/tokenize", "many", reply{kind: "application/json", body: text(`{"count":1,"tokens":[` + strings.Repeat("1,", 2_000_000) + `1]}`)})
	return list
}
