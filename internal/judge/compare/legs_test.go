package compare

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The variants of an experiment stand as its file has them, whatever ran first; a run knows
// its leg, and of doubtful ones it is said how many, and why the first one is.
func TestTableOfAnExperiment(t *testing.T) {
	var runs []ComparedRun
	for block := 1; block <= 2; block++ {
		for slot, variant := range []string{"C", "A", "B"} {
			runs = append(runs, legOf(variant, block, slot+1, 3*block+slot, 0.01*float64(slot*block)))
		}
	}
	for _, i := range []int{4, 1} {
		runs[i].run.Verdict = &trace.Verdict{Validity: trace.Doubtful, Reasons: []plan.Message{plan.Text("leg " + string(rune('0'+i)))}}
	}
	c, err := Compare(runs, Options{Baseline: "A", Order: []string{"A", "B", "C"}, Same: true})
	if err != nil {
		t.Fatal(err)
	}
	w := c.Workloads[0]
	var names []string
	for _, v := range w.Variants {
		names = append(names, v.Name)
	}
	if want := []string{"A", "B", "C"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if refs := w.Variants[2].Runs; refs[0].Leg != 1 || refs[1].Leg != 5 {
		t.Errorf("%+v", refs)
	}
	if want := "2 of 6 runs are doubtful; in leg 2: leg 1"; !slices.Contains(said(w.Notes...), want) {
		t.Errorf("%q, want %q", said(w.Notes...), want)
	}
	if !w.Layout.Same || !c.SameVariants() || c.Experiment() != "e" {
		t.Errorf("%+v", w.Layout)
	}
	if (Comparison{Workloads: []Workload{w, {}}}).Experiment() != "" {
		t.Error("a workload is of no experiment")
	}
}
