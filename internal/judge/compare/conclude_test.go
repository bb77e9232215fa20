package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// concluded is what a workload of a baseline and a variant comes to, whose rows are
// named and changed so.
func concluded(changes map[string]Change, order ...string) Workload {
	w := Workload{Variants: []Variant{{Name: "A"}, {Name: "B"}}}
	for _, name := range order {
		c := changes[name]
		q := figure.Lookup(name)
		w.Rows = append(w.Rows, Row{Quantity: q, Input: q.Better == figure.Neither, Cells: []Cell{{Values: []float64{1}, Center: 1}, {Values: []float64{2}, Center: 2, Change: &c}}})
	}
	c := Comparison{Level: 0.95, Margin: 0.02, Workloads: []Workload{w}}
	c.Conclude()
	return c.Workloads[0]
}

func TestWhatChangesComeTo(t *testing.T) {
	w := concluded(map[string]Change{
		"tokens.output": {Basis: Replicates, Verdict: CannotTell},
		"concurrency":   {Basis: Replicates, Verdict: NotJudged},
		"duration":      {Basis: Replicates, Verdict: Worse, Bound: 0.05},
		"itl.p99":       {Basis: Within, Verdict: CannotTell, ExcludesZero: true},
		"itl.p95":       {Basis: Replicates, Verdict: CannotTell, More: 5},
		"tpot.mean":     {Basis: Replicates, Verdict: CannotTell, More: 50},
		"e2el.mean":     {Basis: Replicates, Verdict: CannotTell, More: 51},
		"ttft.mean":     {Basis: Replicates, Verdict: Worse, Bound: 0.005},
		"goodput":       {Basis: Replicates, Verdict: Better, Bound: 0.5},
	}, "tokens.output", "concurrency", "duration", "itl.p99", "itl.p95", "tpot.mean", "e2el.mean", "ttft.mean", "goodput")
	names := func(rows []int) (names []string) {
		for _, i := range rows {
			names = append(names, w.Rows[i].Quantity.Name)
		}
		return names
	}
	tally := w.Variants[1].Tally
	for what, c := range map[string]struct {
		rows []int
		want []string
	}{
		"all":      {tally.All, []string{"goodput", "ttft.mean", "tpot.mean", "e2el.mean", "itl.p99", "duration", "itl.p95"}},
		"better":   {tally.Better, []string{"goodput"}},
		"worse":    {tally.Worse, []string{"duration"}},
		"same":     {tally.Same, []string{"ttft.mean"}},
		"unknown":  {tally.Unknown, []string{"tpot.mean", "e2el.mean", "itl.p99", "itl.p95"}},
		"apart":    {tally.Apart, []string{"itl.p99"}},
		"settling": {tally.Settling, []string{"tpot.mean"}},
		"main":     {tally.Main, []string{"goodput", "ttft.mean", "tpot.mean", "e2el.mean", "itl.p99"}},
	} {
		if diff := cmp.Diff(c.want, names(c.rows)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if tally.Basis != Replicates || w.Variants[0].Tally != nil || tally.Fresh != nil || tally.Unusual != nil {
		t.Errorf("%+v", tally)
	}
}

// Where nobody looks first at any of the figures, all that should go one way are quoted.
func TestMainFiguresOfOthers(t *testing.T) {
	w := concluded(map[string]Change{"duration": {Basis: Nothing}, "tokens.output": {Basis: Nothing}}, "tokens.output", "duration")
	if tally := w.Variants[1].Tally; !cmp.Equal(tally.Main, []int{1}) || tally.Basis != Nothing {
		t.Errorf("%+v", tally)
	}
}

// What is sure and smaller than the margin is small.
func TestSmallDifferences(t *testing.T) {
	for bound, want := range map[float64]bool{0.005: true, 0.05: false, 0: false} {
		w := concluded(map[string]Change{"ttft.mean": {Verdict: Worse, Bound: bound}}, "ttft.mean")
		if got := w.Rows[0].Cells[1].Change.Small; got != want {
			t.Errorf("with a bound of %v it is small: %v", bound, got)
		}
	}
}

// Where nothing tells how large noise is, what it would have to be tells much.
func TestBeyondUsualNoise(t *testing.T) {
	w := concluded(map[string]Change{
		"ttft.mean": {Basis: Nothing, Verdict: CannotTell, Chance: 0.32}, "tpot.mean": {Basis: Nothing, Verdict: CannotTell, Chance: 0.05},
		"itl.mean": {Basis: Within, Verdict: CannotTell, Chance: 0.32},
	}, "ttft.mean", "tpot.mean", "itl.mean")
	if got := w.Variants[1].Tally.Unusual; !cmp.Equal(got, []int{0}) {
		t.Errorf("%v", got)
	}
}

// What was 0 and is not any more is told, unless a verdict tells it.
func TestFreshFigures(t *testing.T) {
	for verdict, want := range map[Verdict]int{CannotTell: 1, Worse: 0} {
		w := Workload{Variants: []Variant{{}, {}}, Rows: []Row{{
			Quantity: figure.Lookup("requests.failed"),
			Cells:    []Cell{{Values: []float64{0}}, {Values: []float64{2}, Center: 2, Change: &Change{Plain: true, Relative: 2, Verdict: verdict}}},
		}}}
		if got := len(w.tally(1).Fresh); got != want {
			t.Errorf("with the verdict %s: %d", verdict, got)
		}
	}
}
