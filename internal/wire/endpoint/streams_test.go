package endpoint

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

func data(events ...string) []string {
	for i := range events {
		events[i] = "data: " + events[i] + "\n\n"
	}
	return events
}

const inText = trace.Text

// What streams of each protocol say.
var streams = []struct {
	name   string
	p      Protocol
	pieces []string
	chunks []trace.Chunk // kinds and tokens alone
	text   string
	finish string
	usage  trace.Usage
	accept float64
	asides int
}{
	{
		name: "generate", p: Generate,
		pieces: data(
			`{"text":"","output_ids":[],"meta_info":{"id":"x","finish_reason":null,"prompt_tokens":7,"completion_tokens":1,`+
				`"cached_tokens":0}}`,
			`{"text":"The \"","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":2,"cached_tokens":4}}`,
			`{"text":"The \"Pitot\" tube","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":6,`+
				`"cached_tokens":4}}`,
			`{"text":"The \"Pitot\" tube","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":7,`+
				`"cached_tokens":4}}`,
			`{"text":"The \"Pitot\" tube","meta_info":{"finish_reason":{"type":"stop","matched":2},"prompt_tokens":7,`+
				`"completion_tokens":7,"cached_tokens":4,"cached_tokens_details":{"device":3,"host":1},"spec_accept_length":2.5}}`,
			`[DONE]`),
		chunks: []trace.Chunk{
			{Tokens: 1},
			{Tokens: 1, Kind: inText},
			{Tokens: 4, Kind: inText},
			{Tokens: 1, Kind: trace.Repeated},
			{Kind: trace.Finish | trace.Bare},
		},
		text: `The "Pitot" tube`, finish: "stop", accept: 2.5,
		usage: trace.Usage{
			Prompt: 7, Completion: 7, Cached: 4, CachedReported: true, Tiers: &trace.CacheTiers{Device: 3, Host: 1}, At: trace.Never,
		},
	},
	{
		name: "generate in pieces", p: Generate,
		pieces: data(
			`{"text":"The","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":1}}`,
			`{"text":" Pitot","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":2}}`,
			`{"text":" tube","meta_info":{"finish_reason":{"type":"length","length":3},"prompt_tokens":7,`+
				`"completion_tokens":3}}`,
			`[DONE]`),
		chunks: []trace.Chunk{{Tokens: 1, Kind: inText}, {Tokens: 1, Kind: inText}, {Tokens: 1, Kind: inText | trace.Finish}},
		text:   "The Pitot tube", finish: "length", usage: trace.Usage{Prompt: 7, Completion: 3, At: trace.Never},
	},
	{
		name: "generate, cut at a stop string", p: Generate,
		pieces: data(
			`{"text":"a","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":1}}`,
			`{"text":"a b","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":2}}`,
			`{"text":"a b c","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":3}}`,
			`{"text":"a b","meta_info":{"finish_reason":{"type":"stop","matched":" c"},"prompt_tokens":7,`+
				`"completion_tokens":3}}`,
			`[DONE]`),
		chunks: []trace.Chunk{
			{Tokens: 1, Kind: inText}, {Tokens: 1, Kind: inText}, {Tokens: 1, Kind: inText}, {Kind: trace.Finish | trace.Bare},
		},
		text: "a b", finish: "stop", usage: trace.Usage{Prompt: 7, Completion: 3, At: trace.Never},
	},
	{
		name: "responses", p: Responses,
		pieces: []string{
			"event: response.created\ndata: " +
				"{\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\",\"output\":[]}}\n\n",
			"event: response.output_item.added\ndata: " +
				"{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"content\":[]}}\n\n",
			"event: response.reasoning_text.delta\ndata: {\"type\":\"response.reasoning_text.delta\",\"delta\":\"hm\"}\n\n",
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"yes\"}\n\n",
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"\"}\n\n",
			"event: response.output_item.added\ndata: " +
				"{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"name\":\"f\"}}\n\n",
			"event: response.function_call_arguments.delta\n" +
				"data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}\n\n",
			"event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"text\":\"yes\"}\n\n",
			"event: response.completed\ndata: " +
				`{"type":"response.completed","response":{"status":"incomplete",` +
				`"incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"text":"yes"}]}],` +
				`"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,` +
				`"output_tokens_details":{"reasoning_tokens":1},"total_tokens":12}}}` + "\n\n",
		},
		chunks: []trace.Chunk{{Kind: trace.Reasoning}, {Kind: inText}, {}, {Kind: trace.ToolCall}, {Kind: trace.ToolCall}},
		text:   "yes", finish: "length", asides: 9, usage: trace.Usage{
			Prompt: 7, Completion: 5, Cached: 4, CachedReported: true, Reasoning: 1, At: 180 * ms,
		},
	},
	{
		name: "messages", p: Messages,
		pieces: []string{
			"event: message_start\ndata: " +
				`{"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":7,` +
				`"cache_read_input_tokens":4,"output_tokens":1}}}` + "\n\n",
			"event: ping\ndata: {\"type\":\"ping\"}\n\n",
			"event: content_block_start\ndata: " +
				"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
			"event: content_block_delta\ndata: " +
				"{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
			"event: content_block_delta\ndata: " +
				"{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}}\n\n",
			"event: content_block_delta\ndata: " +
				"{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"yes\"}}\n\n",
			"event: content_block_delta\ndata: " +
				"{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n",
			"event: message_delta\ndata: " +
				"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":3}}\n\n",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		},
		chunks: []trace.Chunk{{Kind: trace.Reasoning}, {Kind: inText}, {Kind: trace.ToolCall}},
		text:   "yes", finish: "max_tokens", asides: 9,
		usage: trace.Usage{Prompt: 11, Completion: 3, Cached: 4, CachedReported: true, At: 170 * ms},
	},
	{
		name: "tgi", p: TGI,
		pieces: []string{
			`data:{"index":1,"token":{"id":1,"text":"The","special":false},"generated_text":null,"details":null}` + "\n\n",
			"data:{\"index\":2,\"token\":{\"id\":2,\"text\":\" " +
				"tube\",\"special\":false},\"generated_text\":null,\"details\":null}\n\n",
			"data:{\"index\":3,\"token\":{\"id\":3,\"text\":\"</s>\",\"special\":true},\"generated_text\":\"The " +
				"tube\",\"details\":{\"finish_reason\":\"eos_token\",\"generated_tokens\":3,\"input_length\":7}}\n\n",
		},
		chunks: []trace.Chunk{{Tokens: 1, Kind: inText}, {Tokens: 1, Kind: inText}, {Tokens: 1, Kind: trace.Finish}},
		text:   "The tube", finish: "eos_token", asides: 3, usage: trace.Usage{Prompt: 7, Completion: 3, At: trace.Never},
	},
	{
		name: "trt", p: TRT,
		pieces: data(`{"model_name":"ensemble","text_output":"The"}`, `{"model_name":"ensemble","text_output":" tube"}`,
			`{"model_name":"ensemble","text_output":""}`),
		chunks: []trace.Chunk{{Kind: inText}, {Kind: inText}, {}},
		text:   "The tube", usage: trace.Usage{At: trace.Never},
	},
	{
		name: "truss", p: Truss,
		pieces: []string{text("a"), text(" b"), last, end},
		chunks: []trace.Chunk{{Kind: inText}, {Kind: inText}, {Kind: inText | trace.Finish}},
		text:   "a b c", finish: "length", usage: trace.Usage{At: trace.Never},
	},
	{
		name: "transcription of OpenAI's", p: Transcription,
		pieces: data(`{"type":"transcript.text.delta","delta":"so"}`, `{"type":"transcript.text.delta","delta":" be it"}`,
			`{"type":"transcript.text.done","text":"so be it","usage":{"type":"tokens","input_tokens":14,"output_tokens":4,`+
				`"total_tokens":18}}`),
		chunks: []trace.Chunk{{Kind: inText}, {Kind: inText}},
		text:   "so be it", finish: "stop", usage: trace.Usage{Prompt: 14, Completion: 4, At: 120 * ms},
	},
}

