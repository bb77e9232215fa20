package lexicon

import (
	"slices"
	"strings"
	"testing"
)

func TestExpressionsKnowTheirWords(t *testing.T) {
	for text, want := range map[string][]string{
		`(?i)\bTTFT\b|time to first token`: {"ttft", "time to first token"},
		`降低?|下降`:                           {"降", "下降"},
		`a*b+c?`:                           {"b"},
		`\d+`:                              {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
		`x|\S`:                             nil,
		`(?i:no|yes) sir`:                  {" sir"},
		`[⬇↓]`:                             {"↓", "⬇"},
		``:                                 nil,
	} {
		got := Compile(text).words()
		for i := range want {
			if !slices.ContainsFunc(got, func(w string) bool { return strings.HasPrefix(want[i], w) }) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
		if want == nil && got != nil {
			t.Errorf("%s: %q, want none", text, got)
		}
	}
}
