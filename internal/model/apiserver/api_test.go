package apiserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

func TestStreamShapes(t *testing.T) {
	const usage = `,"stream_options":{"include_usage":true}`
	const every = `,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`
	for _, test := range []struct {
		name, path, extra string
		want              []string
	}{
		{"completion", completions, usage, []string{
			`{"id":"cmpl-w","object":"text_completion","created":946684800,"model":"pitot","choices":[{"index":0,` +
				`"text":"TEXT","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}`,
			`{"id":"cmpl-w","object":"text_completion","created":946684800,"model":"pitot","choices":[{"index":0,` +
				`"text":"TEXT","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,` +
				`"token_ids":null}]}`,
			`{"id":"cmpl-w","object":"text_completion","created":946684800,"model":"pitot","choices":[],` +
				`"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2}}`,
			`[DONE]`,
		}},
		{"completion, usage in every chunk", completions, every, []string{
			`{"id":"cmpl-w","object":"text_completion","created":946684800,"model":"pitot","choices":[{"index":0,` +
				`"text":"TEXT","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,` +
				`"token_ids":null}],"usage":{"prompt_tokens":3,"total_tokens":4,"completion_tokens":1}}`,
			`{"id":"cmpl-w","object":"text_completion","created":946684800,"model":"pitot","choices":[{"index":0,` +
				`"text":"TEXT","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,` +
				`"token_ids":null}],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2}}`,
			`{"id":"cmpl-w","object":"text_completion","created":946684800,"model":"pitot","choices":[],` +
				`"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2}}`,
			`[DONE]`,
		}},
		{"chat", chats, ``, []string{
			`{"id":"chatcmpl-w","object":"chat.completion.chunk","created":946684800,"model":"pitot","choices":[{"index":0,` +
				`"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}`,
			`{"id":"chatcmpl-w","object":"chat.completion.chunk","created":946684800,"model":"pitot","choices":[{"index":0,` +
				`"delta":{"content":"TEXT"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
			`{"id":"chatcmpl-w","object":"chat.completion.chunk","created":946684800,"model":"pitot","choices":[{"index":0,` +
				`"delta":{"content":"TEXT"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}]}`,
			`[DONE]`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, constantConfig())
				body := `{"prompt":"abcdefghi","messages":[{"role":"user","content":"hi"}],"max_tokens":2,"ignore_eos":true,` +
					`"stream":true` + test.extra + `}`
				_, wire, _ := strings.Cut(r.wire(test.path, body), "\r\n\r\n")
				var got []string
				for line := range strings.Lines(wire) {
					if data, ok := strings.CutPrefix(line, "data: "); ok {
						got = append(got, maskText(strings.TrimSuffix(data, "\n")))
					}
				}
				if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
					t.Errorf("got\n%s\nwant\n%s", g, w)
				}
			})
		})
	}
}

// Members that are not asked for, or withheld, are in no chunk.
func TestNoUsageInAnyChunk(t *testing.T) {
	const every = `,"stream":true,"stream_options":{"continuous_usage_stats":true,"include_usage":`
	for _, test := range []struct{ fields, fault string }{
		{every + `false}`, "no-usage=0"},
		{every + `true}`, "no-usage=1"},
	} {
		wire, _, _ := faulty(t, completions, test.fields, test.fault)
		if strings.Contains(wire, "usage") || !strings.Contains(wire, doneEvent) {
			t.Errorf("%s with %s: %s", test.fields, test.fault, wire)
		}
	}
}

// maskText puts TEXT for the output of a chunk.
func maskText(s string) string {
	for _, key := range []string{`"text":"`, `"delta":{"content":"`} {
		if before, after, ok := strings.Cut(s, key); ok {
			_, rest, _ := strings.Cut(after, `"`)
			return before + key + `TEXT"` + rest
		}
	}
	return s
}

func TestWholeResponseShapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Model: `a "model"`})
		_, got := r.whole("POST", completions, `{"prompt":"abcdefghi","max_tokens":2,"ignore_eos":true}`, "x-request-id", "w")
		want := `{"id":"cmpl-w","object":"text_completion","created":946684800,"model":"a \"model\"",` +
			`"choices":[{"index":0,"text":"TEXT","logprobs":null,"finish_reason":"length","stop_reason":null,` +
			`"token_ids":null,"prompt_logprobs":null,"prompt_token_ids":null}],` +
			`"service_tier":null,"system_fingerprint":null,"usage":{"prompt_tokens":3,"total_tokens":5,` +
			`"completion_tokens":2,"prompt_tokens_details":null},"kv_transfer_params":null}`
		if got = maskText(got); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		_, got = r.whole("POST", chats,
			`{"messages":[{"role":"user","content":"hi"}],"max_completion_tokens":3,"max_tokens":9,"ignore_eos":true}`)
		var chat struct {
			Object  string
			Choices []struct {
				Message struct{ Role, Content string }
			}
			Usage struct {
				CompletionTokens int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(got), &chat); err != nil {
			t.Fatal(err)
		}
		message := chat.Choices[0].Message
		if n := len(r.s.vocab.encode(nil, message.Content)); n != 3 || chat.Usage.CompletionTokens != 3 ||
			message.Role != "assistant" {
			t.Errorf("chat answer %s", got)
		}
	})
}

