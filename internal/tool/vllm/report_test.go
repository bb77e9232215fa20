package vllm

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// goldenTrace is testdata/trace.json: 90 requests of a chat run with made-up
// instants, among them failures of several classes, streams cut short, answers
// without usage, and single tokens.
func goldenTrace(t *testing.T, args []string, counters bool) *trace.Trace {
	t.Helper()
	var file struct {
		Records  []*trace.Record
		Probes   []*trace.Record
		EndNS    trace.Instant      `json:"end_ns"`
		Counters map[string]float64 `json:"counters"`
	}
	golden.JSON(t, "testdata/trace.json", &file)
	a, err := Parse(args, "bench-")
	if err != nil {
		t.Fatal(err)
	}
	tr := &trace.Trace{
		Run: trace.Run{
			Started: time.Date(2026, 11, 21, 12, 30, 0, 0, time.Local),
			End:     file.EndNS,
			Plan:    trace.Load{Dialect: "vllm", Protocol: "chat", Spec: compiled(t, a)},
		},
		Records: file.Records,
	}
	for _, r := range tr.Records {
		switch { // the texts that vllm counted are of one token, and without a tokenizer none was
		case r.CountedFrom == trace.FromChunks && !a.SkipTokenizerInit:
			r.OutputTokens, r.CountedFrom = 1, trace.FromTokenizer
		case r.CountedFrom == trace.FromTokenizer && a.SkipTokenizerInit:
			r.CountedFrom = trace.FromChunks
		}
	}
	if counters {
		tr.Run.ServerCounters = file.Counters
	}
	return tr
}

// kept is a command line as an imported result has it.
func kept(t *testing.T, args []string) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(stored{args, "org/m", "org/tok"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type member struct {
	name string
	raw  string
}

// members of a JSON object, in order.
func members(t *testing.T, object []byte) []member {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var out []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		out = append(out, member{name.(string), string(raw)})
	}
	return out
}

// testdata/reports.json holds what the code of vllm 0.33.0, with numpy 2.4.6, makes
// of the same requests: the table it prints and the result it saves.
func TestReportAndResultEqualVLLM(t *testing.T) {
	var cases []struct {
		Name   string
		Args   []string
		Spec   bool
		Report string
		Result string
	}
	golden.JSON(t, "testdata/reports.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			args := append(c.Args, "--save-detailed")
			tr := goldenTrace(t, args, c.Spec)
			r, err := NewReport(tr, "2026-08")
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			if err := r.WriteTable(&table); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Report, table.String()); diff != "" {
				t.Error(diff)
			}
			want, got := members(t, []byte(c.Result)), members(t, r.Result())
			got = slices.DeleteFunc(got, func(m member) bool {
				return !slices.ContainsFunc(want, func(w member) bool { return w.name == m.name })
			})
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(member{})); diff != "" {
				t.Error(diff)
			}
			tr.Run.Plan.Spec, tr.Run.Origin = nil, &trace.Origin{Command: kept(t, args)}
			before, err := NewReport(tr, "2026-08")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(r.Result()), string(before.Result())); diff != "" {
				t.Errorf("of a stored command line (- of a Spec, + of that): %s", diff)
			}
		})
	}
}

