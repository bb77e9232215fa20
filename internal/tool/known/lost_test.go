package known

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// In the tables of other tools, requests of a lost worker are failed ones, and change no other figure.
func TestRequestsOfALostWorker(t *testing.T) {
	tr := &trace.Trace{Run: trace.Run{Kind: trace.Measured, End: 3e9, Plan: trace.Load{Stream: true, Protocol: "chat", Requests: 20}}}
	for i := range 20 {
		r := trace.NewRecord(i)
		at := trace.Instant(i) * 1e8
		r.Due, r.Released, r.Sent, r.FirstByte, r.Done = at, at, at, at+1e7, at+5e7
		r.Status, r.PromptTokens, r.OutputTokens, r.CountedFrom = 200, 10, 4, trace.FromUsage
		for k := range trace.Instant(4) {
			r.Chunks = append(r.Chunks, trace.Chunk{At: at + 1e7*(k+1), Kind: trace.Text})
		}
		tr.Records = append(tr.Records, r)
	}
	for _, name := range []string{"pitot", "vllm", "sglang"} {
		without := figures(tr, name)
		lossy := &trace.Trace{Run: tr.Run, Records: tr.Records}
		for i := range 10 {
			r := trace.NewRecord(20 + i)
			r.Due, r.PromptTokens, r.WantTokens, r.Class = trace.Instant(i)*2e8, 10, 4, trace.WorkerLost
			lossy.Records = append(lossy.Records[:len(lossy.Records):len(lossy.Records)], r)
		}
		with := figures(lossy, name)
		wantFailed := 10.0
		if name == "sglang" { // its table has no such line
			wantFailed = 0
		}
		if with["requests.ok"] != 20 || with["requests.failed"] != wantFailed {
			t.Errorf("%s counts %v ok, %v failed", name, with["requests.ok"], with["requests.failed"])
		}
		delete(with, "requests.failed")
		delete(without, "requests.failed")
		if diff := cmp.Diff(without, with); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func figures(tr *trace.Trace, tool string) map[string]float64 {
	all := map[string]float64{}
	for _, f := range Rules().Figures(tr, tool, "") {
		all[f.Name] = f.Value
	}
	return all
}