// asked is a request that a protocol can say.
func asked(p Protocol) workload.Request {
	switch p {
	case Transcription:
		return workload.Request{Media: []workload.Media{sound}}
	case Rerank:
		return workload.Request{Batch: []string{"q", "d1", "d2"}}
	}
	return workload.Request{Text: "hello"}
}

func TestStreams(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			opts := Options{Protocol: tt.p, Model: "m", Stream: true, KeepText: true}
			got := send(t, opts, transport.Config{}, asked(tt.p), stream(tt.pieces...))
			var chunks []trace.Chunk
			for _, c := range got.Chunks {
				chunks = append(chunks, trace.Chunk{Tokens: c.Tokens, Kind: c.Kind})
			}
			if diff := cmp.Diff(tt.chunks, chunks); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.usage, got.Usage); diff != "" {
				t.Error(diff)
			}
			if !got.OK() || got.Text != tt.text || got.FinishReason != tt.finish || got.Accept != tt.accept ||
				got.OtherLines != tt.asides {
				t.Errorf("class %q (%s), text %q, finish %q, accept %v, %d asides", got.Class, got.Error, got.Text,
					got.FinishReason, got.Accept, got.OtherLines)
			}
			steps := trace.Instant(len(tt.pieces) - 1)
			if got.Done != 100*ms+10*ms*steps {
				t.Errorf("done at %v", got.Done)
			}
		})
	}
}

