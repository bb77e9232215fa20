package apiserver

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A scripted model is a LatencyModel that keeps its jobs, and tells and counts
// what the test says.
type scripted struct {
	*engine.LatencyModel
	jobs     []engine.Job
	cached   int32
	counters engine.Counters
	kv       float64
	flushed  int
}

func (m *scripted) Add(now time.Duration, j engine.Job) {
	m.jobs = append(m.jobs, j)
	m.LatencyModel.Add(now, j)
}

func (m *scripted) Step(now time.Duration, out []engine.Emission) []engine.Emission {
	out = m.LatencyModel.Step(now, out)
	for i := range out {
		out[i].Cached = m.cached
	}
	return out
}

func (m *scripted) Load() engine.Utilization {
	l := m.LatencyModel.Load()
	l.KV, l.Counters = m.kv, m.counters
	return l
}

func (m *scripted) Flush() { m.flushed++ }

// newScripted is a server on such a model.
func newScripted(t *testing.T, cfg Config) (*rig, *scripted) {
	t.Helper()
	r := newRig(t, cfg)
	m := &scripted{LatencyModel: engine.NewLatencyModel(cfg.Latency, cfg.Seed)}
	r.s.loop.model = m
	return r, m
}

func TestJobs(t *testing.T) {
	cached := &engine.Config{KV: engine.KVCache{Tokens: 1000, PrefixCache: true}}
	picture := pngURL(t, 57, 28)
	image, err := readImage(picture)
	if err != nil || image.Tokens != 3 {
		t.Fatalf("%+v, %v", image, err)
	}
	if other, _ := readImage(pngURL(t, 58, 28)); other.Hash == image.Hash || image.Hash == 0 {
		t.Errorf("two pictures have the hashes %d and %d", image.Hash, other.Hash)
	}
	for _, test := range []struct {
		name, path, body string
		engine           *engine.Config
		want             engine.Job
	}{
		{
			"plain", completions, `{"prompt":[7,8,9],"max_tokens":5,"ignore_eos":true}`, nil,
			engine.Job{PromptTokens: 3, OutputTokens: 5},
		},
		{
			"nothing to remember", completions, `{"prompt":[7,8,9],"max_tokens":5,"ignore_eos":true}`, &engine.Config{},
			engine.Job{PromptTokens: 3, OutputTokens: 5},
		},
		{
			"prefix cache", completions, `{"prompt":[7,8,9],"max_tokens":5,"ignore_eos":true}`, cached,
			engine.Job{PromptTokens: 3, OutputTokens: 5, Prompt: []int32{7, 8, 9}},
		},
		{
			"prefix-aware router", completions, `{"prompt":[7],"max_tokens":1}`,
			&engine.Config{Replicas: engine.Replicas{Count: 2, Router: "prefix-aware"}},
			engine.Job{PromptTokens: 1, OutputTokens: 1, Prompt: []int32{7}},
		},
		{
			"prefix cache of prefill servers", completions, `{"prompt":[7],"max_tokens":1}`,
			&engine.Config{Disaggregation: &engine.Disaggregation{KV: engine.KVCache{Tokens: 4096, PrefixCache: true}}},
			engine.Job{PromptTokens: 1, OutputTokens: 1, Prompt: []int32{7}},
		},
		{
			"priority", completions, `{"prompt":[7],"max_tokens":1,"priority":-3}`, nil,
			engine.Job{PromptTokens: 1, OutputTokens: 1, Priority: -3},
		},
		{
			"picture", chats, chatWithImage(picture, 1), nil,
			engine.Job{PromptTokens: 14, OutputTokens: 1, Images: []engine.Image{image}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := newScripted(t, Config{Engine: test.engine})
				if status, body := r.whole("POST", test.path, test.body); status != 200 {
					t.Fatal(body)
				}
				if diff := cmp.Diff([]engine.Job{test.want}, m.jobs); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestContextOfAnEngine(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  Config
		want int
	}{
		{"no engine", Config{}, 131072},
		{"an engine without limits", Config{Engine: &engine.Config{}}, 131072},
		{"its memory, in whole blocks", Config{Engine: &engine.Config{KV: engine.KVCache{Tokens: 1000, Block: 16}}}, 992},
		{"more memory than a request wants", Config{Engine: &engine.Config{KV: engine.KVCache{Tokens: 1 << 20}}}, 131072},
		{"what it says", Config{Engine: &engine.Config{MaxModelLen: 200_000}}, 200_000},
		{"less than it says", Config{MaxModelLen: 100, Engine: &engine.Config{MaxModelLen: 200_000}}, 100},
		{
			"a limit that makes whole prompts fit", Config{
				MaxModelLen: 4096, Engine: &engine.Config{Scheduler: engine.Scheduler{WholePrompts: true}},
			}, 4096,
		},
	} {
		s, err := New(test.cfg)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := s.cfg.MaxModelLen; got != test.want {
			t.Errorf("%s: context %d, want %d", test.name, got, test.want)
		}
	}
}

func TestBadEngines(t *testing.T) {
	_, err := New(Config{
		MaxModelLen: 1001, StallLimit: -1,
		Engine: &engine.Config{MaxModelLen: 1000, Scheduler: engine.Scheduler{Policy: "vlm"}, Cost: engine.Costs{Jitter: 3}},
	})
	for _, want := range []string{
		"StallLimit is negative",
		`scheduler.policy "vlm": unknown name, did you mean "vllm"?`,
		"cost.jitter 3: must be between 0 and 2",
		"MaxModelLen is 1001, above the context of the engine, 1000 tokens",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %q", err, want)
		}
	}
	if problems := plan.Problems(nil); !errors.As(err, &problems) || problems[0].Path != "scheduler.policy" {
		t.Errorf("%v is no error of a field", err)
	}
}

// With a prefix cache the usage tells what it spared, in the last chunk and not
// in those before it.
func TestCachedTokensInTheUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newScripted(t, Config{Engine: &engine.Config{KV: engine.KVCache{Tokens: 1000, PrefixCache: true}}})
		m.cached = 2
		const every = `,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`
		const details = `"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}`
		for _, fields := range []string{"", every} {
			_, got := r.whole("POST", completions, `{"prompt":[1,2,3],"max_tokens":3,"ignore_eos":true`+fields+`}`)
			if strings.Count(got, "prompt_tokens_details") != 1 || !strings.Contains(got, details) {
				t.Errorf("%q: %s", fields, got)
			}
		}
		m.cached = 0
		if _, got := r.whole("POST", chats, `{"messages":[`+message+
			`],"max_tokens":3,"ignore_eos":true}`); !strings.Contains(got, `{"cached_tokens":0}`) {
			t.Errorf("nothing found: %s", got)
		}
	})
}
