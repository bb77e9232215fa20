package comparison

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// The last screen of each comparison fits a terminal, and its last line has the verdict.
func TestBrief(t *testing.T) {
	for name, c := range comparisons() {
		for _, lang := range words.Names() {
			text := written(t, Brief, c, Options{Width: 80, Lang: words.In(lang)}) + "\n" + Closing(c, words.In(lang)) + "\n"
			golden.Check(t, "testdata/brief/"+name+"-"+lang+".txt", text)
		}
	}
}

// A short summary has about 20 lines, however much was compared, and what a longer one begins with.
func TestShortSummary(t *testing.T) {
	for name, c := range comparisons() {
		short, long := written(t, Summary, c, Options{Short: true}), written(t, Summary, c, Options{})
		most := 24
		if len(c.Workloads) == 1 && len(c.Workloads[0].Variants) == 2 {
			made := &Experiment{Date: "2026-01-31", Orders: []string{"ABBA", "BAAB"}, Variants: []NoteVariant{{"one", "vllm serve x"}, {"two", ""}}}
			short, most = written(t, Summary, c, Options{Short: true, Made: made}), 21 // the last one is empty
			for _, want := range []string{"\n- **A**: one: vllm serve x\n- **B**: two\n- **legs**: ABBA BAAB, 2026-01-31\n", "**load**: "} {
				if !strings.Contains(short, want) {
					t.Errorf("%s has no %q:\n%s", name, want, short)
				}
			}
		}
		if n := strings.Count(short, "\n"); n > most || strings.Contains(short, "\n\n\n") {
			t.Errorf("%s: %d lines\n%s", name, n, short)
		}
		if title, _, _ := strings.Cut(short, "\n"); !strings.HasPrefix(long, title) {
			t.Errorf("%s: %s", name, title)
		}
	}
}

// Without a verdict both files of a job have the cause and what to do, a skipped case for each gate.
func TestNoVerdict(t *testing.T) {
	e := metrics.ExplainLoss(plan.Msg("experiment.server-failed", "why", "exit code 1 <&>"))
	write := func(gates ...string) string {
		var b strings.Builder
		if err := JUnitNone(&b, e, gates, Options{}); err != nil {
			t.Fatal(err)
		}
		checkElements(t, "none", b.String())
		return b.String()
	}
	if text := write("ttft.mean > +2%", "ttft.mean > +2%"); strings.Count(text, "<skipped message=\"NO VERDICT: the server did not start") != 2 || !strings.Contains(text, `skipped="2"`) {
		t.Error(text)
	}
	if text := write(); !strings.Contains(text, `name="verdict"`) {
		t.Error(text)
	}
	var b strings.Builder
	if err := SummarizeNone(&b, e, Options{Lang: words.In("zh")}); err != nil || !strings.HasPrefix(b.String(), "## 对比结果：没有结论\n\n- **原因**：") || !strings.Contains(b.String(), "\n- **处理办法**：查看服务日志") {
		t.Errorf("%v: %s", err, b.String())
	}
}
