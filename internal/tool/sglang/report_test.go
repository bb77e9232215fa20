package sglang

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// published are the figures of testdata/2026-01.txt, the report of a run of
// DeepSeek-R1 on Ascend 910 by sglang 0.5.6.post2.
func published() Figures {
	spread := func(mean, median, p95, p99, longest float64) metrics.Distribution {
		return metrics.Distribution{
			Mean: mean / 1000, Median: median / 1000, Max: longest / 1000,
			Percentiles: []metrics.Percentile{{P: 90}, {P: 95, Value: p95 / 1000}, {P: 99, Value: p99 / 1000}},
		}
	}
	return Figures{
		Figures: result.Figures{
			Duration: 354.53, Completed: 1536, TotalInput: 5376000, TotalOutput: 2304000,
			RequestThroughput: 4.33, OutputThroughput: 6498.74, TotalTokenThroughput: 21662.45, MaxOutputPerSecond: 8170, MaxConcurrent: 397,
			Latencies: metrics.Latencies{
				E2EL: spread(79755.73, 76583.00, 0, 0, 0),
				TTFT: spread(11959.24, 4368.17, 0, 63523.49, 0),
				TPOT: spread(45.23, 45.73, 0, 60.88, 0),
				ITL:  spread(45.22, 38.44, 80.06, 141.17, 1826.25),
			},
		},
		TotalInputText: 5376000, TotalRetokenized: 2297507, InputThroughput: 15163.72, Concurrency: 345.54,
	}
}

