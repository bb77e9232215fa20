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
		{"words in the text", "### T\n\norigin\n" + a + "\npatched\n" + b, []string{"c / T / origin", "c / T / patched"}},
		{"words in a block", "### T\n" + fence("PR with x\n"+a+"\nmain\n"+b), []string{"c / T / PR with x", "c / T / main"}},
		{"sentences", "It is main.\n\n" + fence(a) + "\nIt is the PR.\n\n" + fence(b), []string{"c / It is main.", "c / It is the PR."}},
		{"a long label", strings.Repeat("very ", 20) + "long:\n\n" + fence(a), []string{"c / very very very very very very very very very very very very very very very very…"}},
		{"versions", "vLLM 0.9.1:\n\n" + fence(a) + "\nvLLM 0.9.2:\n\n" + fence(b), []string{"c / vLLM 0.9.1", "c / vLLM 0.9.2"}},
		{"settings", "GRAPH=0\n\n" + fence(a) + "\nGRAPH=1\n\n" + fence(b), []string{"c / GRAPH=0", "c / GRAPH=1"}},
		{"checkouts", "$ git checkout main\n$ make\n" + a + "$ git switch -c pr\n$ make\n" + b, []string{"c / main", "c / pr"}},
		{"a flag", fence("$ vllm serve m\n"+a) + fence("$ vllm serve m --enforce-eager\n"+b), []string{"c / without --enforce-eager", "c / --enforce-eager"}},
		{"pictures", "A:\n\n![x](a.png)\n\n" + fence(a) + "\nB:\n\n<img src=b.png>\n\n" + fence(b), pair},
		{"cells of HTML", "<table>\n<tr><th>with</th><th>without</th></tr>\n<tr><td>\n\n" + fence(a) + "</td><td>\n\n" + fence(b) + "</td></tr></table>\n", []string{"c / with", "c / without"}},
		{"rows of HTML", "<table><tr><td></td><td>A</td></tr><tr><td>x</td><td>\n\n" + fence(a) + "</td></tr><tr><td>y</td><td>\n\n" + fence(b) + "</td></tr></table>\n", []string{"c / x / A", "c / y / A"}},
		{"repeats", "**A**\n\nRun 1:\n" + fence(a) + "\nRun 2:\n" + fence(b) + "\n**B**\n\n第一次：\n" + fence(a), []string{"c / A", "c / A", "c / B"}},
		{"repeats as headings", "### Run 1\nA:\n" + fence(a) + "\n### Run 2\nA:\n" + fence(b), []string{"c / A", "c / A"}},
		{"no names", "## A\n\n**Results:**\n" + fence(a), []string{"c / A"}},
		{"an anchor", "## <a name=\"x\"></a>A\n" + a, []string{"c / A"}},
		{"a bold bullet", "**A**\n\n- **how**\n\n- low\n" + fence(a) + "\n**B**\n\n- low\n" + fence(b), []string{"c / A / how / low", "c / B / low"}},
		{"a label that claims", "A:\n" + fence(a) + "\nB (TTFT -20%):\n" + fence(b), pair},
		{"brackets", "[main]\n" + fence(a) + "\n【优化】\n" + fence(b), []string{"c / main", "c / 优化"}},
		{"a terminal", "(venv) root@gpu:~# git checkout v1\n(venv) root@gpu:~# make\n" + a + "(venv) root@gpu:~# git checkout v2\n" + b, []string{"c / v1", "c / v2"}},
		{"a script's comment", "# # A\n" + a, []string{"c / A"}},
		{"nothing", "## A\n" + a + "\n" + b, []string{"c / A", "c / A", "problem: the tables of lines 2 and 15 are taken as repeated runs of one variant: nothing stands above them that names them"}},
		{"progress is no name", fence("A 1%|█ | 1/2 [00:01<00:01, 1.0it/s]\n"+a) + fence("A 100%|██| 2/2 [00:02<00:00, 1.0it/s]\n"+b), []string{"c", "c", "problem: the tables of lines 3 and 18 are taken as repeated runs of one variant: nothing stands above them that names them"}},
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

// Both sides of a diff are tables.
func TestDiffOfTwoTables(t *testing.T) {
	var b strings.Builder
	other := strings.Split(someTable(40), "\n")
	for i, l := range strings.Split(someTable(36), "\n") {
		if l == other[i] {
			b.WriteString("  " + l + "\n")
		} else {
			b.WriteString("- " + l + "\n+ " + other[i] + "\n")
		}
	}
	found, problems := known.Read(source("c.md", "```diff\n"+b.String()+"```\n"))
	if len(found) != 2 || len(problems) > 0 {
		t.Fatalf("%d found, %v", len(found), problems)
	}
	for i, want := range []float64{36, 40} {
		if d, _ := found[i].Run.Origin.Figure("duration"); d.Value != want || len(found[i].Run.Origin.Figures) != 10 {
			t.Errorf("%s: duration %g, %d figures", found[i].Run.Name, d.Value, len(found[i].Run.Origin.Figures))
		}
	}
	if found[0].Run.Name != "c / before" || found[1].Run.Name != "c / after" {
		t.Errorf("%s, %s", found[0].Run.Name, found[1].Run.Name)
	}
}

// Claims of a document, with the table that each is kept with, loose where its section has none.
func TestPlacesOfClaims(t *testing.T) {
	table := func(name string, n int) string { return name + ":\n\n```\n" + someTable(n) + "```\n\n" }
	for what, tt := range map[string]struct{ text, want string }{
		"above all":       {"TTFT is 20% lower.\n\n" + table("A", 36) + table("B", 40), "A: ttft -0.2 loose"},
		"another section": {"# T\n## Why\nTTFT -20%\n## Result\n" + table("A", 36), "A: ttft -0.2 loose"},
		"below":           {"## R\n" + table("A", 36) + table("B", 40) + "TTFT -20%\n", "B: ttft -0.2"},
		"over two lines":  {table("A", 36) + "It has reduced the TTFT\nby 20%.\n", "A: ttft -0.2"},
		"in a label":      {table("A", 36) + table("B (TTFT -20%)", 40), "B: ttft -0.2"},
		"a summary":       {table("A", 36) + table("B", 40) + "| Metric | A | B | Change |\n|---|---|---|---|\n| P99 TTFT (ms) | 25442.95 | 25442.95 | -20% |\n", "B: ttft -0.2 loose"},
	} {
		found, _ := known.Read(source("c.md", tt.text))
		var got []string
		for _, f := range found {
			for _, c := range f.Run.Origin.Claims {
				loose := ""
				if c.Loose {
					loose = " loose"
				}
				path := f.Run.Origin.Path
				got = append(got, fmt.Sprintf("%s: %s %.4g%s", path[len(path)-1], c.Metric, c.Change, loose))
			}
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%s: %s, want %s", what, s, tt.want)
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
