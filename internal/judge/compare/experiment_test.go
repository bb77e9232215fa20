package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// legOf is a run of a leg with a mean TTFT, as a logarithm: variant, block, slot, server start.
func legOf(variant string, block, slot, start int, log float64) ComparedRun {
	position := 4*(block-1) + slot
	return legRun(trace.Leg{Variant: variant, Block: block, Slot: slot, Position: position, ServerStart: start, Repeat: 1}, []float64{log})
}

// twoBlocks are A B B A and B A A B, drifting by 0.01 from leg to leg, in which B is 0.1
// slower. The noise is in the second block only.
func twoBlocks(noise ...float64) []ComparedRun {
	return []ComparedRun{
		legOf("A", 1, 1, 1, 0.01), legOf("B", 1, 2, 2, 0.12), legOf("B", 1, 3, 3, 0.13), legOf("A", 1, 4, 4, 0.04),
		legOf("B", 2, 1, 5, 0.15+noise[0]), legOf("A", 2, 2, 6, 0.06+noise[1]), legOf("A", 2, 3, 7, 0.07+noise[2]), legOf("B", 2, 4, 8, 0.18+noise[3]),
	}
}

func TestBlocksByHand(t *testing.T) {
	// The effects of the blocks are 0.10 and 0.12, since the noise of 0.01, -0.01, -0.01 and 0.01
	// is all effect: d = 0.11. Of the noise's square of 0.0004 half is the effect of both blocks,
	// half the difference of the blocks, 0.0002, the only noise seen. Eight units less two
	// blocks, an effect and a slope leave 4 degrees of freedom: s² = 0.00005, and the standard
	// error of d is s/√2 = 0.005. t(0.975; 4) = 2.776445, t = 22.
	runs := twoBlocks(0.01, -0.01, -0.01, 0.01)
	c, err := Compare(runs, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	w := c.Workloads[0]
	change := change(t, w, "ttft.mean")
	about(t, "relative", change.Relative, math.Expm1(0.11), 1e-12)
	about(t, "low", change.Interval.Low, math.Expm1(0.11-2.776445*0.005), 1e-7)
	about(t, "high", change.Interval.High, math.Expm1(0.11+2.776445*0.005), 1e-7)
	about(t, "noise", change.Noise, math.Expm1(math.Sqrt(0.00005)), 1e-12)
	if change.Basis != Blocks || change.Verdict != Worse || said(change.Interval.Method)[0] != "2 blocks of server starts, 4 degrees of freedom" {
		t.Errorf("%+v", change)
	}
	row := w.Rows[0]
	about(t, "drift", row.Drift.Relative, math.Expm1(0.01), 1e-12)
	// The block that A leads has 0.10, the other one 0.12; nothing else is noise.
	about(t, "order", change.Order.Relative, math.Expm1(-0.02), 1e-12)
	about(t, "spread", row.Spread.Start, math.Sqrt(0.00005), 1e-12)
	if s := row.Spread; s.StartDF != 4 || s.RunDF != 0 || s.Runs != 1 || !s.Restarted {
		t.Errorf("%+v", s)
	}
	l := *w.Layout
	if l.Experiment != "e" || l.Blocks != 2 || !slices.Equal(l.Units, []int{4, 4}) || !l.Restarted || !l.Drift || l.Look != nil {
		t.Errorf("%+v", l)
	}
	if w.Name != "chat" || w.Variants[0].Name != "A" {
		t.Errorf("%q: %q", w.Name, w.Variants[0].Name)
	}
}

func TestAFigureThatNeverVaries(t *testing.T) {
	runs := twoBlocks(0, 0, 0, 0)
	for i := range runs {
		runs[i].figures[0].Value = 0.123
	}
	c, err := Compare(runs, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	if got := change(t, c.Workloads[0], "ttft.mean"); got.Verdict != Same || got.Relative != 0 || *got.P != 1 {
		t.Errorf("%+v", got)
	}
}

func TestRunsOfAStartAreOneUnit(t *testing.T) {
	var runs []ComparedRun
	for _, r := range twoBlocks(0.01, -0.01, -0.01, 0.01) {
		for repeat, off := range []float64{-0.02, 0.02} {
			leg := *r.run.Leg
			leg.Repeat = repeat + 1
			runs = append(runs, legRun(leg, []float64{math.Log(r.figures[0].Value) + off}))
		}
	}
	c, err := Compare(runs, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	got := change(t, c.Workloads[0], "ttft.mean")
	about(t, "high", got.Interval.High, math.Expm1(0.11+2.776445*0.005), 1e-7)
	// Two runs at 0.02 to either side: a variance of 0.0008, half of which would be more than
	// all the noise of units.
	s := c.Workloads[0].Rows[0].Spread
	about(t, "run", s.Run, math.Sqrt(0.0008), 1e-12)
	if s.Start != 0 || s.RunDF != 8 || s.Runs != 2 {
		t.Errorf("%+v", s)
	}
}

func TestVoidLegsAreLeftOut(t *testing.T) {
	runs := twoBlocks(0.01, -0.01, -0.01, 0.01)
	runs[7].run.Leg.Void = plan.Text("the server died")
	c, err := Compare(runs, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Workloads[0].Layout.Units[1]; n != 3 {
		t.Errorf("%d units of B", n)
	}
	if texts := said(c.Notes...); len(texts) != 1 || texts[0] != "one run of the experiment left out: the server died" {
		t.Errorf("%q", texts)
	}
	for i := range runs {
		runs[i].run.Leg.Void = plan.Text("the server died")
	}
	if _, err := Compare(runs, Options{}); err == nil || !strings.Contains(err.Error(), "all runs are void") {
		t.Errorf("%v", err)
	}
}

func TestServersThatStayUp(t *testing.T) {
	runs := twoBlocks(0.01, -0.01, -0.01, 0.01)
	for i := range runs {
		runs[i].run.Leg.ServerStart = 0
	}
	c, err := Compare(runs, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	w := c.Workloads[0]
	if w.Layout.Restarted || !strings.Contains(strings.Join(said(w.Notes...), "\n"), "A and B: the server was not started anew") {
		t.Errorf("%+v, %q", w.Layout, said(w.Notes...))
	}
	// One start of each in a block: two units of each, a difference in each block.
	for i := range runs {
		leg := runs[i].run.Leg
		leg.ServerStart = 2*leg.Block - 1
		if leg.Variant == "B" {
			leg.ServerStart++
		}
	}
	c, err = Compare(runs, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	got := change(t, c.Workloads[0], "ttft.mean")
	// 0.11 ± t(0.975; 1)·0.01
	about(t, "high", got.Interval.High, math.Expm1(0.11+12.7062*0.01), 1e-5)
	if n := c.Workloads[0].Layout.Units; !slices.Equal(n, []int{2, 2}) {
		t.Errorf("%v", n)
	}
}

func TestStartsThatSpanBlocksJoinThem(t *testing.T) {
	runs := twoBlocks(0.01, -0.01, -0.01, 0.01)
	for i, start := range []int{1, 2, 2, 1, 4, 1, 3, 4} { // A's first server lives into block 2
		runs[i].run.Leg.ServerStart = start
	}
	c, err := Compare(runs, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	if l := c.Workloads[0].Layout; l.Blocks != 1 || !slices.Equal(l.Units, []int{2, 2}) {
		t.Errorf("%+v", l)
	}
}

func TestWhatCannotBeToldOfBlocks(t *testing.T) {
	runs := twoBlocks(0, 0, 0, 0)
	alone := []ComparedRun{runs[0], runs[5]} // A and A
	alone[1].run.Leg.Variant = "B"
	c, err := Compare(alone, Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	w := c.Workloads[0]
	if got := change(t, w, "ttft.mean"); got.Verdict != CannotTell || got.Basis != Nothing {
		t.Errorf("%+v", got)
	}
	if texts := strings.Join(said(w.Notes...), "\n"); !strings.Contains(texts, "2 blocks leave nothing to see the noise in") {
		t.Errorf("%q", texts)
	}
	c, err = Compare(twoBlocks(0, 0, 0, 0)[:2], Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Workloads[0]; w.Layout != nil || !strings.Contains(strings.Join(said(w.Notes...), "\n"), "one leg of each variant") {
		t.Errorf("%+v, %q", w.Layout, said(w.Notes...))
	}
}

func TestConfirmationIsJudgedApart(t *testing.T) {
	runs, more := twoBlocks(0.01, -0.01, -0.01, 0.01), twoBlocks(0.01, -0.01, -0.01, 0.01)
	for i := range more {
		more[i].run.Leg.Confirms = true
	}
	c, err := Compare(append(runs, more...), Options{Baseline: "A", Looks: Looks{Done: 2, Most: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Workloads) != 2 || c.Workloads[0].Layout.Confirms || !c.Workloads[1].Layout.Confirms {
		t.Fatalf("%d workloads", len(c.Workloads))
	}
	first, second := change(t, c.Workloads[0], "ttft.mean"), change(t, c.Workloads[1], "ttft.mean")
	if c.Workloads[0].Layout.Look == nil || c.Workloads[1].Layout.Look != nil || first.Interval.High <= second.Interval.High {
		t.Errorf("a look has %v, the confirmation %v", first.Interval, second.Interval)
	}
}

func TestLooksAreValidated(t *testing.T) {
	if _, err := Compare(twoBlocks(0, 0, 0, 0), Options{Looks: Looks{Done: 5, Most: 4}}); err == nil || !strings.Contains(err.Error(), "looks") {
		t.Errorf("%v", err)
	}
}

func TestLabelsGoBeforeLegs(t *testing.T) {
	runs := twoBlocks(0.01, -0.01, -0.01, 0.01)
	for i := range runs {
		runs[i].Variant = []string{"first", "second"}[i/4]
	}
	c, err := Compare(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Workloads[0]; w.Layout != nil || w.Variants[0].Name != "first" {
		t.Errorf("%+v", w)
	}
}

func TestSettledAndPrecision(t *testing.T) {
	c, err := Compare(twoBlocks(0.001, -0.001, -0.001, 0.001), Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	i := change(t, c.Workloads[0], "ttft.mean").Interval
	if !c.Settled() {
		t.Error("a change of 10 % is settled")
	}
	about(t, "precision", c.Precision(), (i.High-i.Low)/2, 1e-12)
	c, err = Compare(twoBlocks(0.2, 0, 0.1, -0.3), Options{Baseline: "A"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Settled() || c.Precision() < 0.1 {
		t.Errorf("much noise is not settled: %v", c.Precision())
	}
	if none := (Comparison{}); none.Settled() || !math.IsInf(none.Precision(), 1) {
		t.Error("nothing is not settled")
	}
}

func TestSpreadPlans(t *testing.T) {
	s := Spread{Start: 0.01, StartDF: 1e6, Run: 0.01, RunDF: 100, Runs: 2, Restarted: true}
	// Eight blocks A B B A of 3 runs: 16 starts of each with a variance of 0.0001·4/3, a
	// standard error of 0.0040825, 22 degrees of freedom. t(0.975; 22) = 2.0739; the power of
	// 80 % is there at 2.9306 standard errors (noncentral t).
	got, known := s.Smallest(DesignSize{Blocks: 8, Runs: 3}, 0.95, 0.8)
	if !known || math.Abs(got-math.Expm1(2.9306*0.0040825)) > 2e-5 {
		t.Errorf("%v", got)
	}
	n, known := s.Blocks(DesignSize{Runs: 3}, got, 0.95, 0.8)
	if !known || n != 8 {
		t.Errorf("%d blocks for what 8 find", n)
	}
	looked, _ := s.Smallest(DesignSize{Blocks: 8, Runs: 3, Looks: true}, 0.95, 0.8)
	family, _ := s.Smallest(DesignSize{Blocks: 8, Runs: 3, Figures: 25}, 0.95, 0.8)
	five, _ := s.Smallest(DesignSize{Blocks: 8, Runs: 3, Variants: 5}, 0.95, 0.8)
	if !(looked > got && family > looked && five > got) {
		t.Errorf("%v with looks, %v of 25 figures, %v of five variants, else %v", looked, family, five, got)
	}
	if _, known := (Spread{}).Smallest(DesignSize{Blocks: 8}, 0.95, 0.8); known {
		t.Error("nothing is known of no spread")
	}
	if _, known := s.Blocks(DesignSize{}, 1e-6, 0.95, 0.8); known {
		t.Error("no number of blocks finds that")
	}
	if _, known := s.Smallest(DesignSize{Blocks: 1, Each: 1}, 0.95, 0.8); known {
		t.Error("one pair leaves nothing")
	}
}

func TestSpreadsArePooled(t *testing.T) {
	// Variances 4 and 1 with 2 and 4 degrees of freedom: 2. The second had runs repeated, of
	// variance 3; the first, without, loses as much: (4-3)·2 + 1·4 over 6.
	a, b := Spread{Start: 2, StartDF: 2, Runs: 1, Restarted: true}, Spread{Start: 1, StartDF: 4, Runs: 2, Restarted: true}
	about(t, "start", PoolSpreads(a, b).Start, math.Sqrt(2), 1e-12)
	b.Run, b.RunDF = math.Sqrt(3), 6
	about(t, "start without runs", PoolSpreads(a, b).Start, 1, 1e-12)
	standing := Spread{Start: 0.1, StartDF: 50, Runs: 1}
	if got := PoolSpreads(a, standing); got.StartDF != 2 || !got.Restarted {
		t.Errorf("legs of one start tell nothing of starts: %+v", got)
	}
	if got := PoolSpreads(); got != (Spread{}) {
		t.Errorf("%+v", got)
	}
}

// A few experiments of each kind: enough to notice a rate that doubled.
func TestExperimentsRaiseFewFalseAlarms(t *testing.T) {
	race.Skip(t)
	const experiments = 100
	for i, w := range worlds(2, 3) {
		if i != 0 && i != 2 {
			continue
		}
		r := w.rate(t, experiments, nil, i == 0)
		if r.alarmRate() > limit(experiments) || r.coverage() < 0.92 {
			t.Errorf("%s: alarms in %.1f %%, intervals that hold %.1f %%", w.name, 100*r.alarmRate(), 100*r.coverage())
		}
	}
	if r := worlds(2, 3)[0].rate(t, 20, []float64{0, three}, false); r.power() < 0.7 {
		t.Errorf("3 %% found in %.1f %% of the figures", 100*r.power())
	}
}

// What the simulation leaves out does not change a verdict.
func TestSimulatedJudgementIsThatOfCompare(t *testing.T) {
	runs := worlds(5, 4)[1].experiment(rand.New(rand.NewPCG(1, 1)), 0, 0, 0.03, 0, 0.1)
	o := Options{Baseline: "A", Looks: Looks{Done: 4, Most: 6}}
	full, err := Compare(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	short := judged(runs, o)
	differs := 0
	for i, r := range full.Workloads[0].Rows {
		if r.Input {
			t.Errorf("%s is not judged", r.Quantity.Name)
		}
		for v, c := range r.Cells {
			if c.Change == nil {
				continue
			}
			if s := short.Workloads[0].Rows[i].Cells[v].Change; s.Verdict != c.Change.Verdict || *s.Adjusted != *c.Change.Adjusted {
				t.Errorf("%s: %+v, %+v", r.Quantity.Name, s, c.Change)
			}
			if c.Change.Verdict.Differs() {
				differs++
			}
		}
	}
	if differs == 0 {
		t.Error("10 % in 25 figures is found in none")
	}
}
