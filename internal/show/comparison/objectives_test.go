package comparison

import (
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Objectives say how many requests met them, by how many points that differs, and which of the run are met.
func TestObjectiveLines(t *testing.T) {
	fewer := change(compare.Blocks, compare.Worse, -0.039, 0.007, 0)
	fewer.Plain = true
	o := plan.Objective{Metric: "ttft", Limit: plan.Duration(200 * time.Millisecond)}
	ofRun := plan.Objective{Metric: "ttft", Statistic: "p99", Limit: o.Limit}
	gate := compare.Gate{Name: "ttft.p99", Above: true, Limit: 0.2}
	load := compare.Workload{
		Variants: []compare.Variant{{Name: "before"}, {Name: "after"}}, Rows: []compare.Row{rowOf("slo.attainment", "pitot", .991, fewer)},
		Objectives: &compare.Objectives{PerRequest: []plan.Objective{o}, OfRun: []compare.HeldObjective{{Objective: ofRun, Variants: []compare.GateResult{
			{Gate: gate, Outcome: compare.Pass, Value: .18, Interval: &compare.Interval{Low: .176, High: .184}}, {Gate: gate, Outcome: compare.Inconclusive},
		}}}},
	}
	load.Rows[0].Cells[1].Center = .952
	for lang, want := range map[string][]string{
		"en": {"TTFT ≤ 200ms: share of the requests that met it: before 99.10 %, after 95.20 % (-3.90 points [-4.60, -3.20] worse)", "P99 TTFT ≤ 200ms: before met, 180.0 ms (176.0 to 184.0); after open"},
		"zh": {"TTFT ≤ 200ms：达标请求占比：before 99.10%，after 95.20%（-3.90 个百分点 [-4.60, -3.20] 更差）", "P99 TTFT ≤ 200ms：before 达标，180.0 ms（176.0 至 184.0）；after 未定"},
	} {
		w := NewPhrases(compare.Comparison{Margin: .02, Level: .95}, words.In(lang))
		got := w.objectives(load)
		for i := range want {
			if i >= len(got) || got[i].Text != want[i] {
				t.Errorf("%s: %+v, want %q", lang, got, want[i])
			}
		}
	}
}
