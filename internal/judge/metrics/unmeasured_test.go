package metrics

import (
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestZerosAreNoMeasurements(t *testing.T) {
	for name, tt := range map[string]struct {
		figures []any
		want    string
	}{
		"a client that saw no text": {
			[]any{"requests.ok", 10.0, "tokens.output", 4220.0, "tokens.output_retokenized", 0.0, "throughput.output", 164.0, "peak.output", 1.0, "e2el.mean", 2.57, "ttft.mean", 0.0, "ttft.p99", 0.0, "tpot.mean", 0.0061, "itl.mean", 0.0, "itl.max", 0.0},
			"tokens.output_retokenized peak.output ttft.mean ttft.p99 tpot.mean itl.mean itl.max",
		},
		"half of the answers unseen":     {[]any{"ttft.mean", 0.05, "ttft.median", 0.0, "ttft.p99", 0.2, "tpot.mean", 0.01}, "ttft.mean ttft.median ttft.p99 tpot.mean"},
		"answers of one token":           {[]any{"ttft.mean", 0.1, "tpot.mean", 0.0, "tpot.p99", 0.0, "itl.mean", 0.0, "peak.output", 8.0}, "tpot.mean tpot.p99 itl.mean"},
		"chunks that came together":      {[]any{"ttft.mean", 0.1, "itl.mean", 0.01, "itl.median", 0.0, "itl.p99", 0.1}, ""},
		"a queue that nobody was in":     {[]any{"ttft.mean", 0.1, "queue.mean", 0.0, "queue.p99", 0.0, "requests.failed", 0.0, "ttft.std", 0.0, "ttft.min", 0.0}, ""},
		"a server that counts no tokens": {[]any{"tokens.output", 0.0, "throughput.output", 0.0, "throughput.total", 90.0, "peak.output", 8.0, "ttft.mean", 0.1, "itl.mean", 0.01}, "tokens.output throughput.output"},
		"answers without tokens":         {[]any{"tokens.output", 0.0, "throughput.output", 0.0, "ttft.mean", 0.1}, ""},
		"no texts to count":              {[]any{"tokens.output", 0.0, "tokens.output_retokenized", 0.0}, ""},
		"a clock that was read twice":    {[]any{"ttft.mean", 0.1, "tpot.mean", -1e-9}, "tpot.mean"},
	} {
		var figures []trace.ReportedFigure
		for i := 0; i < len(tt.figures); i += 2 {
			figures = append(figures, trace.ReportedFigure{Name: tt.figures[i].(string), Value: tt.figures[i+1].(float64)})
		}
		if got := Unmeasured(figures); !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}
