package apiserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

const generate = "/generate"

// A told has the fields of an answer of /generate that the tests check.
type told struct {
	Text      string
	OutputIDs []int32 `json:"output_ids"`
	Meta      struct {
		ID     string
		Finish *struct {
			Type    string
			Length  int
			Matched *string
		} `json:"finish_reason"`
		Prompt     int     `json:"prompt_tokens"`
		Completion int     `json:"completion_tokens"`
		Cached     int     `json:"cached_tokens"`
		E2E        float64 `json:"e2e_latency"`
	} `json:"meta_info"`
	Error *struct{ Message string }
}

func tell(t *testing.T, text string) (a told) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return a
}

func TestGenerateStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, constantConfig())
		body := `{"text":"abcdefghi","sampling_params":{"temperature":0.0,"max_new_tokens":3,"ignore_eos":true},` +
			`"stream":true,` +
			`"lora_path":null,"return_logprob":false,"return_routed_experts":false,"logprob_start_len":-1}`
		head, chunks, complete := chunked(t, r.wire(generate, body))
		if !complete || !strings.Contains(head, "text/event-stream") {
			t.Errorf("complete %v: %s", complete, head)
		}
		golden.Check(t, "testdata/generate.txt", strings.Join(chunks, ""))
	})
}

// Every event comes with its token and repeats those before it.
func TestGenerateTellsAllSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, constantConfig())
		events, err := r.stream(generate,
			`{"input_ids":[1,2,3,4],"sampling_params":{"max_new_tokens":40,"ignore_eos":true},"stream":true,"rid":"mine"}`)
		if err != nil || len(events) != 41 || events[40].data != "[DONE]" {
			t.Fatalf("%d events, %v", len(events), err)
		}
		for i, e := range events[:40] {
			a, n := tell(t, e.data), i+1
			ids := r.s.vocab.encode(nil, a.Text)
			if !slices.Equal(ids, a.OutputIDs) || len(ids) != n || a.Meta.Completion != n || a.Meta.Prompt != 4 ||
				a.Meta.ID != "mine" {
				t.Errorf("event %d: %s", i, e.data)
			}
			if want := 20*ms + time.Duration(i)*5*ms; e.at != want {
				t.Errorf("event %d at %v, want %v", i, e.at, want)
			}
			if last := a.Meta.Finish != nil; last != (n == 40) || last && (a.Meta.Finish.Length != 40 || a.Meta.E2E != 0.215) {
				t.Errorf("event %d: %s", i, e.data)
			}
		}
		synctest.Wait()
		truth := r.truth("?id=mine").Requests
		if len(truth) != 1 || truth[0].Endpoint != "generate" || truth[0].OutputTokens != 40 ||
			truth[0].FinishReason != "length" || len(truth[0].Before) != 42 {
			t.Errorf("truth %+v", truth)
		}
	})
}

func TestGenerateWhole(t *testing.T) {
	picture := pngURL(t, 57, 28) // 3 tokens
	_, bare, _ := strings.Cut(picture, ",")
	for _, test := range []struct {
		name, fields string
		prompt       int
		tokens       int
		finish       string
	}{
		{"default", `"text":"abc"`, 1, 10, "stop"},
		{"default, no end", `"text":"abc","sampling_params":{"ignore_eos":true}`, 1, 128, "length"},
		{
			"as much as there is room for", `"text":"abc","sampling_params":{"ignore_eos":true,"max_new_tokens":null}`, 1,
			199, "length",
		},
		{
			"nothing special",
			`"text":"abc","sampling_params":null,"image_data":null,"video_data":null,"rid":null,"stream":false`, 1, 10, "stop",
		},
		{"min_new_tokens", `"text":"abc","sampling_params":{"min_new_tokens":30}`, 1, 30, "stop"},
		{"a picture", `"text":"abc","image_data":"` + picture + `"`, 4, 10, "stop"},
		{"pictures", `"input_ids":[5],"image_data":["` + picture + `","` + bare + `"]`, 7, 10, "stop"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{OutputLen: arrival.ConstantCount(10), MaxModelLen: 200})
				status, body := r.whole("POST", generate, `{`+test.fields+`}`)
				a := tell(t, body)
				if status != 200 || a.Meta.Prompt != test.prompt || a.Meta.Completion != test.tokens ||
					len(a.OutputIDs) != test.tokens || a.Meta.Finish.Type != test.finish {
					t.Errorf("%d %s", status, body)
				}
			})
		})
	}
}

