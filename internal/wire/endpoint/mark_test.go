package endpoint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

var testMarker = trace.NewMarker(trace.MarkKey{7})

// marksOf are the marks of some text of parts.
func marksOf(parts ...fragment) trace.Marks {
	var a trace.Answer
	a.Begin(testMarker)
	for _, p := range parts {
		a.AddString(p.part, p.text)
	}
	marks, _ := a.End(false, false)
	return marks
}

// marksIn are the marks that a delta makes alone.
func marksIn(d *delta) trace.Marks {
	r := &reader{readState: readState{grammar: new(grammar)}}
	r.answer.Begin(testMarker)
	r.mark(d)
	marks, _ := r.answer.End(false, false)
	return marks
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

const said, thought = "The \"Pitot\" tube\n\tmeasures né 空速 \U0001F6E9 <b>", "hm, a\\b"

var visible = fragment{trace.VisiblePart, said}

// inASCII is a text in JSON with all else escaped.
func inASCII(s string) string {
	out := fmt.Sprintf("%+q", s)
	for _, r := range s {
		if r > 0xFFFF {
			hi, lo := (r-0x10000)>>10+0xD800, (r-0x10000)&0x3FF+0xDC00
			out = strings.ReplaceAll(out, fmt.Sprintf(`\U%08x`, r), fmt.Sprintf(`\u%04X\u%04x`, hi, lo))
		}
	}
	return out
}

// cut makes events of a text, so many characters at a time.
func cut(s string, n int, event func(part, soFar string) string) (events []string) {
	all := []rune(s)
	for i := 0; i < len(all); i += n {
		end := min(i+n, len(all))
		events = append(events, event(string(all[i:end]), string(all[:end])))
	}
	return events
}

// A wording is how a protocol words an answer, in a stream and in one.
type wording struct {
	p      Protocol
	events []string
	whole  string
	parts  []fragment
}

// wordings are those of some answers, with texts that are quoted in some way, so many characters at a time.
func wordings(quoted func(string) string, n int) []wording {
	whole := quoted(said)
	return []wording{
		{
			p:      Completions,
			events: cut(said, n, func(s, _ string) string { return `{"choices":[{"text":` + quoted(s) + `}]}` }),
			whole:  `{"choices":[{"text":` + whole + `,"finish_reason":"stop"}]}`, parts: []fragment{visible},
		},
		{
			p: Chat,
			events: append(
				cut(thought, n, func(s, _ string) string {
					return `{"choices":[{"delta":{"content":"","reasoning_content":` + quoted(s) + `}}]}`
				}),
				cut(said, n, func(s, _ string) string { return `{"choices":[{"delta":{"content":` + quoted(s) + `}}]}` })...),
			whole: `{"choices":[{"message":{"content":` + whole + `,"reasoning_content":` + quoted(thought) + `},"finish_reason":"stop"}]}`,
			parts: []fragment{{trace.ReasoningPart, thought}, visible},
		},
		{
			p: Chat,
			events: append([]string{`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]}}]}`},
				cut(said, n, func(s, _ string) string {
					return `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":` + quoted(s) + `}}]}}]}`
				})...),
			whole: `{"choices":[{"message":{"tool_calls":[{"id":"b","function":{"name":"f","arguments":` + whole + `}}]},"finish_reason":"stop"}]}`,
			parts: []fragment{{trace.ToolNamePart, "f"}, {trace.ToolInputPart, said}},
		},
		{
			p:      Generate,
			events: cut(said, n, func(_, s string) string { return `{"text":` + quoted(s) + `,"meta_info":{"completion_tokens":1}}` }),
			whole:  `{"text":` + whole + `,"meta_info":{"finish_reason":{"type":"stop"}}}`, parts: []fragment{visible},
		},
		{
			p:      TRT,
			events: cut(said, n, func(s, _ string) string { return `{"text_output":` + quoted(s) + `}` }),
			whole:  `{"text_output":` + whole + `}`, parts: []fragment{visible},
		},
	}
}

// otherWordings are those of further protocols.
func otherWordings(quoted func(string) string, n int) []wording {
	whole := quoted(said)
	return []wording{
		{
			p: TGI,
			events: append(cut(said, n, func(s, _ string) string { return `{"token":{"text":` + quoted(s) + `}}` }),
				`{"token":{"text":"</s>","special":true},"generated_text":`+whole+`}`),
			whole: `[{"generated_text":` + whole + `}]`, parts: []fragment{visible},
		},
		{
			p: Messages,
			events: append(append(
				cut(thought, n, func(s, _ string) string {
					return `{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":` + quoted(s) + `}}`
				}),
				cut(said, n, func(s, _ string) string {
					return `{"type":"content_block_delta","delta":{"type":"text_delta","text":` + quoted(s) + `}}`
				})...),
				`{"type":"content_block_start","content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
				`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`,
				`{"type":"message_stop"}`),
			whole: `{"content":[{"type":"thinking","thinking":` + quoted(thought) + `},{"type":"text","text":` + whole +
				`},{"type":"tool_use","id":"b","name":"f","input":{"a":1}}],"stop_reason":"end_turn"}`,
			parts: []fragment{{trace.ReasoningPart, thought}, visible, {trace.ToolNamePart, "f"}, {trace.ToolInputPart, `{"a":1}`}},
		},
		{
			p: Responses,
			events: append(
				cut(said, n, func(s, _ string) string { return `{"type":"response.output_text.delta","delta":` + quoted(s) + `}` }),
				`{"type":"response.output_item.added","item":{"type":"function_call","name":"f"}}`,
				`{"type":"response.function_call_arguments.delta","delta":"{}"}`,
				`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"text":"again"}]}]}}`),
			whole: `{"status":"completed","output":[{"type":"message","content":[{"text":` + whole +
				`}]},{"type":"function_call","name":"f","arguments":"{}"}]}`,
			parts: []fragment{visible, {trace.ToolNamePart, "f"}, {trace.ToolInputPart, "{}"}},
		},
		{
			p:      Transcription,
			events: append(cut(said, n, func(s, _ string) string { return `{"type":"transcript.text.delta","delta":` + quoted(s) + `}` }), `{"type":"transcript.text.done"}`),
			whole:  `{"text":` + whole + `}`, parts: []fragment{visible},
		},
	}
}

// The same answer in every protocol, in pieces of any size and in one, escaped or not, has the same marks.
func TestMarks(t *testing.T) {
	for _, quoted := range []func(string) string{quote, inASCII} {
		for _, n := range []int{1, 3, 1000} {
			for _, tt := range append(wordings(quoted, n), otherWordings(quoted, n)...) {
				for _, streamed := range []bool{true, false} {
					pieces := []string{tt.whole}
					if streamed {
						pieces = data(append(tt.events, "[DONE]")...)
					}
					got := send(t, Options{Protocol: tt.p, Stream: streamed, Marker: testMarker}, transport.Config{}, asked(tt.p), stream(pieces...))
					if want := marksOf(tt.parts...); !got.OK() || got.Marks != want || got.Defects != trace.Inspected {
						t.Errorf("%s, streamed %v, %d characters at a time: %s %s marks %x, want %x, defects %v", tt.p, streamed, n,
							got.Class, got.Error, got.Marks, want, got.Defects.Names())
					}
				}
			}
		}
	}
}

func TestMarksOfOddEscapes(t *testing.T) {
	for _, raw := range []string{
		`\ud83d`, `\ud83d\u0041`, `\ud83dxude00`, `\ud83dx`, `\ud83d\n`, `\ud83dA`, `\ude00\ud83d`, `\ud83d\ude00`, `\/\\\"\b\f\n\r\t`, `\u0000`, `a\\`, `\ud83d\ud83d\ude00`,
	} {
		var d delta
		if !scan(&d, Completions, true, []byte(`{"choices":[{"text":"`+raw+`"}]}`)) {
			t.Fatalf("%s is not scanned", raw)
		}
		if got, want := marksIn(&d), marksOf(fragment{trace.VisiblePart, d.text}); got != want {
			t.Errorf("%s: %x, want %x of %q", raw, got, want, d.text)
		}
	}
}

