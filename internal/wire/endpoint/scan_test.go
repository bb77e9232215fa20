package endpoint

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Events of servers, usual and odd.
var events = []string{
	`{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" the",` +
		`"logprobs":null,"finish_reason":null,"stop_reason":null}]}`,
	`{"id":"cmpl-1","choices":[{"text":" \u00e9\n\"","finish_reason":"length"}],"usage":{"prompt_tokens":3,` +
		`"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}`,
	`{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
	`{"choices":[{"delta":{"content":"a","refusal":null,"reasoning_content":"c","reasoning":"d"}}]}`,
	`{"choices":[{"delta":{"reasoning":"d","reasoning_content":""},"finish_reason":""}]}`,
	`{"choices":[{"delta":{"content":null,"tool_calls":[],"function_call":null,"annotations":["a"],"x":[],"y":{}}}]}`,
	`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`,
	` {"choices" : [ ] , "usage" : {"completion_tokens":1} , "error" : null , "object" : "x", ` +
		`"n": [-0.5e+3, 0, {"a":{}}, true, false]} `,
	`{"choices":[{"text":1,"text":"two"}]}`, `{"choices":null}`, `{"choices":{"0":{"text":"x"}}}`, `{"choices":["x"]}`,
	`{"choices":[{"delta":{"content":"first"}},{"delta":{"content":"second"}}]}`,
	`{"choices":[{"index":2,"text":"x","delta":{"content":"x"}}]}`,
	`{"choices":[{"delta":{"refusal":"no","content":[{"text":"x"}],"audio":{"transcript":"x"},"new":{"words":"x"}}}]}`,
	`{"choices":[{"delta":{},"usage":{"completion_tokens":3}}]}`,
	`{"detail":"no"}`, `{"x_groq":{"usage":{"completion_tokens":3}}}`, `{"choices":[],"usage":null}`,
	`{"error":{"message":"no"}}`, `{"object":"error","message":"no"}`, `{"usage":[1]}`,
	`{"usage":{"completion_tokens":1},"usage":2}`,
	`{"choices":[{"text":"x"}]} x`, `{"a":01}`, `{"a":1.}`, `{"a":"\x"}`, "{\"a\":\"\n\"}", `{"a":"\u12g4"}`,
	`{"te\u0078t":1}`, `{"a":1,}`, `{,}`, `[]`, `{"a":nul}`, `{"choices":[{"text":"` +
		strings.Repeat("long ", 40) + `"}]}`,
}

func TestScanTakesTheUsualForms(t *testing.T) {
	for i, want := range []bool{true, true, true, true, true, true, false, true} {
		p := Chat
		if i < 2 {
			p = Completions
		}
		if ok := scan(new(delta), p, true, []byte(events[i])); ok != want {
			t.Errorf("%s: %v, want %v", events[i], ok, want)
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	for _, p := range []Protocol{Completions, Chat} {
		event := []byte(events[0])
		if p == Chat {
			event = []byte(events[2])
		}
		if n := testing.AllocsPerRun(100, func() {
			var d delta
			if ok := scan(&d, p, false, event); !ok || d.kind&(trace.Text|trace.Role) == 0 {
				t.Errorf("%s: %+v, %v", p, d, ok)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations for an event, want 0", p, n)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	event := []byte(events[0])
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	var d delta
	for b.Loop() {
		if !scan(&d, Completions, false, event) {
			b.Fatal("not scanned")
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	event := []byte(events[0])
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		if _, err := decode(Completions, false, event); err != nil {
			b.Fatal(err)
		}
	}
}

// An answer of 1000 tokens, all of which every event tells again.
func BenchmarkScanGenerate(b *testing.B) {
	event := []byte(`{"text":"` + strings.Repeat("tube ", 1000) + `","output_ids":[` + strings.Repeat("1234,", 999) +
		`5],"meta_info":{"id":"x","finish_reason":null,"prompt_tokens":7,"completion_tokens":1000,"cached_tokens":0}}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	var d delta
	for b.Loop() {
		if !scanGenerate(&d, false, event) {
			b.Fatal("not scanned")
		}
	}
}
