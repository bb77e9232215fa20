package verify

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The files are what the tools wrote of 20 requests of 16 tokens each, 10 ms
// apart after 50 ms, cut down to what is read here.
func TestReportsOfTools(t *testing.T) {
	for _, tt := range []struct {
		file, format string
		failed       int
		want         map[conform.Metric]conform.Latency // in milliseconds
	}{
		{"vllm.json", "vllm", 0, map[conform.Metric]conform.Latency{
			conform.TTFT: {conform.Mean: 53.0377, conform.Median: 53.0489, conform.P90: 53.4801, conform.P99: 53.9685},
			conform.ITL:  {conform.Mean: 10.0116, conform.Median: 10.2471, conform.P90: 10.4397, conform.P99: 10.6525},
			conform.TPOT: {conform.Mean: 10.0116, conform.Median: 10.0072, conform.P90: 10.0619, conform.P99: 10.0652},
			conform.E2EL: {conform.Mean: 203.2110, conform.Median: 203.1485, conform.P90: 203.7776, conform.P99: 204.1770},
		}},
		{"vllm-rust.json", "vllm", 0, map[conform.Metric]conform.Latency{
			conform.TTFT: {conform.Mean: 50.9917, conform.Median: 50.9939, conform.P90: 51.3486, conform.P99: 51.3766},
			conform.ITL:  {conform.Mean: 9.9998, conform.Median: 9.9308, conform.P90: 10.6117, conform.P99: 10.9374},
			conform.TPOT: {conform.Mean: 9.9998, conform.Median: 9.9932, conform.P90: 10.0439, conform.P99: 10.0537},
			conform.E2EL: {conform.Mean: 200.9882, conform.Median: 200.9671, conform.P90: 201.2757, conform.P99: 201.4921},
		}},
		{"sglang.jsonl", "sglang", 0, map[conform.Metric]conform.Latency{
			conform.TTFT: {conform.Mean: 52.5334, conform.Median: 52.4411, conform.P90: 53.4177, conform.P99: 53.6295},
			conform.ITL:  {conform.Mean: 10.0399, conform.Median: 10.2696, conform.P90: 10.4831, conform.P99: 10.9818},
			conform.TPOT: {conform.Mean: 10.0407, conform.Median: 10.0426, conform.P90: 10.0677, conform.P99: 10.0915},
			conform.E2EL: {conform.Mean: 203.1432, conform.Median: 203.1096, conform.P90: 204.1313, conform.P99: 204.4755},
		}},
		{"sglang-rust.jsonl", "sglang", 0, map[conform.Metric]conform.Latency{
			conform.TTFT: {conform.Mean: 51.1850, conform.Median: 51.1144, conform.P90: 51.8506, conform.P99: 52.1856},
			conform.ITL:  {conform.Mean: 9.9952, conform.Median: 9.9050, conform.P90: 10.7095, conform.P99: 10.9570},
			conform.TPOT: {conform.Mean: 9.9966, conform.Median: 9.9936, conform.P90: 10.0258, conform.P99: 10.0417},
			conform.E2EL: {conform.Mean: 201.1338, conform.Median: 201.0340, conform.P90: 201.6465, conform.P99: 201.8947},
		}},
		{"guidellm.json", "guidellm", 0, map[conform.Metric]conform.Latency{
			conform.TTFT: {conform.Mean: 51.9453, conform.Median: 51.6868, conform.P90: 52.8433, conform.P99: 54.6627},
			conform.TPOT: {conform.Mean: 12.6184, conform.Median: 12.6145, conform.P90: 12.6831, conform.P99: 12.7404},
			conform.ITL:  {conform.Mean: 9.9966, conform.Median: 9.9943, conform.P90: 10.0473, conform.P99: 10.0849},
			conform.E2EL: {conform.Mean: 202.4890, conform.Median: 202.2955, conform.P90: 203.5015, conform.P99: 204.5133},
		}},
		{"aiperf.json", "aiperf", 0, map[conform.Metric]conform.Latency{
			conform.TTFT: {conform.Mean: 55.0443, conform.Median: 54.4000, conform.P90: 58.2661, conform.P99: 63.9324},
			conform.ITL:  {conform.Mean: 10.1103, conform.Median: 10.0509, conform.P90: 10.3360, conform.P99: 10.4265},
			conform.ICL:  {conform.Mean: 10.1103, conform.Median: 9.9378, conform.P90: 10.7685, conform.P99: 13.5620},
			conform.E2EL: {conform.Mean: 206.6993, conform.Median: 205.9328, conform.P90: 212.0094, conform.P99: 214.9694},
		}},
		{"inference-perf.json", "inference-perf", 0, map[conform.Metric]conform.Latency{
			conform.TTFT: {conform.Mean: 51.4558, conform.Median: 51.2076, conform.P90: 51.9947, conform.P99: 53.8271},
			conform.ITL:  {conform.Mean: 4.8474, conform.Median: 0, conform.P90: 10.5206, conform.P99: 10.9576},
			conform.TPOT: {conform.Mean: 10.0180, conform.Median: 10.0097, conform.P90: 10.0829, conform.P99: 10.0990},
			conform.E2EL: {conform.Mean: 202.2514, conform.Median: 201.8291, conform.P90: 203.2880, conform.P99: 205.3768},
		}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			c := read(t, tt.file)
			if c.Format != tt.format || c.OK != 20 || c.Failed != tt.failed && tt.format != "sglang" || c.Output != 320 {
				t.Errorf("format %s, %d ok, %d failed, %d tokens", c.Format, c.OK, c.Failed, c.Output)
			}
			if diff := cmp.Diff(tt.want, inMilliseconds(c.Latencies)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func read(t *testing.T, file string) conform.Claim {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Read("", data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inMilliseconds is rounded to a tenth of a microsecond.
func inMilliseconds(latencies map[conform.Metric]conform.Latency) map[conform.Metric]conform.Latency {
	out := map[conform.Metric]conform.Latency{}
	for m, l := range latencies {
		out[m] = conform.Latency{}
		for s, v := range l {
			out[m][s] = math.Round(v*1e7) / 1e4
		}
	}
	return out
}

// A tool's token counter that splits chunks invents gaps, and its report says so.
func TestNotesOfInferencePerf(t *testing.T) {
	c := read(t, "inference-perf.json")
	if len(c.Notes) != 1 || !strings.Contains(said(c.Notes[0]), "20 answers") {
		t.Errorf("%q", c.Notes)
	}
}

// What a summary leaves out is in the samples of the detailed form.
func TestDetailsFillASummary(t *testing.T) {
	data, err := os.ReadFile("testdata/vllm-detailed.json")
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, "vllm-detailed.json").Latencies
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for key := range all {
		if strings.HasSuffix(key, "_ms") {
			delete(all, key)
		}
	}
	data, err = json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Read("vllm", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inMilliseconds(want), inMilliseconds(c.Latencies)); diff != "" {
		t.Error(diff)
	}
}

// Samples of requests that failed are not among those of the others.
func TestFailuresAreNotInTheSamples(t *testing.T) {
	c, err := Read("", []byte(`{"completed": 1, "failed": 1, "duration": 1, "total_input_tokens": 8, "total_output_tokens": 2,
		"ttfts": [0.5, 9], "itls": [[0.25], [9]], "output_lens": [2, 0], "latencies": [0.75, 0], "errors": ["", "reset"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[conform.Metric]float64{conform.TTFT: 0.5, conform.ITL: 0.25, conform.TPOT: 0.25, conform.E2EL: 0.75} {
		if got := c.Latencies[m][conform.P99]; got != want {
			t.Errorf("%s %v, want %v", m, got, want)
		}
	}
}

// Pitot's figures and its exported run make the same claim.
func TestReportsOfPitot(t *testing.T) {
	run := trace.Trace{Run: trace.Run{ID: "r", Status: trace.Complete, End: 9e8, Plan: trace.Load{Dialect: "pitot", Stream: true, Requests: 2, Concurrency: 1, Percentiles: []float64{90, 99}}}}
	for i := range 2 {
		at := trace.Instant(i) * 3e8
		run.Records = append(run.Records, &trace.Record{
			Index: i, WantTokens: 3, Free: trace.Never, Dialed: trace.Never, Connected: trace.Never,
			Sent: at, FirstByte: at + 5e7, Done: at + 2e8, Status: 200, OutputTokens: 3, CountedFrom: trace.FromUsage,
			Stamps: trace.KernelStamps,
			Chunks: []trace.Chunk{{At: at + 5e7, Kind: trace.Text}, {At: at + 1e8, Slack: 10000, Kind: trace.Text}, {At: at + 1e8, Kind: trace.Text | trace.Coalesced}},
		})
	}
	summary, err := json.Marshal(metrics.Summarize(&run, metrics.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var exported bytes.Buffer
	if err := store.WriteJSON(&exported, &run); err != nil {
		t.Fatal(err)
	}
	a, err := Read("", summary)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Read("pitot", exported.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	if a.OK != 2 || a.Output != 6 || a.Latencies[conform.TTFT][conform.P99] != 0.05 || a.Latencies[conform.ITL][conform.Mean] != 0.025 || a.Latencies[conform.E2EL][conform.Median] != 0.2 {
		t.Errorf("%+v", a)
	}
	if a.Verdict != string(trace.Invalid) || len(a.Reasons) == 0 || a.Merged == nil || math.Abs(*a.Merged-1./3) > 1e-12 {
		t.Errorf("verdict %q, %q, merged %v", a.Verdict, a.Reasons, a.Merged)
	}
	if !slices.Equal(a.Void, []conform.Metric{conform.ITL}) {
		t.Errorf("void: %v", a.Void)
	}
	if got, want := a.Bounds[conform.ITL][conform.P99], (conform.Bound{Low: 0.04, High: 0.05}); math.Abs(got.Low-want.Low) > 1e-3 || got.High != want.High {
		t.Errorf("bounds %+v", a.Bounds)
	}
}

func TestWhatIsNoReport(t *testing.T) {
	whole, err := os.ReadFile("testdata/guidellm.json")
	if err != nil {
		t.Fatal(err)
	}
	two := bytes.Replace(whole, []byte(`"benchmarks": [`), []byte(`"benchmarks": [{"metrics": {}}, `), 1)
	for _, tt := range []struct{ name, format, data, want string }{
		{"empty", "", " \n", "it holds no result"},
		{"cut short", "", `{"completed": 3, "dura`, "cut short"},
		{"text", "", "============ Serving Benchmark Result", "'=' stands where"},
		{"list", "", "[1]", "'1' stands where"},
		{"other keys", "", `{"b": 1, "a": 2}`, "no tool known writes such results: their members are b, a"},
		{"other format", "sglang", `{"completed": 1, "duration": 2, "total_output_tokens": 3}`, "no report of sglang"},
		{"number as text", "", `{"completed": "many", "duration": 2, "total_input_tokens": 3}`, `"completed" is no number`},
		{"a sweep", "", string(two), "2 results: a cell is one load"},
		{"no benchmark", "", `{"benchmarks": []}`, "measured nothing"},
		{"odd unit", "", `{"request_latency": {"unit": "fortnights", "avg": 1}}`, `"fortnights" is not known`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Read(tt.format, []byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// Whatever a file holds, it ends in a claim or in an error.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"vllm-detailed.json", "sglang.jsonl", "guidellm.json", "aiperf.json", "inference-perf.json"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"run": {}, "records": [{"chunk_at_ns": [1], "chunk_tokens": [1], "chunk_kinds": [1]}]}`))
	f.Add([]byte(`{"run": {}, "service": {"ttft": {"n": 1}}, "health": {}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read("", data)
		if err == nil && c.Format == "" {
			t.Error("a claim of no format")
		}
	})
}
