package grid

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is read into testdata")

// scan are the tables of a text.
func scan(text string) []Table {
	var s Scanner
	for i, line := range strings.Split(text, "\n") {
		s.Line(i+1, line)
	}
	s.Close()
	return s.Take()
}

// The tables of testdata: each case is its title, its text and, below ---, what is read.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for part := range strings.SplitSeq(strings.TrimPrefix(string(data), "=== "), "\n=== ") {
			title, text, _ := strings.Cut(part, "\n")
			text, want, _ := strings.Cut(text, "--- read")
			got := ""
			for _, table := range scan(text) {
				got += show(table)
			}
			if strings.TrimSpace(got) != strings.TrimSpace(want) && !*update {
				t.Errorf("%s: %s: got\n%swant%s", file, title, got, want)
			}
			out.WriteString("=== " + title + "\n" + strings.TrimRight(text, "\n") + "\n--- read\n" + got)
		}
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
