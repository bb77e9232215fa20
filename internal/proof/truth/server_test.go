package truth

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// steady is a server with known instants: a request that comes at a
// multiple of 10 ms has its tokens 30, 40, … ms later.
var steady = Config{Lockstep: true, Step: 10 * time.Millisecond, TTFT: 20 * time.Millisecond}

// align lets virtual time reach a multiple of 10 ms on the server's clock.
func (r *rig) align() time.Time {
	const period = int64(10 * time.Millisecond)
	time.Sleep(time.Duration(period - r.srv.now()%period))
	return time.Now()
}

func TestCompletionsStream(t *testing.T) {
	virtual(t, steady, func(r *rig) {
		start := r.align()
		resp := r.post("/v1/completions",
			`{"model":"m","prompt":"one two  three","max_tokens":4,"stream":true,"stream_options":{"include_usage":true}}`)
		got := events(t, resp.Body, start)
		if len(got) != 6 || got[5].data != "[DONE]" {
			t.Fatalf("events %v, want 4 tokens, usage and [DONE]", got)
		}
		var said string
		for i, want := range []time.Duration{30, 40, 50, 60, 60} {
			c := parse(t, got[i].data)
			if got[i].at != want*time.Millisecond {
				t.Errorf("event %d came after %v, want %d ms", i, got[i].at, want)
			}
			if c.Object != "text_completion" || c.Model != "m" || !strings.HasPrefix(c.ID, "cmpl-") {
				t.Errorf("event %d: %s", i, got[i].data)
			}
			if i == 4 {
				if len(c.Choices) != 0 || c.Usage == nil || c.Usage.Prompt != 3 || c.Usage.Completion != 4 || c.Usage.Total != 7 {
					t.Errorf("usage: %s", got[i].data)
				}
				continue
			}
			said += *c.Choices[0].Text
			if reason := c.Choices[0].FinishReason; (reason != nil) != (i == 3) || i == 3 && *reason != "length" {
				t.Errorf("finish reason of event %d: %s", i, got[i].data)
			}
		}
		if want := answer(t, 4); said != want {
			t.Errorf("text %q, want %q", said, want)
		}
		if resp.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" ||
			!slices.Equal(resp.TransferEncoding, []string{"chunked"}) {
			t.Errorf("head %v %v", resp.Header, resp.TransferEncoding)
		}
		r.checkSteady(start)
	})
}

// checkSteady checks the log of the request of TestCompletionsStream.
func (r *rig) checkSteady(start time.Time) {
	r.t.Helper()
	synctest.Wait()
	req := r.request()
	if req.Ended != Complete || req.Status != 200 || req.PromptTokens != 3 || req.Wanted != 4 || req.Tokens != 4 ||
		req.Path != "/v1/completions" || !req.Stream {
		r.t.Errorf("logged %+v", req)
	}
	var instants []time.Duration
	for i, w := range req.Writes {
		if w.Planned != w.Before || w.Before != w.After || w.Events != 1 || w.Tokens != int32(min(1, max(0, 4-i))) ||
			w.Blocked {
			r.t.Errorf("write %d: %+v", i, w)
		}
		instants = append(instants, time.Duration(w.Before-req.Received)/time.Millisecond)
	}
	if !slices.Equal(instants, []time.Duration{30, 40, 50, 60, 60, 60}) {
		r.t.Errorf("writes %v ms after the request", instants)
	}
	if at := time.Duration(r.srv.now()-req.Received) - time.Since(start); at != 0 {
		r.t.Errorf("the request was received %v early", at)
	}
}