// However a stream is cut into reads, it says the same.
func TestStreamsInOtherPieces(t *testing.T) {
	for _, tt := range streams {
		whole := strings.Join(tt.pieces, "")
		for name, pieces := range map[string][]string{
			"at every byte": strings.Split(whole, ""), "in one": {whole}, "with CRLF": {strings.ReplaceAll(whole, "\n", "\r\n")},
		} {
			got := send(t, Options{Protocol: tt.p, Stream: true, KeepText: true}, transport.Config{}, asked(tt.p),
				stream(pieces...))
			if !got.OK() || got.Text != tt.text || len(got.Chunks) != len(tt.chunks) ||
				got.Usage.Completion != tt.usage.Completion || got.OtherLines != tt.asides {
				t.Errorf("%s %s: class %q (%s), text %q, %d chunks, %d asides", tt.name, name, got.Class, got.Error, got.Text,
					len(got.Chunks), got.OtherLines)
			}
		}
	}
}

// A stream that ends early is no whole answer: within an event, and between two, but
// for Triton's, which have no end of their own.
func TestStreamsCutShort(t *testing.T) {
	for _, tt := range streams {
		whole := strings.Join(tt.pieces, "")
		within := send(t, Options{Protocol: tt.p, Stream: true}, transport.Config{}, asked(tt.p),
			stream(whole[:len(tt.pieces[0])+12]))
		if within.Class != trace.Truncated {
			t.Errorf("%s, cut within an event: class %q (%s)", tt.name, within.Class, within.Error)
		}
		if tt.p == TRT {
			continue
		}
		between := send(t, Options{Protocol: tt.p, Stream: true}, transport.Config{}, asked(tt.p),
			stream(tt.pieces[0], tt.pieces[1]))
		if between.Class != trace.Truncated || !strings.Contains(between.Error, grammars[tt.p].ends) {
			t.Errorf("%s, cut between events: class %q (%s)", tt.name, between.Class, between.Error)
		}
		abort := send(t, Options{Protocol: tt.p, Stream: true}, transport.Config{}, asked(tt.p),
			func(w http.ResponseWriter, r *http.Request) {
				stream(tt.pieces[:2]...)(w, r)
				panic(http.ErrAbortHandler)
			})
		if abort.Class != trace.Closed {
			t.Errorf("%s, connection cut: class %q (%s)", tt.name, abort.Class, abort.Error)
		}
	}
}

