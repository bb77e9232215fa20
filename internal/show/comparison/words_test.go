package comparison

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

func interval(low, high float64) *compare.Interval {
	return &compare.Interval{Low: low, High: high, Level: 0.95}
}

// A value has the digits that were printed, or those that its interval leaves it.
func TestDigitsOfValues(t *testing.T) {
	for _, c := range []struct {
		quantity string
		cell     compare.Cell
		want     string
	}{
		{"ttft.mean", compare.Cell{Center: 0.94518, Step: 1e-5}, "945.18 ms"},
		{"ttft.mean", compare.Cell{Center: 0.9, Step: 1e-5}, "900.00 ms"},
		{"ttft.mean", compare.Cell{Center: 0.94518}, "945.2 ms"},
		{"ttft.mean", compare.Cell{Center: 12.34567}, "12346 ms"},
		{"ttft.mean", compare.Cell{Center: 0.412345, Interval: interval(0.41, 0.415)}, "412.3 ms"},
		{"ttft.mean", compare.Cell{Center: 0.412345, Interval: interval(0.37, 0.45)}, "412.3 ms"},
		{"ttft.mean", compare.Cell{Center: 0.412345, Interval: interval(0.412345, 0.412345)}, "412.3 ms"},
		{"ttft.mean", compare.Cell{Center: 0.41, Step: 1e-2, Interval: interval(0.4099, 0.4101)}, "410 ms"},
		{"ttft.mean", compare.Cell{Center: 312.4}, "312.4 s"},
		{"queue.mean", compare.Cell{Center: 21.3e-6}, "21.30 µs"},
		{"duration", compare.Cell{Center: 36.31, Step: 0.01}, "36.31 s"},
		{"throughput.requests", compare.Cell{Center: 2.43, Step: 0.01}, "2.43 req/s"},
		{"peak.concurrency", compare.Cell{Center: 30, Step: 0.01}, "30"},
		{"concurrency", compare.Cell{Center: 14.73}, "14.73"},
		{"tokens.output", compare.Cell{Center: 61516.5}, "61516"},
		{"requests.failed", compare.Cell{Center: 0}, "0"},
		{"kv_use.max", compare.Cell{Center: 0.8734}, "87.34 %"},
		{"kv_use.max", compare.Cell{Center: 0}, "0 %"},
		{"cache.hit_rate", compare.Cell{Center: 0.123, Step: 1e-3}, "12.3 %"},
	} {
		c.cell.Values = []float64{c.cell.Center}
		s := scaleOf(compare.Row{Quantity: figure.Lookup(c.quantity), Cells: []compare.Cell{c.cell}})
		if got := strings.TrimSpace(s.value(c.cell) + " " + s.unit); got != c.want {
			t.Errorf("%s of %+v is %s, want %s", c.quantity, c.cell, got, c.want)
		}
	}
}

func TestDigitsOfChanges(t *testing.T) {
	w := NewPhrases(compare.Comparison{Level: 0.95, Margin: 0.02}, words.In("en"))
	for _, c := range []struct {
		change compare.Change
		want   string
	}{
		{compare.Change{Relative: -0.0334}, "-3.3 %"},
		{compare.Change{Relative: 0.0004}, "0.0 %"},
		{compare.Change{Relative: -0.0004}, "0.0 %"},
		{compare.Change{Relative: 1.179}, "+117.9 %"},
		{compare.Change{Relative: -0.041, Interval: interval(-0.0518, -0.0301)}, "-4.1 % [-5.2, -3.0]"},
		{compare.Change{Relative: -0.05, Interval: interval(-0.165, 0.074)}, "-5.0 % [-16.5, +7.4]"},
		{compare.Change{Relative: 0.0001, Interval: interval(-0.0004, 0.0006)}, "0.0 % [0.0, +0.1]"},
		{compare.Change{Relative: 0.0004, Interval: interval(0.0002, 0.0006)}, "+0.04 % [+0.02, +0.06]"},
		{compare.Change{Relative: 0.5, Interval: interval(-0.99, 1.7e308)}, "+50.0 % [-99.0, +inf]"},
		{compare.Change{Relative: 0.5, Interval: interval(-0.99, 2e6)}, "+50.0 % [-99.0, +2e+08]"},
		{compare.Change{Relative: 2, Plain: true}, "+2"},
		{compare.Change{Relative: math.MaxFloat64, Verdict: compare.Worse, Open: plan.Msg(compare.NeverAnswered)}, "never"},
		{compare.Change{Relative: -1, Verdict: compare.Better, Open: plan.Msg(compare.NeverAnswered)}, "was never"},
		{compare.Change{Relative: 2.5, Plain: true, Interval: interval(-0.4, 5.4)}, "+2.5 [-0.4, +5.4]"},
	} {
		s := scale{factor: 1, whole: true}
		if got := strings.TrimSpace(w.change(c.change, s, changePlaces(c.change)) + " " + w.interval(c.change, s, changePlaces(c.change))); got != c.want {
			t.Errorf("%+v is %s, want %s", c.change, got, c.want)
		}
	}
}

