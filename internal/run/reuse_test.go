package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The shares that earlier prompts can have left are never below the true ones, and above them
// by a block of 64 bytes at most.
func TestBeginningsBoundWhatPromptsShare(t *testing.T) {
	b := newBeginnings(10_000)
	long := strings.Repeat("0123456789abcdef", 64) // 1024 bytes
	for i, tt := range []struct {
		prompt string
		shared int // bytes
	}{
		{long, 0},
		{long, 1024},
		{long[:500] + "other" + long[:400], 500},
		{long[:500] + "other" + long[100:500], 505},
		{"x" + long, 0},
		{"short", 0},
		{"short", 5},
		{long[:64], 64},
	} {
		share, whole := b.add([]byte(tt.prompt))
		got := share * float64(len(tt.prompt))
		if got < float64(tt.shared)-.5 || got > float64(tt.shared+leastWidth)+.5 {
			t.Errorf("%d: %.1f bytes of %d", i, got, tt.shared)
		}
		if want := tt.shared >= len(tt.prompt)/leastWidth*leastWidth; whole != want {
			t.Errorf("%d: whole is %v", i, whole)
		}
	}
}

// A hundred thousand prompts do not take more memory than a million hashes.
func TestBeginningsAreBounded(t *testing.T) {
	b := newBeginnings(1 << 40)
	if blocks := (1 << 40) / b.width; blocks > mostBlocks {
		t.Errorf("%d blocks", blocks)
	}
}

func TestSharesOfTurns(t *testing.T) {
	requests := []workload.Request{
		{Text: strings.Repeat("a b ", 100)},
		{Text: "and", Turn: workload.Turn{After: 1, Remember: true}},
		{Text: strings.Repeat("a b ", 100)}, // the same conversation again
		{Text: "and", Turn: workload.Turn{After: 3, Remember: true}},
		{Media: []workload.Media{{MIME: "image/png"}}},
	}
	s := sharing{known: newBeginnings(1000), records: map[int]*trace.Record{}, requests: requests, copies: map[int]bool{}}
	for i, prompt := range []int{200, 230, 200, 230, 50} {
		r := trace.NewRecord(i)
		r.PromptTokens, r.OutputTokens = prompt, 10
		s.records[i] = r
	}
	var got []string
	for i := range requests {
		n, ok := s.of(s.records[i])
		got = append(got, fmt.Sprint(n, ok))
	}
	// a block of 64 bytes is 32 of the 200 tokens; a turn has the prompt, the answer, and 16
	if want := "33 true, 226 true, 200 true, 230 true, 0 false"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