func TestErrorsWithinStreams(t *testing.T) {
	generated := `{"text":"a","meta_info":{"finish_reason":null,"prompt_tokens":7,"completion_tokens":1}}`
	for _, tt := range []struct {
		p      Protocol
		events []string
		want   string
	}{
		{Generate, data(generated, `{"error":{"message":"out of memory"}}`, `[DONE]`), "out of memory"},
		{
			Generate,
			data(generated,
				`{"text":"a","meta_info":{"finish_reason":{"type":"abort","message":"client asked","status_code":400},`+
					`"prompt_tokens":7,"completion_tokens":1}}`, `[DONE]`), "client asked",
		},
		{
			Generate,
			data(generated,
				`{"text":"a","meta_info":{"finish_reason":{"type":"abort"},"prompt_tokens":7,"completion_tokens":1}}`, `[DONE]`),
			"finish reason abort",
		},
		{
			Responses, data(`{"type":"response.output_text.delta","delta":"a"}`,
				`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error",`+
					`"message":"out of memory"}}}`), "out of memory",
		},
		{Responses, data(`{"type":"response.failed","response":{"status":"failed"}}`), "failed"},
		{Responses, data(`{"type":"error","code":"server_error","message":"out of memory"}`), "out of memory"},
		{
			Messages, data(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`,
				`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "Overloaded",
		},
		{
			TGI, data(`{"token":{"text":"a"}}`, `{"error":"Request failed during generation","error_type":"generation"}`),
			"during generation",
		},
		{TRT, data(`{"text_output":"a"}`, `{"error":"no slot"}`), "no slot"},
		{Transcription, data(`{"choices":[{"delta":{"content":"a"}}]}`, `{"error":{"message":"bad sound"}}`), "bad sound"},
	} {
		got := send(t, Options{Protocol: tt.p, Stream: true}, transport.Config{}, asked(tt.p), stream(tt.events...))
		if got.Class != trace.StreamError || !strings.Contains(got.Error, tt.want) {
			t.Errorf("%s: class %q, %q, want %q in it", tt.p, got.Class, got.Error, tt.want)
		}
	}
}

var wholeAnswers = []struct {
	p      Protocol
	body   string
	kind   trace.Kind
	text   string
	finish string
	prompt int
	tokens int
}{
	{
		Generate,
		`{"text":"hi","output_ids":[1],"meta_info":{"finish_reason":{"type":"length","length":2},"prompt_tokens":7,` +
			`"completion_tokens":2}}`, inText | trace.Finish, "hi", "length", 7, 2,
	},
	{
		TGI,
		`{"generated_text":"hi","details":{"finish_reason":"length","generated_tokens":2,"prefill":[{},{}],"tokens":[]}}`,
		inText | trace.Finish, "hi", "length", 2, 2,
	},
	{TGI, `[{"generated_text":"hi"}]`, inText, "hi", "", 0, 0},
	{TRT, `{"model_name":"ensemble","text_output":"hi"}`, inText, "hi", "", 0, 0},
	{
		Truss, `{"choices":[{"text":"hi","finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`,
		inText | trace.Finish, "hi", "stop", 7, 2,
	},
	{
		Responses,
		`{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning",` +
			`"content":[{"text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"hi"}]},` +
			`{"type":"function_call","name":"f","arguments":"{}"}],"usage":{"input_tokens":7,"output_tokens":2}}`,
		inText | trace.Reasoning | trace.ToolCall | trace.Finish, "hi", "stop", 7, 2,
	},
	{
		Messages,
		`{"type":"message","content":[{"type":"thinking","thinking":"hm"},` +
			`{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":2}}`,
		inText | trace.Reasoning | trace.Finish, "hi", "end_turn", 7, 2,
	},
	{Transcription, `{"text":"hi","usage":{"type":"duration","seconds":3}}`, inText, "hi", "", 0, 0},
	{Transcription, "hi there\n", inText, "hi there\n", "", 0, 0},
	{
		Embeddings, `{"object":"list","data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":7,"total_tokens":7}}`,
		trace.Bare, "", "", 7, 0,
	},
	{Pooling, `{"object":"list","data":[{"data":[[0.5]]}],"usage":{"prompt_tokens":7}}`, trace.Bare, "", "", 7, 0},
	{
		Rerank,
		`{"id":"r","results":[{"index":0,"document":{"text":"d1"},"relevance_score":0.5}],"usage":{"total_tokens":7}}`,
		trace.Bare, "", "", 7, 0,
	},
	{
		Rerank,
		`[{"score":0.5,"document":"d1","index":0,"meta_info":{"prompt_tokens":3}},` +
			`{"score":0.1,"meta_info":{"prompt_tokens":4}}]`, trace.Bare, "", "", 7, 0,
	},
	{Rerank, `{"results":[{"index":0}],"meta":{"billed_units":{"input_tokens":7}}}`, trace.Bare, "", "", 7, 0},
}

func TestWholeAnswersOfProtocols(t *testing.T) {
	for _, tt := range wholeAnswers {
		got := send(t, Options{Protocol: tt.p, KeepText: true}, transport.Config{}, asked(tt.p),
			func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, tt.body)
			})
		if !got.OK() || len(got.Chunks) != 1 || got.Chunks[0].Kind != tt.kind || got.Text != tt.text ||
			got.FinishReason != tt.finish || got.Usage.Prompt != tt.prompt || got.OutputTokens != tt.tokens {
			t.Errorf("%s %s\nclass %q (%s), chunks %+v, text %q, finish %q, %d and %d tokens", tt.p, tt.body, got.Class,
				got.Error, got.Chunks, got.Text, got.FinishReason, got.Usage.Prompt, got.OutputTokens)
		}
	}
	for p, body := range map[Protocol]string{Embeddings: `{"data":[]}`, Rerank: `[]`, Pooling: `{}`} {
		got := send(t, Options{Protocol: p}, transport.Config{}, asked(p),
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		if got.Class != trace.Empty {
			t.Errorf("%s %s: class %q", p, body, got.Class)
		}
	}
	for _, p := range Protocols() {
		for body, class := range map[string]trace.Class{
			`{"error":{"message":"no memory"}}`: trace.StreamError, `{"broken`: trace.Malformed,
			"data: {\"choices\":[]}\n\n": trace.Malformed,
		} {
			got := send(t, Options{Protocol: p}, transport.Config{}, asked(p),
				func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
			if got.Class != class {
				t.Errorf("%s %s: class %q, want %q", p, body, got.Class, class)
			}
		}
	}
}

// Embeddings may come as bytes, described in a header.
func TestPackedEmbeddings(t *testing.T) {
	for metadata, want := range map[string]int{`{"usage":{"prompt_tokens":7}}`: 7, "": 0} {
		got := send(t, Options{Protocol: Embeddings}, transport.Config{}, workload.Request{Batch: []string{"a", "b"}},
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/octet-stream")
				if metadata != "" {
					w.Header().Set("metadata", metadata)
				}
				_, _ = w.Write([]byte{'{', 1, 2, 3})
			})
		if !got.OK() || got.Usage.Prompt != want || got.Inputs != 2 || len(got.Chunks) != 1 {
			t.Errorf("%q: %+v", metadata, got)
		}
	}
}