func TestLengths(t *testing.T) {
	natural := arrival.ConstantCount(10)
	for _, test := range []struct {
		name, path, fields string
		tokens             int
		finish             string
	}{
		{"default of a completion", completions, ``, 10, "stop"},
		{"default of a completion, no end", completions, `,"ignore_eos":true`, 16, "length"},
		{"a null is the default", completions, `,"ignore_eos":true,"max_tokens":null`, 16, "length"},
		{"the end comes first", completions, `,"max_tokens":11`, 10, "stop"},
		{"both at once", completions, `,"max_tokens":10`, 10, "length"},
		{"the limit comes first", completions, `,"max_tokens":9`, 9, "length"},
		{"min_tokens puts the end off", completions, `,"max_tokens":50,"min_tokens":30`, 30, "stop"},
		{"number as a string", completions, `,"max_tokens":"7"`, 7, "length"},
		{"default of a chat", chats, ``, 10, "stop"},
		{"a chat may fill the context", chats, `,"ignore_eos":true`, 91, "length"},
		{"max_completion_tokens goes first", chats, `,"max_tokens":5,"max_completion_tokens":6`, 6, "length"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{OutputLen: natural, MaxModelLen: 100})
				body := `{"prompt":"hi","messages":[{"role":"user","content":"hi"}],"stream":true` + test.fields + `}`
				events, err := r.stream(test.path, body)
				if err != nil {
					t.Fatal(err)
				}
				last := events[len(events)-2].chunk(t).Choices[0].FinishReason
				if n := len(r.s.vocab.encode(nil, text(t, events))); n != test.tokens || last == nil || *last != test.finish {
					t.Errorf("%d tokens, finish %v; want %d, %s", n, last, test.tokens, test.finish)
				}
			})
		})
	}
}

func TestStopStrings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		answer := func(fields string) (string, chunk) {
			t.Helper()
			events, err := r.stream(completions,
				`{"prompt":"stop","max_tokens":40,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}`+fields+
					`}`)
			if err != nil {
				t.Fatal(err)
			}
			last := events[len(events)-3].chunk(t)
			last.Usage = events[len(events)-2].chunk(t).Usage
			return text(t, events), last
		}
		full, _ := answer("")
		stop := full[50:56] // anywhere: a stop string knows no tokens
		at := strings.Index(full, stop)
		got, last := answer(`,"stop":["@@",` + quote(stop) + `]`)
		if got != full[:at] {
			t.Errorf("text %q, want %q", got, full[:at])
		}
		if c := last.Choices[0]; *c.FinishReason != "stop" || c.StopReason == nil || *c.StopReason != stop {
			t.Errorf("finish %v, stop_reason %v", c.FinishReason, c.StopReason)
		}
		// The tokens counted are those up to the end of the stop string.
		whole := r.s.vocab.encode(nil, full)
		n, length := 0, 0
		for length < at+len(stop) {
			length += len(r.s.vocab.text[whole[n]])
			n++
		}
		if last.Usage.CompletionTokens != n {
			t.Errorf("%d tokens, want %d", last.Usage.CompletionTokens, n)
		}
		if got, _ := answer(`,"include_stop_str_in_output":true,"stop":` + quote(stop)); got != full[:at+len(stop)] {
			t.Errorf("text with the stop string %q, want %q", got, full[:at+len(stop)])
		}
		// It ends within token n, the longer one with it, and both begin before
		// it. Up to min_tokens no end counts.
		for _, stop := range []string{stop, full[at:length]} {
			for minTokens, want := range map[int]string{n - 1: full[:at], n: full, 39: full} {
				if got, _ := answer(`,"min_tokens":` + itoa(minTokens) + `,"stop":` + quote(stop)); got != want {
					t.Errorf("stop %q, min_tokens %d: %q, want %q", stop, minTokens, got, want)
				}
			}
		}
	})
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

// A mistake is a request that is refused.
type mistake struct {
	name, path, body string
	status           int
	kind, param      string // param "" is null
	message          string // contained
}