func TestChatStream(t *testing.T) {
	virtual(t, steady, func(r *rig) {
		start := r.align()
		resp := r.post("/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"be brief"},
			{"role":"user","content":[{"type":"text","text":"a b"},{"type":"image_url","image_url":{"url":"data:"}}]}],
			"max_tokens":9,"max_completion_tokens":2,"stream":true,
			"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`)
		got := events(t, resp.Body, start)
		if len(got) != 5 || got[4].data != "[DONE]" {
			t.Fatalf("events %v, want the role, 2 tokens, usage and [DONE]", got)
		}
		first := parse(t, got[0].data)
		if d := first.Choices[0].Delta; d.Role == nil || *d.Role != "assistant" || *d.Content != "" ||
			got[0].at != 30*time.Millisecond {
			t.Errorf("role: %v", got[0])
		}
		text := ""
		for i := range 4 {
			c := parse(t, got[i].data)
			if want := min(i, 2); c.Usage == nil || c.Usage.Prompt != 4 || c.Usage.Completion != want {
				t.Errorf("usage of event %d: %s", i, got[i].data)
			}
			if i < 3 {
				text += *c.Choices[0].Delta.Content
			}
		}
		if want := answer(t, 2); text != want {
			t.Errorf("text %q, want %q", text, want)
		}
		if got[1].at != 30*time.Millisecond || got[2].at != 40*time.Millisecond {
			t.Errorf("tokens after %v and %v", got[1].at, got[2].at)
		}
	})
}

func TestGenerateStreamTellsTheAnswerFromItsBeginning(t *testing.T) {
	virtual(t, steady, func(r *rig) {
		start := r.align()
		resp := r.post("/generate",
			`{"input_ids":[5,6,7],"rid":"mine","sampling_params":{"max_new_tokens":3,"ignore_eos":true},"stream":true}`)
		got := events(t, resp.Body, start)
		if len(got) != 4 || got[3].data != "[DONE]" {
			t.Fatalf("events %v, want 3 tokens and [DONE]", got)
		}
		for i := range 3 {
			c := parse(t, got[i].data)
			if c.Text != answer(t, i+1) || len(c.OutputIDs) != i+1 || c.Meta.Completion != i+1 || c.Meta.Prompt != 3 ||
				c.Meta.ID != "mine" {
				t.Errorf("event %d: %s", i, got[i].data)
			}
			if i == 2 && (c.Meta.FinishReason == nil || c.Meta.FinishReason.Length != 3 || c.Meta.E2E != 0.05) {
				t.Errorf("the end: %s", got[i].data)
			}
		}
		synctest.Wait()
		if req := r.request(); req.ID != "mine" || req.PromptTokens != 3 || req.Tokens != 3 {
			t.Errorf("logged %+v", req)
		}
	})
}

