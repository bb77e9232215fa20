package flags

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines break at blanks and between Chinese characters, and not within flags, paths and lists.
func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"one --flag-of-two and a/path/of/three, then":    "one --flag-of-two and|a/path/of/three, then",
		"routes: /, /generate, /v1/models, /v2/models/x": "routes: /, /generate,|/v1/models, /v2/models/x",
		"取自分布，如 uniform(40ms,60ms) 或 a=1,b=2":            "取自分布，如|uniform(40ms,60ms) 或|a=1,b=2",
		"每次启动时重新抽取随机种子并打印：--start-spread":                "每次启动时重新抽取随机种|子并打印：--start-spread",
		"一二三四五六七八九十甲乙丙":                                  "一二三四五六七八九十|甲乙丙",
	} {
		if got := strings.Join(wrap(text, 24), "|"); got != want {
			t.Errorf("%s\n%s", got, want)
		}
	}
}

// A command without examples of its own has the first of each command below it, then the second.
func TestExamplesOfGroups(t *testing.T) {
	firstTwo := func(path string) string { return Examples(path)[0].Line + "|" + Examples(path)[1].Line }
	got := []string{firstTwo("runs"), firstTwo("runs show"), firstTwo("")}
	want := []string{
		"pitot runs list|pitot runs show", "pitot runs show|pitot runs show baseline",
		"pitot bench|pitot bench --url http://127.0.0.1:8000 -c 16 --duration 1m",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The right column of a row that is one wider than the left one allows begins below it.
func TestTable(t *testing.T) {
	m := &manual{width: 40}
	m.table("T:", [][2]string{{"a 12 columns", "text"}, {"has 13 columns", "其他"}, {"-x", ""}}, 13)
	if diff := cmp.Diff("\nT:\n  a 12 columns   text\n  has 13 columns\n                 其他\n  -x\n", m.String()); diff != "" {
		t.Error(diff)
	}
}