// A stop string ends the text and is left out unless no_stop_trim is set.
func TestGenerateStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		answer := func(params string) told {
			t.Helper()
			_, body := r.whole("POST", generate, `{"text":"stop","sampling_params":{"max_new_tokens":40,"ignore_eos":true`+
				params+`}}`)
			return tell(t, body)
		}
		full := answer("").Text
		stop := full[50:56]
		end := strings.Index(full, stop)
		got := answer(`,"stop":` + quote(stop))
		if f := got.Meta.Finish; got.Text != full[:end] || f.Type != "stop" || f.Matched == nil || *f.Matched != stop {
			t.Errorf("%+v", got)
		}
		if got := answer(`,"no_stop_trim":true,"stop":[` + quote(stop) + `]`); got.Text != full[:end+len(stop)] {
			t.Errorf("untrimmed %q", got.Text)
		}
	})
}

func TestGenerateTellsTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Adapters: []string{"sql"}, Engine: &engine.Config{KV: engine.KVCache{Tokens: 1000, PrefixCache: true}}}
		r, m := newScripted(t, cfg)
		m.cached = 2
		_, body := r.whole("POST", generate, `{"input_ids":[1,2,3],"lora_path":"sql","priority":4}`)
		if j := m.jobs[0]; j.Adapter != "sql" || j.Priority != 4 || !slices.Equal(j.Prompt, []int32{1, 2, 3}) ||
			tell(t, body).Meta.Cached != 2 {
			t.Errorf("job %+v, answer %s", j, body)
		}
	})
}

// Invalid values are reported as SGLang reports them: in a stream, with status
// 200, if a stream was asked for.
func TestBadGenerates(t *testing.T) {
	for _, test := range []struct{ name, fields, message string }{
		{"no prompt", ``, "either text or input_ids"},
		{"two prompts", `,"text":"a","input_ids":[1]`, "either text or input_ids"},
		{"empty prompt", `,"text":""`, "The prompt is empty"},
		{"no ids", `,"input_ids":[]`, "The prompt is empty"},
		{"batch", `,"text":["a","b"]`, "one prompt per request"},
		{"batch of ids", `,"input_ids":[[1],[2]]`, "one prompt per request"},
		{"no tokens", `,"text":"a","sampling_params":{"max_new_tokens":0}`, "max_new_tokens must be at least 1, got 0."},
		{
			"min over max", `,"text":"a","sampling_params":{"max_new_tokens":5,"min_new_tokens":6}`,
			"min_new_tokens must be less than or equal to max_new_tokens=5, got 6.",
		},
		{"several answers", `,"text":"a","sampling_params":{"n":2}`, "one choice"},
		{
			"too long", `,"text":"a","sampling_params":{"max_new_tokens":100}`,
			"You passed 1 input tokens and requested 100 output tokens.",
		},
		{"logprobs", `,"text":"a","return_logprob":true`, "not supported"},
		{"video", `,"text":"a","video_data":["x"]`, "not supported"},
		{"no picture", `,"text":"a","image_data":["AAAA"]`, "cannot identify image file"},
		{"remote picture", `,"text":"a","image_data":"https://example.com/a.png"`, "fetches nothing"},
		{"unknown adapter", `,"text":"a","lora_path":"prose"`, "The LoRA adapter `prose` is not loaded."},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{MaxModelLen: 100})
				status, body := r.whole("POST", generate, `{"stream":false`+test.fields+`}`)
				if a := tell(t, body); status != 400 || a.Error == nil || !strings.Contains(a.Error.Message, test.message) {
					t.Errorf("%d %s", status, body)
				}
				status, stream := r.whole("POST", generate, `{"stream":true`+test.fields+`}`)
				if want := "data: " + body + "\n\ndata: [DONE]\n\n"; status != 200 || stream != want {
					t.Errorf("%d %s, want %s", status, stream, want)
				}
			})
		})
	}
}

