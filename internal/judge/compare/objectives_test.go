package compare

import (
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
)

// held are runs of n requests that were held to objectives.
func held(n float64, objectives []plan.Objective, runs []ComparedRun) []ComparedRun {
	for i := range runs {
		runs[i].run.Plan.Objectives, runs[i].toll = objectives, failureCount{sent: n}
	}
	return runs
}

// The share of the requests that met the objectives is judged in points, against a noise that is at least that of
// independent requests; where the objectives differ, it is not judged.
func TestShareThatMetTheObjectives(t *testing.T) {
	first := plan.Objective{Metric: "ttft", Limit: plan.Duration(200 * time.Millisecond)}
	other := first
	other.Limit *= 2
	is := func(o ...plan.Objective) []plan.Objective { return o }
	for name, tt := range map[string]struct {
		requests float64
		a, b     []float64
		of       []plan.Objective // of b
		want     Verdict
	}{
		"worse":             {1000, []float64{.99, .991, .989, .99, .992}, []float64{.90, .91, .905, .90, .91}, is(first), Worse},
		"within the margin": {20000, []float64{.985, .986, .984, .985, .9855}, []float64{.984, .985, .986, .985, .984}, is(first), Same},
		"few requests":      {10, []float64{.9, .9, .9, .9, .9}, []float64{.8, .8, .8, .8, .8}, is(first), CannotTell},
		"other objectives":  {1000, []float64{.99, .991, .989, .99, .992}, []float64{.90, .91, .905, .90, .91}, is(other), NotJudged},
	} {
		t.Run(name, func(t *testing.T) {
			w := compared(t, Options{}, held(tt.requests, is(first), repeated("a", figure.SLOAttainment, tt.a...)), held(tt.requests, tt.of, repeated("b", figure.SLOAttainment, tt.b...)))
			c := w.Rows[0].Cells[1].Change
			if c.Verdict != tt.want || !c.Plain {
				t.Errorf("%+v, want %s in points", c, tt.want)
			}
			about(t, "points", c.Relative, tt.b[0]-tt.a[0], .01)
			if same := slices.Equal(tt.of, is(first)); (w.Objectives != nil) != same {
				t.Errorf("objectives: %+v", w.Objectives)
			}
		})
	}
}

// An objective of the run is met where the whole interval of its figure is within the limit.
func TestObjectivesOfTheRun(t *testing.T) {
	o := []plan.Objective{{Metric: "ttft", Statistic: "mean", Limit: plan.Duration(1500 * time.Millisecond)}}
	a := held(100, o, repeated("a", "ttft.mean", 1.00, 1.01, 1.02, 1.00))
	b := held(100, o, repeated("b", "ttft.mean", 2.00, 2.01, 2.02, 2.00))
	c := held(100, o, repeated("c", "ttft.mean", 1.20, 1.80, 1.30, 1.70))
	w := compared(t, Options{}, a, b, c)
	if w.Objectives == nil || len(w.Objectives.OfRun) != 1 {
		t.Fatalf("%+v", w.Objectives)
	}
	var got []Outcome
	for _, v := range w.Objectives.OfRun[0].Variants {
		got = append(got, v.Outcome)
	}
	if want := []Outcome{Pass, Fail, Inconclusive}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