const message = `{"role":"user","content":"hi"}`

var badCompletions = []mistake{
	{"no JSON", completions, `{"prompt":`, 400, "Bad Request", "body.10", "JSON decode error"},
	{"no object", completions, `[1]`, 400, "Bad Request", "body", "valid dictionary"},
	{"nested too deep", completions, strings.Repeat("[", 100_000), 400, "Bad Request", "body.10001", "JSON decode error"},
	{
		"missing prompt", completions, `{}`, 400, "Bad Request", "prompt",
		"Either prompt or prompt_embeds must be provided and non-empty.",
	},
	{
		"empty prompt", completions, `{"prompt":""}`, 400, "Bad Request", "prompt",
		"Either prompt or prompt_embeds must be provided and non-empty.",
	},
	{"empty list", completions, `{"prompt":[]}`, 400, "Bad Request", "prompt", "Either prompt"},
	{
		"prompt of wrong type", completions, `{"prompt":7}`, 400, "Bad Request", "body.prompt",
		"Input should be a valid string",
	},
	{"batch", completions, `{"prompt":["a","b"]}`, 400, "BadRequestError", "", "one prompt per request, got a list of 2"},
	{"batch of ids", completions, `{"prompt":[[1],[2]]}`, 400, "BadRequestError", "", "one prompt per request"},
	{"negative id", completions, `{"prompt":[1,-2]}`, 400, "Bad Request", "body.prompt.1", "greater than or equal to 0"},
	{
		"wrong types, all told", completions, `{"prompt":"a","max_tokens":"x","stream":[],"n":1.5}`, 400, "Bad Request",
		"body.max_tokens", "3 validation errors",
	},
	{
		"negative max_tokens", completions, `{"prompt":"a","max_tokens":-5}`, 400, "BadRequestError", "max_tokens",
		"max_tokens must be at least 1, got -5.",
	},
	{
		"min over max", completions, `{"prompt":"a","max_tokens":5,"min_tokens":6}`, 400, "BadRequestError", "min_tokens",
		"less than or equal to max_tokens=5, got 6.",
	},
	{"several choices", completions, `{"prompt":"a","n":2}`, 400, "BadRequestError", "n", "one choice"},
	{"no choices", completions, `{"prompt":"a","n":0}`, 400, "BadRequestError", "n", "n must be at least 1, got 0."},
	{"logprobs", completions, `{"prompt":"a","logprobs":5}`, 400, "BadRequestError", "logprobs", "not supported"},
	{
		"max_tokens of 2^53", completions, `{"prompt":"a","max_tokens":9007199254740992}`, 400, "BadRequestError",
		"max_tokens", "max_tokens=9007199254740992 cannot be greater",
	},
	{
		"max_tokens beyond 2^53", completions, `{"prompt":"a","max_tokens":9007199254740994}`, 400, "Bad Request",
		"body.max_tokens", "exceeded maximum size",
	},
	{
		"token ids of the answer", completions, `{"prompt":"a","return_token_ids":true}`, 400, "BadRequestError",
		"return_token_ids", "not supported",
	},
	{"a suffix", completions, `{"prompt":"a","suffix":"b"}`, 400, "BadRequestError", "suffix", "not supported"},
	{
		"a shorter prompt", completions, `{"prompt":"a","truncate_prompt_tokens":5}`, 400, "BadRequestError",
		"truncate_prompt_tokens", "not supported",
	},
	{
		"no boolean", completions, `{"prompt":"a","stream":"maybe"}`, 400, "Bad Request", "body.stream",
		"unable to interpret input",
	},
	{
		"no boolean number", completions, `{"prompt":"a","stream":2}`, 400, "Bad Request", "body.stream",
		"unable to interpret input",
	},
	{
		"empty stop", completions, `{"prompt":"a","stop":["x",""]}`, 400, "BadRequestError", "",
		"stop cannot contain an empty string.",
	},
	{
		"stop of wrong type", completions, `{"prompt":"a","stop":["x",1]}`, 400, "Bad Request", "body.stop.1",
		"valid string",
	},
	{
		"stream options alone", completions, `{"prompt":"a","stream_options":{"include_usage":true}}`, 400, "Bad Request",
		"stream_options", "Stream options can only be defined when `stream=True`.",
	},
	{
		"too long", completions, `{"prompt":"` + strings.Repeat(" a", 95) + `","max_tokens":10}`, 400, "BadRequestError",
		"input_tokens",
		"You passed 95 input tokens and requested 10 output tokens. However, the model's context length is only 100 " +
			"tokens, resulting in a maximum input length of 90 tokens.",
	},
	{
		"max_tokens beyond the context", completions, `{"prompt":"a","max_tokens":101}`, 400, "BadRequestError",
		"max_tokens", "cannot be greater than max_model_len=100",
	},
	{
		"unknown model", completions, `{"prompt":"a","model":"other"}`, 404, "NotFoundError", "model",
		"The model `other` does not exist.",
	},
	{"tokenize nothing", "/tokenize", `{}`, 400, "Bad Request", "body.prompt", "Field required"},
	{"detokenize nothing", "/detokenize", `{}`, 400, "Bad Request", "body.tokens", "Field required"},
	{
		"detokenize the unknown", "/detokenize", `{"tokens":[99999999]}`, 400, "BadRequestError", "tokens",
		"out of vocabulary",
	},
}

