package compare

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// ofKind are runs of a variant with some TTFTs.
func ofKind(kind trace.RunKind, variant, name string, values ...float64) (runs []ComparedRun) {
	for _, v := range values {
		r := ComparedRun{Variant: variant, run: trace.Run{Name: name, Kind: kind}}
		if kind == trace.Imported {
			r.run.Origin = &trace.Origin{Tool: "vllm", Detail: trace.Table}
		}
		r.add(runFigure{ReportedFigure: trace.ReportedFigure{Name: "ttft.mean", Value: v}})
		runs = append(runs, r)
	}
	return runs
}

// Simulated runs and measured ones are compared only if that is asked for; imported runs were
// measured.
func TestKindsApart(t *testing.T) {
	for _, c := range []struct {
		a, b    trace.RunKind
		refused bool
	}{
		{trace.Measured, trace.Simulated, true},
		{trace.Simulated, trace.Measured, true},
		{trace.Imported, trace.Simulated, true},
		{trace.Simulated, trace.Simulated, false},
		{trace.Measured, trace.Measured, false},
		{trace.Imported, trace.Measured, false},
		{"", trace.Measured, false},
	} {
		runs := append(ofKind(c.a, "a", "x", 1, 1.1), ofKind(c.b, "b", "y", 2, 2.1)...)
		_, err := Compare(runs, Options{})
		if refused := err != nil && strings.Contains(err.Error(), "give this flag to compare simulated runs with measured ones"); refused != c.refused || err != nil && !refused {
			t.Errorf("%s and %s: %v", c.a, c.b, err)
		}
		made, err := Compare(runs, Options{Predicted: true})
		if err != nil {
			t.Fatalf("%s and %s: %v", c.a, c.b, err)
		}
		for i, v := range made.Workloads[0].Variants {
			if kind := []trace.RunKind{c.a, c.b}[i]; v.Simulated != (kind == trace.Simulated) || v.Runs[0].Kind != kind {
				t.Errorf("%s and %s: %+v", c.a, c.b, v)
			}
		}
		simulated, measured := made.Kinds()
		if len(simulated) > 0 != (c.a == trace.Simulated || c.b == trace.Simulated) || measured == (c.a == trace.Simulated && c.b == trace.Simulated) {
			t.Errorf("%s and %s: %v, %v", c.a, c.b, simulated, measured)
		}
	}
}

// Runs of both kinds are in no one variant, whatever is asked for.
func TestKindsAreNotPooled(t *testing.T) {
	runs := append(ofKind(trace.Measured, "a", "x", 1, 1.1), ofKind(trace.Simulated, "a", "y", 1)...)
	runs = append(runs, ofKind(trace.Measured, "b", "z", 2, 2.1)...)
	_, err := Compare(runs, Options{Predicted: true})
	if err == nil || !strings.Contains(err.Error(), "variant a has measured and simulated runs, such as x and y, which are not pooled") {
		t.Error(err)
	}
}

// A gate that rests on what nobody measured says so: on the simulated variant, and on a change
// against one.
func TestPredictedGates(t *testing.T) {
	gates := []Gate{{Text: "change", Name: "ttft.mean", Above: true, Relative: true, Limit: 9}, {Text: "value", Name: "ttft.mean", Above: true, Limit: 9}}
	for _, c := range []struct {
		base, other trace.RunKind
		want        [2]bool
	}{
		{trace.Measured, trace.Simulated, [2]bool{true, true}},
		{trace.Simulated, trace.Measured, [2]bool{true, false}},
		{trace.Simulated, trace.Simulated, [2]bool{}},
		{trace.Measured, trace.Measured, [2]bool{}},
	} {
		runs := append(ofKind(c.base, "base", "x", 1, 1.01, 1.02), ofKind(c.other, "new", "y", 1.1, 1.11, 1.12)...)
		made, err := Compare(runs, Options{Predicted: true, Gates: gates})
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range made.Gates {
			if g.Predicted != c.want[i] || g.Outcome != Pass {
				t.Errorf("%s and %s: %+v", c.base, c.other, g)
			}
		}
	}
}
