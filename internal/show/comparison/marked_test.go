package comparison

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// tablesOf is a comparison of tables in notes, two of each variant: before in lines 3 and 9, after in 40 and 9000.
func tablesOf(notes ...string) compare.Comparison {
	ref := func(id string, line int) (all []compare.Ref) {
		for _, note := range notes {
			all = append(all, compare.Ref{ID: id + note, File: note + ".md", Note: note, Line: line, Detail: trace.Table})
		}
		return all
	}
	return compare.Comparison{Workloads: []compare.Workload{{Variants: []compare.Variant{
		{Name: "before", Runs: append(ref("a", 3), ref("b", 9)...)}, {Name: "after", Runs: append(ref("c", 40), ref("d", 9000)...)},
	}}}}
}

// shownParts are the parts of a note in a line each.
func shownParts(n view.MarkedNote) (all []string) {
	for _, p := range n.Parts {
		line := strings.ReplaceAll(p.Text, "\n", "|") + p.Left
		for _, m := range p.Marks {
			line += fmt.Sprintf("[%s: %s -> %s]", m.Place, m.Text, m.Run)
		}
		all = append(all, line)
	}
	return all
}

func TestNoteWithItsTablesMarked(t *testing.T) {
	note := &trace.Note{Cut: true, Passages: []trace.Passage{
		{Line: 1, Text: "# A\n\ntable\n\tone <script>alert(1)</script>"},
		{Line: 8, Text: "run 2\ntable \u202etwo\x1b[31m\x00\nend"},
		{Line: 39, Text: "after\ntable"},
	}}
	find := func(string) *trace.Note { return note }
	for lang, want := range map[string][]string{
		"en": {
			"# A", "[line 3: before (run 1 of 2) -> an]", "table|    one <script>alert(1)</script>", "lines 5 to 7 are not stored",
			"run 2", "[line 9: before (run 2 of 2) -> bn]", "table two [31m |end", "lines 11 to 38 are not stored",
			"after", "[line 40: after (run 1 of 2) -> cn]", "table", "[line 9000: after (run 2 of 2) -> dn]", "what follows line 40 is not stored",
		},
		"zh": {
			"# A", "[第 3 行: before（第 1 次运行，共 2 次） -> an]", "table|    one <script>alert(1)</script>", "第 5 至 7 行未保存",
			"run 2", "[第 9 行: before（第 2 次运行，共 2 次） -> bn]", "table two [31m |end", "第 11 至 38 行未保存",
			"after", "[第 40 行: after（第 1 次运行，共 2 次） -> cn]", "table", "[第 9000 行: after（第 2 次运行，共 2 次） -> dn]", "第 40 行之后的内容未保存",
		},
	} {
		got := Marked(tablesOf("n"), words.In(lang), find)
		if len(got) != 1 || !strings.HasPrefix(got[0].Title, "n.md") {
			t.Fatalf("%+v", got)
		}
		if diff := cmp.Diff(want, shownParts(got[0])); diff != "" {
			t.Error(diff)
		}
	}
	var page strings.Builder
	if err := HTML(&page, tablesOf("n"), Options{Note: find}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>alert", "\x1b", "\x00", "\u202e"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if want := "line 9000"; !strings.Contains(page.String(), want) {
		t.Errorf("the page has no %q", want)
	}
}

// Of many notes, and of many rows in one line, there are the first.
func TestNotesThatAreTooMany(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprint(i))
	}
	note := &trace.Note{Passages: []trace.Passage{{Line: 1, Text: "text"}}}
	got := Marked(tablesOf(names...), words.In("en"), func(string) *trace.Note { return note })
	if n := len(got); n != mostNotes+1 || got[n-1].Title != "18 more notes are not shown: compare fewer" {
		t.Errorf("%d notes: %+v", n, got[n-1])
	}
	c := tablesOf("n")
	for i := range 30 {
		c.Workloads[0].Variants = append(c.Workloads[0].Variants, compare.Variant{Name: fmt.Sprint(i), Runs: []compare.Ref{{ID: "x", Note: "n", Line: 3}}})
	}
	marks := Marked(c, words.In("en"), func(string) *trace.Note { return note })[0].Parts[1].Marks
	if n := len(marks); n != mostMarks || marks[n-1] != (view.NoteMark{Place: "line 3", Text: "8 more"}) {
		t.Errorf("%d marks: %+v", n, marks[n-1])
	}
	if got := Marked(tablesOf("n"), words.In("en"), func(string) *trace.Note { return nil }); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
