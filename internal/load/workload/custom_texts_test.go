package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCustomTextsAndSounds(t *testing.T) {
	file := `{"texts": ["one", "two"]}
{"query": "q", "documents": ["one", "two"], "output_tokens": 7}
{"audio": "AQID"}
{"audio": "data:audio/mpeg;base64,AQID"}
`
	w, err := Custom{}.build(t.Context(), strings.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{ID: "0", Batch: []string{"one", "two"}},
		{ID: "1", Batch: []string{"q", "one", "two"}, OutputTokens: 7},
		{ID: "2", Media: []Media{{MIME: "audio/wav", Data: []byte{1, 2, 3}}}},
		{ID: "3", Media: []Media{{MIME: "audio/mpeg", Data: []byte{1, 2, 3}}}},
	}
	if diff := cmp.Diff(want, w.Requests); diff != "" {
		t.Error(diff)
	}
	for line, want := range map[string]string{
		`{"texts": []}`:                           `line 1: field "texts" must be a list`,
		`{"texts": "a"}`:                          `line 1: field "texts" must be a list`,
		`{"documents": ["a"]}`:                    `line 1: field "query" is missing`,
		`{"query": "q"}`:                          `line 1: field "documents" must be a list`,
		`{"audio": "?"}`:                          `line 1: field "audio" must be`,
		`{"audio": "data:image/png;base64,AQID"}`: `line 1: field "audio" must be`,
		`{"audio": ""}`:                           `line 1: field "audio" must be`,
	} {
		if _, err := (Custom{}).Read(strings.NewReader(line), new(Pack)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
