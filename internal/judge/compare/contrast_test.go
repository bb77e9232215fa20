package compare

import (
	"math"
	"testing"
)

// A report shows a value in the digits that were printed.
func TestCellsSayHowCoarseTheyAre(t *testing.T) {
	for _, r := range note(t, "vllm-npu-vl-ablation.md").Workloads[0].Rows {
		want, ok := map[string]float64{"ttft.mean": 1e-5, "duration": 0.01, "tokens.input": 0}[r.Quantity.Name]
		for _, c := range r.Cells {
			if ok && c.Step != want {
				t.Errorf("%s is told in steps of %v, want %v", r.Quantity.Name, c.Step, want)
			}
		}
	}
}

// Of two single numbers the change is 1.96·√2 standard deviations of runs that vary by
// Chance: 10 % more, or ln 1.1 = 0.0953, over 2.772 is 0.0344, or 3.5 %.
func TestChanceOfTwoNumbers(t *testing.T) {
	f := &finding{basis: Nothing, effect: math.Log(1.1)}
	c := Options{}.withDefaults().settle(f)
	if math.Abs(c.Chance-0.03499) > 1e-4 || c.Verdict != CannotTell {
		t.Errorf("chance %v, %s", c.Chance, c.Verdict)
	}
	f.rounding = 0.2 // more than the effect
	if c := (Options{}).withDefaults().settle(f); c.Chance != 0 {
		t.Errorf("chance of what rounding may hide: %v", c.Chance)
	}
}
