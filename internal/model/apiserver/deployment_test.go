package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

const msec engine.Seconds = 1e-3

// A step of this engine takes 10 ms and 1 ms a prompt token.
func deployment() *engine.Config {
	return &engine.Config{
		MaxModelLen: 500,
		KV:          engine.KVCache{Tokens: 1600, Block: 16, PrefixCache: true},
		Cost:        engine.Costs{Step: 10 * msec, PrefillToken: msec},
	}
}

// ids are n token ids as a prompt.
func ids(n int) string {
	out := make([]int, n)
	for i := range out {
		out[i] = 1000 + i
	}
	b, _ := json.Marshal(out)
	return string(b)
}

// A second request with the same prompt finds its full blocks, until they are
// flushed: of 40 tokens 32, and 8 are left to prefill.
func TestADeploymentCachesPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Engine: deployment()})
		for i, test := range []struct {
			flush  bool
			first  time.Duration
			cached int
		}{{false, 50 * ms, 0}, {false, 18 * ms, 32}, {true, 50 * ms, 0}} {
			if test.flush {
				r.whole("POST", "/flush_cache", "")
			}
			start := time.Since(r.start)
			events, err := r.stream(completions, `{"prompt":`+ids(40)+
				`,"max_tokens":3,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`)
			if err != nil {
				t.Fatal(err)
			}
			at := instants(t, events)
			for k := range at {
				at[k] -= start
			}
			want := []time.Duration{test.first, test.first + 10*ms, test.first + 20*ms}
			usage := fmt.Sprintf(`"prompt_tokens_details":{"cached_tokens":%d}`, test.cached)
			if last := events[len(events)-2].data; !slices.Equal(at, want) || !strings.Contains(last, usage) {
				t.Errorf("request %d: tokens at %v, want %v; %s", i, at, want, last)
			}
		}
		_, text := r.whole("GET", "/metrics", "")
		for _, want := range []string{"prefix_cache_queries_total", "prefix_cache_hits_total"} {
			if v := metric(t, text, want); v != map[string]float64{
				"prefix_cache_queries_total": 120, "prefix_cache_hits_total": 32,
			}[want] {
				t.Errorf("%s is %v", want, v)
			}
		}
	})
}

// metric is the value of a series without labels of its own.
func metric(t *testing.T, text, name string) (v float64) {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\nvllm:"+name+`{engine="0",model_name="pitot"} `)
	if !ok {
		t.Fatalf("no %s in\n%s", name, text)
	}
	if _, err := fmt.Sscan(rest, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// With 3 drafts that are always accepted a step emits 4 tokens in one event,
// and its time is one sample of the inter-token latency.
func TestADeploymentSpeculates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := deployment()
		cfg.Speculative = &engine.Speculative{Drafts: 3, Acceptance: engine.Acceptance{1}}
		r := newRig(t, Config{Engine: cfg})
		events, err := r.stream(generate,
			`{"input_ids":[1,2,3],"sampling_params":{"max_new_tokens":13,"ignore_eos":true},"stream":true}`)
		if err != nil {
			t.Fatal(err)
		}
		var tokens []int
		for _, e := range events[:len(events)-1] {
			tokens = append(tokens, tell(t, e.data).Meta.Completion)
		}
		if want := []int{1, 5, 9, 13}; !slices.Equal(tokens, want) {
			t.Errorf("tokens so far %v, want %v", tokens, want)
		}
		_, text := r.whole("GET", "/metrics", "")
		for name, want := range map[string]float64{
			"spec_decode_num_drafts_total": 3, "spec_decode_num_draft_tokens_total": 9,
			"spec_decode_num_accepted_tokens_total": 9,
			"inter_token_latency_seconds_count":     3, "generation_tokens_total": 13,
		} {
			if v := metric(t, text, name); v != want {
				t.Errorf("%s is %v, want %v", name, v, want)
			}
		}
		if _, info := r.whole("GET", "/server_info", ""); !strings.Contains(info, `[{"avg_spec_accept_length":4}]`) {
			t.Errorf("server info %s", info)
		}
	})
}

