package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// anyRuns are runs of up to four variants with odd values: none, equal ones, zeros,
// negative ones, tiny and huge ones, and what is no number.
func anyRuns(t *rapid.T) (runs []ComparedRun) {
	value := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2, -1, 1e-12, 1e12, math.Inf(1), math.NaN()}), rapid.Float64Range(0.9, 1.1))
	for v := range rapid.IntRange(1, 4).Draw(t, "variants") {
		label := fmt.Sprintf("V%d", v)
		for range rapid.IntRange(1, 7).Draw(t, "runs") {
			r := planned(label, label, func(run *trace.Run) {
				run.Plan.Concurrency = rapid.SampledFrom([]int{0, 0, 0, 8}).Draw(t, "concurrency")
			})
			r.figures = nil
			for _, name := range []string{"requests.failed", "tokens.output", "throughput.output", "ttft.mean", "itl.p99"} {
				if rapid.IntRange(0, 9).Draw(t, "missing") > 0 {
					f := trace.ReportedFigure{Name: name, Value: value.Draw(t, name), Step: rapid.SampledFrom([]float64{0, 0, 0.01}).Draw(t, "step")}
					r.add(runFigure{ReportedFigure: f, definition: foreign.Definition("pitot", name)})
				}
			}
			runs = append(runs, r)
		}
	}
	return runs
}

func TestAnyRunsCanBeCompared(t *testing.T) {
	gates := []Gate{{Text: "a", Name: "ttft.mean", Above: true, Relative: true, Limit: 0.02}, {Text: "b", Name: "requests.failed", Above: true}}
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Paired: rapid.Bool().Draw(t, "paired"), SingleRuns: rapid.Bool().Draw(t, "single"), Level: rapid.SampledFrom([]float64{0, 0.9, 0.99}).Draw(t, "level")}
		runs := anyRuns(t)
		c, err := Compare(runs, o)
		if err != nil {
			return // pairs that do not match
		}
		o.Gates = gates
		if withGates, err := Compare(runs, o); err == nil {
			c = withGates
		}
		if _, err := json.Marshal(c); err != nil {
			t.Fatal(err)
		}
		for _, w := range c.Workloads {
			for _, r := range w.Rows {
				for _, cell := range r.Cells {
					checkCell(t, r, cell)
				}
			}
		}
	})
}

func checkCell(t *rapid.T, r Row, cell Cell) {
	if i := cell.Interval; i != nil && i.Low > i.High {
		t.Fatalf("%s: %+v", r.Quantity.Name, cell)
	}
	c := cell.Change
	if c == nil {
		return
	}
	if i := c.Interval; i != nil && !(i.Low <= c.Relative && c.Relative <= i.High) {
		t.Fatalf("%s: %+v %+v", r.Quantity.Name, c, i)
	}
	if c.Verdict.Differs() && (c.Adjusted == nil || *c.Adjusted < *c.P) {
		t.Fatalf("%s: %+v", r.Quantity.Name, c)
	}
}
