package metrics_test

import (
	"math"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/resources"
)

// Two devices at 3.6 an hour cost 0.002 a second: at 1000 output tokens a second a million of them take 1000 s.
func TestCost(t *testing.T) {
	var s metrics.Summary
	s.Rates.Output, s.Rates.Input = 1000, 3000
	for _, c := range []struct {
		name        string
		devices     int
		sampled     int
		output, all float64
	}{
		{"given", 2, 0, 2, 0.5},
		{"sampled", 0, 4, 4, 1},
		{"given and sampled", 2, 4, 2, 0.5},
		{"unknown", 0, 0, 0, 0},
	} {
		s.Resources = nil
		if c.sampled > 0 {
			s.Resources = &resources.Resources{Devices: &resources.Devices{Count: c.sampled}}
		}
		got := metrics.CostOf(s, 3.6, c.devices)
		if math.Abs(got.Output-c.output) > 1e-9 || math.Abs(got.All-c.all) > 1e-9 || got.Sampled != (c.devices == 0 && c.sampled > 0) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if metrics.CostOf(s, 0, 2) != nil {
		t.Error("there is no price")
	}
	s.Tokens.InputUnknown = 1
	if got := metrics.CostOf(s, 3.6, 2); got.All != 0 || got.Output == 0 {
		t.Errorf("with prompts that nobody counted: %+v", got)
	}
}
