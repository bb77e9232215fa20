package metrics_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// both are the tools whose figures can be computed.
var both = metrics.Rules{vllm.Definitions(), sglang.Definitions()}

// twoRequests is a run of two requests, 100 ms to the first chunk and 10 ms
// between chunks, the second one a second later.
func twoRequests() *trace.Trace {
	t := &trace.Trace{Run: trace.Run{End: 2e9, Plan: trace.Load{Stream: true, Requests: 2, Protocol: "completions"}}}
	for i := range 2 {
		r := trace.NewRecord(i)
		start := trace.Instant(i) * 1e9
		r.Due, r.Released, r.Sent, r.FirstByte = start, start, start+1e6, start+1e8
		for k := range 5 {
			r.Chunks = append(r.Chunks, trace.Chunk{At: start + 1e8 + trace.Instant(k)*1e7, Kind: trace.Text, Tokens: 1})
		}
		r.Done, r.PromptTokens, r.OutputTokens, r.CountedFrom, r.Status = start+15e7, 7, 5, trace.FromUsage, 200
		r.Usage.Completion = 5
		t.Records = append(t.Records, r)
	}
	return t
}

func figureOf(t *testing.T, all []trace.ReportedFigure, name string) float64 {
	t.Helper()
	for _, f := range all {
		if f.Name == name {
			return f.Value
		}
	}
	t.Fatalf("no figure %s in %v", name, all)
	return 0
}

func TestFiguresByTool(t *testing.T) {
	run := twoRequests()
	for _, test := range []struct {
		tool, name string
		want       float64
	}{
		{"pitot", "ttft.mean", 0.099}, // from sent
		{"vllm", "ttft.mean", 0.1},    // from released
		{"sglang", "ttft.p99", 0.1},
		{"pitot", "e2el.median", 0.149},
		{"vllm", "e2el.median", 0.14}, // the last event
		{"sglang", "e2el.mean", 0.15}, // the last line
		{"vllm", "tpot.p99", 0.01},
		{"sglang", "tpot.mean", 0.0125},
		{"pitot", "throughput.output", 5},
		{"vllm", "throughput.total", 12},
		{"sglang", "itl.max", 0.01},
		{"pitot", "peak.concurrency", 1},
	} {
		if got := figureOf(t, both.Figures(run, test.tool, ""), test.name); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s %s = %v, want %v", test.tool, test.name, got, test.want)
		}
	}
}

// A summary has the figures that are made of a trace for themselves, whatever else is in it.
func TestASummaryHasTheFiguresOfItsTrace(t *testing.T) {
	parts := twoRequests()
	for i, r := range parts.Records {
		r.Tenant, r.Chunks[4].At = string(rune('a'+i)), r.Chunks[4].At+1e9
	}
	for i, run := range []*trace.Trace{twoRequests(), parts, {}} {
		run.Run.Plan.Percentiles = []float64{50, 99.9}
		got, want := metrics.Summarize(run, metrics.Options{}).Figures(), metrics.PitotDefinitions().Figures(run, "")
		if !slices.Equal(got, want) {
			t.Errorf("run %d: %v, for themselves %v", i, got, want)
		}
		if all, alone := metrics.Summarize(run, metrics.Options{}).Health, metrics.HealthOf(run); !reflect.DeepEqual(alone, all) {
			t.Errorf("run %d: %+v, alone %+v", i, all, alone)
		}
	}
}

func TestFiguresHaveKnownNames(t *testing.T) {
	for _, tool := range []string{"pitot", "vllm", "sglang"} {
		for _, f := range both.Figures(twoRequests(), tool, "") {
			if !figure.Known(f.Name) {
				t.Errorf("%s: %s is no quantity", tool, f.Name)
			}
		}
	}
}

func TestFiguresOfATableAreItsTools(t *testing.T) {
	run := &trace.Trace{Run: trace.Run{Origin: &trace.Origin{Tool: "vllm", Detail: trace.Table, Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: 1.5}}}}}
	if got := figureOf(t, both.Figures(run, "vllm", ""), "ttft.mean"); got != 1.5 {
		t.Errorf("ttft.mean %v", got)
	}
	if got := both.Figures(run, "sglang", ""); got != nil {
		t.Errorf("a table of vllm's has figures of sglang's: %v", got)
	}
}

func TestUndatedRunsHaveOnlyWhatNeedsNoCommonClock(t *testing.T) {
	run := twoRequests()
	run.Run.Origin = &trace.Origin{Tool: "sglang", Detail: trace.Undated}
	got := both.Figures(run, "pitot", "")
	figureOf(t, got, "itl.p99")
	for _, f := range got {
		if m, _, _ := strings.Cut(f.Name, "."); m == "peak" || m == "concurrency" || m == "e2el" {
			t.Errorf("an undated run has %s", f.Name)
		}
	}
}

func TestSamplesAreInTheOrderOfSending(t *testing.T) {
	run := twoRequests()
	run.Records[0].Released, run.Records[0].Sent = 17e8, 17e8
	run.Records[0].Chunks, run.Records[0].Done = nil, 18e8
	for _, tool := range []string{"pitot", "vllm", "sglang"} {
		s := both.Samples(run, tool, "")
		if len(s) == 0 || s[0].Index != 1 || len(s[0].ITL) != 4 || math.Abs(s[0].TPOT-0.01) > 0.003 {
			t.Errorf("%s: %+v", tool, s)
		}
	}
	if s := both.Samples(run, "pitot", ""); len(s) != 2 || !math.IsNaN(s[1].TTFT) {
		t.Errorf("an answer without output has a TTFT: %+v", s)
	}
}