func TestVerdictWords(t *testing.T) {
	w := NewPhrases(compare.Comparison{Margin: 0.02}, words.In("en"))
	for _, c := range []struct {
		change compare.Change
		want   string
		tone   doc.Tone
	}{
		{compare.Change{Verdict: compare.Better}, "better", doc.Good},
		{compare.Change{Verdict: compare.Worse, Basis: compare.Borrowed}, "worse ~", doc.Bad},
		{compare.Change{Verdict: compare.Worse, Small: true}, "worse <2 %", doc.Neutral},
		{compare.Change{Verdict: compare.NotJudged}, "not judged", doc.Neutral},
		{compare.Change{Verdict: compare.Same}, "same", doc.Neutral},
		{compare.Change{Verdict: compare.CannotTell}, "?", doc.Unclear},
		{compare.Change{Verdict: compare.CannotTell, More: 1}, "? +1 run", doc.Unclear},
		{compare.Change{Verdict: compare.CannotTell, More: 4}, "? +4 runs", doc.Unclear},
		{compare.Change{Verdict: compare.CannotTell, More: 101}, "? >100 runs", doc.Unclear},
		{compare.Change{Verdict: compare.CannotTell, Basis: compare.Nothing, Chance: 0.043}, "if noise <4.3 %", doc.Unclear},
		{compare.Change{Verdict: compare.CannotTell, Basis: compare.Within, ExcludesZero: true}, "apart", doc.Unclear},
		{compare.Change{Verdict: compare.Better, Basis: compare.Within, ExcludesZero: true}, "better", doc.Good},
		{compare.Change{Verdict: compare.CannotTell, Open: plan.Msg(compare.FailuresDiffer)}, "failures differ", doc.Unclear},
		{compare.Change{Verdict: compare.Worse, Open: plan.Msg(compare.NeverAnswered)}, "worse", doc.Bad},
	} {
		got := w.cell(scale{factor: 1}, compare.Cell{Change: &c.change}, true, 1)
		if got.Verdict != c.want || got.Tone != c.tone {
			t.Errorf("%+v is %q (%s), want %q (%s)", c.change, got.Verdict, got.Tone, c.want, c.tone)
		}
	}
}

// A change from 0 has no share: a gate on one says it in the unit of the figure.
func TestGatesOnChangesFromZero(t *testing.T) {
	g := compare.GateResult{
		Gate: compare.Gate{Text: "ttft.mean > +5%", Name: "ttft.mean", Relative: true}, Variant: "B", Outcome: compare.Inconclusive,
		Value: 0.3108, Plain: true, Interval: interval(0.3075, 0.314), Why: plan.Msg("gate.from-zero", "baseline", "A", "figure", "ttft.mean"),
	}
	want := "ttft.mean > +5% (B): +310.8 [+307.5, +314.0] ms; A has 0, so there is no percentage; a gate on the value is written ttft.mean > 0"
	if got := NewPhrases(compare.Comparison{}, words.In("en")).gate(g).Text; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	g.Plain = false
	if got := NewPhrases(compare.Comparison{}, words.In("en")).gate(g).Text; !strings.Contains(got, "+31.1 % [+30.8, +31.4]") {
		t.Error(got)
	}
}

