package metrics

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestALimitThatIsNotReadGivesAnswersOfOneLength(t *testing.T) {
	for _, c := range []struct {
		name    string
		wants   []int
		outputs []int
		from    trace.Source
		finish  string
		choices int
		want    int
	}{
		{"all alike", []int{5, 9}, []int{16, 16}, trace.FromUsage, "", 0, 16},
		{"two lengths", []int{5, 9}, []int{16, 12}, trace.FromUsage, "", 0, 0},
		{"as one asked", []int{5, 16}, []int{16, 16}, trace.FromUsage, "", 0, 0},
		{"a single answer", []int{5}, []int{16}, trace.FromUsage, "", 0, 0},
		{"nobody counted", []int{5, 9}, []int{16, 16}, trace.FromChunks, "", 0, 0},
		{"none asked for a length", []int{0, 0}, []int{16, 16}, trace.FromUsage, "", 0, 0},
		{"shorter, and ended by themselves", []int{50, 90}, []int{16, 16}, trace.FromUsage, "tool_calls", 0, 0},
		{"shorter, at a limit of the server's", []int{50, 50}, []int{16, 16}, trace.FromUsage, "length", 0, 16},
		{"shorter, of several lengths, nobody knows why", []int{50, 90}, []int{16, 16}, trace.FromUsage, "", 0, 16},
		{"shorter, of one length, nobody knows why", []int{50, 50}, []int{16, 16}, trace.FromUsage, "", 0, 0},
		{"longer, and ended by themselves", []int{5, 5}, []int{16, 16}, trace.FromUsage, "stop", 0, 16},
		{"with the end of the text", []int{15, 15}, []int{16, 16}, trace.FromUsage, "length", 0, 0},
		{"several answers to each", []int{5, 5}, []int{16, 16}, trace.FromUsage, "stop", 3, 0},
	} {
		tr := run(1000)
		for i := range c.wants {
			r := answered(i, 0, 0, 1, 10)
			r.WantTokens, r.OutputTokens, r.CountedFrom, r.FinishReason, r.Quirks.Choices = c.wants[i], c.outputs[i], c.from, c.finish, c.choices
			tr.Records = append(tr.Records, r)
		}
		if got := Summarize(tr, Options{}).Tokens.Fixed; got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPromptsThatTheServerCountsOtherwise(t *testing.T) {
	for _, c := range []struct {
		name           string
		asked, counted int
		turn           int
		said           bool
	}{
		{"by another tokenizer", 256, 434, 0, true},
		{"with fewer tokens", 256, 128, 0, true},
		{"with a first token", 256, 257, 0, false},
		{"with the marks of a chat", 10, 24, 0, false},
		{"of a long prompt, nearly the same", 10000, 10400, 0, false},
		{"with the answers before it", 256, 434, 1, false},
		{"not at all", 256, 0, 0, false},
		{"as no server can", 256, trace.MostTokens + 1, 0, false},
		{"where nobody asked", 0, 434, 0, false},
	} {
		r := answered(0, 0, 0, 1, 10)
		r.PromptTokens, r.Usage.Prompt, r.Turn = c.asked, c.counted, c.turn
		got := Summarize(run(1000, r), Options{}).Tokens.Prompts
		if (got != nil) != c.said {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got != nil && *got != (PromptCount{Requests: 1, Asked: float64(c.asked), Counted: float64(c.counted)}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestTokensOfChunks(t *testing.T) {
	r := &trace.Record{OutputTokens: 9, Chunks: []trace.Chunk{{Kind: trace.Role}, {Kind: trace.Text}, {Kind: trace.Text}, {Kind: trace.Text}}}
	if got := perChunk(r); got != 3 {
		t.Errorf("9 tokens in 3 chunks are %v each", got)
	}
	r.Chunks[1].Tokens = 4
	if got := perChunk(r); got != 0 {
		t.Errorf("chunks beside those that say how many they carry have %v", got)
	}
}
