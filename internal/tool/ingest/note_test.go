package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// textOf is a note as it is, its lines numbered.
func textOf(n *trace.Note) string {
	var b strings.Builder
	for _, p := range n.Passages {
		for i, l := range strings.Split(p.Text, "\n") {
			fmt.Fprintf(&b, "%d %s\n", p.Line+i, l)
		}
	}
	return b.String()
}

func TestNoteIsTheTextAsItIsRead(t *testing.T) {
	n, err := Note(source("a.md", "# A\x00\n\n\x1b[31mred\x1b[0m api_key=sk-hunter2\r\nlast"), []int{3})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := textOf(n), "1 # A\n2 \n3 red api_key=***\n4 last\n"; got != want || n.Cut {
		t.Errorf("%q, want %q", got, want)
	}
	if _, id := n.Body(); id != n.ID {
		t.Errorf("its ID is %s and its digest %s", n.ID, id)
	}
}

// Of a long text there is the beginning and what surrounds each table, from the line on that its mark names.
func TestNoteOfALongText(t *testing.T) {
	filler := strings.Repeat("INFO a line of a log that says nothing of a benchmark, again and again\n", 5000)
	wide := strings.Repeat("x", 1<<20) + "\n"
	for name, before := range map[string]string{"log": filler, "wide": wide, "wide lines": strings.Repeat(wide[len(wide)-9000:], 50)} {
		var b strings.Builder
		var tables []int
		for i := range 40 {
			fmt.Fprintf(&b, "%s\nlabel %d:\n", before[:len(before)/(i+1)], i)
			tables = append(tables, strings.Count(b.String(), "\n")+1)
			b.WriteString(someTable(i + 10))
		}
		b.WriteString("the end\n" + filler)
		n, err := Note(source("a.log", b.String()), tables)
		if err != nil || !n.Cut {
			t.Fatalf("%s: %v, cut %v", name, err, n.Cut)
		}
		text := textOf(n)
		for _, p := range n.Passages {
			if len(p.Text) > mostNote || len(n.Passages) > len(tables)+1 {
				t.Errorf("%s: %d passages, one of %d bytes", name, len(n.Passages), len(p.Text))
			}
		}
		if size := len(text) - 12*strings.Count(text, "\n"); size > mostNote {
			t.Errorf("%s: %d bytes", name, size)
		}
		for i, line := range tables {
			for _, want := range []string{fmt.Sprintf("%d label %d:\n", line-1, i), fmt.Sprintf("%d %s", line, title), fmt.Sprintf("%d Benchmark duration (s):                  %d.00", line+3, i+10)} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q", name, want)
				}
			}
		}
	}
}

// An export may have been written by anybody.
func TestNoteOfAnExport(t *testing.T) {
	n := readNote(&trace.Note{ID: "x", Passages: []trace.Passage{
		{Line: -5, Text: "a\x1b[2J\x00b\ntoken=hunter2"},
		{Line: 1, Text: "again\xff"},
		{Line: 9, Text: strings.Repeat("long ", 1<<20)},
		{Line: 1 << 40, Text: "far"},
	}})
	got := textOf(n)
	if want := "1 ab\n2 token=***\n3 again\uFFFD\n9 long "; !strings.HasPrefix(got, want) || len(got) > mostNoteLine+100 {
		t.Errorf("%.100q, want %q", got, want)
	}
	if _, id := n.Body(); id != n.ID || n.ID == "x" {
		t.Errorf("ID %s, digest %s", n.ID, id)
	}
	if n := readNote(&trace.Note{ID: "x"}); n != nil {
		t.Errorf("%+v", n)
	}
}