// What a claim is worth is its first word.
func TestClaims(t *testing.T) {
	match := func(relative float64, v compare.Verdict, b compare.Basis) []compare.ClaimMatch {
		return []compare.ClaimMatch{{Against: "old", Name: "ttft.mean", Relative: relative, Verdict: v, Basis: b}}
	}
	for _, c := range []struct {
		check compare.ClaimCheck
		want  string
	}{
		{compare.ClaimCheck{Matches: match(-0.0334, compare.Better, compare.Replicates), Agrees: true, Stands: true}, `agrees with the tables, proved: "x" (line 7): mean TTFT of new is 3.34 % lower than old; a difference that noise does not explain`},
		{compare.ClaimCheck{Matches: match(-0.0334, compare.CannotTell, compare.Nothing), Agrees: true}, `agrees with the tables, unproven: "x" (line 7): mean TTFT of new is 3.34 % lower than old; single runs: nothing can be said of noise`},
		{compare.ClaimCheck{Matches: match(-0.0334, compare.CannotTell, compare.Within), Agrees: true}, `agrees with the tables, unproven: "x" (line 7): mean TTFT of new is 3.34 % lower than old; single runs: how much runs differ from each other is not known`},
		{compare.ClaimCheck{Matches: match(-0.0334, compare.CannotTell, compare.Borrowed), Agrees: true}, `agrees with the tables, unproven: "x" (line 7): mean TTFT of new is 3.34 % lower than old; noise may be all of it`},
		{compare.ClaimCheck{Matches: match(-0.011, compare.Same, compare.Replicates)}, `the tables say -1.10 %: "x" (line 7): mean TTFT of new is 1.10 % lower than old; no difference larger than 2 %`},
		{compare.ClaimCheck{Matches: match(0.08, compare.Worse, compare.Replicates)}, `the tables say +8.00 %: "x" (line 7): mean TTFT of new is 8.00 % higher than old; a difference, but not the stated one`},
		{compare.ClaimCheck{Matches: match(0.00001, compare.Same, compare.Replicates)}, `the tables say 0.00 %: "x" (line 7): mean TTFT of new is the same as old; no difference larger than 2 %`},
		{compare.ClaimCheck{}, `not in the tables: "x" (line 7): the tables have no such figure`},
	} {
		c.check.Variant, c.check.Claim = "new", trace.Claim{Text: "x", Line: 7, Metric: "ttft", Change: -0.0334, Step: 0.0001}
		w := NewPhrases(compare.Comparison{Level: 0.95, Margin: 0.02}, words.In("en"))
		if got := w.claim(c.check, false).Text; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A run that has nothing against it is not told of; others are.
func TestRunsInWords(t *testing.T) {
	w := NewPhrases(compare.Comparison{}, words.In("en"))
	doubtful := runs(3, trace.Recorded, trace.Doubtful)
	for want, refs := range map[string][]compare.Ref{
		"one table": runs(1, trace.Table, ""), "2 result files": runs(2, trace.Summed, ""), "5 runs": runs(5, trace.Undated, trace.Valid),
		"3 runs, not valid": doubtful, "2 runs, 1 of them not valid": append(runs(1, trace.Recorded, ""), doubtful[0]), "2 runs": append(runs(1, trace.Table, ""), runs(1, trace.Recorded, "")...),
	} {
		if got := w.Runs(compare.Variant{Runs: refs}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Long lists of values are cut.
func TestResidueInWords(t *testing.T) {
	texts := func(values ...string) (all []plan.Message) {
		for _, v := range values {
			all = append(all, plan.Text(v))
		}
		return all
	}
	for _, c := range []struct {
		values [][]plan.Message
		en, zh string
	}{
		{[][]plan.Message{texts("1", "2"), texts("2", "1")}, "seed: 1, 2 | 2, 1", "随机种子 seed：1、2 | 2、1"},
		{[][]plan.Message{texts("1"), {plan.Msg("value.unset")}}, "seed: 1 | not set", "随机种子 seed：1 | 未设置"},
		{[][]plan.Message{texts("1"), nil}, "seed: 1 | unknown", "随机种子 seed：1 | 未知"},
		{[][]plan.Message{texts(strings.Repeat("9", 100)), texts("1")}, "seed: " + strings.Repeat("9", 79) + "… | 1", "随机种子 seed：" + strings.Repeat("9", 79) + "… | 1"},
	} {
		r := compare.SettingDiff{Setting: "seed", Values: c.values}
		if en, zh := NewPhrases(compare.Comparison{}, words.In("en")).Residue(r), NewPhrases(compare.Comparison{}, words.In("zh")).Residue(r); en != c.en || zh != c.zh {
			t.Errorf("%q and %q, want %q and %q", en, zh, c.en, c.zh)
		}
	}
	own := compare.SettingDiff{Setting: "of-their-own", Values: [][]plan.Message{texts("1")}}
	if got := NewPhrases(compare.Comparison{}, words.In("zh")).Residue(own); got != "of-their-own：1" {
		t.Error(got)
	}
}

// Percentiles between the median and the P99 are shown on request: of --all, a gate or
// a claim.
func TestFurtherPercentiles(t *testing.T) {
	var load compare.Workload
	load.Variants = []compare.Variant{{Name: "A"}, {Name: "B"}}
	for _, name := range []string{"ttft.mean", "ttft.median", "ttft.p90", "ttft.p95", "ttft.p99", "ttft.p99.9", "itl.p90", "itl.p99"} {
		load.Rows = append(load.Rows, compare.Row{Quantity: figure.Lookup(name), Cells: []compare.Cell{{Values: []float64{1}}, {Values: []float64{2}}}})
	}
	names := func(rows []compare.Row) (names []string) {
		for _, r := range rows {
			names = append(names, r.Quantity.Name)
		}
		return names
	}
	gate := compare.Comparison{Gates: []compare.GateResult{{Gate: compare.Gate{Name: "ttft.p95"}}}}
	for _, c := range []struct {
		all   bool
		asked []string
		want  []string
	}{
		{false, nil, []string{"ttft.p90", "ttft.p95"}},
		{false, requestedFigures(gate, load), []string{"ttft.p90"}},
		{true, nil, nil},
	} {
		if _, _, further := divide(load, c.all, c.asked); !slices.Equal(names(further), c.want) {
			t.Errorf("%+v: %v", c, names(further))
		}
	}
}

// pair is a comparison of two tables, or runs, whose figures changed so.
func pair(kind trace.Detail, changes map[string]compare.Change) compare.Comparison {
	load := compare.Workload{Variants: []compare.Variant{{Name: "A", Runs: runs(1, kind, "")}, {Name: "B", Runs: runs(1, kind, "")}}}
	for name, change := range changes {
		load.Rows = append(load.Rows, compare.Row{Quantity: figure.Lookup(name), Cells: []compare.Cell{{}, {Change: &change}}})
	}
	return concluded(compare.Comparison{Level: 0.95, Margin: 0.02, Workloads: []compare.Workload{load}})
}

// What is sure and smaller than the margin is no news, and said so.
func TestSmallDifferences(t *testing.T) {
	c := pair(trace.Recorded, map[string]compare.Change{"duration": {Relative: 0.004, Basis: compare.Replicates, Verdict: compare.Worse, Bound: 0.005}})
	said, tone := NewPhrases(c, words.In("en")).bottomLine(c.Workloads[0], 1)
	if said != "none of 1 figures better or worse, no difference larger than 2 % in 1" || tone != doc.Neutral {
		t.Errorf("%s (%s)", said, tone)
	}
}

// Failures, and what was answered all the same, come before what the answered requests show.
func TestFailuresAreSaidFirst(t *testing.T) {
	open := plan.Msg(compare.FailuresDiffer)
	c := pair(trace.Table, map[string]compare.Change{
		"ttft.mean": {Relative: -0.78, Basis: compare.Replicates, Verdict: compare.CannotTell, Open: open},
		"goodput":   {Relative: -0.5, Basis: compare.Replicates, Verdict: compare.Worse},
	})
	load := c.Workloads[0]
	load.Variants[1].Failed = 29. / 30
	for _, r := range load.Rows {
		if r.Quantity.Name == "goodput" {
			r.Cells[0].Values, r.Cells[0].Center = []float64{4}, 4
			r.Cells[1].Values, r.Cells[1].Center = []float64{2}, 2
		} else if got, said := outcomeOf(*r.Cells[1].Change), NewPhrases(c, words.In("en")).plainVerdict(*r.Cells[1].Change); got != compare.Inconclusive || said != "failures differ" {
			t.Errorf("continuous integration is told %s, %s", got, said)
		}
	}
	said, _ := NewPhrases(c, words.In("en")).bottomLine(load, 1)
	if want := "96.7 % of the requests of B failed, 0 % of those of A, request goodput 2.000 against 4.000; worse in 1 of 2 (request goodput -50.0 %), better in none, cannot tell in 1"; said != want {
		t.Errorf("%s\nwant %s", said, want)
	}
}

// Where nothing tells how large noise is, what it would have to be tells much.
func TestBeyondUsualNoise(t *testing.T) {
	for chance, want := range map[float64]bool{0.32: true, 0.05: false} {
		c := pair(trace.Table, map[string]compare.Change{
			"ttft.mean": {Relative: 1.18, Basis: compare.Nothing, Verdict: compare.CannotTell, Chance: chance},
			"duration":  {Relative: 1.18, Basis: compare.Nothing, Verdict: compare.CannotTell, Chance: 0.01},
		})
		said, _ := NewPhrases(c, words.In("en")).bottomLine(c.Workloads[0], 1)
		if got := strings.HasSuffix(said, "repeat each run; yet noise of 10 % from run to run would not explain 1 of 2 (mean TTFT +118.0 %)"); got != want {
			t.Error(said)
		}
		if strings.Contains(said, "would not explain") != want {
			t.Error(said)
		}
	}
}
