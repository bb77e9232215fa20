package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestDefects(t *testing.T) {
	run := trace.Run{End: 1e9, Plan: trace.Load{Spec: &plan.Spec{Load: []plan.Stream{{Dataset: plan.Typed{Kind: "custom"}}}}}}
	tr := &trace.Trace{Run: run}
	for i, d := range []trace.Defects{
		trace.Inspected, trace.Inspected | trace.DefectLoop | trace.DefectGarbage, trace.Inspected | trace.DefectCut, trace.Inspected, 0,
	} {
		r := trace.NewRecord(i)
		r.Sent, r.Done, r.Defects = 0, 1e9, d
		tr.Records = append(tr.Records, r)
	}
	s := Summarize(tr, Options{})
	if diff := cmp.Diff(&Defects{Inspected: 4, Defective: 2, Loop: 1, Garbage: 1, Cut: 1}, s.Defects); diff != "" {
		t.Error(diff)
	}
	got := map[string]float64{}
	for _, f := range s.Figures() {
		got[f.Name] = f.Value
	}
	for name, want := range map[string]float64{
		"answers.defects": 0.5, "answers.empty": 0, "answers.loop": 0.25, "answers.garbage": 0.25, "answers.leaked": 0, "answers.cut": 0.25,
	} {
		if v, known := got[name]; !known || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	for name, change := range map[string]func(*trace.Load){
		"ignore_eos": func(p *trace.Load) { p.Spec = &plan.Spec{Request: plan.Request{IgnoreEOS: true}} },
		"random": func(p *trace.Load) {
			p.Spec = &plan.Spec{Load: []plan.Stream{{Mix: []plan.Part{{Dataset: plan.Typed{Kind: "random"}}}}}}
		},
		"imported": func(p *trace.Load) { p.Spec = nil },
	} {
		other := *tr
		change(&other.Run.Plan)
		if s := Summarize(&other, Options{}); !s.Defects.Expected {
			t.Errorf("%s does not explain defects", name)
		}
	}
	tr.Records = tr.Records[4:]
	if s := Summarize(tr, Options{}); s.Defects != nil {
		t.Errorf("of answers that were not inspected: %+v", s.Defects)
	}
}
