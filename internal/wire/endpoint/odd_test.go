package endpoint

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// typed is a stream with a content type.
func typed(contentType string, pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		stream(pieces...)(w, r)
	}
}

// aborted is a stream after which the connection ends.
func aborted(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(pieces...)(w, r)
		panic(http.ErrAbortHandler)
	}
}

// endedBy is an event with a finish reason.
func endedBy(reason string) string {
	return `data: {"choices":[{"text":"","finish_reason":"` + reason + `"}]}` + "\n\n"
}

// Streams of real servers, and of the proxies in front of them.
func TestOddServers(t *testing.T) {
	const failure = `{"error":{"message":"out of memory at layer 3"}}`
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		class   trace.Class
		chunks  int
		err     string // part of the text
	}{
		{"events called JSON", typed("application/json", text("a"), last, end), "", 2, ""},
		{"events called text", typed("text/plain", text("a"), last, end), "", 2, ""},
		{"a blank after the marker", stream(text("a"), "data: [DONE] \n\n"), "", 1, ""},
		{"empty data", stream("data:\n\n", text("a"), end), "", 1, ""},
		{"ping events", stream(text("a"), "event: ping\ndata: ping\n\n", text("b"), end), "", 2, ""},
		{"last line without its end", stream(text("a"), strings.TrimSpace(last)), "", 2, ""},
		{"error object under any type", typed("text/plain", failure), trace.StreamError, 0, "layer 3"},
		{"a page", typed("text/html", "<html>please log in</html>"), trace.Malformed, 0, "please log in"},
		{"words", typed("text/plain", "upstream is gone"), trace.Malformed, 0, "upstream is gone"},
		{
			"error event in JSON without error",
			stream(text("a"), "event: error\ndata: {\"message\":\"boom\",\"code\":500}\n\n", end), trace.StreamError, 1, "boom",
		},
		{
			"error event in JSON without words", stream(text("a"), "event: error\ndata: {\"code\":500}\n\n", end),
			trace.StreamError, 1, `{"code":500}`,
		},
		{
			"error event with a comment alone", stream(text("a"), "event: error\n: boom\n\n", end), trace.StreamError, 1, "boom",
		},
		{
			"error event with a comment before it", stream(text("a"), ": boom\nevent: error\n\n", end),
			trace.StreamError, 1, "boom",
		},
		{"error event with nothing", stream(text("a"), "event: error\n\n", end), trace.StreamError, 1, "without words"},
		{
			"error event under another name", stream(text("a"), "event: server_error\ndata: boom\n\n", end),
			trace.StreamError, 1, "boom",
		},
		{
			"error event of a chunk", stream(text("a"), "event: error\ndata: {\"choices\":[],\"error\":\"boom\"}\n\n", end),
			trace.StreamError, 1, "boom",
		},
		{"error field", stream(text("a"), "error: {\"message\":\"boom\"}\n\n", end), trace.StreamError, 1, "boom"},
		{"error in JSON that is no field", stream(text("a"), failure+"\n\n", end), trace.StreamError, 1, "layer 3"},
		{"error object, then the marker", stream(failure+"\n\n", end), trace.StreamError, 0, "layer 3"},
		{
			"error by its type", stream(text("a"), "data: {\"type\":\"error\",\"message\":\"boom\"}\n\n", end),
			trace.StreamError, 1, "boom",
		},
		{
			"error by its code", stream(text("a"), "data: {\"code\":503,\"message\":\"boom\"}\n\n", end),
			trace.StreamError, 1, "boom",
		},
		{"error as a detail", stream(text("a"), "data: {\"detail\":\"boom\"}\n\n", end), trace.StreamError, 1, "boom"},
		{
			"error of a choice", stream(text("a"), "data: {\"choices\":[{\"text\":\"\",\"error\":{\"message\":\"boom\"}}]}\n\n",
				end), trace.StreamError, 2, "boom",
		},
		{
			"no error", stream("data: {\"error\":false,\"choices\":[{\"text\":\"a\",\"error\":null}]}\n\n",
				"data: {\"message\":\"still there\",\"code\":0}\n\n", end), "", 1, "",
		},
		{"error event in words", stream(text("a"), "event: error\ndata: boom\n\n"), trace.StreamError, 1, "boom"},
		{"error, then the connection ends", aborted(text("a"), "data: "+failure+"\n\n"), trace.StreamError, 1, "layer 3"},
		{"aborted by the engine", stream(text("a"), endedBy("abort"), end), trace.StreamError, 2, "finish reason abort"},
		{"comments alone", stream(": keep-alive\n\n", ": keep-alive\n\n"), trace.Truncated, 0, "neither [DONE]"},
		{"nothing at all", stream(), trace.Truncated, 0, "neither [DONE]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, Options{Protocol: Completions, Stream: true}, transport.Config{}, workload.Request{}, tt.handler)
			if got.Class != tt.class || len(got.Chunks) != tt.chunks || !strings.Contains(got.Error, tt.err) {
				t.Errorf("class %q, %d chunks, error %q\nwant %q, %d, %q", got.Class, len(got.Chunks), got.Error, tt.class,
					tt.chunks, tt.err)
			}
		})
	}
}

