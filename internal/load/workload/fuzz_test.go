package workload

import (
	"strings"
	"testing"
)

func FuzzShareGPT(f *testing.F) {
	f.Add(`[{"conversations":[{"from":"human","value":"one two three four"},` +
		`{"from":"gpt","value":"five six seven eight"}]}]`)
	f.Add(`[{"conversations":[{"value":"a b c d"},{"value":"e"}],"image":"x.png"},{"conversations":[]},{}]`)
	f.Add(`[{"conversations":null}]`)
	f.Add(`{"conversations":[]}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, file string) {
		s := ShareGPT{Requests: 3}
		w, err := s.build(t.Context(), strings.NewReader(file), new(words))
		if err != nil {
			return
		}
		if len(w.Requests) != s.Requests {
			t.Errorf("%q gives %d requests", file, len(w.Requests))
		}
		for _, r := range w.Requests {
			if r.PromptTokens < minTokens || r.PromptTokens > maxPrompt || r.OutputTokens < minTokens ||
				r.PromptTokens+r.OutputTokens > maxTotal {
				t.Errorf("%q gives %+v", file, r)
			}
		}
	})
}
