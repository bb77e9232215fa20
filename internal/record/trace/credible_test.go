package trace

import "testing"

func TestTokensThatWereNeverStreamed(t *testing.T) {
	text, thought := Chunk{Kind: Text}, Chunk{Kind: Reasoning}
	for _, tt := range []struct {
		name              string
		tokens, reasoning int
		from              Source
		chunks            []Chunk
		want              int
	}{
		{"hidden", 80, 60, FromUsage, []Chunk{text, text}, 60},
		{"streamed", 80, 60, FromUsage, []Chunk{thought, text}, 0},
		{"none", 80, 0, FromUsage, []Chunk{text}, 0},
		{"all of them", 80, 80, FromUsage, nil, 80},
		{"a chunk of text has a token", 4, 3, FromUsage, []Chunk{text, text, text}, 1},
		{"more than there are", 20, 60, FromUsage, []Chunk{text}, 0},
		{"of a count that cannot be", 80, 60, FromChunks, []Chunk{text}, 0},
	} {
		r := &Record{OutputTokens: tt.tokens, CountedFrom: tt.from, Chunks: tt.chunks, Usage: Usage{Completion: tt.tokens, Reasoning: tt.reasoning}}
		if got := r.Hidden(); got != tt.want || r.Streamed() != tt.tokens-tt.want {
			t.Errorf("%s: %d hidden, %d streamed, want %d", tt.name, got, r.Streamed(), tt.want)
		}
	}
}
