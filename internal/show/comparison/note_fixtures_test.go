package comparison

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/tool/known"
	"github.com/pitot-bench/pitot/internal/tool/result"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// streamed is a run of Pitot's: 40 requests through a gate of 4, each some tokens, a
// millisecond more between them for each unit of slow.
func streamed(id string, slow int) *trace.Trace {
	const ms = trace.Instant(time.Millisecond)
	t := &trace.Trace{Run: trace.Run{
		ID: id, Kind: trace.Measured, Status: trace.Complete, Started: time.Date(2026, 3, 1, 8, len(id), slow, 0, time.UTC),
		Plan: trace.Load{
			Dialect: "pitot", URL: "http://npu-7:8000", Protocol: "chat", Model: "Qwen2.5-VL-7B", Stream: true, Requests: 40, Concurrency: 4,
			Spec: &plan.Spec{Requests: 40, Gate: plan.Gate{Concurrency: 4}, Request: plan.Request{Body: json.RawMessage(`{"header":"Authorization=Bearer sk-abcdefgh12345"}`)}},
		},
		Env: trace.Environment{
			Pitot: "1.2.0", OS: "linux/arm64", Host: "npu-7", CPUs: 192, Server: "vLLM 0.11.0",
			Invocation: []string{"pitot", "bench", "--url", "http://npu-7:8000", "--header", "Authorization=Bearer sk-abcdefgh12345", "--name", "a b"},
		},
		Verdict: &trace.Verdict{Validity: trace.Valid},
	}}
	var free [4]trace.Instant
	for i := range 40 {
		r := trace.NewRecord(i)
		at := free[i%4]
		r.Due, r.Released, r.Sent, r.PromptTokens = 0, at, at, 70
		at += trace.Instant(50+(i*37)%200+5*slow) * ms
		for k := range 20 + (i*13)%30 {
			r.Chunks = append(r.Chunks, trace.Chunk{At: at, Kind: trace.Text})
			at += trace.Instant(10+(k*7)%9+slow) * ms
		}
		r.OutputTokens, r.Done = len(r.Chunks), r.Chunks[len(r.Chunks)-1].At
		free[i%4], t.Run.End = r.Done, max(t.Run.End, r.Done)
		t.Records = append(t.Records, r)
	}
	return t
}

// printed is a run that was read from a note.
func printed(file string, line int, factor float64, path ...string) *trace.Trace {
	figure := func(name string, v, step float64) trace.ReportedFigure {
		return trace.ReportedFigure{Name: name, Value: v, Step: step}
	}
	return &trace.Trace{Run: trace.Run{
		ID: fmt.Sprintf("%s-%d", file, line), Kind: trace.Imported, Status: trace.Complete,
		Origin: &trace.Origin{
			Tool: "vllm", Form: string(vllm.V2512), Detail: trace.Table, File: file, Line: line, Path: path,
			Figures: []trace.ReportedFigure{
				figure("requests.ok", 500, 1), figure("requests.failed", 0, 1), figure("duration", 206.06*factor, 0.01),
				figure("tokens.input", 33418, 1), figure("tokens.output", 61516, 1),
				figure("throughput.requests", 2.43/factor, 0.01), figure("throughput.output", 298.53/factor, 0.01), figure("throughput.total", 460.70/factor, 0.01),
				figure("ttft.mean", 0.94518*factor, 1e-5), figure("ttft.median", 0.57038*factor, 1e-5), figure("ttft.p99", 5.98631*factor, 1e-5),
				figure("tpot.mean", 0.04569*factor, 1e-5), figure("tpot.median", 0.04478*factor, 1e-5), figure("tpot.p99", 0.09571*factor, 1e-5),
				figure("itl.mean", 0.05399*factor, 1e-5), figure("itl.median", 0.03290*factor, 1e-5), figure("itl.p99", 0.38397*factor, 1e-5),
			},
			Setup:  map[string]string{"Maximum request concurrency": "16", "model": "Qwen2.5-VL-7B", "api_key": "abcdef", "random_output_len": "128"},
			Around: []string{"Image: quay.io/ascend/vllm-ascend:v0.11.0", "torch_npu 2.7.1"},
		},
	}}
}

// variantOf refers to the runs of a variant.
func variantOf(name string, traces ...*trace.Trace) compare.Variant {
	v := compare.Variant{Name: name}
	for _, t := range traces {
		ref := compare.Ref{ID: t.Run.ID, Tool: "pitot", Detail: trace.Recorded}
		if o := t.Run.Origin; o != nil {
			ref.Tool, ref.Detail, ref.File, ref.Line = o.Tool, o.Detail, o.File, o.Line
		}
		if t.Run.Verdict != nil {
			ref.Verdict = t.Run.Verdict.Validity
		}
		v.Runs = append(v.Runs, ref)
	}
	return v
}

// rowOf has a value for the baseline and a change for each other variant.
func rowOf(name, tool string, baseline float64, changes ...compare.Change) compare.Row {
	r := compare.Row{Quantity: figure.Lookup(name), Definition: known.Rules().Definition(tool, name)}
	r.Cells = append(r.Cells, compare.Cell{Values: []float64{baseline}, Center: baseline})
	for _, c := range changes {
		v := baseline * (1 + c.Relative)
		r.Cells = append(r.Cells, compare.Cell{Values: []float64{v}, Center: v, Change: &c})
	}
	return r
}

