package grid

import (
	"math"
	"testing"
)

func TestMetric(t *testing.T) {
	for _, c := range []struct{ text, name, stat string }{
		{"TTFT", "ttft", ""},
		{"P99 TTFT (ms)", "ttft", "p99"},
		{"mean_ttft_ms", "ttft", "mean"},
		{"首 token 时延", "ttft", ""},
		{"平均首字延迟(ms)", "ttft", "mean"},
		{"非首token时延 P90", "tpot", "p90"},
		{"Time per Output Token, median", "tpot", "median"},
		{"TP99 ITL", "itl", "p99"},
		{"Avg E2E latency (s)", "e2el", "mean"},
		{"端到端时延 99分位", "e2el", "p99"},
		{"Request throughput (req/s)", "throughput.requests", ""},
		{"QPS", "throughput.requests", ""},
		{"Throughput (req/s)", "throughput", ""},
		{"Total Token throughput", "throughput.total", ""},
		{"Output tokens/s", "throughput.output", ""},
		{"TPS", "throughput.output", ""},
		{"输出吞吐率", "throughput.output", ""},
		{"Total Output Throughput", "throughput.output", ""},
		{"Prefill throughput", "throughput.input", ""},
		{"Peak output token throughput (tok/s)", "peak.output", ""},
		{"吞吐量", "throughput", ""},
		{"Time to First Output Token", "", ""},
		{"Time to Second Token (ms)", "", ""},
		{"Latency (ms)", "", ""},
		{"Accuracy", "", ""},
	} {
		name, stat, ok := labelled(c.text)
		if name != c.name || stat != c.stat || ok != (c.name != "") {
			t.Errorf("%s: %q %q %v", c.text, name, stat, ok)
		}
	}
}

func TestAmounts(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		text, head string
		latency    bool
		was, is    *float64
		want       float64
		ok         bool
	}{
		{"-20%", "", true, nil, nil, -0.2, true},
		{"−20.0 %", "", false, nil, nil, -0.2, true},
		{"20%", "", true, nil, nil, 0, false},
		{"20%", "", true, value(10), value(8), -0.2, true},
		{"20%", "down", true, nil, nil, -0.2, true},
		{"20%", "better", true, nil, nil, -0.2, true},
		{"20%", "better", false, nil, nil, 0.2, true},
		{"+20%", "better", true, nil, nil, -0.2, true},
		{"+20%", "better", true, value(10), value(12), 0.2, true},
		{"-20%", "better", true, nil, nil, 0, false},
		{"-20%", "better", true, value(10), value(8), -0.2, true},
		{"↓ 5%", "", true, nil, nil, -0.05, true},
		{"5% faster", "", true, nil, nil, -0.05, true},
		{"提升5%", "", false, nil, nil, 0.05, true},
		{"1.25x", "better", true, nil, nil, -0.2, true},
		{"1.25x", "", false, nil, nil, 0.25, true},
		{"1.25×", "", true, nil, nil, 0, false},
		{"1.25倍", "", true, value(10), value(8), -0.2, true},
		{"0.8x", "", true, value(10), value(8), -0.2, true},
	} {
		a, ok := readAmount(c.text)
		if !ok {
			t.Errorf("%s is no amount", c.text)
			continue
		}
		got, _, ok := a.change(c.head, c.latency, c.was, c.is)
		if ok != c.ok || ok && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s, %s: %v %v", c.text, c.head, got, ok)
		}
	}
	for _, text := range []string{"99% of requests", "12-15%", "20%-30%", "< 5%", "±3%", "5% or 6%", "85% hit rate"} {
		if a, ok := readAmount(text); ok {
			t.Errorf("%s is %v", text, a)
		}
	}
}

// labelled names the metric and the statistic of a label: ttft and p99 for `P99 TTFT (ms)`. The statistic is "" if the
// label states none.
func labelled(text string) (name, stat string, ok bool) {
	l := parse(text)
	if len(l.stats) > 0 {
		stat = l.stats[0]
	}
	return l.metric, stat, l.metric != "" && len(l.stats) < 2
}
