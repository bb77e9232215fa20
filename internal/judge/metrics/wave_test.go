package metrics

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestWavesAgree(t *testing.T) {
	calm := trace.Wave{Requests: 8, TTFT: .100, TPOT: .010, ITL: .010, E2EL: 1, Gap: .050}
	with := func(change func(*trace.Wave)) trace.Wave {
		w := calm
		change(&w)
		return w
	}
	text := func(e2el float64) trace.Wave { return trace.Wave{Requests: 8, E2EL: e2el} }
	stalled := func(gap float64) trace.Wave { return with(func(w *trace.Wave) { w.Gap = gap }) }
	for name, tt := range map[string]struct {
		a, b trace.Wave
		want bool
	}{
		"the same":                 {calm, calm, true},
		"TTFT within 5 %":          {calm, with(func(w *trace.Wave) { w.TTFT = .104 }), true},
		"TTFT beyond":              {calm, with(func(w *trace.Wave) { w.TTFT = .106 }), false},
		"TTFT beyond, falling":     {with(func(w *trace.Wave) { w.TTFT = .106 }), calm, false},
		"TPOT beyond":              {calm, with(func(w *trace.Wave) { w.TPOT = .0094 }), false},
		"a gap in the first":       {stalled(.8), calm, false},
		"a gap in the second":      {calm, stalled(.8), false},
		"the load's gap":           {stalled(.8), stalled(.7), true},
		"two gaps":                 {stalled(.8), stalled(.5), false},
		"ten times next to no gap": {with(func(w *trace.Wave) { w.ITL = 0 }), calm, true},
		"answers in one piece":     {text(1), text(1.04), true},
		"that differ":              {text(1), text(1.06), false},
		"a few that waited":        {with(func(w *trace.Wave) { w.Longest = 3 }), with(func(w *trace.Wave) { w.Longest = .2 }), false},
		"all that wait":            {with(func(w *trace.Wave) { w.Longest = 3 }), with(func(w *trace.Wave) { w.Longest = 2 }), true},
		"nothing answered":         {with(func(w *trace.Wave) { w.Failed = 8 }), with(func(w *trace.Wave) { w.Failed = 8 }), false},
	} {
		if got := Agree(tt.a, tt.b, false); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if slower := with(func(w *trace.Wave) { w.TTFT = .118 }); !Agree(calm, slower, true) || Agree(calm, with(func(w *trace.Wave) { w.TTFT = .122 }), true) {
		t.Error("brief waves agree within 20 %")
	}
}

// cached is a run of ten answered prompts of 100 tokens, of which so many are cached.
func cached(state trace.Cache, each int, counters map[string]float64) *trace.Trace {
	t := stopped(10, 20_000_000, 0, 0)
	t.Run.Cache, t.Run.ServerCounters = &state, counters
	for _, r := range t.Records {
		r.Usage.Prompt, r.Usage.Cached = 100, each
	}
	return t
}

func TestDeclarationsAreHeldAgainstTheEvidence(t *testing.T) {
	vllm := func(hits, preempted float64) map[string]float64 {
		return map[string]float64{"vllm:prefix_cache_queries_total": 1000, "vllm:prefix_cache_hits_total": hits, "vllm:num_preemptions_total": preempted}
	}
	sglang := map[string]float64{"sglang:prompt_tokens_total": 1000, `sglang:cached_tokens_total{cache_source="device"}`: 300, `sglang:cached_tokens_total{cache_source="host"}`: 100}
	cold, unknown := trace.Cache{Declared: plan.ColdCache, Most: 50}, trace.Cache{Declared: plan.ColdCache, Most: -1}
	primed := trace.Cache{Declared: plan.PrimedCache, Most: -1, Least: 864}
	reporting := cold
	reporting.Reported = 10
	for name, tt := range map[string]struct {
		t      *trace.Trace
		proof  Proof
		source string
		hit    int
	}{
		"cold":                                {cached(reporting, 0, nil), Proved, FromUsage, 0},
		"cold, as far as the run explains":    {cached(cold, 5, nil), Proved, FromUsage, 50},
		"not cold":                            {cached(cold, 6, nil), Contradicted, FromUsage, 60},
		"cold by counters":                    {cached(cold, 0, vllm(50, 0)), Proved, FromCounters, 50},
		"not cold by counters":                {cached(cold, 0, vllm(51, 0)), Contradicted, FromCounters, 51},
		"a preempted prompt is found again":   {cached(cold, 0, vllm(150, 1)), Proved, FromCounters, 150},
		"answers before counters":             {cached(cold, 5, vllm(900, 0)), Proved, FromUsage, 50},
		"not cold by SGLang's":                {cached(cold, 0, sglang), Contradicted, FromCounters, 400},
		"cold, and nobody tells":              {cached(cold, 0, nil), Unproved, "", 0},
		"cold, of prompts that are not text":  {cached(unknown, 6, nil), Unproved, FromUsage, 60},
		"nothing found, whatever prompts are": {cached(unknown, 0, vllm(0, 0)), Proved, FromCounters, 0},
		"primed":                              {cached(primed, 96, nil), Proved, FromUsage, 960},
		"not primed":                          {cached(primed, 80, nil), Contradicted, FromUsage, 800},
		"primed, and nobody tells":            {cached(primed, 0, nil), Unproved, "", 0},
		"primed with prompts below a block":   {cached(trace.Cache{Declared: plan.PrimedCache}, 1, nil), Unproved, FromUsage, 10},
		"warm":                                {cached(trace.Cache{Declared: plan.WarmCache}, 70, nil), NothingToSay, FromUsage, 700},
	} {
		s := Summarize(tt.t, Options{})
		if c := s.Cache; c.Proof != tt.proof || c.Source != tt.source || c.Hit != tt.hit {
			t.Errorf("%s: %+v", name, c)
		}
		reasons, wrong := s.Health.Verdict.Reasons, 0
		for _, r := range reasons {
			if r.Code == CacheNotCold || r.Code == CacheNotPrimed {
				wrong++
			}
		}
		if (wrong == 1) != (tt.proof == Contradicted) || s.CacheNote().IsZero() != (tt.proof != Unproved) {
			t.Errorf("%s: %v, %v", name, reasons, s.CacheNote())
		}
	}
}