// The answer of a request that others follow is kept, whatever is kept of the rest.
func TestTextOfConversationsIsKept(t *testing.T) {
	for _, followed := range []bool{false, true} {
		got := send(t, Options{Protocol: Completions, Stream: true}, transport.Config{},
			workload.Request{Turn: workload.Turn{Followed: followed}}, stream(text("a"), last, end))
		if want := map[bool]string{true: "a c"}[followed]; got.Text != want {
			t.Errorf("followed %v: text %q", followed, got.Text)
		}
	}
}

func TestScanGenerate(t *testing.T) {
	event := []byte(`{"text":"The Pitot tube","output_ids":[1,2,3],"meta_info":{"id":"x","finish_reason":null,` +
		`"prompt_tokens":7,"weight_version":"default","completion_tokens":3,"cached_tokens":0,"e2e_latency":0.5}}`)
	if n := testing.AllocsPerRun(100, func() {
		var d delta
		if !scanGenerate(&d, true, event) || d.usage.Completion != 3 || string(d.raw) != "The Pitot tube" {
			t.Errorf("%+v", d)
		}
	}); n != 0 {
		t.Errorf("%v allocations for an event, want 0", n)
	}
}

// There are clients that read no data without a blank after the colon. Those of
// Triton do.
func TestDataWithoutABlank(t *testing.T) {
	for p, want := range map[Protocol]int{Generate: 2, TRT: 0} {
		got := send(t, Options{Protocol: p, Model: "m", Stream: true}, transport.Config{}, asked(p),
			stream("data:{\"text\":\"a\",\"text_output\":\"a\"}\n\n", "data: {\"text\":\"ab\",\"text_output\":\"b\"}\n\n",
				"data:{\"text\":\"abc\",\"text_output\":\"c\"}\n\n"))
		if len(got.Chunks) != 3 || got.OtherLines != want {
			t.Errorf("%s: %d chunks, %d asides, want %d", p, len(got.Chunks), got.OtherLines, want)
		}
	}
}

// Usage that comes with a choice but without output is distinguished from usage with the
// last of it.
func TestUsageWithoutOutput(t *testing.T) {
	for last, want := range map[string]trace.Kind{"": trace.Finish | trace.Totals, "b": inText | trace.Finish} {
		got := send(t, Options{Protocol: Completions, Model: "m", Stream: true}, transport.Config{}, asked(Completions),
			stream(data(`{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"`+last+
				`","finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":4}}`, `[DONE]`)...))
		if len(got.Chunks) != 2 || got.Chunks[1].Kind != want {
			t.Errorf("text %q: %+v", last, got.Chunks)
		}
	}
}

