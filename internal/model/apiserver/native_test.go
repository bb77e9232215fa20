package apiserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

func TestServerInfo(t *testing.T) {
	plain := map[string]any{
		"model_path": "m", "served_model_name": "m", "tokenizer_path": "m", "version": "1.2.3",
		"context_length": 99.0, "random_seed": 7.0, "lora_paths": nil, "disable_radix_cache": true,
		"max_total_num_tokens": nil, "speculative_num_draft_tokens": nil,
		"internal_states": []any{map[string]any{}},
	}
	full := map[string]any{
		"model_path": "m", "served_model_name": "m", "tokenizer_path": "m", "version": "1.2.3",
		"context_length": 99.0, "random_seed": 7.0, "lora_paths": []any{"sql"}, "disable_radix_cache": false,
		"max_total_num_tokens": 4096.0, "speculative_num_draft_tokens": 3.0,
		"internal_states": []any{map[string]any{"avg_spec_accept_length": 2.4}},
	}
	for _, test := range []struct {
		cfg  Config
		want map[string]any
	}{
		{Config{}, plain},
		{Config{
			Adapters: []string{"sql"},
			Engine: &engine.Config{
				KV: engine.KVCache{Tokens: 4096, PrefixCache: true}, Speculative: &engine.Speculative{Drafts: 3},
			},
		}, full},
	} {
		synctest.Test(t, func(t *testing.T) {
			test.cfg.Model, test.cfg.Version, test.cfg.MaxModelLen, test.cfg.Seed = "m", "1.2.3", 99, 7
			r, m := newScripted(t, test.cfg)
			if test.cfg.Engine != nil {
				m.counters = engine.Counters{Drafts: 100, Accepted: 140}
			}
			for _, path := range []string{"/get_server_info", "/server_info"} {
				var got map[string]any
				if _, text := r.whole("GET", path, ""); json.Unmarshal([]byte(text), &got) != nil {
					t.Fatal(text)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// A request runs from 0 to 30 ms.
func TestFlushCache(t *testing.T) {
	for _, test := range []struct {
		name, path string
		at         time.Duration // of the call
		status     int
		end        time.Duration
	}{
		{"idle", "/flush_cache", 40 * ms, 200, 40 * ms},
		{"idle, with a limit", "/flush_cache?timeout=60.0", 40 * ms, 200, 40 * ms},
		{"at work", "/flush_cache", 15 * ms, 400, 15 * ms},
		{"at work until then", "/flush_cache?timeout=60", 15 * ms, 200, 35 * ms},
		{"at work for longer", "/flush_cache?timeout=0.012", 15 * ms, 400, 27 * ms},
		{"a limit that is none", "/flush_cache?timeout=soon", 15 * ms, 400, 15 * ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := newScripted(t, constantConfig())
				var request sync.WaitGroup
				request.Go(func() {
					r.whole("POST", completions, `{"prompt":"a","max_tokens":3,"ignore_eos":true}`)
				})
				time.Sleep(test.at)
				status, text := r.whole("POST", test.path, "")
				if took := time.Since(r.start); status != test.status || took != test.end {
					t.Errorf("%d %q after %v, want %d after %v", status, text, took, test.status, test.end)
				}
				if done := m.flushed == 1; done != (status == 200) || done != strings.HasPrefix(text, "Cache flushed.") {
					t.Errorf("%d flushed %d times: %s", status, m.flushed, text)
				}
				request.Wait()
			})
		})
	}
}

// A model without a cache has nothing to flush, and it is no error.
func TestFlushOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		if status, text := r.whole("GET", "/flush_cache", ""); status != http.StatusOK {
			t.Errorf("%d %s", status, text)
		}
	})
}

func TestFlushEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newScripted(t, constantConfig())
		var request sync.WaitGroup
		request.Go(func() {
			r.whole("POST", completions, `{"prompt":"a","max_tokens":3,"ignore_eos":true}`)
		})
		synctest.Wait() // the engine has it
		ctx, leave := context.WithTimeout(t.Context(), 15*ms)
		defer leave()
		if _, err := r.do(ctx, "POST", "/flush_cache?timeout=60", ""); err == nil {
			t.Error("flushed a busy engine")
		}
		request.Wait()
		time.Sleep(time.Second)
		if m.flushed != 0 {
			t.Error("flushed after its client had left")
		}
	})
}

// With separate prefill servers a router answers, and drafts are not reported.
func TestAcceptLength(t *testing.T) {
	load := engine.Utilization{Counters: engine.Counters{Drafts: 100, Accepted: 140}}
	for _, tt := range []struct {
		engine *engine.Config
		load   engine.Utilization
		want   float64
	}{
		{&engine.Config{}, load, 2.4},
		{&engine.Config{}, engine.Utilization{}, 0},
		{&engine.Config{Disaggregation: &engine.Disaggregation{}}, load, 0},
	} {
		if got := (Config{Engine: tt.engine}).AcceptLength(tt.load); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.engine, got, tt.want)
		}
	}
}