func TestUsageInTheLastChunkIsNotOfThatChunk(t *testing.T) {
	final := `data: {"choices":[{"text":"c","finish_reason":"length"}],` +
		`"usage":{"prompt_tokens":5,"completion_tokens":3}}` + "\n\n"
	zero := "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}\n\n"
	got := send(t, Options{Protocol: Completions, Stream: true}, transport.Config{}, workload.Request{},
		stream(text("a"), text("b"), final, zero, end))
	for i, c := range got.Chunks {
		if c.Tokens != 0 {
			t.Errorf("chunk %d is said to carry %d tokens", i, c.Tokens)
		}
	}
	if got.OutputTokens != 3 || got.Usage.Prompt != 5 || got.CountedFrom != trace.FromUsage {
		t.Errorf("%d tokens of %d from %s", got.OutputTokens, got.Usage.Prompt, got.CountedFrom)
	}
}

func TestThoughtsAndToolCallsAreCountedToo(t *testing.T) {
	opts := Options{
		Protocol: Chat, Stream: true, KeepText: true, Count: func(s string) int { return len(strings.Fields(s)) },
	}
	got := send(t, opts, transport.Config{}, workload.Request{Text: "hello"}, stream(
		chat(`{"reasoning_content":"let me","reasoning":"let me"}`), chat(`{"reasoning":" think"}`),
		chat(`{"content":" yes"}`),
		chat(`{"tool_calls":[{"function":{"name":" call","arguments":" x y"}}]}`),
		end))
	if got.OutputTokens != 7 || got.CountedFrom != trace.FromTokenizer || got.Text != " yes" {
		t.Errorf("%d tokens from %s, text %q", got.OutputTokens, got.CountedFrom, got.Text)
	}
}

// decode reads data as openAI does.
func decode(p Protocol, whole bool, data []byte) (delta, error) {
	return of(func(root gjson.Result) delta { return openAI(p, whole, root) })(data)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"role":"assistant","content":"x","tool_calls":[{}]},"finish_reason":"stop"}],` +
		`"usage":{"completion_tokens":3}}`))
	f.Add([]byte(`{"choices":[{"text":"x"}],"error":{"message":"y"}}`))
	f.Add([]byte(`{"object":"error","message":3}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range []Protocol{Completions, Chat} {
			for _, whole := range []bool{false, true} {
				d, err := decode(p, whole, data)
				if err == nil && !json.Valid(data) {
					t.Fatalf("%s: accepted %q", p, data)
				}
				if err == nil && !d.token && (d.text+d.hidden != "" || d.kind != 0) {
					t.Fatalf("%s: text without a choice in %q", p, data)
				}
			}
		}
	})
}
