package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// someTable is a table, with a duration of its own.
func someTable(duration int) string {
	var b strings.Builder
	b.WriteString("============ Serving Benchmark Result ============\n")
	for _, row := range []string{
		"Successful requests:                     200       ", "Failed requests:                         0         ",
		fmt.Sprintf("Benchmark duration (s):                  %d.00     ", duration), "Total input tokens:                      20026     ",
		"Total generated tokens:                  24472     ", "Request throughput (req/s):              5.51      ",
		"Output token throughput (tok/s):         673.99    ", "Mean TTFT (ms):                          14624.41  ",
		"Median TTFT (ms):                        13783.19  ", "P99 TTFT (ms):                           25442.95  ",
	} {
		b.WriteString(row + "\n")
	}
	b.WriteString("==================================================\n")
	return b.String()
}

func sideBySide(left, right, between string) string {
	var b strings.Builder
	rights := strings.Split(right, "\n")
	for i, l := range strings.Split(left, "\n") {
		fmt.Fprintf(&b, "%-52s%s%s\n", l, between, rights[i])
	}
	return b.String()
}

func namesIn(t *testing.T, text string) (names []string) {
	t.Helper()
	found, problems := known.Read(source("c.md", text))
	for _, f := range found {
		names = append(names, f.Run.Name)
	}
	for _, p := range problems {
		names = append(names, "problem: "+p.Reason)
	}
	return names
}

// Where authors put the name of a table, in notes and in logs.
func TestNamesOfTables(t *testing.T) {
	a, b := someTable(36), someTable(40)
	fence := func(s string) string { return "```\n" + s + "```\n" }
	pair := []string{"c / A", "c / B"}
	for _, tt := range []struct {
		what, text string
		want       []string
	}{
		{"banners of a script", "=== A ===\n$ vllm bench serve\n" + a + "\n=== B ===\n" + b, pair},
		{"banners in a block", fence("##### A #####\n" + a + "\n##### B #####\n" + b), pair},
		{"comments in a block", fence("# A\n" + a + "\n# B\n" + b), pair},
		{"labels in a block", fence("A:\n"+a+"\n") + "\n" + fence(b), []string{"c / A", "c"}},
		{"a command is no label", fence("# vllm bench serve --model m\n" + a), []string{"c"}},
		{"jira", "h2. A\n{noformat}\n" + a + "{noformat}\nh2. B\n{noformat}\n" + b + "{noformat}\n", pair},
		{"tabs of a site", "=== \"A\"\n\n    ```\n" + a + "    ```\n=== \"B\"\n\n    ```\n" + b + "    ```\n", pair},
		{"callout", "> [!note] A\n> ```\n" + eachLine(a, func(_ int, l string) string { return "> " + l }) + "> ```\n", []string{"c / A"}},
		{"details", "A:\n<details><summary>Click to expand</summary>\n\n" + fence(a) + "\n</details>\n\nB:\n<details>\n<summary>展开</summary>\n\n" + fence(b) + "</details>\n", pair},
		{"html", "<html><body><pre>A:\n" + a + "</pre><pre>B:\n" + strings.TrimSuffix(b, "\n") + "</pre></body></html>", pair},
		{"link", "## [A](https://user:secret@host/x)\n" + a, []string{"c / A"}},
		{"secret", "## A https://user:secret@host/x\n" + a, []string{"c / A https://host/x"}},
		{"escaped", "## seq\\_lens \\*\n" + a, []string{"c / seq_lens *"}},
		{"a caption below", a + "\n^ A\n\n" + b + "\n^ B\n", []string{"c", "c", "problem: the tables of lines 1 and 16 are taken as repeated runs of one variant: nothing stands above them that names them"}},
		{"prefixes of a log", "[rank0]:\n[rank0]: " + strings.ReplaceAll(a, "\n", "\n[rank0]: "), []string{"c"}},
		{"restructured text", "A\n---\n\n::\n\n" + a, []string{"c / A"}},
		{"only a claim", "## A\n\n**TTFT ↓ 3.4%**\n\n" + a, []string{"c / A"}},
		{"side by side", "## A\n\n" + fence(sideBySide(a, b, "")) + "\n## B\n\n" + fence(a), []string{"c / A / left", "c / A / right", "c / B"}},
		{"in a split terminal", sideBySide(a, b, "│ "), []string{"c / left", "c / right"}},
		{"in the cells of a table", "| x | y |\n|---|---|\n" + eachLine(sideBySide(a, b, " | "), func(_ int, l string) string { return "| " + l + " |" }), []string{"c / left", "c / right"}},
		{"the same table twice", a + "\n" + a, []string{"c", "problem: the table of line 1 stands here again, under the same name and to the digit: it is kept once"}},
		{"the same table under another name", "## A\n" + a + "\n## B\n" + a, pair},
	} {
		if got := namesIn(t, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

func TestOneTableOfTwoInALineIsWhole(t *testing.T) {
	for _, between := range []string{"", "| ", "│ "} {
		found, problems := known.Read(source("c.md", sideBySide(someTable(36), someTable(40), between)))
		if len(found) != 2 || len(problems) > 0 {
			t.Fatalf("%q: %d found, %v", between, len(found), problems)
		}
		for i, want := range []float64{36, 40} {
			if d, _ := found[i].Run.Origin.Figure("duration"); d.Value != want || len(found[i].Run.Origin.Figures) != 10 {
				t.Errorf("%q: duration %g, %d figures", between, d.Value, len(found[i].Run.Origin.Figures))
			}
		}
	}
}

// A text in the characters of Chinese Windows, and one that only has a broken
// character.
func TestCharacters(t *testing.T) {
	text := "优化前：\n\n" + someTable(36)
	windows, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"GB18030": windows, "UTF-16": inUTF16(text), "broken UTF-8": "\xe4\xbc\n" + text + "\xe4\xbc", "diff": "@@ -0,0 +1,12 @@\n" + eachLine(text, func(_ int, l string) string { return "+" + l }),
		"docker": eachLine(text, func(_ int, l string) string { return fmt.Sprintf(`{"log":"%s\n","stream":"stdout"}`, l) }),
	} {
		want := []string{"c / 优化前"}
		if got := namesIn(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	for what, text := range map[string]string{"Latin-1": "m\xe9moire \xb5s caf\xe9\n", "UTF-8": "优化\xe4\n", "English": "a\n", "Nothing": ""} {
		if isGB18030([]byte(text)) {
			t.Errorf("%s is read as Chinese of Windows", what)
		}
	}
}