func TestAnswersWithoutMarks(t *testing.T) {
	for name, events := range map[string][]string{
		"two answers": data(`{"choices":[{"index":0,"text":"a"}]}`, `{"choices":[{"index":1,"text":"b"}]}`, `[DONE]`),
		"no text":     data(`{"choices":[{"token_ids":[1]}]}`, `[DONE]`),
		"failed":      data(`{"choices":[{"text":"a"}]}`),
	} {
		got := send(t, Options{Protocol: Completions, Stream: true, Marker: testMarker}, transport.Config{}, asked(Completions), stream(events...))
		if got.Marks != "" || got.Defects != 0 {
			t.Errorf("%s: marks %x, defects %v", name, got.Marks, got.Defects.Names())
		}
	}
	got := send(t, Options{Protocol: Generate, Stream: true, Marker: testMarker}, transport.Config{}, asked(Generate),
		stream(data(`{"output_ids":[1],"meta_info":{"completion_tokens":1}}`, `[DONE]`)...))
	if got.Marks != "" || got.Defects != 0 {
		t.Errorf("token ids alone: marks %x, defects %v", got.Marks, got.Defects.Names())
	}
}

func TestDefectsOfAnswers(t *testing.T) {
	limit := func(n int) workload.Request { return workload.Request{Text: "hello", OutputTokens: n} }
	for _, tt := range []struct {
		name   string
		req    workload.Request
		extra  map[string]json.RawMessage
		events []string
		want   string
	}{
		{"empty", limit(1), nil, []string{`{"choices":[{"text":"","finish_reason":"stop"}]}`}, "empty"},
		{"cut", limit(0), nil, []string{`{"choices":[{"text":"a","finish_reason":"length"}]}`}, "cut"},
		{"at its limit", limit(1), nil, []string{`{"choices":[{"text":"a","finish_reason":"length"}]}`}, ""},
		{"at the limit of the body", limit(0), map[string]json.RawMessage{"max_tokens": rawJSON("1")}, []string{`{"choices":[{"text":"a","finish_reason":"length"}]}`}, ""},
		{"in a loop", limit(0), nil, []string{`{"choices":[{"text":` + quote(strings.Repeat("no ", 300)) + `,"finish_reason":"stop"}]}`}, "loop"},
	} {
		got := send(t, Options{Protocol: Completions, Stream: true, Marker: testMarker, Extra: tt.extra}, transport.Config{}, tt.req,
			stream(data(append(tt.events, "[DONE]")...)...))
		if names := strings.Join(got.Defects.Names(), " "); names != tt.want || got.Defects&trace.Inspected == 0 {
			t.Errorf("%s: %q, want %q", tt.name, names, tt.want)
		}
	}
}

func TestMarkingDoesNotAllocate(t *testing.T) {
	event := []byte(`{"choices":[{"index":0,"delta":{"content":" t\u00fcbe\n","reasoning_content":"h\u00e9"},"finish_reason":null}]}`)
	r := &reader{readState: readState{grammar: grammars[Chat]}}
	r.answer.Begin(testMarker)
	run := func() {
		for range 100 {
			var d delta
			if !usualChat.scan(&d, false, event) {
				t.Error("not scanned")
			}
			r.mark(&d)
		}
		r.answer.Begin(testMarker)
	}
	if run(); testing.AllocsPerRun(10, run) > 0 {
		t.Error("a chunk allocates")
	}
}