func written(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSGLangTableEqualsThePublishedOne(t *testing.T) {
	want, err := os.ReadFile("testdata/2026-01.txt")
	if err != nil {
		t.Fatal(err)
	}
	limit := 384
	r := &Report{requestedRun: requestedRun{Settings: Settings{Backend: "sglang", MaxConcurrency: &limit}, version: V2601, rate: math.Inf(1)}, Figures: published()}
	if diff := cmp.Diff(string(want), written(t, r)); diff != "" {
		t.Error(diff)
	}
}

// Two requests over a chat, 1 s apart at 1 request/s: TTFT 50 and 70 ms; three
// tokens each, 10 and 20 ms apart; the answers end 10 ms after the last.
func twoChats() *trace.Trace {
	const ms = trace.Instant(1e6)
	t := &trace.Trace{Run: trace.Run{End: 2000 * ms, Plan: trace.Load{Protocol: "chat", Stream: true, Rate: 1}}}
	for i, first := range []trace.Instant{50 * ms, 70 * ms} {
		r := trace.NewRecord(i)
		begin, gap := trace.Instant(i)*1000*ms, trace.Instant(10*(i+1))*ms
		r.Due, r.Released, r.Sent = begin, begin, begin
		for k := range trace.Instant(3) {
			r.Chunks = append(r.Chunks, trace.Chunk{At: begin + first + k*gap, Kind: trace.Text})
		}
		r.Done = begin + first + 2*gap + 10*ms
		r.PromptTokens, r.WantTokens, r.OutputTokens = 100, 3, 3
		r.Usage.Completion, r.CountedFrom = 3, trace.FromUsage
		t.Records = append(t.Records, r)
	}
	return t
}

// E2E 80 and 120 ms, TPOT (80-50)/2 = 15 and (120-70)/2 = 25 ms, ITL 10, 10, 20
// and 20 ms; a percentile p of two values lies p % of the way from one to the
// other, P90 of the four 0.7 of the way from the third to the fourth.
func TestSGLangTableOfToday(t *testing.T) {
	tr := twoChats()
	tr.Run.ServerCounters = map[string]float64{
		"vllm:spec_decode_num_drafts_total": 4, "vllm:spec_decode_num_draft_tokens_total": 8, "vllm:spec_decode_num_accepted_tokens_total": 6,
	}
	r, err := NewReport(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	want := "============ Serving Benchmark Result ============\n" +
		"Backend:                                 sglang-oai-chat\n" +
		"Traffic request rate:                    1.0       \n" +
		"Max request concurrency:                 not set   \n" +
		"Successful requests:                     2         \n" +
		"Benchmark duration (s):                  2.00      \n" +
		"Total input tokens:                      200       \n" +
		"Total input text tokens:                 200       \n" +
		"Total generated tokens:                  6         \n" +
		"Total generated tokens (retokenized):    6         \n" +
		"Request throughput (req/s):              1.00      \n" +
		"Input token throughput (tok/s):          100.00    \n" +
		"Output token throughput (tok/s):         3.00      \n" +
		"Peak output token throughput (tok/s):    3.00      \n" +
		"Peak concurrent requests:                1         \n" +
		"Total token throughput (tok/s):          103.00    \n" +
		"Concurrency:                             0.10      \n" +
		"Accept length:                           2.50      \n" +
		"----------------End-to-End Latency----------------\n" +
		"Mean E2E Latency (ms):                   100.00    \n" +
		"Median E2E Latency (ms):                 100.00    \n" +
		"P90 E2E Latency (ms):                    116.00    \n" +
		"P95 E2E Latency (ms):                    118.00    \n" +
		"P99 E2E Latency (ms):                    119.60    \n" +
		"---------------Time to First Token----------------\n" +
		"Mean TTFT (ms):                          60.00     \n" +
		"Median TTFT (ms):                        60.00     \n" +
		"P90 TTFT (ms):                           68.00     \n" +
		"P95 TTFT (ms):                           69.00     \n" +
		"P99 TTFT (ms):                           69.80     \n" +
		"-----Time per Output Token (excl. 1st token)------\n" +
		"Mean TPOT (ms):                          20.00     \n" +
		"Median TPOT (ms):                        20.00     \n" +
		"P90 TPOT (ms):                           24.00     \n" +
		"P95 TPOT (ms):                           24.50     \n" +
		"P99 TPOT (ms):                           24.90     \n" +
		"---------------Inter-Token Latency----------------\n" +
		"Mean ITL (ms):                           15.00     \n" +
		"Median ITL (ms):                         15.00     \n" +
		"P90 ITL (ms):                            20.00     \n" +
		"P95 ITL (ms):                            20.00     \n" +
		"P99 ITL (ms):                            20.00     \n" +
		"Max ITL (ms):                            20.00     \n" +
		"==================================================\n"
	if diff := cmp.Diff(want, written(t, r)); diff != "" {
		t.Error(diff)
	}
	if notes := r.Notes(); len(notes) > 0 {
		t.Errorf("%q", notes)
	}
	r.DatasetName = "image"
	if !strings.Contains(written(t, r), "\nTotal input vision tokens:               0         \n") {
		t.Error("no vision tokens where there are images")
	}
}

func TestSGLangTraffic(t *testing.T) {
	for _, tt := range []struct {
		plan    trace.Load
		due     trace.Instant
		backend string
		rate    string
		limit   int
	}{
		{trace.Load{Protocol: "completions", Rate: .25, Concurrency: 8}, 1, "sglang-oai", "0.25", 8},
		{trace.Load{Protocol: "chat", Concurrency: 8}, 0, "sglang-oai-chat", "inf", 8},
		{trace.Load{Protocol: "generate", Ramp: true}, 1, "sglang", "trace", 0},
	} {
		r := trace.NewRecord(0)
		r.Due = tt.due
		got, err := NewReport(&trace.Trace{Run: trace.Run{Plan: tt.plan}, Records: []*trace.Record{r}}, "2026-01")
		if err != nil {
			t.Fatal(err)
		}
		if got.Backend != tt.backend || got.rateText() != tt.rate || python.Value(got.MaxConcurrency) != tt.limit || got.version != V2601 {
			t.Errorf("%+v: %s at %s, %d, form %s", tt.plan, got.Backend, got.rateText(), python.Value(got.MaxConcurrency), got.version)
		}
	}
	if _, err := NewReport(&trace.Trace{}, "2025-07"); err == nil || !strings.Contains(err.Error(), "no form 2025-07") {
		t.Errorf("a form of vllm's: %v", err)
	}
}

func TestSGLangNotes(t *testing.T) {
	tr := twoChats()
	tr.Run.Plan.Protocol = "completions"
	early, late := tr.Records[0], tr.Records[1]
	early.WantTokens, early.Usage.At = 1024, early.Done
	late.Released = early.Done // within the first second
	silent := trace.NewRecord(2)
	silent.Class, silent.Released, silent.Done = trace.Empty, late.Done, late.Done+1
	refused := trace.NewRecord(3)
	refused.Class, refused.Released, refused.Done = trace.Refused, silent.Done, silent.Done
	tr.Records = append(tr.Records, silent, refused)
	r, err := NewReport(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Message{
		plan.Msg(reportFailed, "failed", 1, "of", 4), plan.Msg(reportSilent, "answers", 1),
		plan.Msg(reportAssumed, "answers", 1, "generated", 1027, "counted", 6), plan.Msg(result.ReportSeconds, "tool", "sglang", "peak", 2, "flight", 1),
	}
	if diff := cmp.Diff(want, r.Notes()); diff != "" {
		t.Error(diff)
	}
}

// A load that went out all at once took its time even so.
func TestSGLangRateOfAnImportedBurst(t *testing.T) {
	tr := &trace.Trace{Run: trace.Run{Origin: &trace.Origin{Setup: map[string]string{"request_rate": "inf"}}}, Records: []*trace.Record{{}, {Due: 1}}}
	if q := adopted(tr); q.rateText() != "inf" {
		t.Errorf("rate %s", q.rateText())
	}
	tr.Run.Origin = nil
	if q := adopted(tr); q.rateText() != "trace" {
		t.Errorf("rate %s", q.rateText())
	}
}
