package compare

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// labels of vLLM's table with the names of their figures; times are in milliseconds
// but for the duration.
var labels = map[string]string{
	"Successful requests": "requests.ok", "Failed requests": "requests.failed", "Benchmark duration (s)": "duration",
	"Total input tokens": "tokens.input", "Total generated tokens": "tokens.output", "Request throughput (req/s)": "throughput.requests",
	"Output token throughput (tok/s)": "throughput.output", "Peak output token throughput (tok/s)": "peak.output",
	"Peak concurrent requests": "peak.concurrency", "Total Token throughput (tok/s)": "throughput.total", "Total token throughput (tok/s)": "throughput.total",
	"Mean TTFT (ms)": "ttft.mean", "Median TTFT (ms)": "ttft.median", "P99 TTFT (ms)": "ttft.p99",
	"Mean TPOT (ms)": "tpot.mean", "Median TPOT (ms)": "tpot.median", "P99 TPOT (ms)": "tpot.p99",
	"Mean ITL (ms)": "itl.mean", "Median ITL (ms)": "itl.median", "P99 ITL (ms)": "itl.p99",
}

var (
	line    = regexp.MustCompile(`^([A-Z][^:]*): +([0-9.]+) *$`)
	heading = regexp.MustCompile(`^## (.+)$|^\*\*(.+?)：?\*\*|^(优化.|\w+ benchmark)[:：]$`)
	stated  = regexp.MustCompile(`(?:Mean )?TTFT.*?([0-9.]+)%`)
)

// readNote makes runs of a note as its importer would: headings, tables and claims.
func readNote(t *testing.T, file string) []ComparedRun {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var runs []ComparedRun
	var path []string
	var claims []trace.Claim
	var run *trace.Run
	for n, l := range strings.Split(string(text), "\n") {
		switch m := heading.FindStringSubmatch(l); {
		case strings.Contains(l, "Serving Benchmark Result"):
			run = &trace.Run{ID: file + ":" + strconv.Itoa(n+1), Kind: trace.Imported, Origin: &trace.Origin{
				Tool: "vllm", Form: "2025-12", Detail: trace.Table, File: file, Line: n + 1, Path: append([]string{}, path...), Claims: claims,
			}}
			if strings.Contains(file, "kvcached") {
				run.Origin.Form = "2025-07"
			}
			claims = nil
		case strings.HasPrefix(l, "=====") && run != nil:
			ok, _ := run.Origin.Figure("requests.ok")
			run.Plan.Requests = int(ok.Value)
			runs, run = append(runs, Observe(&trace.Trace{Run: *run}, nil, foreign)), nil
		case run != nil:
			addFigure(run, l)
		case m != nil && m[1] != "":
			path = []string{m[1]}
		case m != nil && strings.HasSuffix(m[3], "benchmark"):
			path = []string{path[0], m[3]}
		case m != nil:
			path = []string{m[2] + m[3]}
		}
		if m := stated.FindStringSubmatch(l); m != nil && run == nil {
			v, _ := strconv.ParseFloat(m[1], 64)
			claim := trace.Claim{Text: l, Line: n + 1, Metric: "ttft", Change: -v / 100, Step: 0.0001}
			if strings.HasPrefix(l, "Mean") {
				claim.Stat = "mean"
			}
			claims = append(claims, claim)
		}
	}
	return runs
}

func addFigure(run *trace.Run, l string) {
	m := line.FindStringSubmatch(l)
	if m == nil {
		return
	}
	v, _ := strconv.ParseFloat(m[2], 64)
	step := 1.0
	if _, decimals, ok := strings.Cut(m[2], "."); ok {
		step = map[int]float64{1: 0.1, 2: 0.01}[len(decimals)]
	}
	switch m[1] {
	case "Maximum request concurrency":
		run.Plan.Concurrency = int(v)
	case "Request rate configured (RPS)":
		run.Plan.Rate = v
	}
	name, ok := labels[m[1]]
	if !ok {
		return
	}
	if strings.HasSuffix(m[1], "(ms)") {
		v, step = v/1000, step/1000
	}
	if strings.HasPrefix(name, "requests.") || strings.HasPrefix(name, "tokens.") {
		step = 0
	}
	run.Origin.Figures = append(run.Origin.Figures, trace.ReportedFigure{Name: name, Value: v, Step: step})
}

// note compares the runs of a note.
func note(t *testing.T, file string) Comparison {
	t.Helper()
	c, err := Compare(readNote(t, file), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func names(w Workload) string {
	var out []string
	for _, v := range w.Variants {
		out = append(out, v.Name)
	}
	return strings.Join(out, " | ")
}

// change is that of a figure in the variant after the baseline.
func change(t *testing.T, w Workload, name string) Change {
	t.Helper()
	for _, r := range w.Rows {
		if r.Quantity.Name == name && r.Cells[1].Change != nil {
			return *r.Cells[1].Change
		}
	}
	t.Fatalf("no change of %s", name)
	return Change{}
}

func TestHeadingsNameWorkloadsAndVariants(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"vllm-kvcached-ab.md", ": w/o kvcached | w/ kvcached"},
		{"vllm-npu-vl-before-after-c15.md", ": 优化前 | 优化后"},
		{"vllm-npu-vl-ablation.md", "Throughput benchmark: Baseline | Merge rope q/k | 并行 q/k/v pad | cu_seqlens cpu cache | Revert pad; " +
			"Latency benchmark: Baseline | Merge rope q/k | 并行 q/k/v pad | cu_seqlens cpu cache | Revert pad"},
		{"vllm-npu-vl-burst200.md", ": baseline | 用 seq_lens cpu cache | 用 seq_lens cpu cache / scale cache / out buffer | 直接改上游模型（seq_lens 不移到 NPU）"},
	} {
		var got []string
		for _, w := range note(t, c.file).Workloads {
			got = append(got, w.Name+": "+names(w))
		}
		if g := strings.Join(got, "; "); g != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.file, g, c.want)
		}
	}
}

