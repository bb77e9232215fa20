package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestReuseOf(t *testing.T) {
	records := func(reported bool, cached ...int) (all []*trace.Record) {
		for i, n := range cached {
			r := answered(i, 0, 0, 5, 10, 20)
			r.Usage = trace.Usage{Prompt: 100, Cached: n, CachedReported: reported, Completion: 5}
			all = append(all, r)
		}
		return all
	}
	counters := map[string]float64{
		"vllm:num_preemptions_total": 2, "vllm:prefix_cache_queries_total": 400, "vllm:prefix_cache_hits_total": 300, `vllm:request_success_total{finished_reason="stop"}`: 2,
	}
	for _, tt := range []struct {
		name     string
		records  []*trace.Record
		counters map[string]float64
		want     *trace.Reuse
		earlier  float64
	}{
		{"nobody tells", records(false, 0, 0), nil, nil, 0},
		{"answers tell of none", records(true, 0, 0), counters, &trace.Reuse{Prompt: 200}, 0},
		{"answers tell", records(true, 90, 60), counters, &trace.Reuse{Prompt: 200, Hit: 150}, 0.75},
		{"counters do, of preempted requests too", records(false, 0, 0), counters, &trace.Reuse{Prompt: 400, Hit: 300, Own: 200}, 0.25},
		{"counters of others", records(false, 0), map[string]float64{"vllm:num_preemptions_total": 0, "vllm:prefix_cache_queries_total": 400, "vllm:request_success_total": 90}, nil, 0},
	} {
		tr := run(1000)
		tr.Run.Kind, tr.Run.ServerCounters = trace.Measured, tt.counters
		got := ReuseOf(&tr.Run, tt.records)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if share, known := got.Earlier(); share != tt.earlier || known != (tt.want != nil) {
			t.Errorf("%s: %v (known: %v), want %v", tt.name, share, known, tt.earlier)
		}
	}
}