// There are clients to which the text of the last event is that of the answer, whatever
// a server sends.
func TestTextOfTheLastEvent(t *testing.T) {
	event := func(text string, n int) string {
		return fmt.Sprintf(`{"text":%q,"meta_info":{"prompt_tokens":7,"completion_tokens":%d}}`, text, n)
	}
	for _, tt := range []struct {
		name   string
		events []string
		last   bool
		want   string
	}{
		{"pieces", []string{event("The", 1), event(" Pitot", 2), event("", 3), event(" tube", 4)}, false, "The Pitot tube"},
		{"pieces", []string{event("The", 1), event(" Pitot", 2), event("", 3), event(" tube", 4)}, true, " tube"},
		{"nothing behind the pieces", []string{event("The", 1), event(" Pitot", 2), event("", 3)}, true, " Pitot"},
		{"whole texts", []string{event("The", 1), event("The Pitot", 2)}, true, "The Pitot"},
	} {
		opts := Options{
			Protocol: Generate, Model: "m", Stream: true, KeepText: true, Recount: Recount{
				Answer: true, Last: tt.last,
			}, Count: func(s string) int { return len(s) },
		}
		got := send(t, opts, transport.Config{}, asked(Generate), stream(data(append(tt.events, "[DONE]")...)...))
		if got.Text != tt.want || got.Retokenized != len(tt.want) {
			t.Errorf("%s, the last %v: %q, %d bytes", tt.name, tt.last, got.Text, got.Retokenized)
		}
	}
}

// vLLM tells with --enable-per-request-metrics how long a request was queued, and how long its
// first token took from there: in milliseconds, next to usage, each null where unknown.
func TestServerTimesBesideUsage(t *testing.T) {
	for metrics, want := range map[string]*trace.ServerTimes{
		`{"time_to_first_token_ms":85.2,"generation_time_ms":1240.5,"queue_time_ms":12.3}`: {
			Queue: new(12.3 / 1000.0), TTFT: new(85.2 / 1000.0),
		},
		`{"time_to_first_token_ms":1e999,"queue_time_ms":0}`:   {Queue: new(0.0)},
		`{"time_to_first_token_ms":true,"queue_time_ms":null}`: {},
		`null`: nil,
	} {
		for p, choice := range map[Protocol]string{Completions: `{"text":"a"}`, Chat: `{"delta":{"content":"a"}}`} {
			events := data(`{"choices":[`+choice+`]}`,
				`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1},"metrics":`+metrics+`}`, `[DONE]`)
			got := send(t, Options{Protocol: p, Model: "m", Stream: true}, transport.Config{}, asked(p), stream(events...))
			if diff := cmp.Diff(want, got.Server); diff != "" || !got.OK() || got.Usage.Completion != 1 {
				t.Errorf("%s of %s: %s %s", metrics, p, got.Error, diff)
			}
		}
	}
}

// SGLang reports over OpenAI's protocols where cached tokens came from, next to usage.
func TestCacheTiersBesideUsage(t *testing.T) {
	const told = `"sglext":{"cached_tokens_details":{"device":2,"host":1,"storage":3,"storage_backend":"file"}}`
	want := &trace.CacheTiers{Device: 2, Host: 1, Storage: 3, Backend: "file"}
	const usage = `"usage":{"prompt_tokens":7,"completion_tokens":4}`
	for _, tt := range []struct {
		p      Protocol
		stream bool
		events []string
	}{
		{
			Completions, true, []string{
				`{"choices":[{"text":"a"}],"sglext":null}`, `{"choices":[{"text":"b","finish_reason":"stop"}],` + told +
					`}`, `[DONE]`,
			},
		},
		{
			Chat, true, []string{
				`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[],` + told + `}`, `{"choices":[],` + usage + `}`, `[DONE]`,
			},
		},
		{Completions, false, []string{`{"choices":[{"text":"a","finish_reason":"stop"}],` + usage + `,` + told + `}`}},
		{
			Chat, false, []string{`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],` + usage + `,` + told + `}`},
		},
	} {
		pieces := tt.events
		if tt.stream {
			pieces = data(tt.events...)
		}
		got := send(t, Options{Protocol: tt.p, Model: "m", Stream: tt.stream}, transport.Config{}, asked(tt.p),
			stream(pieces...))
		if diff := cmp.Diff(want, got.Usage.Tiers); diff != "" || !got.OK() {
			t.Errorf("%s, streamed %v: %s %s", tt.p, tt.stream, got.Error, diff)
		}
	}
}