func TestBadCompletions(t *testing.T) {
	refused(t, badCompletions)
}

func TestBadChats(t *testing.T) {
	image := func(url string) string {
		return `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + url + `"}}]}]}`
	}
	refused(t, []mistake{
		{
			"zero max_tokens", chats, `{"messages":[` + message + `],"max_tokens":0}`, 400, "BadRequestError",
			"max_tokens", "got 0.",
		},
		{
			"a tool call", chats, `{"messages":[` + message + `],"tool_choice":"required"}`, 400, "BadRequestError",
			"tool_choice", "not supported",
		},
		{
			"a call of a tool", chats, `{"messages":[` + message +
				`],"tool_choice":{"type":"function","function":{"name":"f"}}}`, 400, "BadRequestError", "tool_choice",
			"not supported",
		},
		{
			"chat too long", chats, `{"messages":[{"role":"user","content":"` + strings.Repeat(" a", 200) + `"}]}`, 400,
			"BadRequestError", "input_tokens", "You passed",
		},
		{"missing messages", chats, `{}`, 400, "Bad Request", "body.messages", "Field required"},
		{"messages of wrong type", chats, `{"messages":"hi"}`, 400, "Bad Request", "body.messages", "valid list"},
		{"no message", chats, `{"messages":[]}`, 400, "BadRequestError", "", "at least one message"},
		{"message of wrong type", chats, `{"messages":["hi"]}`, 400, "Bad Request", "body.messages.0", "valid dictionary"},
		{
			"missing role", chats, `{"messages":[{"content":"hi"}]}`, 400, "Bad Request", "body.messages.0.role",
			"Field required",
		},
		{
			"content of wrong type", chats, `{"messages":[{"role":"user","content":5}]}`, 400, "Bad Request",
			"body.messages.0.content", "valid string",
		},
		{"remote image", chats, image("https://example.com/a.png"), 400, "BadRequestError", "", "fetches nothing"},
		{"no image", chats, image("data:image/png;base64,AAAA"), 400, "BadRequestError", "", "cannot identify image file"},
		{
			"video", chats, `{"messages":[{"role":"user","content":[{"type":"video_url"}]}]}`, 400, "BadRequestError", "",
			"At most 0 video(s) may be provided in one prompt.",
		},
		{
			"unknown part", chats, `{"messages":[{"role":"user","content":[{"type":"smell"}]}]}`, 400, "BadRequestError", "",
			"Unknown part type: smell",
		},
	})
}

// refused sends each mistake and compares the error.
func refused(t *testing.T, mistakes []mistake) {
	t.Helper()
	for _, test := range mistakes {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{MaxModelLen: 100})
				status, body := r.whole("POST", test.path, test.body)
				var got struct {
					Error struct {
						Message, Type string
						Param         *string
						Code          int
					}
				}
				if err := json.Unmarshal([]byte(body), &got); err != nil {
					t.Fatalf("%v in %s", err, body)
				}
				e := got.Error
				param := ""
				if e.Param != nil {
					param = *e.Param
				}
				if status != test.status || e.Code != test.status || e.Type != test.kind || param != test.param ||
					!strings.Contains(e.Message, test.message) {
					t.Errorf("%d %s", status, body)
				}
			})
		})
	}
}