func TestResultMembers(t *testing.T) {
	names := func(args ...string) []string {
		r, err := NewReport(goldenTrace(t, args, true), "")
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range members(t, []byte(strings.ReplaceAll(string(r.Result()), "Infinity", "0"))) {
			out = append(out, m.name)
		}
		return out
	}
	setup := []string{"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id", "num_prompts"}
	traffic := []string{"request_rate", "burstiness", "max_concurrency"}
	figures := func(s string) []string {
		var out []string
		for _, m := range []string{"ttft", "tpot", "itl"} {
			for _, n := range strings.Fields(s) {
				out = append(out, n+"_"+m+"_ms")
			}
		}
		return out
	}
	totals := []string{"total_input_tokens", "total_output_tokens", "request_throughput"}
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"newest", nil, slices.Concat(setup, traffic, []string{"duration", "completed", "failed"}, totals,
			[]string{
				"request_goodput", "output_throughput", "total_token_throughput", "latencies", "queue_times", "max_output_tokens_per_s", "max_concurrent_requests", "rtfx",
				"spec_decode_acceptance_rate", "spec_decode_acceptance_length", "spec_decode_num_drafts", "spec_decode_draft_tokens", "spec_decode_accepted_tokens", "spec_decode_per_position_acceptance_rates",
			},
			figures("mean median std p99"))},
		{"late 2025", []string{"--dialect-version", "2025-12", "--save-detailed"}, slices.Concat(setup, traffic, []string{"duration", "completed", "failed"}, totals,
			[]string{"request_goodput", "output_throughput", "total_token_throughput", "input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors", "max_output_tokens_per_s", "max_concurrent_requests"},
			figures("mean median std p99"))},
		{"mid 2025", []string{"--dialect-version", "2025-07"}, slices.Concat(setup, traffic, []string{"duration", "completed"}, totals,
			[]string{"request_goodput:", "output_throughput", "total_token_throughput"}, figures("mean median std p99"))},
		{
			"metadata, ramp, infinite burstiness",
			[]string{
				"--metadata", "tp=8", "label=x", "--dialect-version", "2025-07", "--burstiness", "inf",
				"--ramp-up-strategy", "linear", "--ramp-up-start-rps", "1", "--ramp-up-end-rps", "2", "--metric-percentiles", "50,99.9",
			},
			slices.Concat(setup, []string{"tp"}, traffic, []string{"ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps", "duration", "completed"}, totals,
				[]string{"request_goodput:", "output_throughput", "total_token_throughput", "rps_change_events"}, figures("mean median std p50 p99.9")),
		},
	} {
		if diff := cmp.Diff(tt.want, names(tt.args...)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestResultValues(t *testing.T) {
	args := []string{"--label", "größe", "--metadata", "tp=a=b", "--request-rate", "0.00001", "--burstiness", "inf", "--max-concurrency", "3"}
	r, err := NewReport(goldenTrace(t, args, false), "")
	if err != nil {
		t.Fatal(err)
	}
	got := string(r.Result())
	for _, want := range []string{
		`{"date": "20261121-123009", "endpoint_type": "openai", "backend": "openai", "label": "gr\u00f6\u00dfe", "model_id": "org/m", "tokenizer_id": "org/tok", "num_prompts": 1000, `,
		`"tp": "a=b", "request_rate": 1e-05, "burstiness": Infinity, "max_concurrency": 3, "duration": `,
		`"request_goodput": null, `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s\nin %.600s", want, got)
		}
	}
	if strings.HasSuffix(got, "\n") {
		t.Error("a newline at the end")
	}
}

func TestResultFileNames(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--save-result"}, "openai-infqps-m-20261121-123009.json"},
		{[]string{"--append-result", "--request-rate", "10", "--max-concurrency", "16", "--label", "x"}, "x-10.0qps-concurrency16-m-20261121-123009.json"},
		{[]string{"--save-result", "--request-rate", "1e-5"}, "openai-1e-05qps-m-20261121-123009.json"},
		{[]string{"--save-result", "--ramp-up-strategy", "linear", "--ramp-up-start-rps", "1", "--ramp-up-end-rps", "9"}, "openai-ramp-up-linear-1qps-9qps-m-20261121-123009.json"},
		{[]string{"--save-result", "--result-filename", "run=1.json"}, "run=1.json"},
	} {
		r, err := NewReport(goldenTrace(t, tt.args, false), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.ResultFile(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.args, got, tt.want)
		}
	}
}

