package compare

import (
	"slices"
	"testing"
)

// Which variants a claim names, and which it compares them with.
func TestNamedInClaims(t *testing.T) {
	names := []string{"main", "radix-on before", "radix-on after", "current (8000a085)", "fa2"}
	tb := &table{}
	for _, n := range names {
		tb.order = append(tb.order, &variant{name: n})
	}
	tb.variants = tb.order
	for text, want := range map[string][]string{
		"fa2 is 3% slower than main":                 {"main", "fa2"},
		"main vs fa2: TTFT -3%":                      {"main", "fa2"},
		"compared with main, current gains 3%":       {"main", "current (8000a085)"},
		"fa2 相比 main 提升 3%":                          {"main", "fa2"},
		"radix-on is 3x slower than fa2":             {"fa2", "radix-on before", "radix-on after"},
		"fa2 gains 3%, radix-on after 5%":            {"", "radix-on after", "fa2"},
		"the domain and fa2x are no names of theirs": {""},
	} {
		all, against := tb.named(text)
		got := []string{""}
		if against != nil {
			got[0] = against.name
		}
		for _, v := range all {
			got = append(got, v.name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
