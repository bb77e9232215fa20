package compare

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Which variant others are compared with, by the words in names.
func TestBaselines(t *testing.T) {
	for names, want := range map[string]string{
		"this PR|main":                                  "main",
		"PR (rebased on main)|main":                     "main",
		"after|before":                                  "before",
		"cache on|cache off":                            "cache off",
		"graph|eager":                                   "eager",
		"graph mode|eager mode":                         "eager mode",
		"With chunks|No chunks":                         "No chunks",
		"Our branch|Upstream":                           "Upstream",
		"patched|origin":                                "origin",
		"开启图模式|未开启图模式":                                  "未开启图模式",
		"启用缓存|禁用缓存":                                     "禁用缓存",
		"X=1|X=0":                                       "X=0",
		"it has the new scheduler|it is on main branch": "it is on main branch",
		"prefix cache|plain":                            "prefix cache",
		"A|B":                                           "A",
		"c / with x|c / without x":                      "c / without x",
	} {
		var all []*variant
		for n := range strings.SplitSeq(names, "|") {
			all = append(all, &variant{name: n})
		}
		if got := all[chooseBaseline(all, "").index].name; got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
}

// Which part of names is a load, and which the variant.
func TestSections(t *testing.T) {
	for what, tt := range map[string]struct{ names, want string }{
		"sections with sides each": {"setup 1 / PR|setup 1 / main|setup 2 / PR|setup 2 / main", "setup 1 / PR setup 1 / main; setup 2 / PR setup 2 / main"},
		"sides with sections each": {"PR / a|PR / b|main / a|main / b", "PR / a main / a; PR / b main / b"},
		"models":                   {"x / Qwen3-32B|y / Qwen3-32B|x / Qwen3-235B|y / Qwen3-235B", "x / Qwen3-32B y / Qwen3-32B; x / Qwen3-235B y / Qwen3-235B"},
		"models alone":             {"Qwen3-32B|Qwen3-8B", "Qwen3-32B Qwen3-8B"},
		"two changes":              {"a / x|a / y|b / x|b / y", "a / x a / y b / x b / y"},
	} {
		var g group
		for n := range strings.SplitSeq(tt.names, "|") {
			r := &ComparedRun{parts: strings.Split(n, between)}
			r.run.Origin = &trace.Origin{Path: r.parts}
			g = append(g, r)
		}
		var got []string
		for _, s := range sections([]group{g}) {
			var names []string
			for _, r := range s {
				names = append(names, strings.Join(r.parts, between))
			}
			got = append(got, strings.Join(names, " "))
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%s: %s, want %s", what, s, tt.want)
		}
	}
}

// A claim that gives its own values means no change between others.
func TestValuesOfClaims(t *testing.T) {
	claim := trace.Claim{Before: 0.0405, After: 0.0324}
	for _, tt := range []struct {
		before, after float64
		want          bool
	}{{0.04053, 0.03242, true}, {0.0405, 0.0200, false}, {0.0200, 0.0324, false}} {
		if got := means(claim, tt.before, tt.after); got != tt.want {
			t.Errorf("%g to %g: %t", tt.before, tt.after, got)
		}
	}
	if !means(trace.Claim{}, 1, 2) {
		t.Error("one without values means any")
	}
}
