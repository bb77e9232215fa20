package compare

import "testing"

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
