package conform

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
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The files are what the tools wrote of 20 requests of 16 tokens each, 10 ms
// apart after 50 ms, cut down to what is read here.
func TestReportsOfTools(t *testing.T) {
	for _, tt := range []struct {
		file, format string
		failed       int
		want         map[Metric]Latency // in milliseconds
	}{
		{"vllm.json", "vllm", 0, map[Metric]Latency{
			TTFT: {Mean: 53.0377, Median: 53.0489, P90: 53.4801, P99: 53.9685},
			ITL:  {Mean: 10.0116, Median: 10.2471, P90: 10.4397, P99: 10.6525},
			TPOT: {Mean: 10.0116, Median: 10.0072, P90: 10.0619, P99: 10.0652},
			E2EL: {Mean: 203.2110, Median: 203.1485, P90: 203.7776, P99: 204.1770},
		}},
		{"vllm-rust.json", "vllm", 0, map[Metric]Latency{
			TTFT: {Mean: 50.9917, Median: 50.9939, P90: 51.3486, P99: 51.3766},
			ITL:  {Mean: 9.9998, Median: 9.9308, P90: 10.6117, P99: 10.9374},
			TPOT: {Mean: 9.9998, Median: 9.9932, P90: 10.0439, P99: 10.0537},
			E2EL: {Mean: 200.9882, Median: 200.9671, P90: 201.2757, P99: 201.4921},
		}},
		{"sglang.jsonl", "sglang", 0, map[Metric]Latency{
			TTFT: {Mean: 52.5334, Median: 52.4411, P90: 53.4177, P99: 53.6295},
			ITL:  {Mean: 10.0399, Median: 10.2696, P90: 10.4831, P99: 10.9818},
			TPOT: {Mean: 10.0407, Median: 10.0426, P90: 10.0677, P99: 10.0915},
			E2EL: {Mean: 203.1432, Median: 203.1096, P90: 204.1313, P99: 204.4755},
		}},
		{"sglang-rust.jsonl", "sglang", 0, map[Metric]Latency{
			TTFT: {Mean: 51.1850, Median: 51.1144, P90: 51.8506, P99: 52.1856},
			ITL:  {Mean: 9.9952, Median: 9.9050, P90: 10.7095, P99: 10.9570},
			TPOT: {Mean: 9.9966, Median: 9.9936, P90: 10.0258, P99: 10.0417},
			E2EL: {Mean: 201.1338, Median: 201.0340, P90: 201.6465, P99: 201.8947},
		}},
		{"guidellm.json", "guidellm", 0, map[Metric]Latency{
			TTFT: {Mean: 51.9453, Median: 51.6868, P90: 52.8433, P99: 54.6627},
			TPOT: {Mean: 12.6184, Median: 12.6145, P90: 12.6831, P99: 12.7404},
			ITL:  {Mean: 9.9966, Median: 9.9943, P90: 10.0473, P99: 10.0849},
			E2EL: {Mean: 202.4890, Median: 202.2955, P90: 203.5015, P99: 204.5133},
		}},
		{"aiperf.json", "aiperf", 0, map[Metric]Latency{
			TTFT: {Mean: 55.0443, Median: 54.4000, P90: 58.2661, P99: 63.9324},
			ITL:  {Mean: 10.1103, Median: 10.0509, P90: 10.3360, P99: 10.4265},
			ICL:  {Mean: 10.1103, Median: 9.9378, P90: 10.7685, P99: 13.5620},
			E2EL: {Mean: 206.6993, Median: 205.9328, P90: 212.0094, P99: 214.9694},
		}},
		{"inference-perf.json", "inference-perf", 0, map[Metric]Latency{
			TTFT: {Mean: 51.4558, Median: 51.2076, P90: 51.9947, P99: 53.8271},
			ITL:  {Mean: 4.8474, Median: 0, P90: 10.5206, P99: 10.9576},
			TPOT: {Mean: 10.0180, Median: 10.0097, P90: 10.0829, P99: 10.0990},
			E2EL: {Mean: 202.2514, Median: 201.8291, P90: 203.2880, P99: 205.3768},
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

func read(t *testing.T, file string) Claim {
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
func inMilliseconds(latencies map[Metric]Latency) map[Metric]Latency {
	out := map[Metric]Latency{}
	for m, l := range latencies {
		out[m] = Latency{}
		for s, v := range l {
			out[m][s] = math.Round(v*1e7) / 1e4
		}
	}
	return out
}

// A tool's token counter that splits chunks invents gaps, and its report says so.
func TestNotesOfInferencePerf(t *testing.T) {
	c := read(t, "inference-perf.json")
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "20 answers") {
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
	c, err := Read("", []byte(`{"completed": 1, "failed": 1, "duration": 1, "total_output_tokens": 2,
		"ttfts": [0.5, 9], "itls": [[0.25], [9]], "output_lens": [2, 0], "latencies": [0.75, 0], "errors": ["", "reset"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[Metric]float64{TTFT: 0.5, ITL: 0.25, TPOT: 0.25, E2EL: 0.75} {
		if got := c.Latencies[m][P99]; got != want {
			t.Errorf("%s %v, want %v", m, got, want)
		}
	}
}

// Pitot's figures and its exported run make the same claim.
func TestReportsOfPitot(t *testing.T) {
	run := trace.Trace{Run: trace.Run{ID: "r", Status: trace.Complete, End: 9e8, Plan: trace.Plan{Dialect: "pitot", Stream: true, Requests: 2, Concurrency: 1, Percentiles: []float64{90, 99}}}}
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
	if err := store.Export(&exported, &run, store.JSON); err != nil {
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
	if a.OK != 2 || a.Output != 6 || a.Latencies[TTFT][P99] != 0.05 || a.Latencies[ITL][Mean] != 0.025 || a.Latencies[E2EL][Median] != 0.2 {
		t.Errorf("%+v", a)
	}
	if a.Verdict != string(trace.Invalid) || len(a.Reasons) == 0 || a.Merged == nil || math.Abs(*a.Merged-1./3) > 1e-12 {
		t.Errorf("verdict %q, %q, merged %v", a.Verdict, a.Reasons, a.Merged)
	}
	if !slices.Equal(a.Void, []Metric{ITL}) {
		t.Errorf("void: %v", a.Void)
	}
	if got, want := a.Bounds[ITL][P99], (Bound{0.04, 0.05}); math.Abs(got.Low-want.Low) > 1e-3 || got.High != want.High {
		t.Errorf("bounds %+v", a.Bounds)
	}
}

func TestWhatIsNoReport(t *testing.T) {
	whole, err := os.ReadFile("testdata/guidellm.json")
	if err != nil {
		t.Fatal(err)
	}
	two := bytes.Replace(whole, []byte(`"benchmarks": [{`), []byte(`"benchmarks": [{}, {`), 1)
	for _, tt := range []struct{ name, format, data, want string }{
		{"empty", "", " \n", "it is empty"},
		{"cut short", "", `{"completed": 3, "dura`, "cut short"},
		{"text", "", "============ Serving Benchmark Result", "not JSON"},
		{"list", "", "[1]", "not an object"},
		{"other keys", "", `{"b": 1, "a": 2}`, "no tool known writes such a report: its keys are a, b"},
		{"other format", "sglang", `{"completed": 1, "duration": 2, "total_output_tokens": 3}`, "no report of sglang.bench_serving"},
		{"number as text", "", `{"completed": "many", "duration": 2, "total_output_tokens": 3}`, "cannot unmarshal"},
		{"a sweep", "", string(two), "2 benchmarks: a cell is one load"},
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

// What Python takes for JSON is read, and texts stay as they are.
func TestPythonsNumbers(t *testing.T) {
	const text = `{"a": Infinity, "b": -Infinity, "c": [NaN, 1], "d": "NaN \" Infinity", "e": "\\"}`
	const want = `{"a": null, "b": null, "c": [null, 1], "d": "NaN \" Infinity", "e": "\\"}`
	if got := string(plain([]byte(text))); got != want {
		t.Errorf("%s", got)
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
