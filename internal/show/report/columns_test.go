package report

import (
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
