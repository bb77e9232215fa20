package vllm

import (
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A chat as vLLM streams it, with the role chunk 200 ms ahead of the first token
// and the finish reason in a chunk of its own.
func TestVLLMTokensOfAChat(t *testing.T) {
	r := trace.NewRecord(0)
	r.Due, r.Released, r.Sent, r.Done = 0, 0, 0, 290*msec
	r.Chunks = []trace.Chunk{
		{At: 1 * msec, Kind: trace.Role},
		{At: 200 * msec, Kind: trace.Reasoning},
		{At: 220 * msec},
		{At: 240 * msec, Kind: trace.Text},
		{At: 280 * msec, Kind: trace.Finish | trace.Bare},
	}
	r.OutputTokens, r.CountedFrom = 3, trace.FromChunks
	for _, tt := range []struct {
		version       Version
		protocol      string
		ttft, latency float64
		gaps          int
	}{
		{V2611, "chat", .200, .240, 2},
		{V2608, "chat", .001, .280, 4},
		{V2512, "chat", .001, .280, 4},
		{V2611, "completions", .001, .280, 4},
	} {
		run := &trace.Trace{Run: trace.Run{End: 290 * msec, Plan: trace.Load{Protocol: tt.protocol}}, Records: []*trace.Record{r}}
		q := NewFigures(run, Options{Version: tt.version}).Requests[0]
		if !q.OK || q.TTFT != tt.ttft || q.Latency != tt.latency || len(q.ITL) != tt.gaps || q.Output != 3 {
			t.Errorf("%s, %s: %+v", tt.version, tt.protocol, q)
		}
		if q := NewFigures(run, Options{Version: tt.version, NoTokenizer: true}).Requests[0]; q.Output != 1 {
			t.Errorf("without a tokenizer %d tokens", q.Output)
		}
	}
	r.Chunks = r.Chunks[:1]
	run := &trace.Trace{Run: trace.Run{Plan: trace.Load{Protocol: "chat"}}, Records: []*trace.Record{r}}
	if NewFigures(run, Options{Version: V2611}).Completed != 0 || NewFigures(run, Options{Version: V2608}).Completed != 1 {
		t.Error("a chat of a role chunk alone succeeded until 2026-08")
	}
}

// A chat's usage may come with its finish reason, in a chunk without output: that tool reads it
// there, of completions only in an event of its own.
func TestUsageOfAChunkWithoutOutput(t *testing.T) {
	r := answered(0, 0, 0, 2, 10, 20)
	r.Chunks = append(r.Chunks, trace.Chunk{At: 21 * msec, Kind: trace.Finish | trace.Bare | trace.Totals})
	r.Usage = trace.Usage{Prompt: 7, Completion: 2, At: trace.Never}
	for _, tt := range []struct {
		version  Version
		protocol string
		want     int
	}{{V2611, "chat", 7}, {V2608, "chat", 10}, {V2611, "completions", 10}} {
		run := &trace.Trace{Run: trace.Run{Plan: trace.Load{Protocol: tt.protocol}}, Records: []*trace.Record{r}}
		if q := NewFigures(run, Options{Version: tt.version}).Requests[0]; q.Input != tt.want {
			t.Errorf("%s, %s: %d prompt tokens, want %d", tt.version, tt.protocol, q.Input, tt.want)
		}
	}
}

// That tool believes any count of the server's; a note says that the table has it.
func TestCountsThatCannotBeAreInTheTable(t *testing.T) {
	r := answered(0, 0, 0, 2, 10, 20)
	r.Usage.Completion, r.CountedFrom = -1000, trace.FromChunks
	f := NewFigures(&trace.Trace{Run: trace.Run{End: trace.Instant(time.Second)}, Records: []*trace.Record{r}}, Options{Version: V2611})
	if f.TotalOutput != -1000 || len(f.Notes("vllm")) != 1 {
		t.Errorf("%d tokens, %d notes", f.TotalOutput, len(f.Notes("vllm")))
	}
}

// Every request counts in each clock second that it touches: of ten, of which four are in
// flight at once at most, all ten touch the first.
func TestPeakConcurrencyCountsTouchedSeconds(t *testing.T) {
	run := &trace.Trace{Run: trace.Run{End: trace.Instant(time.Second)}}
	for i, at := range []trace.Instant{0, 0, 0, 0, 200, 200, 200, 200, 400, 400} {
		run.Records = append(run.Records, answered(i, at, at, 1, at+199))
	}
	if v := NewFigures(run, optionsOf(run, "")); v.MaxConcurrent != 10 {
		t.Errorf("%d at the peak", v.MaxConcurrent)
	}
}

const msec = trace.Instant(time.Millisecond)

// answered is a request that is due at due, released and sent at sent, and
// whose output chunks come at the given instants; all in milliseconds.
func answered(index int, due, sent trace.Instant, tokens int, chunks ...trace.Instant) *trace.Record {
	r := trace.NewRecord(index)
	r.Due, r.Released, r.Sent = due*msec, sent*msec, sent*msec
	for _, at := range chunks {
		r.Chunks = append(r.Chunks, trace.Chunk{At: at * msec, Kind: trace.Text})
		r.Done = at*msec + msec
	}
	r.OutputTokens, r.CountedFrom = tokens, trace.FromUsage
	r.PromptTokens, r.WantTokens, r.Status = 10, tokens, 200
	return r
}
