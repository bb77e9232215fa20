package metrics

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A chat as vLLM streams it, with the role chunk 200 ms ahead of the first token
// and the finish reason in a chunk of its own.
func TestVLLMTokensOfAChat(t *testing.T) {
	r := trace.NewRecord(0)
	r.Due, r.Released, r.Sent, r.Done = 0, 0, 0, 290*ms
	r.Chunks = []trace.Chunk{
		{At: 1 * ms, Kind: trace.Role},
		{At: 200 * ms, Kind: trace.Reasoning},
		{At: 220 * ms},
		{At: 240 * ms, Kind: trace.Text},
		{At: 280 * ms, Kind: trace.Finish | trace.Bare},
	}
	r.OutputTokens, r.CountedFrom = 3, trace.FromChunks
	for _, tt := range []struct {
		version       VLLMVersion
		protocol      string
		ttft, latency float64
		gaps          int
	}{
		{VLLMMain, "chat", .200, .240, 2},
		{VLLM2611, "chat", .200, .240, 2},
		{VLLM2608, "chat", .001, .280, 4},
		{VLLM2512, "chat", .001, .280, 4},
		{VLLMMain, "completions", .001, .280, 4},
	} {
		run := &trace.Trace{Run: trace.Run{End: 290 * ms, Plan: trace.Plan{Protocol: tt.protocol}}, Records: []*trace.Record{r}}
		q := NewVLLM(run, VLLMOptions{Version: tt.version}).Requests[0]
		if !q.OK || q.TTFT != tt.ttft || q.Latency != tt.latency || len(q.ITL) != tt.gaps || q.Output != 3 {
			t.Errorf("%s, %s: %+v", tt.version, tt.protocol, q)
		}
		if q := NewVLLM(run, VLLMOptions{Version: tt.version, NoTokenizer: true}).Requests[0]; q.Output != 1 {
			t.Errorf("without a tokenizer %d tokens", q.Output)
		}
	}
	r.Chunks = r.Chunks[:1]
	run := &trace.Trace{Run: trace.Run{Plan: trace.Plan{Protocol: "chat"}}, Records: []*trace.Record{r}}
	if NewVLLM(run, VLLMOptions{Version: VLLM2611}).Completed != 0 || NewVLLM(run, VLLMOptions{Version: VLLM2608}).Completed != 1 {
		t.Error("a chat of a role chunk alone succeeded until 2026-08")
	}
}

// 0.1 s + 0.2 s is more than 0.3 s to a computer, and no two requests are in flight.
func TestWhatFollowsIsNotInFlightBeside(t *testing.T) {
	v := NewVLLM(run(400, answered(0, 0, 100, 1, 300), answered(1, 0, 300, 1, 400)), VLLMOptions{Version: VLLMMain})
	if v.MaxConcurrent != 1 {
		t.Errorf("%d at once", v.MaxConcurrent)
	}
}