func TestAnswersThatAreNoStream(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/completions":      `{"prompt":[1,2],"max_tokens":3}`,
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"a b"}],"max_tokens":3}`,
		"/generate":            `{"text":"a b","sampling_params":{"max_new_tokens":3}}`,
	} {
		virtual(t, steady, func(r *rig) {
			start := r.align()
			status, got, err := r.ask(path, body)
			if took := time.Since(start); status != 200 || err != nil || took != 50*time.Millisecond {
				t.Fatalf("%s: %d %q %v after %v, want it with the third token at 50 ms", path, status, got, err, took)
			}
			c, text := parse(t, got), ""
			switch path {
			case "/generate":
				text = c.Text
			case "/v1/completions":
				text = *c.Choices[0].Text
			default:
				text = c.Choices[0].Message.Content
			}
			if want := answer(t, 3); text != want {
				t.Errorf("%s: text %q, want %q", path, text, want)
			}
			if c.Usage != nil && (c.Usage.Prompt != 2 || c.Usage.Completion != 3) {
				t.Errorf("%s: %s", path, got)
			}
			synctest.Wait()
			if req := r.request(); req.Stream || req.Tokens != 3 || len(req.Writes) != 1 || req.Ended != Complete {
				t.Errorf("%s: logged %+v", path, req)
			}
		})
	}
}

// Requests for more than text get text, and none is refused.
func TestExtrasAreIgnored(t *testing.T) {
	virtual(t, steady, func(r *rig) {
		if status, got, err := r.ask("/v1/completions",
			`{"prompt":"a","max_tokens":1,"logprobs":5,"echo":true}`); status != 200 || err != nil {
			t.Errorf("%d %s %v", status, got, err)
		}
	})
}

// Every protocol with text answers is spoken, streamed and not.
func TestEveryProtocol(t *testing.T) {
	asks := map[string]string{
		"completions": `{"prompt":"a b","max_tokens":4,"stream":%v}`,
		"chat":        `{"messages":[{"role":"user","content":"a b"}],"max_tokens":4,"stream":%v}`,
		"responses":   `{"input":"a b","max_output_tokens":4,"stream":%v}`,
		"messages":    `{"messages":[{"role":"user","content":"a b"}],"max_tokens":4,"stream":%v}`,
		"generate":    `{"text":"a b","sampling_params":{"max_new_tokens":4},"stream":%v}`,
		"tgi":         `{"inputs":"a b","parameters":{"max_new_tokens":4},"stream":%v}`,
		"trt":         `{"text_input":"a b","max_tokens":4,"stream":%v}`,
	}
	for _, p := range phrase.All() {
		virtual(t, steady, func(r *rig) {
			if spoken(p.Routes[0]) == nil {
				if status, got, _ := r.ask(p.Routes[0], `{}`); status != 404 {
					t.Errorf("%s: %d %s, want 404", p.Name, status, got)
				}
				return
			}
			for _, stream := range []bool{false, true} {
				r.srv.forget()
				status, got, err := r.ask(p.Routes[0], fmt.Sprintf(asks[p.Name], stream))
				stream = stream || p == phrase.TGI // by its route
				if status != 200 || err != nil || strings.Contains(got, "data:") != stream || !strings.Contains(got, "The") {
					t.Errorf("%s: %d %s %v", p.Name, status, got, err)
				}
				synctest.Wait()
				req := r.request()
				events := 0
				for _, w := range req.Writes {
					events += int(w.Events)
				}
				if req.Ended != Complete || req.Tokens != 4 || req.PromptTokens != 2 || events != strings.Count(got, "data:") {
					t.Errorf("%s: logged %+v", p.Name, req)
				}
			}
		})
	}
}

func TestTheNaturalLength(t *testing.T) {
	cfg := steady
	cfg.OutputTokens = 7
	virtual(t, cfg, func(r *rig) {
		for body, want := range map[string]string{
			`{"prompt":"a"}`:                   "stop",
			`{"prompt":"a","ignore_eos":true}`: "length",
		} {
			_, got, _ := r.ask("/v1/completions", body)
			if c := parse(t, got); c.Usage.Completion != 7 || *c.Choices[0].FinishReason != want {
				t.Errorf("%s: %s, want 7 tokens and %s", body, got, want)
			}
		}
	})
}

func TestSpreadStreamsFollowTheirPlans(t *testing.T) {
	cfg := Config{Step: 10 * time.Millisecond, Jitter: 0.5, TTFT: 3 * time.Millisecond, Seed: 4}
	virtual(t, cfg, func(r *rig) {
		r.streams(5, `{"prompt":"a","max_tokens":20,"stream":true}`)
		full, plans := cfg.withDefaults(), []uint64{0, 1, 2, 3, 4}
		synctest.Wait()
		for n, req := range r.srv.Log().Requests {
			// One of the plans is that of this request: they came at the same instant.
			of := slices.IndexFunc(plans, func(k uint64) bool {
				p := full.plan(k)
				return p.first(req.Received) == req.Writes[0].Planned
			})
			if of < 0 {
				t.Fatalf("request %d follows no plan: %+v", n, req)
			}
			p := full.plan(plans[of])
			plans = slices.Delete(plans, of, of+1)
			due := p.first(req.Received)
			for i, w := range req.Writes[:20] {
				if w.Planned != due || w.Before != due || w.Tokens != 1 || w.Events != 1 {
					t.Errorf("write %d of request %d: %+v, want it at %d", i, n, w, due)
				}
				due = p.next(due, due)
			}
			if len(req.Writes) != 21 || req.Tokens != 20 {
				t.Errorf("request %d: %+v", n, req)
			}
		}
	})
}

// Connections are dealt evenly to writers. Another writer is made for every 512 connections, up to
// one for two processors.
func TestWritersShareTheConnections(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 * perWriter {
		s.least().conns.Add(1)
		if want := min(n/perWriter+1, 4); len(s.writers) != want {
			t.Fatalf("%d writers for %d connections, want %d", len(s.writers), n+1, want)
		}
	}
	for _, w := range s.writers {
		if got := w.conns.Load(); got != 5*perWriter/4 {
			t.Errorf("a writer with %d connections, want %d", got, 5*perWriter/4)
		}
	}
	s.writers[1].conns.Add(-1)
	if s.least() != s.writers[1] {
		t.Error("a new connection is not given to the writer with the fewest")
	}
	close(s.stop)
	s.running.Wait()
}

// streams makes n requests at once, reads them to the end, and returns how many
// text events each had.
func (r *rig) streams(n int, body string) []int {
	counts := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			resp := r.post("/v1/completions", body)
			defer resp.Body.Close()
			for _, e := range events(r.t, resp.Body, time.Now()) {
				if e.data != "[DONE]" && len(parse(r.t, e.data).Choices) > 0 {
					counts[i]++
				}
			}
		})
	}
	wg.Wait()
	return counts
}

func TestFaultsInAStream(t *testing.T) {
	cfg := steady
	for _, c := range []struct {
		faults Faults
		ended  Ending
		tokens int
		broken bool
	}{
		{Faults{Truncate: 1}, Truncate, 5, false},
		{Faults{Reset: 1}, Reset, 5, true},
	} {
		cfg.Faults = c.faults
		check := func(r *rig) {
			resp := r.post("/v1/completions", `{"prompt":"a","max_tokens":10,"stream":true}`)
			b, err := io.ReadAll(resp.Body)
			if got := strings.Count(string(b), "data: {"); got != c.tokens || (err != nil) != c.broken ||
				strings.Contains(string(b), "DONE") || strings.Contains(string(b), `"length"`) {
				t.Errorf("%+v: %d tokens, then %v", c.faults, got, err)
			}
			r.srv.waitIdle()
			if req := r.request(); req.Ended != c.ended || req.Tokens != c.tokens || req.Wanted != 10 {
				t.Errorf("%+v: logged %+v", c.faults, req)
			}
		}
		virtual(t, cfg, check)
		loopback(t, cfg, check)
	}
}

func TestFaultsOfResponses(t *testing.T) {
	cfg := steady
	cfg.Faults = Faults{HTTP500: 1}
	virtual(t, cfg, func(r *rig) {
		status, body, err := r.ask("/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"stream":true}`)
		if status != 500 || err != nil || !strings.Contains(body, `"InternalServerError"`) {
			t.Errorf("%d %s %v", status, body, err)
		}
		if req := r.request(); req.Ended != HTTP500 || req.Status != 500 || req.Tokens != 0 {
			t.Errorf("logged %+v", req)
		}
	})
	cfg.Faults = Faults{Truncate: 1}
	virtual(t, cfg, func(r *rig) {
		status, body, err := r.ask("/v1/completions", `{"prompt":"a","max_tokens":10}`)
		if status != 200 || err != nil || strings.HasSuffix(body, "}") {
			t.Errorf("%d %s %v, want half of a JSON object", status, body, err)
		}
	})
	cfg.Faults = Faults{Reset: 1}
	loopback(t, cfg, func(r *rig) {
		resp, err := r.client.Post("http://server/v1/completions", "", strings.NewReader(`{"prompt":"a","max_tokens":10}`))
		if err == nil {
			t.Errorf("a response %v", resp)
		}
	})
}

