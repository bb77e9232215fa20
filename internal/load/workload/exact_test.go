package workload

import (
	"slices"
	"testing"
)

// Given lengths replace drawn ones, and change nothing else: equal lengths give
// equal prompts.
func TestRandomOfGivenLengths(t *testing.T) {
	v := Vocabulary{Size: 500}
	drawn := Random{Requests: 20, Input: 30, Output: 9, Prefix: 4, Seed: 3}
	given := drawn
	for range given.Requests {
		given.Inputs, given.Outputs = append(given.Inputs, 30), append(given.Outputs, 9)
	}
	given.Inputs[7], given.Outputs[7] = 1, 77
	given.Input, given.Output = 0, 0
	w, err := given.Build(t.Context(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range w.Requests {
		if len(r.Tokens) != int(given.Inputs[i])+4 || r.PromptTokens != len(r.Tokens) || r.OutputTokens != int(given.Outputs[i]) {
			t.Errorf("request %d: %d tokens, %d wanted", i, len(r.Tokens), r.OutputTokens)
		}
	}
	if again, err := given.Build(t.Context(), v, nil); err != nil ||
		!slices.Equal(again.Requests[3].Tokens, w.Requests[3].Tokens) {
		t.Errorf("the same seed gives other prompts (%v)", err)
	}
	given.Inputs = given.Inputs[:5]
	if err := given.Check().Err(); err == nil {
		t.Error("fewer lengths than requests are accepted")
	}
}

// The tokens that a tokenizer adds around a prompt are part of its length, and a
// prompt has at least one of its own.
func TestRandomOfGivenLengthsWithSpecialTokens(t *testing.T) {
	w, err := Random{
		Requests: 2, Inputs: []int32{10, 1}, Outputs: []int32{1, 1},
	}.Build(t.Context(), Vocabulary{Size: 500, Around: 2}, nil)
	if err != nil || len(w.Requests[0].Tokens) != 8 || len(w.Requests[1].Tokens) != 1 {
		t.Errorf("%+v %v", w.Requests, err)
	}
}

// Only the end of a prompt changes.
func TestExactKeepsTheBeginning(t *testing.T) {
	v := Vocabulary{Size: 500}
	ids := []int32{5, 6, 7, 8}
	r, exact, err := Exact(t.Context(), v, nil, slices.Clone(ids), 2, 1)
	if err != nil || !exact || !slices.Equal(r.Tokens, ids) || r.PromptTokens != 4 {
		t.Errorf("%+v %v %v", r, exact, err)
	}
}
