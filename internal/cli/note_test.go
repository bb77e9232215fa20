package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A note has the table that its readers know; an imported run keeps its own tool's.
func TestTablesOfNotes(t *testing.T) {
	own := &trace.Trace{Run: trace.Run{ID: "a", Kind: trace.Measured, Status: trace.Complete, Plan: trace.Load{Stream: true, Requests: 1}}}
	r := trace.NewRecord(0)
	r.Released, r.Sent, r.Done, r.Status, r.OutputTokens = 0, 0, trace.Instant(time.Second), 200, 1
	r.Chunks = []trace.Chunk{{At: trace.Instant(time.Millisecond), Kind: trace.Text}}
	own.Records, own.Run.End = append(own.Records, r), r.Done
	foreign := &trace.Trace{Run: trace.Run{Origin: &trace.Origin{
		Tool: "guidellm", Detail: trace.Table, Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: 0.94518}, {Name: "duration", Value: 206.06}},
	}}}
	for _, tt := range []struct {
		of         *trace.Trace
		tool, want string
	}{
		{own, "vllm", "Serving Benchmark Result"},
		{own, "sglang", "Backend:"},
		{own, "pitot", "service time"},
		{own, "", "Serving Benchmark Result"},
		{foreign, "vllm", fmt.Sprintf("%-32s %14.2f ms", "mean TTFT", 945.18)},
		{foreign, "vllm", fmt.Sprintf("%-32s %14.2f s", "benchmark duration", 206.06)},
	} {
		var b strings.Builder
		if err := comparing.WriteTable(&b, tt.of, tt.tool, english()); err != nil || !strings.Contains(b.String(), tt.want) {
			t.Errorf("%q: %v\n%s", tt.tool, err, b.String())
		}
	}
}