func TestTablesOfSingleRunsTellNothing(t *testing.T) {
	w := note(t, "vllm-npu-vl-before-after-c15.md").Workloads[0]
	c := change(t, w, "ttft.mean")
	if c.Verdict != CannotTell || c.Basis != Nothing || c.Interval != nil || c.P != nil || c.More != 0 {
		t.Errorf("%+v", c)
	}
	if math.Abs(c.Relative-0.084763) > 1e-6 { // 577.30/532.19 - 1
		t.Errorf("relative %v", c.Relative)
	}
	if len(w.Notes) != 1 || !strings.Contains(said(w.Notes...)[0], "nothing can be said") {
		t.Errorf("%q", w.Notes)
	}
}

func TestTheBurstNoteBorrowsTheNoiseOfItsRepeatedRuns(t *testing.T) {
	w := note(t, "vllm-npu-vl-burst200.md").Workloads[0]
	for i := range w.Variants[1:] {
		for _, r := range w.Rows {
			if c := r.Cells[i+1].Change; r.Quantity.Better != figure.Neither && !r.Constant && (c.Basis != Borrowed || c.Verdict != CannotTell) {
				t.Errorf("%s of %s: %s by %s", r.Quantity.Name, w.Variants[i+1].Name, c.Verdict, c.Basis)
			}
		}
	}
	// The logarithms of 13665.09 and 13971.41 ms are 0.022169 apart: a standard deviation
	// of 0.015676. A difference of single runs has √2 times that, and Student's t with one
	// degree of freedom is 12.706: ±0.28169 around ln(14120.81/14624.41) = -0.035043, and
	// 1e-6 for the two figures' rounding.
	c := change(t, w, "ttft.mean")
	if got, want := c.Interval.Low, math.Expm1(-0.035043-0.28169); math.Abs(got-want) > 1e-4 {
		t.Errorf("low %v, want %v", got, want)
	}
	if got, want := c.Interval.High, math.Expm1(-0.035043+0.28169); math.Abs(got-want) > 1e-4 {
		t.Errorf("high %v, want %v", got, want)
	}
	if c.More < 1 {
		t.Errorf("%d more runs", c.More)
	}
	if !slices.ContainsFunc(said(w.Notes...), func(n string) bool {
		return strings.Contains(n, "differ by") && strings.Contains(n, "2.2 % in mean TTFT")
	}) {
		t.Errorf("%q", w.Notes)
	}
}

func TestClaims(t *testing.T) {
	w := note(t, "vllm-npu-vl-burst200.md").Workloads[0]
	if len(w.Claims) != 1 {
		t.Fatalf("%+v", w.Claims)
	}
	c := w.Claims[0]
	if m := c.Matches[0]; !c.Agrees || c.Stands || m.Against != "baseline" || m.Name != "ttft.mean" || c.Variant != "用 seq_lens cpu cache" {
		t.Errorf("%+v", c)
	}

	w = note(t, "vllm-npu-vl-ablation.md").Workloads[1]
	if len(w.Claims) != 1 {
		t.Fatalf("%+v", w.Claims)
	}
	c = w.Claims[0]
	if c.Agrees || c.Stands || len(c.Matches) != 2 {
		t.Fatalf("%+v", c)
	}
	if m := c.Matches[0]; m.Against != "并行 q/k/v pad" || math.Abs(m.Relative+0.03324) > 1e-5 {
		t.Errorf("%+v", m)
	}
	if m := c.Matches[1]; m.Against != "Baseline" || math.Abs(m.Relative+0.01282) > 1e-5 {
		t.Errorf("%+v", m)
	}
}

// Runs that other numbers of machines sent are compared, and the difference is told.
func TestRunsOfFleets(t *testing.T) {
	sent := func(variant string, workers int) ComparedRun {
		return planned(variant, variant, func(r *trace.Run) {
			if r.Kind = trace.Measured; workers > 0 {
				r.Fleet = &trace.Fleet{Workers: make([]trace.FleetWorker, workers)}
			}
		})
	}
	for _, tt := range []struct {
		before, after int
		residue, note string
	}{
		{0, 0, "", ""},
		{4, 4, "", ""},
		{0, 4, "workers: 1 | 4", "runs were sent by different numbers of workers (1 to 4), so"},
		{8, 2, "workers: 8 | 2", "runs were sent by different numbers of workers (2 to 8), so"},
	} {
		_, c := layout(t, Options{}, sent("a", tt.before), sent("b", tt.after))
		w := c.Workloads[0]
		var residue, note string
		for _, r := range w.SettingDiffs {
			residue += r.Setting + ": " + strings.Join(saidOf(r), " | ")
		}
		for _, n := range w.Notes {
			if n.Code == WorkersDiffer {
				note = said(n)[0]
			}
		}
		if len(w.Variants) != 2 || residue != tt.residue || !strings.HasPrefix(note, tt.note) || (note == "") != (tt.note == "") {
			t.Errorf("%d and %d workers: %d variants, %q, %q", tt.before, tt.after, len(w.Variants), residue, note)
		}
	}
}