func TestBadRequestsAreRefused(t *testing.T) {
	virtual(t, steady, func(r *rig) {
		for _, c := range []struct{ path, body, says string }{
			{"/v1/completions", `{"prompt":`, "JSON decode error"},
			{"/v1/completions", `[1]`, "valid dictionary or object"},
			{"/v1/completions", `{"max_tokens":3}`, "prompt"},
			{"/v1/completions", `{"prompt":["a","b"]}`, "one prompt"},
			{"/v1/completions", `{"prompt":[]}`, "Either prompt"},
			{"/v1/completions", `{"prompt":[[]]}`, "Either prompt"},
			{"/v1/completions", `{"prompt":"a","max_tokens":0}`, "max_tokens must be at least 1, got 0."},
			{"/v1/completions", `{"prompt":"a","max_tokens":1.5}`, "got a number with a fractional part"},
			{"/v1/completions", `{"prompt":"a","max_tokens":1e99}`, "exceeded maximum size"},
			{
				"/v1/completions", `{"prompt":"a","max_tokens":262145}`,
				"max_tokens=262145 cannot be greater than max_model_len=262144",
			},
			{"/v1/completions", `{"prompt":"a","n":2}`, "one choice per request, got n=2"},
			{"/v1/chat/completions", `{"messages":"a"}`, "messages"},
			{"/generate", `{"sampling_params":{}}`, "text"},
			{"/generate", `{"text":"a","sampling_params":{"max_new_tokens":"x"}}`, "max_new_tokens"},
		} {
			r.srv.forget()
			status, body, _ := r.ask(c.path, c.body)
			if status != 400 || !strings.Contains(body, c.says) {
				t.Errorf("%s %s: %d %s, want 400 and %q", c.path, c.body, status, body, c.says)
			}
			if req := r.request(); req.Ended != Refused || req.Status != 400 {
				t.Errorf("%s %s: logged %+v", c.path, c.body, req)
			}
		}
	})
}