func change(basis compare.Basis, verdict compare.Verdict, relative, half float64, more int) compare.Change {
	c := compare.Change{Relative: relative, Basis: basis, Verdict: verdict, More: more}
	if half > 0 {
		c.Interval = &compare.Interval{Low: relative - half, High: relative + half, Level: 0.95}
		c.Test, c.Noise = plan.Text("exact permutation, 3 and 2 runs"), 0.01234
	}
	return c
}

func noteResidue(setting string, values ...string) compare.SettingDiff {
	r := compare.SettingDiff{Setting: setting}
	for _, v := range values {
		r.Values = append(r.Values, []plan.Message{plan.Text(v)})
	}
	return r
}

// concluded is a comparison with what follows from it. Workloads share their variants.
func noteConcluded(loads ...compare.Workload) compare.Comparison {
	for i := range loads {
		loads[i].Variants = slices.Clone(loads[i].Variants)
	}
	c := compare.Comparison{Level: 0.95, Margin: 0.02, Workloads: loads}
	c.Conclude()
	return c
}

// tableOf is vLLM's table of a run.
func tableOf(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	var b strings.Builder
	if tr.Run.Origin != nil {
		if err := result.WriteReported(&b, tr.Run, vllm.Table(), sglang.Table()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	r, err := vllm.NewReport(tr, "")
	if err := errors.Join(err, r.WriteTable(&b)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// runsOf keeps traces.
func runsOf(t *testing.T, traces ...*trace.Trace) (runs []NoteRun) {
	t.Helper()
	for _, tr := range traces {
		runs = append(runs, NewNoteRun(tr, tableOf(t, tr)))
	}
	return runs
}

// ofTables is a note of tables: nothing can be said of noise.
func ofTables(t *testing.T, lang string) Note {
	t.Helper()
	const file = "notes/多模态 ablation.md"
	traces := []*trace.Trace{printed(file, 7, 1, "Baseline"), printed(file, 69, 0.98, "Merge rope q/k"), printed(file, 131, 1.03, "并行 q|k <pad>")}
	none := func(v float64) compare.Change { return change(compare.Nothing, compare.CannotTell, v, 0, 0) }
	load := compare.Workload{
		Name: "Throughput benchmark", Settings: []compare.Setting{{Name: "concurrency", Value: plan.Text("16")}},
		Variants: []compare.Variant{variantOf("Baseline", traces[0]), variantOf("Merge rope q/k", traces[1]), variantOf("并行 q|k <pad>", traces[2])},
		Rows: []compare.Row{
			rowOf("tokens.output", "vllm", 61516, none(0), none(0)),
			rowOf("throughput.output", "vllm", 298.53, none(0.0204), none(-0.0291)),
			rowOf("ttft.mean", "vllm", 0.94518, none(-0.02), none(0.03)),
			rowOf("tpot.mean", "vllm", 0.04569, none(-0.02), none(0.03)),
			rowOf("itl.p99", "vllm", 0.38397, none(-0.02), none(0.03)),
		},
		Claims: []compare.ClaimCheck{{
			Claim: trace.Claim{Text: "Mean TTFT 2.00% ⬇️", Line: 99, Metric: "ttft", Stat: "mean", Change: -0.02, Step: 0.0001}, File: file, Variant: "Merge rope q/k", Agrees: true,
			Matches: []compare.ClaimMatch{{Against: "Baseline", Name: "ttft.mean", Relative: -0.02, Verdict: compare.CannotTell, Basis: compare.Nothing}},
		}},
	}
	other := load
	other.Name, other.Claims = "Latency benchmark", nil
	return Note{
		Title: "多模态 ablation", Date: "2026-03-02", Pitot: "1.2.0", Lang: words.In(lang), Folder: "多模态 ablation.plots",
		Comparison: noteConcluded(load, other),
		Runs:       runsOf(t, traces...),
	}
}

// ofRuns is a note of repeated runs with records, one of them not valid.
func ofRuns(t *testing.T, lang string) Note {
	t.Helper()
	before := []*trace.Trace{streamed("a1", 2), streamed("a2", 3), streamed("a3", 2)}
	after := []*trace.Trace{streamed("b1", 0), streamed("b2", 1)}
	after[1].Run.Status = trace.Interrupted
	after[1].Run.Verdict = &trace.Verdict{Validity: trace.Doubtful, Reasons: []plan.Message{plan.Text("the client was busy")}}
	for _, tr := range after {
		tr.Run.Env.Server = "vLLM 0.11.1"
	}
	of := func(v compare.Verdict, relative, half float64, more int) compare.Change {
		return change(compare.Replicates, v, relative, half, more)
	}
	load := compare.Workload{
		Variants:     []compare.Variant{variantOf("优化前", before...), variantOf("优化后", after...)},
		SettingDiffs: []compare.SettingDiff{noteResidue("server", "vLLM 0.11.0", "vLLM 0.11.1"), noteResidue("api_key", "abcdef1", "abcdef2")},
		Rows: []compare.Row{
			rowOf("throughput.output", "pitot", 250, of(compare.Better, 0.12, 0.03, 0)),
			rowOf("ttft.mean", "pitot", 0.16, of(compare.Worse, 0.031, 0.012, 0)),
			rowOf("tpot.mean", "pitot", 0.0163, of(compare.Same, 0.003, 0.009, 0)),
			rowOf("itl.p99", "pitot", 0.019, of(compare.CannotTell, -0.04, math.Inf(1), 7)),
		},
	}
	return Note{
		Title: "cu_seqlens cpu cache", Date: "2026-03-02", Pitot: "1.2.0", Lang: words.In(lang),
		Comparison: noteConcluded(load),
		Runs:       runsOf(t, append(before, after...)...), Folder: "plots",
	}
}
