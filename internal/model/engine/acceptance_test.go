package engine

import (
	"math"
	"testing"
)

// The tokens of a step are distributed by the acceptance of each position.
func TestAcceptanceByPosition(t *testing.T) {
	for name, c := range map[string]struct {
		acceptance Acceptance
		more       [3]float64 // probability of more than 1, 2 and 3 tokens
	}{
		"alike":      {Acceptance{0.7}, [3]float64{0.7, 0.49, 0.343}},
		"falling":    {Acceptance{0.9, 0.5, 0.2}, [3]float64{0.9, 0.45, 0.09}},
		"the last":   {Acceptance{0.9, 0.5}, [3]float64{0.9, 0.45, 0.225}},
		"none known": {nil, [3]float64{}},
	} {
		d := mustNew(t, Config{Seed: 5, Cost: Costs{Step: 1e-3}, Speculative: &Speculative{Drafts: 3, Acceptance: c.acceptance}})
		d.Add(0, Job{ID: 1, PromptTokens: 1, OutputTokens: 60_000})
		out := d.Step(forever-1, nil)
		steps := out[1 : len(out)-1]
		for j, want := range c.more {
			n := 0
			for _, e := range steps {
				if int(e.Tokens) > j+1 {
					n++
				}
			}
			// At least 17 000 steps: a standard error of 0.4 % at most.
			if got := float64(n) / float64(len(steps)); math.Abs(got-want) > 0.016 {
				t.Errorf("%s: %.3f of %d steps have more than %d tokens, want %v", name, got, len(steps), j+1, want)
			}
		}
	}
}
