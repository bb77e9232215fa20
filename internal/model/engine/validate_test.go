package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

var invalidConfigs = map[string]struct {
	config Config
	paths  []string
}{
	"nothing": {},
	"several": {
		Config{MaxModelLen: -1, Cost: Costs{Step: -1, Jitter: math.NaN()}},
		[]string{"max_model_len", "cost.step", "cost.jitter"},
	},
	"names": {
		Config{Scheduler: Scheduler{Policy: "vlm"}, Replicas: Replicas{Router: "x"}},
		[]string{"scheduler.policy", "replicas.router"},
	},
	"policy": {
		Config{Scheduler: Scheduler{Mixed: true, Reserve: 0.5, Order: "longest-prefix"}},
		[]string{"scheduler.order", "scheduler.mixed", "scheduler.reserve"},
	},
	// below 256 sequences
	"budget":    {Config{Scheduler: Scheduler{TokenBudget: 10}}, []string{"scheduler.token_budget"}},
	"one block": {Config{KV: KVCache{Tokens: 10}}, []string{"kv.tokens"}},                    // of 16
	"context":   {Config{MaxModelLen: 100, KV: KVCache{Tokens: 111}}, []string{"kv.tokens"}}, // 6 blocks: 96
	"whole": {
		Config{Scheduler: Scheduler{WholePrompts: true}, MaxModelLen: 9000}, []string{"scheduler.token_budget"},
	},
	"tables": {
		Config{Cost: Costs{Step: 1, DecodeTable: []Point{{1, 2}, {1, 1}}, PrefillTable: []Point{{0, 0}}}},
		[]string{"cost.decode_table[1].at", "cost.decode_table[1].time", "cost.prefill_table", "cost.decode_table"},
	},
	"pace": {
		Config{
			Pace:   Pace{Slower: -1, StartSpread: 0.3, Drift: &Drift{Change: 11}},
			Stalls: &Stalls{Every: arrival.FixedDuration(1)},
		},
		[]string{"slower", "start_spread", "drift.change", "drift.over", "stalls.length"},
	},
	"no change": {Config{Pace: Pace{Drift: &Drift{Over: 1}}}, []string{"drift.change"}},
	"only stalls": {
		Config{Stalls: &Stalls{Every: arrival.FixedDuration(1), Length: arrival.FixedDuration(1)}},
		[]string{"stalls.length"},
	},
	"mixed table": {
		Config{Cost: Costs{Step: 1, MixedTable: []Point{{0, 2}, {4, 1}}}, Scheduler: Scheduler{PrefillBudget: -1}},
		[]string{"scheduler.prefill_budget", "cost.mixed_table[1].time"},
	},
	"variation": {
		Config{Cost: Costs{
			Jitter: 1, JitterQuantiles: []float64{0, math.NaN(), 2, 1}, SlowSteps: &SlowSteps{Share: 2, Extra: []Seconds{-1}},
		}},
		[]string{
			"cost.jitter_quantiles", "cost.jitter_quantiles[0]", "cost.jitter_quantiles[1]", "cost.jitter_quantiles[3]",
			"cost.slow_steps.share", "cost.slow_steps.extra", "cost.slow_steps.extra[0]",
		},
	},
	"slow by nothing": {
		Config{Cost: Costs{JitterQuantiles: []float64{}, SlowSteps: &SlowSteps{Share: 0.1}}},
		[]string{"cost.jitter_quantiles", "cost.slow_steps.extra"},
	},
	"never slow": {Config{Cost: Costs{JitterQuantiles: []float64{1, 1}, SlowSteps: &SlowSteps{}}}, nil},
	"sglang": {
		Config{Scheduler: Scheduler{Policy: "sglang", PrefillBudget: 1, Async: true}}, []string{"scheduler.prefill_budget"},
	},
	"static": {Config{Scheduler: Scheduler{Policy: "static", Async: true}}, []string{"scheduler.async"}},
	"even static": {
		Config{Scheduler: Scheduler{Policy: "static", EvenPrompts: true}}, []string{"scheduler.even_prompts"},
	},
	"even whole": {
		Config{Scheduler: Scheduler{WholePrompts: true, EvenPrompts: true, TokenBudget: 1 << 20}},
		[]string{"scheduler.even_prompts"},
	},
	"whole beside": {
		Config{Scheduler: Scheduler{WholePrompts: true, PrefillBudget: 99}, MaxModelLen: 100},
		[]string{"scheduler.prefill_budget"},
	},
	"launches": {
		Config{Cost: Costs{
			Launch: -1, LaunchSequence: -1, LaunchPrefill: -1, LaunchPrompt: -1, LaunchPrefillToken: -1, LaunchShare: 2, TailToken: -1,
		}},
		[]string{
			"cost.launch", "cost.launch_sequence", "cost.launch_prefill", "cost.launch_prompt", "cost.launch_prefill_token",
			"cost.tail_token", "cost.launch_share",
		},
	},
	"host": {
		Config{Cost: Costs{Host: &Host{Factors: []float64{0, 1}, Run: 2}}},
		[]string{"cost.host.factors[0]", "cost.host.hold", "cost.host.run"},
	},
	"host of one level": {
		Config{Cost: Costs{Host: &Host{Factors: []float64{1}, Hold: 1e-6}}}, []string{"cost.host.factors", "cost.host.hold"},
	},
	"host of a run": {Config{Cost: Costs{Host: &Host{Run: 0.1}}}, nil},
	"loop": {
		Config{Frontend: Frontend{Flush: -1, Passes: -1, Host: 5}},
		[]string{"frontend.flush", "frontend.passes", "frontend.host"},
	},
	"no loop":           {Config{Frontend: Frontend{Host: 1}}, []string{"frontend.host"}},
	"workers of a loop": {Config{Frontend: Frontend{Flush: 1, Workers: 2}}, []string{"frontend.workers"}},
	"workers of one worker": {
		Config{Frontend: Frontend{Flush: 1, Blocking: true, Workers: 2}}, []string{"frontend.workers"},
	},
	"speculative": {
		Config{Speculative: &Speculative{Drafts: 2, Acceptance: Acceptance{0.5, 2, -1}}},
		[]string{"speculative.acceptance[1]", "speculative.acceptance[2]"},
	},
	"speculative alike": {
		Config{Speculative: &Speculative{Acceptance: Acceptance{2}}}, []string{"speculative.drafts", "speculative.acceptance"},
	},
	"too far ahead": {
		Config{Speculative: &Speculative{Drafts: 1, Acceptance: make(Acceptance, 17)}}, []string{"speculative.acceptance"},
	},
	"link": {
		Config{Disaggregation: &Disaggregation{Link: Link{Bandwidth: 1}, Scheduler: Scheduler{Policy: "x"}}},
		[]string{"disaggregation.scheduler.policy", "disaggregation.link.token_size"},
	},
}

// Every mistake is reported with its field, all at once.
func TestValidate(t *testing.T) {
	for name, test := range invalidConfigs {
		var paths []string
		for _, p := range test.config.Validate() {
			paths = append(paths, p.Path)
		}
		if !slices.Equal(paths, test.paths) {
			t.Errorf("%s: %v, want %v", name, paths, test.paths)
		}
	}
	if _, err := New(Config{MaxModelLen: -1}); err == nil {
		t.Error("New took a Config that Validate refuses")
	}
	if got := (Config{KV: KVCache{Tokens: 111}}).Context(); got != 96 {
		t.Errorf("context %d, want 6 blocks of 16", got)
	}
}