func TestAccepted(t *testing.T) {
	for _, test := range []struct{ name, path, body string }{
		{"nulls", completions, `{"prompt":"a","logprobs":null,"stop":null,"stream_options":null,"n":null,"echo":null}`},
		{"unknown fields", completions, `{"prompt":"a","frobnicate":{"x":1},"temperature":0,"repetition_penalty":1.0}`},
		{"one string in a list", completions, `{"prompt":["a"]}`},
		{"one list of ids in a list", completions, `{"prompt":[[1,2]]}`},
		{"ids of another tokenizer", completions, `{"prompt":[151643]}`},
		{"no model, and the model", completions, `{"prompt":"a","model":"pitot","echo":false}`},
		{
			"parts", chats,
			`{"messages":[{"role":"user","content":["x",{"type":"text","text":"y"}]},{"role":"assistant","content":null}]}`,
		},
		{"nothing asked", completions, `{"prompt":"a","suffix":"","truncate_prompt_tokens":-1,"return_token_ids":false}`},
		{
			"nothing asked of a chat", chats,
			`{"messages":[{"role":"user","content":"hi"}],"tool_choice":"auto","truncate_prompt_tokens":null}`,
		},
		{"no tool", chats, `{"messages":[{"role":"user","content":"hi"}],"tool_choice":"none","tools":[]}`},
		{"logprobs off", chats, `{"messages":[{"role":"user","content":"hi"}],"logprobs":false,"top_logprobs":0}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{OutputLen: arrival.ConstantCount(3)})
				if status, body := r.whole("POST", test.path, test.body); status != http.StatusOK {
					t.Errorf("%d %s", status, body)
				}
			})
		})
	}
}

func TestSmallEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Model: "m", Version: "1.2.3", MaxModelLen: 99})
		for _, test := range []struct {
			method, path, body string
			status             int
			want               string
		}{
			{"GET", "/", "", 200, "a simulated engine; its models are at /v1/models\n"},
			{"GET", "/health", "", 200, ""},
			{"GET", "/version", "", 200, `{"version":"1.2.3"}`},
			{
				"GET", "/v1/models", "", 200,
				`{"object":"list","data":[{"id":"m","object":"model","created":946684800,"owned_by":"pitot","root":"m",` +
					`"parent":null,"max_model_len":99}]}`,
			},
			{
				"POST", "/tokenize", `{"prompt":" the cat","add_special_tokens":true}`, 200,
				`{"count":2,"max_model_len":99,"tokens":[IDS],"token_strs":null}`,
			},
			{
				"POST", "/tokenize", `{"prompt":"the cat","return_token_strs":true}`, 200,
				`{"count":2,"max_model_len":99,"tokens":[IDS],"token_strs":["the"," cat"]}`,
			},
			{
				"POST", "/tokenize", `{"prompt":"","model":"m"}`, 200,
				`{"count":0,"max_model_len":99,"tokens":[IDS],"token_strs":null}`,
			},
			{
				"POST", "/tokenize",
				`{"messages":[{"role":"user","content":"cat"}],"add_generation_prompt":false,"return_token_strs":true}`, 200,
				`{"count":5,"max_model_len":99,"tokens":[IDS],"token_strs":["use","r",":"," cat","\n"]}`,
			},
			{"POST", "/detokenize", `{"tokens":[104,105,255]}`, 200, `{"prompt":"hi` + "\uFFFD" + `"}`},
			{"POST", "/detokenize", `{"tokens":[]}`, 200, `{"prompt":""}`},
			{"GET", "/nothing", "", 404, `{"detail":"Not Found"}`},
			{"GET", completions, "", 405, `{"detail":"Method Not Allowed"}`},
			{"GET", "/health_generate", "", 200, ""},
			{
				"GET", "/get_model_info", "", 200,
				`{"model_path":"m","tokenizer_path":"m","is_generation":true,"preferred_sampling_params":null,` +
					`"weight_version":"default"}`,
			},
			{"POST", "/start_profile", `{"activities":["CPU"],"num_steps":null}`, 200, ""},
			{"GET", "/stop_profile", "", 200, ""},
			{"GET", "/start_profile", "", 200, ""},
		} {
			status, got := r.whole(test.method, test.path, test.body)
			if before, after, ok := strings.Cut(got, `"tokens":[`); ok {
				_, after, _ = strings.Cut(after, "]")
				got = before + `"tokens":[IDS]` + after
			}
			if status != test.status || got != test.want {
				t.Errorf("%s %s: %d %s\nwant %d %s", test.method, test.path, status, got, test.status, test.want)
			}
		}
		if !r.s.Profiling() {
			t.Error("not profiling after /start_profile")
		}
		if r.whole("POST", "/stop_profile", ""); r.s.Profiling() {
			t.Error("profiling after /stop_profile")
		}
	})
}

func TestAMethodThatIsNotAllowedIsToldWhichAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		for path, want := range map[string]string{completions: "POST", "/pitot/truth": "DELETE, GET"} {
			resp, err := r.do(t.Context(), "PUT", path, "")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if got := resp.Header.Get("Allow"); resp.StatusCode != http.StatusMethodNotAllowed || got != want {
				t.Errorf("%s: %s with Allow %q, want %q", path, resp.Status, got, want)
			}
		}
	})
}