func TestGeneratesThatDoNotFitTheSchema(t *testing.T) {
	for _, test := range []struct{ name, body, message string }{
		{"no JSON", `{"text":`, "JSON decode error"},
		{"text of wrong type", `{"text":7,"stream":true}`, "body.text"},
		{"ids of wrong type", `{"input_ids":"a"}`, "body.input_ids"},
		{"id of wrong type", `{"input_ids":[1,"a"]}`, "body.input_ids.1"},
		{"sampling_params of wrong type", `{"text":"a","sampling_params":[]}`, "body.sampling_params"},
		{"picture of wrong type", `{"text":"a","image_data":[7]}`, "body.image_data.0"},
		{
			"length of wrong type", `{"text":"a","sampling_params":{"max_new_tokens":"x"}}`,
			"body.sampling_params.max_new_tokens",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{})
				status, body := r.whole("POST", generate, test.body)
				var e struct {
					Object, Message, Type string
					Code                  int
				}
				if err := json.Unmarshal([]byte(body), &e); err != nil || status != 400 || e.Object != "error" || e.Code != 400 ||
					!strings.Contains(e.Message, test.message) {
					t.Errorf("%d %s", status, body)
				}
			})
		})
	}
}

func TestFaultsOfGenerate(t *testing.T) {
	const after = 3
	for _, test := range []struct {
		fault    string
		tokens   int
		complete bool
		tail     string // of the body, after the tokens
	}{
		{"truncate=1@3", after, true, ""},
		{"cut=1@3", after, false, `data: {"text":"`},
		{"stall=1@3", after, false, ""},
		{"reset=1@3", after, false, ""},
		{
			"stream-error=1@3", after, true, `data: {"error": {"message": "Internal server error"}}` + "\n\n" +
				doneEvent + "\n\n",
		},
		{"malformed=1@3", 5, true, ""},
		{"no-done=1", 5, true, ""},
		{"crlf=1", 5, true, ""},
		{"batch=1", 5, true, ""},
		{"split=1", 5, true, ""},
		{"multi-token=1", 5, true, ""},
		{"comments=1", 5, true, ""},
	} {
		t.Run(test.fault, func(t *testing.T) {
			wire, _, truth := faulty(t, generate,
				`,"text":"a","sampling_params":{"max_new_tokens":5,"ignore_eos":true},"stream":true`, test.fault)
			_, chunks, complete := chunked(t, wire)
			body := strings.Join(chunks, "")
			name, _, _ := strings.Cut(test.fault, "=")
			if complete != test.complete || truth.OutputTokens != test.tokens || !slices.Equal(truth.Faults, []string{name}) {
				t.Errorf("complete %v, truth %+v:\n%s", complete, truth, body)
			}
			if name == FaultMalformed {
				return
			}
			if test.tokens > after {
				checkVaried(t, body)
				return
			}
			tail := body
			for range after {
				_, tail, _ = strings.Cut(tail, "\n\n")
			}
			if test.tail == "" && tail != "" || !strings.HasPrefix(tail, test.tail) {
				t.Errorf("tail %q, want %q", tail, test.tail)
			}
		})
	}
}

// checkVaried wants every event of a stream of five tokens to be whole.
func checkVaried(t *testing.T, body string) {
	t.Helper()
	var last told
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: "); ok && data != "[DONE]" {
			last = tell(t, data)
		}
	}
	if len(last.OutputIDs) != 5 || last.Meta.Finish == nil {
		t.Errorf("the last event is %+v", last)
	}
}

func TestStatusFaultsOfGenerate(t *testing.T) {
	for _, fields := range []string{``, streamed} {
		wire, _, truth := faulty(t, generate, `,"text":"a"`+fields, "http-503=1")
		if truth.Status != http.StatusServiceUnavailable || !strings.Contains(wire, `"object":"error"`) ||
			!strings.Contains(wire, "Retry-After: 1") {
			t.Errorf("%s: truth %+v", wire, truth)
		}
	}
	// There is no usage to leave out: the counts are a part of every answer.
	_, _, truth := faulty(t, generate, `,"text":"a"`, "no-usage=1")
	if len(truth.Faults) != 0 || truth.Status != http.StatusOK {
		t.Errorf("no-usage: truth %+v", truth)
	}
}
