package grid

import (
	"fmt"
	"strings"
	"testing"
)

// No text makes the scanner fail, and what it says is bounded and finite.
func FuzzScanner(f *testing.F) {
	f.Add("| Metric | a | b |\n|---|---|---|\n| Mean TTFT (ms) | 1.5 | 2 (-20%) |\n")
	f.Add("┏━━┳━━┓\n┃ Metric ┃ avg ┃\n┡━━╇━━┩\n│ Time to First Token (ms) │ 1,000.5 │\n│ (x) │ │\n└──┴──┘")
	f.Add("<table><tr><th rowspan=9 colspan=9>TTFT (ms)</th><th>a</th></tr><tr><td>1</td></table>")
	f.Add("a,mean_ttft_ms,x\n1,2,3\n")
	f.Add("||||\n|===|\n| TTFT ||| ms |\n|---|\n|1|2|3|4|5|")
	f.Add("= PERFORMANCE OVERVIEW\n[TPOT] P50 : 5\nThroughput: 1 requests/s, 2 total tokens/s, 3 output tokens/s")
	f.Add("| 并发 | 首token时延(ms) 平均/P99 |\n|-|-|\n|1|5/6|\n| | 7/8 ↑ |")
	f.Add("main: TTFT 5 ms\n\nfix：TTFT 4 ms (a)\nTPOT 3 ms\nbs 4:\nITL 5 -> 4 us\nITL 3 s -> 2 s\nQPS 1 -> 2 req/s")
	f.Add("==========\nMean TTFT(ms)  : 5\nP90 TTFT(ms)  : 6\nTPOT(s)  : .5\nTotal Time(s)  : 1e9\n==========")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, table := range scan(text) {
			if table.First < 1 || table.Last > lines || table.First > table.Last {
				t.Fatalf("lines %d to %d of %d", table.First, table.Last, lines)
			}
			for _, r := range table.Results {
				if len(r.Variant) > 3*longestCell*mostColumns || r.Line < table.First || r.Line > table.Last {
					t.Fatal(r)
				}
				for _, g := range r.Figures {
					if g.Name == "" || g.Value < 0 || g.Value != g.Value || g.Step < 0 {
						t.Fatal(g)
					}
				}
			}
			for _, c := range table.Changes {
				if c.Metric == "" || c.Change != c.Change || c.Line < table.First {
					t.Fatal(c)
				}
			}
		}
	})
}

// Line reports what surely belongs to a table, and nothing of the text around it.
func TestLine(t *testing.T) {
	text := []struct {
		line   string
		inside bool
	}{
		{"Results are below.", false},
		{"", false},
		{"| Metric | a |", true},
		{"|---|---|", true},
		{"| TTFT (ms) | 5 |", true},
		{"", false},
		{"cat a | grep b", false},
		{"TTFT, TPOT and E2E were measured.", false},
		{"Config | TTFT (ms)", false}, // not known before the next line
		{"--- | ---", true},
		{"a | 5", true},
		{"and more text", false},
		{"run,mean_ttft_ms,x", false},
		{"a,5.5,1", true},
		{"<table>", true},
		{"<tr><th>Metric</th><th>a", true},
		{"b</th></tr>", true},
		{"</table>", true},
		{"after", false},
		{"main: TTFT 5.5 ms, TPOT 9.5 ms", false}, // not known before the next line
		{"", false},
		{"fix: TTFT 4.5 ms,", true},
		{"TPOT 9.4 ms", true},
		{"", false},
		{"batch 4:", false},
		{"TPOT 9.5 ms -> 9.4 ms", true},
		{"", false},
		{"Mean TTFT(ms)   : 5.5", false},
		{"Mean TPOT(ms)   : 9.5", false},
		{"====================", false},
		{"Mean ITL(ms)    : 9.4", true},
		{"====================", true},
		{"Throughput: 5.5 requests/s, 99.5 tokens/s", true},
		{"fix: TTFT 4.5 ms", false},
		{"as prose has it", false},
	}
	var s Scanner
	for i, l := range text {
		if got := s.Line(i+1, l.line); got != l.inside {
			t.Errorf("line %d, %q: inside = %v", i+1, l.line, got)
		}
	}
}

// A table longer than the limit goes on as another, and what nobody takes is bounded.
func TestLimits(t *testing.T) {
	var b strings.Builder
	b.WriteString("| run" + strings.Repeat(" | TTFT (ms)", 2*mostColumns) + " |\n|---|---|\n")
	for i := range 3 * mostRows {
		fmt.Fprintf(&b, "| %d | %d |\n", i, i)
	}
	for _, table := range scan(b.String()) {
		if len(table.Results) > mostRows {
			t.Errorf("%d results", len(table.Results))
		}
	}
	if got := scan(strings.Repeat("x", longestLine+1) + "|"); len(got) > 0 {
		t.Error(got)
	}
}

// A log of 10 000 lines, as many lines of tables, and of rows that all have other labels.
func BenchmarkScanner(b *testing.B) {
	log := strings.Repeat("INFO 05-10 10:00:00 [loggers.py:111] Engine 000: Avg prompt throughput: 5.4 tokens/s, "+
		"Running: 5 reqs, Waiting: 0 reqs\n", 10_000)
	table := strings.Repeat("| Config | Concurrency | TTFT (ms) | TPOT (ms) | Output tok/s |\n|---|---|---|---|---|\n"+
		strings.Repeat("| tp 8, flash | 16 | 123.45 | 12.5 | 1,234.5 |\n", 47)+"\n", 200)
	var labels strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&labels, "| 首token %d | mean TTFT (ms) conc=%d p99 | 7 |\n", i, i)
	}
	for name, text := range map[string]string{"log": log, "tables": table, "labels": labels.String()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				scan(text)
			}
		})
	}
}
