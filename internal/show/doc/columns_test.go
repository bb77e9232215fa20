package doc

import (
	"slices"
	"strings"
	"testing"
)

func TestColumnsAreAsWideAsTheyLook(t *testing.T) {
	var b strings.Builder
	if err := Columns(&b, [][]string{{"NAME", "N"}, {"优化前", "1"}, {"a rather long one", "22", "more"}, {"alone"}}); err != nil {
		t.Fatal(err)
	}
	want := "NAME               N\n" +
		"优化前             1\n" +
		"a rather long one  22  more\n" +
		"alone\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Lines are as wide as a terminal shows them.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 0, []string{"one two three"}},
		{"abcdefghij kl", 4, []string{"abcd", "efgh", "ij", "kl"}},
		{"中文换行，不在行首", 8, []string{"中文换", "行，不在", "行首"}},
		{"-4.1 % lower", 7, []string{"-4.1 %", "lower"}},
		{"a tok/s b", 6, []string{"a", "tok/s", "b"}},
		{"👩‍👩‍👧⬇️x", 2, []string{"👩‍👩‍👧", "⬇️", "x"}},
		{"", 5, []string{""}},
	} {
		if got := Wrap(c.s, c.n); !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) is %q, want %q", c.s, c.n, got, c.want)
		}
	}
	for s, want := range map[string]string{"中文中文": "中…", "abcd": "abcd", "abcde": "abc…"} {
		if got := Cut(s, 4); got != want {
			t.Errorf("Cut(%q, 4) is %q", s, got)
		}
	}
}

// A Chinese character that has half the room that it needs goes to the next row.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want int
	}{{"", 5, 1}, {"abcde", 5, 1}, {"abcdef", 5, 2}, {"名字名字", 8, 1}, {"名字名字", 5, 2}, {"名字名字", 3, 4}, {"abc", 0, 1}} {
		if got := Rows(c.s, c.n); got != c.want {
			t.Errorf("%q in %d columns: %d rows, want %d", c.s, c.n, got, c.want)
		}
	}
}
