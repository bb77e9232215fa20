package compare

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The same simulation twice is one: else a copy would pass for a repeated run.
func TestASimulationCountsOnce(t *testing.T) {
	first := ComparedRun{run: trace.Run{ID: "a", Kind: trace.Simulated}, requests: 7, figures: []runFigure{{ReportedFigure: trace.ReportedFigure{Name: "ttft.mean", Value: 1}}}}
	copied, measured, other := first, first, first
	copied.run.ID, measured.run.Kind, other.requests = "b", trace.Measured, 8
	v := &variant{runs: []*ComparedRun{&first, &copied, &measured, &other, &copied}}
	v.once()
	if v.again != 2 || len(v.runs) != 3 {
		t.Errorf("%d left out, %d kept", v.again, len(v.runs))
	}
}
