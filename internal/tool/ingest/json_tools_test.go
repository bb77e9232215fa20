package ingest

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// The files are what the tools wrote of 20 requests of 16 tokens, 10 ms apart
// after 50 ms; that of GenAI-Perf is made up in the form of its documents. UPDATE=1
// writes the golden files anew.
func TestResultsOfTools(t *testing.T) {
	files, err := filepath.Glob("testdata/tools/*.json*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			found, problems := result.Read(fromFile(t, "tools/"+filepath.Base(file)), known.formats...)
			if len(problems) > 0 || len(found) == 0 {
				t.Fatal(problems)
			}
			var got strings.Builder
			for _, f := range found {
				got.WriteString(inText(t, f) + "\n")
			}
			golden.Check(t, file+".golden", got.String())
		})
	}
}

// shown is all that was found of a result.
func inText(t *testing.T, f result.Found) string {
	t.Helper()
	o := f.Run.Origin
	var b strings.Builder
	line := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", name, text)
	}
	line("result", []string{f.Run.ID, f.Run.Name, o.Tool, o.Form, string(o.Detail)})
	line("line", o.Line)
	line("path", o.Path)
	line("started", f.Run.Started.UTC())
	line("end", f.Run.End)
	line("records", len(wholeTrace(t, f).Records))
	line("notes", f.Run.Notes)
	line("server", f.Run.Env.Server)
	plan := reflect.ValueOf(f.Run.Plan)
	for i := range plan.NumField() {
		if v := plan.Field(i); !v.IsZero() {
			line("plan "+plan.Type().Field(i).Name, v.Interface())
		}
	}
	if o.Command != nil {
		line("command", o.Command)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Setup)) {
		line("setup "+name, o.Setup[name])
	}
	for _, figure := range o.Figures {
		line("figure "+figure.Name, figure.Value)
	}
	return b.String()
}

// ITL means two things, and both keep their names.
func TestITLOfAIPerfIsAMean(t *testing.T) {
	o := one(t, fromFile(t, "tools/aiperf-closed.json")).Run.Origin
	itl, _ := o.Figure("itl.p99")
	icl, ok := o.Figure("icl.p99")
	if !ok || itl.Value >= icl.Value {
		t.Errorf("itl %v, icl %v", itl, icl)
	}
	if d := tool.Rules([]tool.Tool{AIPerf()}).Definition(o.Tool, "itl.p99"); d.Description != "definition.gap-mean-as-itl" {
		t.Errorf("defined as %v", d)
	}
}

// Versions of AIPerf tell the phase that is measured by its kind, or by its name alone.
func TestLoadOfAIPerf(t *testing.T) {
	for phases, want := range map[string][2]float64{
		`[{"name": "warmup", "type": "concurrency", "concurrency": 4}, {"name": "profiling", "type": "concurrency", "concurrency": 32}]`:                                    {32, 0},
		`[{"name": "warmup", "kind": "warmup", "type": "concurrency", "concurrency": 4}, {"name": "steady", "kind": "profiling", "type": "concurrency", "concurrency": 2}]`: {2, 0},
		`[{"name": "profiling", "kind": "warmup", "concurrency": 4}, {"name": "main", "kind": "profiling", "type": "poisson", "rate": 5.5}]`:                                {0, 5.5},
	} {
		p := one(t, FromText("profile_export_aiperf.json", `{"schema_version": "1.0", "aiperf_version": "0.10.0", "request_latency": {"unit": "ms", "avg": 100},
			"request_count": {"unit": "requests", "avg": 20}, "input_config": {"phases": `+phases+`}}`)).Run.Plan
		if got := [2]float64{float64(p.Concurrency), p.Rate}; got != want {
			t.Errorf("%s: %v, want %v", phases, got, want)
		}
	}
}

// What Prometheus told of the server has the members of a summary of requests, and is none.
func TestServerMetricsOfInferencePerfAreNoRun(t *testing.T) {
	const text = `{"benchmark_time_seconds": 0.0, "load_summary": {}, "failures": {}, "successes": {"count": 4711, "rate": 7.5, "queue_len": {"mean": 3}, "time_to_first_token": {"mean": 0.2}}}`
	found, problems := known.Read(FromText("stage_0_prometheus_metrics.json", text))
	if len(found) != 0 || len(problems) != 1 || !problems[0].Nothing || !strings.Contains(problems[0].Reason, "Prometheus") {
		t.Errorf("%v %v", found, problems)
	}
}

// A file for the PyTorch benchmark database says which limits a goodput is of.
func TestPyTorchBenchmark(t *testing.T) {
	f := one(t, fromFile(t, "tools/vllm.pytorch.json"))
	if got := len(f.Run.Plan.Objectives); got != 2 {
		t.Errorf("objectives %v", f.Run.Plan.Objectives)
	}
	want, _ := one(t, fromFile(t, "vllm/pitot.json")).Run.Origin.Figure("ttft.p99.9")
	if got, ok := f.Run.Origin.Figure("ttft.p99.9"); !ok || got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// The file has no longest gap, the table has: of those that succeeded, unless gaps were divided by
// tokens that the file does not have.
func TestLongestGapOfSGLang(t *testing.T) {
	const line = `{"backend": "BACKEND", "completed": 2, "duration": 1, "mean_e2e_latency_ms": 1, "accept_length": ACCEPT, "output_lens": [3, 0, 2], "ttfts": [0.1, 0.1, 0.1],` +
		` "itls": [[0.01, 0.03], [0.5], [0.02]], "errors": ["", "Bad Gateway", ""]}`
	for _, tt := range []struct {
		backend, accept string
		want            float64
	}{{"sglang", "2.5", 0.03}, {"sglang-oai", "null", 0.03}, {"sglang-oai-chat", "2.5", 0}} {
		o := one(t, FromText("a.jsonl", strings.NewReplacer("BACKEND", tt.backend, "ACCEPT", tt.accept).Replace(line))).Run.Origin
		if got, there := o.Figure("itl.max"); got.Value != tt.want || there != (tt.want > 0) {
			t.Errorf("%s, %s: %v", tt.backend, tt.accept, got)
		}
	}
}
