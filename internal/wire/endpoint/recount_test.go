package endpoint

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// Words are counted again: of the whole answer, and of each chunk in place of the
// server's count. Reasoning counts if it is asked for.
func TestAnswersAreCountedAgain(t *testing.T) {
	words := func(s string) int { return len(strings.Fields(s)) }
	chunk := func(delta string) string {
		return `data: {"choices":[{"index":0,"delta":{` + delta + `},"finish_reason":null}]}` + "\n\n"
	}
	handler := stream(chunk(`"reasoning_content":"a b c "`), chunk(`"content":"d e "`), chunk(`"content":" "`),
		`data: {"choices":[{"index":0,"delta":{"content":"f"},"finish_reason":"stop"}],"usage":{"completion_tokens":50}}`+
			"\n\ndata: [DONE]\n\n")
	for _, tt := range []struct {
		recount Recount
		again   int
		chunks  [4]uint16
	}{
		{Recount{}, 0, [4]uint16{}},
		{Recount{Answer: true}, 3, [4]uint16{}},
		{Recount{Answer: true, Reasoning: true}, 6, [4]uint16{}},
		{Recount{Chunks: true}, 0, [4]uint16{0, 2, 0, 1}},
		{Recount{Answer: true, Chunks: true, Reasoning: true}, 6, [4]uint16{3, 2, 0, 1}},
	} {
		rec := send(t, Options{Protocol: Chat, Stream: true, Count: words, Recount: tt.recount}, transport.Config{},
			workload.Request{Text: "x"}, handler)
		if rec.Retokenized != tt.again || rec.OutputTokens != 50 || rec.Text != "" || len(rec.Chunks) != 4 {
			t.Errorf("%+v: %+v", tt, rec)
			continue
		}
		for i, want := range tt.chunks {
			if got := rec.Chunks[i].Tokens; got != want {
				t.Errorf("%+v: chunk %d has %d tokens", tt, i, got)
			}
		}
	}
	rec := send(t, Options{Protocol: Chat, Stream: true, Count: words, KeepText: true, Recount: Recount{Reasoning: true}},
		transport.Config{}, workload.Request{Text: "x"}, handler)
	if rec.Text != "a b c d e  f" {
		t.Errorf("%q", rec.Text)
	}
}