// Tables of real notes, to the byte: one of late 2025, one of mid 2025 (from
// which its author cut the trailing blanks).
func TestOlderTables(t *testing.T) {
	section := func(mean, median, p99 float64) metrics.Distribution {
		return metrics.Distribution{Mean: mean / 1000, Median: median / 1000, Percentiles: []metrics.Percentile{{P: 99, Value: p99 / 1000}}}
	}
	late, mid := requestedRun{version: V2512, concurrency: 16}, requestedRun{version: V2507}
	for _, tt := range []struct {
		report Report
		trim   bool
		want   string
	}{
		{Report{requestedRun: late, Figures: Figures{Figures: result.Figures{
			Duration: 206.06, Completed: 500, TotalInput: 33418, TotalOutput: 61516, RequestThroughput: 2.43,
			OutputThroughput: 298.53, TotalTokenThroughput: 460.70, MaxOutputPerSecond: 528, MaxConcurrent: 30,
			Latencies: metrics.Latencies{TTFT: section(945.18, 570.38, 5986.31), TPOT: section(45.69, 44.78, 95.71), ITL: section(53.99, 32.90, 383.97)},
		}}}, false, "============ Serving Benchmark Result ============\n" +
			"Successful requests:                     500       \n" +
			"Failed requests:                         0         \n" +
			"Maximum request concurrency:             16        \n" +
			"Benchmark duration (s):                  206.06    \n" +
			"Total input tokens:                      33418     \n" +
			"Total generated tokens:                  61516     \n" +
			"Request throughput (req/s):              2.43      \n" +
			"Output token throughput (tok/s):         298.53    \n" +
			"Peak output token throughput (tok/s):    528.00    \n" +
			"Peak concurrent requests:                30.00     \n" +
			"Total token throughput (tok/s):          460.70    \n" +
			"---------------Time to First Token----------------\n" +
			"Mean TTFT (ms):                          945.18    \n" +
			"Median TTFT (ms):                        570.38    \n" +
			"P99 TTFT (ms):                           5986.31   \n" +
			"-----Time per Output Token (excl. 1st token)------\n" +
			"Mean TPOT (ms):                          45.69     \n" +
			"Median TPOT (ms):                        44.78     \n" +
			"P99 TPOT (ms):                           95.71     \n" +
			"---------------Inter-token Latency----------------\n" +
			"Mean ITL (ms):                           53.99     \n" +
			"Median ITL (ms):                         32.90     \n" +
			"P99 ITL (ms):                            383.97    \n" +
			"==================================================\n"},
		{Report{requestedRun: mid, Figures: Figures{Figures: result.Figures{
			Duration: 105.74, Completed: 1000, TotalInput: 215196, TotalOutput: 129675, RequestThroughput: 9.46,
			OutputThroughput: 1226.41, TotalTokenThroughput: 3261.64,
			Latencies: metrics.Latencies{TTFT: section(42.38, 32.91, 158.48), TPOT: section(16.33, 14.95, 35.76)},
		}}}, true, "============ Serving Benchmark Result ============\n" +
			"Successful requests:                     1000\n" +
			"Benchmark duration (s):                  105.74\n" +
			"Total input tokens:                      215196\n" +
			"Total generated tokens:                  129675\n" +
			"Request throughput (req/s):              9.46\n" +
			"Output token throughput (tok/s):         1226.41\n" +
			"Total Token throughput (tok/s):          3261.64\n" +
			"---------------Time to First Token----------------\n" +
			"Mean TTFT (ms):                          42.38\n" +
			"Median TTFT (ms):                        32.91\n" +
			"P99 TTFT (ms):                           158.48\n" +
			"-----Time per Output Token (excl. 1st token)------\n" +
			"Mean TPOT (ms):                          16.33\n" +
			"Median TPOT (ms):                        14.95\n" +
			"P99 TPOT (ms):                           35.76\n"},
	} {
		var b strings.Builder
		if err := tt.report.WriteTable(&b); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if tt.trim {
			var lines []string
			for line := range strings.Lines(got) {
				lines = append(lines, strings.TrimRight(line, " \n")+"\n")
			}
			got = strings.Join(lines, "")[:len(tt.want)]
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProbeSection(t *testing.T) {
	tr := goldenTrace(t, nil, false)
	var file struct{ Probes []*trace.Record }
	golden.JSON(t, "testdata/trace.json", &file)
	tr.Run.Probes = file.Probes
	r, err := NewReport(tr, "2026-08")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	_ = r.WriteTable(&b)
	// latencies 60 + 0.700001·{0, 1, 2, 4, 5, 6} ms, the fourth failed
	want := "------------------Probe Requests------------------\n" +
		"Probe requests completed:                6         \n" +
		"Probe requests failed:                   1         \n" +
		"Median probe E2EL (ms):                  62.10     \n" +
		"P99 probe E2EL (ms):                     64.17     \n" +
		"Max probe E2EL (ms):                     64.20     \n" +
		"---------------Time to First Token"
	if !strings.Contains(b.String(), want) {
		t.Error(b.String())
	}
	if !strings.Contains(string(r.Result()), `"probe_completed": 6, "probe_failed": 1, "probe_median_e2el_ms": 62.1`) {
		t.Errorf("%.900s", r.Result())
	}
	for _, version := range []string{"2025-12", "2025-07"} { // which had no probes
		r, err := NewReport(tr, version)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		_ = r.WriteTable(&b)
		if strings.Contains(b.String(), "Probe") || strings.Contains(string(r.Result()), "probe_") {
			t.Errorf("%s: %s%.900s", version, b.String(), r.Result())
		}
	}
}

// 100 steps over 400 positions commit 80 tokens: blocks of 4, 20 canvases, 80
// denoising steps, 4 a canvas, 1 token a step.
func TestDiffusionCounters(t *testing.T) {
	d := metrics.NewDiffusion(map[string]float64{
		`vllm:diffusion_num_denoising_steps_total{engine="0"}`:  100,
		`vllm:diffusion_num_canvas_positions_total{engine="0"}`: 400,
		`vllm:diffusion_num_committed_tokens_total{engine="0"}`: 80,
	}, 10)
	want := &metrics.Diffusion{CommittedTokens: 80, CanvasPositions: 400, DenoisingSteps: 80, CommittedThroughput: 8, StepsPerCanvas: 4, CommittedPerStep: 1}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if metrics.NewDiffusion(nil, 10) != nil || metrics.NewSpecDecode(map[string]float64{"vllm:spec_decode_num_drafts_total": 3}) != nil {
		t.Error("figures from nothing")
	}
}

func TestRPSChanges(t *testing.T) {
	a, _ := Parse(strings.Fields("--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5"), "")
	start := time.Unix(100, 0)
	var got []string
	arrival := a.arrival()
	for _, c := range arrival.changes(3, start, func(i int) time.Time { return start.Add(time.Duration(i) * time.Second) }) {
		got = append(got, strconv.Itoa(c.RPS)+"@"+strconv.Itoa(int(c.At.Unix()-100)))
	}
	if want := "1@0 2@1 3@1 4@2 5@2"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if s := isoLocal(time.Date(2026, 1, 2, 3, 4, 5, 6789, time.Local)); s != "2026-01-02T03:04:05.000006" {
		t.Error(s)
	}
}

func TestPyTorchFile(t *testing.T) {
	args := []string{"--metadata", "tensor_parallel_size=8", "--header", "A=secret", "--burstiness", "inf"}
	r, err := NewReport(goldenTrace(t, args, false), "2026-08")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := Parse(args, "")
	b, err := r.PyTorch(a)
	if err != nil || strings.Contains(string(b), "secret") {
		t.Fatalf("%v: %s", err, b)
	}
	var records []struct {
		Benchmark struct {
			Name  string
			Extra struct{ Args map[string]any } `json:"extra_info"`
		}
		Metric struct {
			Name   string
			Values []float64      `json:"benchmark_values"`
			Extra  map[string]any `json:"extra_info"`
		}
	}
	if err := json.Unmarshal(b, &records); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range records {
		names = append(names, r.Metric.Name)
	}
	if strings.Join(names[:6], " ") != "median_ttft_ms mean_ttft_ms std_ttft_ms p99_ttft_ms mean_tpot_ms median_tpot_ms" { // sic
		t.Error(names)
	}
	first := records[0]
	if len(records) != 12 || first.Metric.Name != "median_ttft_ms" || len(first.Metric.Values) != 1 || math.Abs(first.Metric.Values[0]-105.077973) > 1e-9 {
		t.Errorf("%d records, the first %+v", len(records), first.Metric)
	}
	reported := first.Benchmark.Extra.Args
	if reported["request_rate"] != "inf" || reported["tensor_parallel_size"] != "8" || reported["num_prompts"] != 1000.0 || first.Metric.Extra["completed"] != 81.0 {
		t.Errorf("args %v, extra %v", reported, first.Metric.Extra)
	}
}

// Values as the client of vllm 0.33.0 wrote them.
func TestPyTorchArguments(t *testing.T) {
	args := []string{
		"--metadata", "compilation_config.mode=2", "optimization_level=3", "--input-len", "8", "--output-len", "4",
		"--extra-body", `{"b": 1.0, "a": 2}`, "--timed-trace-sec-multiplier", "2", "--result-filename", "x.json",
	}
	for _, tt := range []struct{ more, part string }{
		{"", `"ignore_eos":true`},
		{"", `"self_timed":false`},
		{"", `"burstiness":1.0,`},
		{"", `"timed_trace_sec_multiplier":2.0,`},
		{"", `"temperature":null,`},
		{"--temperature 0", `"temperature":0.0,`},
		{"", `"extra_body":{"b":1.0,"a":2}`},
		{"", `"random_range_ratio":0.0,`},
		{"--random-range-ratio 0.5", `"random_range_ratio":0.5,`},
		{`--random-range-ratio {"input":0.5,"output":0}`, `"random_range_ratio":{"input":0.5,"output":0}`},
		{"", `"random_mm_bucket_config":{"(256, 256, 1)":0.5,"(720, 1280, 1)":0.5,"(720, 1280, 16)":0.0}`},
		{"", `"random_input_len":8,`},
		{"", `"random_output_len":4,`},
		{"", `"prefix_repetition_output_len":4,`},
		{"", `"speed_bench_output_len":4096,`},
		{"", `"compilation_config.mode":"2","optimization_level":"3","use_compile":true`},
		{"--metadata compilation_config.mode=0", `"compilation_config.mode":"0","optimization_level":"","use_compile":false`},
		{"--result-filename eager.json", `"use_compile":false`},
	} {
		all := slices.Concat(args, strings.Fields(tt.more))
		r, err := NewReport(goldenTrace(t, all, false), "")
		if err != nil {
			t.Fatal(err)
		}
		a, _ := Parse(all, "")
		if b, err := r.PyTorch(a); err != nil || !strings.Contains(string(b), tt.part) {
			t.Errorf("%s: no %s: %v\n%.4000s", tt.more, tt.part, err, b)
		}
	}
}

func TestRunsOfOtherDialectsHaveAReportToo(t *testing.T) {
	tr := goldenTrace(t, nil, false)
	tr.Run.Plan = trace.Load{
		Dialect: "pitot", Protocol: "chat", Model: "m", Requests: 90, Rate: 10, Concurrency: 16, Seed: 5, Percentiles: []float64{50, 99.9},
		Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(300 * time.Millisecond)}, {Metric: "itl", Limit: plan.Duration(time.Second)}},
	}
	r, err := NewReport(tr, "2025-12")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	_ = r.WriteTable(&b)
	for _, want := range []string{"Maximum request concurrency:             16 ", "Request rate configured (RPS):           10.00", "Request goodput (req/s):", "P50 TTFT (ms):", "P99.9 TTFT (ms):"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if r.model != "m" || r.prompts != 90 {
		t.Errorf("%+v", r.requestedRun)
	}
}

func TestWriteErrors(t *testing.T) {
	r, err := NewReport(goldenTrace(t, nil, false), "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	_ = r.WriteErrors(&b)
	if n := strings.Count(b.String(), "Error "); n != 9 || !strings.Contains(b.String(), "Error 8: ") {
		t.Errorf("%d errors in\n%s", n, b.String())
	}
}