func TestSideRoutes(t *testing.T) {
	cfg := steady
	cfg.Model = `the "model"`
	virtual(t, cfg, func(r *rig) {
		for _, c := range []struct {
			method, path, body string
			status             int
			want               string
		}{
			{"GET", "/v1/models", "", 200, `"id":"the \"model\""`},
			{"GET", "/health", "", 200, ``},
			{"GET", "/version?x=1", "", 200, `"version"`},
			{"GET", "/get_model_info", "", 200, `"model_path"`},
			{"GET", "/get_server_info", "", 200, `"internal_states":[{}]`},
			{"POST", "/tokenize", `{"prompt":"a b c"}`, 200, `"count":3`},
			{"POST", "/tokenize", `{}`, 400, `prompt`},
			{"POST", "/detokenize", `{"tokens":[4,5]}`, 200, `{"prompt":"word word"}`},
			{"POST", "/detokenize", `{"tokens":4}`, 400, `tokens`},
			{"GET", "/metrics", "", 404, `Not Found`},
			{"POST", "/health", "", 405, ``},
			{"GET", "/generate", "", 405, ``},
		} {
			req, _ := http.NewRequest(c.method, "http://server"+c.path, strings.NewReader(c.body))
			resp, err := r.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != c.status || !strings.Contains(string(b), c.want) {
				t.Errorf("%s %s: %d %s, want %d and %s", c.method, c.path, resp.StatusCode, b, c.status, c.want)
			}
		}
		if n := len(r.srv.Log().Requests); n != 0 {
			t.Errorf("%d requests in the log", n)
		}
	})
}

// The token counts of the log are what a client reads, whatever the form, with
// raw sockets and without.
func TestTheLogIsWhatAClientReads(t *testing.T) {
	check := func(r *rig) {
		want := map[int]int{}
		for n := range 40 {
			tokens := 1 + 37*n%90
			want[tokens]++
			for _, got := range r.streams(1,
				fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"stream":true,"stream_options":{"include_usage":true}}`, tokens)) {
				if got != tokens {
					t.Errorf("the client read %d events of %d tokens", got, tokens)
				}
			}
		}
		r.srv.waitIdle()
		log := r.srv.Log()
		for _, req := range log.Requests {
			events := 0
			last := req.Received
			for _, w := range req.Writes {
				events += int(w.Events)
				if w.Before < last || w.After < w.Before || w.Before < w.Planned {
					t.Errorf("write %+v after %d", w, last)
				}
				last = w.After
			}
			if req.Ended != Complete || req.Tokens != req.Wanted || events != req.Tokens+2 {
				t.Errorf("logged %+v", req)
			}
			want[req.Tokens]--
		}
		for tokens, n := range want {
			if n != 0 {
				t.Errorf("%d requests of %d tokens too few", n, tokens)
			}
		}
	}
	cfg := Config{Step: 100 * time.Microsecond, Jitter: 1}
	virtual(t, cfg, check)
	loopback(t, cfg, check)
}