// Clients come, some leave; whatever the engine is, the others get all their
// tokens and nothing stays behind.
func TestDeploymentsSurviveTheirClients(t *testing.T) {
	base := deployment()
	base.Cost.Jitter = 0.3
	with := func(change func(*engine.Config)) *engine.Config {
		c := *base
		change(&c)
		return &c
	}
	for name, cfg := range map[string]*engine.Config{
		"vllm":   base,
		"sglang": with(func(c *engine.Config) { c.Scheduler.Policy = "sglang" }),
		"static": with(func(c *engine.Config) { c.Scheduler.Policy, c.Scheduler.MaxSequences = "static", 4 }),
		"disaggregated": with(func(c *engine.Config) {
			c.Disaggregation = &engine.Disaggregation{
				PrefillServers: 2, KV: c.KV, Cost: c.Cost, Link: engine.Link{Latency: 5 * msec},
			}
		}),
		"no limits": with(func(c *engine.Config) { c.KV = engine.KVCache{} }),
		"speculative": with(func(c *engine.Config) {
			c.Speculative = &engine.Speculative{Drafts: 3, Acceptance: engine.Acceptance{0.6}}
		}),
		"elastic":  with(func(c *engine.Config) { c.KV.Elastic = &engine.Elastic{PageTokens: 64, SparePages: 1} }),
		"adapters": with(func(c *engine.Config) { c.LoRA = &engine.LoRA{Slots: 1} }),
		"priority": with(func(c *engine.Config) { c.Scheduler.Order = "priority" }),
		"replicas": with(func(c *engine.Config) { c.Replicas = engine.Replicas{Count: 3, Router: "prefix-aware"} }),
		"frontend": with(func(c *engine.Config) {
			c.Frontend = engine.Frontend{Request: 5 * msec, Delay: 20 * msec, Chunk: 3 * msec, Blocking: true}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { comeAndGo(t, Config{Engine: cfg, Adapters: []string{"a", "b"}}) })
		})
	}
}

func comeAndGo(t *testing.T, cfg Config) {
	r := newRig(t, cfg)
	dice := rand.New(rand.NewPCG(1, 2))
	var all sync.WaitGroup
	for i := range 60 {
		tokens, patience := 1+dice.IntN(100), time.Hour
		if i%3 == 0 {
			patience = time.Duration(1+dice.IntN(400)) * ms
		}
		body := fmt.Sprintf(`{"prompt":%s,"model":%q,"priority":%d,"max_tokens":%d,"ignore_eos":true,"stream":true}`,
			ids(1+dice.IntN(300)), []string{"pitot", "a", "b"}[dice.IntN(3)], dice.IntN(3), tokens)
		all.Go(func() {
			ctx, leave := context.WithTimeout(t.Context(), patience)
			defer leave()
			resp, err := r.do(ctx, "POST", completions, body)
			if err != nil {
				return // it left
			}
			defer func() { _ = resp.Body.Close() }()
			text, err := io.ReadAll(resp.Body)
			if complete := strings.HasSuffix(string(text), doneEvent+"\n\n"); patience == time.Hour &&
				(!complete || err != nil) {
				t.Errorf("request %d: %v after %d bytes", i, err, len(text))
			}
		})
		time.Sleep(time.Duration(dice.IntN(40)) * ms)
	}
	all.Wait()
	time.Sleep(time.Minute)
	_, text := r.whole("GET", "/metrics", "")
	for _, name := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"} {
		if v := metric(t, text, name); v != 0 {
			t.Errorf("%s is %v at the end", name, v)
		}
	}
	synctest.Wait()
	for _, q := range r.truth("").Requests {
		if !q.ClientGone && (q.Status != 200 || q.FinishReason != "length") {
			t.Errorf("truth %+v", q)
		}
	}
}
