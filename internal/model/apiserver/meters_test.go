package apiserver

import (
	"context"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// One place. Of three requests with prompts of 3 tokens the first has it from 0
// to 35 ms, the second, come at 7 ms, from 35 to 65 ms; the third comes at 9 ms
// and leaves at 60 ms, still waiting. So the sums are, in ms: first token
// 20+48, queue 0+28, prefill 20+20, inference 35+30, decode 15+10, end to end
// 35+58, per output token 15/3+10/2.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := constantConfig()
		cfg.Latency.Slots, cfg.Model = 1, "m\"1\n\\"
		r := newRig(t, cfg)
		var all sync.WaitGroup
		ask := func(ctx context.Context, tokens int) {
			body := `{"prompt":"abcdefghi","max_tokens":` + itoa(tokens) + `,"ignore_eos":true,"stream":true}`
			all.Go(func() {
				if resp, err := r.do(ctx, "POST", completions, body); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		}
		ask(t.Context(), 4)
		time.Sleep(7 * ms)
		ask(t.Context(), 3)
		time.Sleep(2 * ms)
		leaver, leave := context.WithCancel(t.Context())
		ask(leaver, 100)
		time.Sleep(21 * ms)
		_, during := r.whole("GET", "/metrics", "")
		for _, want := range []string{
			`num_requests_running{engine="0",model_name="m\"1\n\\"} 1.0`,
			`num_requests_waiting{engine="0",model_name="m\"1\n\\"} 2.0`,
		} {
			if !strings.Contains(during, "\nvllm:"+want+"\n") {
				t.Errorf("no %s at 30 ms", want)
			}
		}
		time.Sleep(30 * ms)
		leave()
		all.Wait()
		synctest.Wait()
		_, after := r.whole("GET", "/metrics", "")
		golden.Check(t, "testdata/metrics.txt", after)
	})
}

// What prometheus_client 0.26 writes for these numbers.
func TestPromFloat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 3: "3.0", 0.001: "0.001", 0.00001: "1e-05", 2560: "2560.0", 999999: "999999.0", 123456.5: "123456.5",
		1e6: "1e+06", 1234567: "1.234567e+06", 1e10: "1e+10", math.Inf(1): "+Inf",
	} {
		if got := promFloat(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

// What the engine says of itself comes through as it is, of the 16 positions
// those that are drafted.
func TestMetricsOfAnEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newScripted(t, Config{Engine: &engine.Config{Speculative: &engine.Speculative{Drafts: 3, Acceptance: engine.Acceptance{0.5}}}})
		m.kv = 0.25
		m.counters = engine.Counters{
			Steps: 9, Prefilled: 3072, Decoded: 500, Preemptions: 2, PrefixQueried: 4096, PrefixHit: 1024,
			Drafts: 100, Drafted: 300, Accepted: 140, AcceptedAt: [engine.MaxDrafts]uint64{80, 40, 20},
		}
		_, text := r.whole("GET", "/metrics", "")
		ours, _, _ := strings.Cut(text, "# HELP vllm:prompt_tokens_total")
		golden.Check(t, "testdata/metrics_engine.txt", ours)
	})
}
