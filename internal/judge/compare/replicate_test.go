package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// named is a run of that variant with figures in turn name and value.
func named(variant string, figures ...any) ComparedRun {
	r := ComparedRun{Variant: variant, run: trace.Run{ID: variant, Name: variant, Status: trace.Complete, Plan: trace.Load{Dialect: "pitot", Requests: 100}}}
	for i := 0; i < len(figures); i += 2 {
		f := trace.ReportedFigure{Name: figures[i].(string), Value: figures[i+1].(float64)}
		r.add(runFigure{ReportedFigure: f, definition: foreign.Definition("pitot", f.Name)})
	}
	return r
}

// repeated are runs of one figure.
func repeated(variant, name string, values ...float64) (runs []ComparedRun) {
	for _, v := range values {
		runs = append(runs, named(variant, name, v))
	}
	return runs
}

func compared(t *testing.T, o Options, groups ...[]ComparedRun) Workload {
	t.Helper()
	c, err := Compare(slices.Concat(groups...), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Workloads) != 1 {
		t.Fatalf("%d workloads: %q", len(c.Workloads), c.Notes)
	}
	return c.Workloads[0]
}

func about(t *testing.T, what string, got, want, off float64) {
	t.Helper()
	if !(math.Abs(got-want) <= off) {
		t.Errorf("%s: %.6g, want %.6g", what, got, want)
	}
}

// exp of logarithms keeps hand-worked values readable.
func exps(logs ...float64) (out []float64) {
	for _, l := range logs {
		out = append(out, math.Exp(l))
	}
	return out
}

func TestThreeRunsEachByHand(t *testing.T) {
	// Logarithms 0, 0.01, 0.02 and 0.09, 0.10, 0.11: means 0.01 and 0.10, a pooled standard
	// deviation of 0.01 with 4 degrees of freedom, so a standard error of 0.01·√(2/3) =
	// 0.0081650 and t = 11.0227. With 4 degrees of freedom P is 1 - (3s - s³)/2 of s =
	// t/√(t²+4) = 0.9839354. t(0.975; 4) = 2.776445.
	w := compared(t, Options{}, repeated("A", "ttft.mean", exps(0, 0.01, 0.02)...), repeated("B", "ttft.mean", exps(0.09, 0.10, 0.11)...))
	c := change(t, w, "ttft.mean")
	about(t, "relative", c.Relative, math.Expm1(0.09), 1e-12)
	about(t, "low", c.Interval.Low, math.Expm1(0.09-2.776445*0.0081650), 1e-6)
	about(t, "high", c.Interval.High, math.Expm1(0.09+2.776445*0.0081650), 1e-6)
	s := 0.9839354
	about(t, "p", *c.P, 1-(3*s-s*s*s)/2, 1e-7)
	about(t, "noise", c.Noise, math.Expm1(0.01), 1e-12)
	if c.Basis != Replicates || c.Verdict != Worse || c.More != 0 || said(c.Interval.Method)[0] != "Student, 3 and 3 runs with a variance each, 4 degrees of freedom" {
		t.Errorf("%+v", c)
	}
	// t(0.95; 4) = 2.131847
	about(t, "bound", c.Bound, math.Expm1(0.09+2.131847*0.0081650), 1e-6)
	// The cell: t(0.975; 2) = 4.302653 and 0.01/√3.
	i := w.Rows[0].Cells[0].Interval
	about(t, "cell low", i.Low, math.Exp(0.01-4.302653*0.01/math.Sqrt(3)), 1e-6)
	about(t, "cell center", w.Rows[0].Cells[0].Center, math.Exp(0.01), 1e-12)
}

// Ratios of the variances of 9 and 4 make one of 6 with 49/18.5 degrees of freedom, t(0.975) =
// 3.435128: a server is noisy in all its figures, and no figure follows its own luck.
func TestNoiseThatDiffersByHand(t *testing.T) {
	runs := func(variant string, ttft, tpot []float64) (out []ComparedRun) {
		for i := range ttft {
			out = append(out, named(variant, "ttft.mean", math.Exp(ttft[i]/100), "tpot.mean", math.Exp(tpot[i]/100), "concurrency", math.Exp(ttft[i]*tpot[i])))
		}
		return out
	}
	w := compared(t, Options{}, runs("A", []float64{0, 2, 4}, []float64{1, 2, 3}), runs("B", []float64{6, 12, 18}, []float64{5, 7, 9}))
	for name, want := range map[string]struct{ effect, p, half float64 }{"ttft.mean": {0.10, 0.08199, 0.125433}, "tpot.mean": {0.05, 0.03795, 0.044347}} {
		c := change(t, w, name)
		about(t, name+": p", *c.P, want.p, 1e-5)
		about(t, name+": low", math.Log1p(c.Interval.Low), want.effect-want.half, 1e-5)
		about(t, name+": high", math.Log1p(c.Interval.High), want.effect+want.half, 1e-5)
		if got := said(c.Interval.Method)[0]; got != "Student, 3 and 3 runs with a variance each, 2.65 degrees of freedom" {
			t.Error(got)
		}
	}
}

func TestUnlikeNumbersOfRunsByHand(t *testing.T) {
	// 16/(1/2+9/4) = 5.818 degrees of freedom, as package stats has it: P is 0.03488. Of the 56
	// arrangements four are as far apart or farther, which is the larger P, and the interval is the
	// one with the larger error: √(1.333 + 10/5) = 1.8257 with a variance each, t(0.975) =
	// 2.465606; with one for both √(48/6 · 8/15) = 2.0656, t(0.975; 6) = 2.446912.
	runs := func(variant string, logs ...float64) (out []ComparedRun) {
		return repeated(variant, "ttft.mean", exps(logs...)...)
	}
	w := compared(t, Options{}, runs("A", 0, 0.02, 0.04), runs("B", 0.03, 0.05, 0.07, 0.09, 0.11))
	c := change(t, w, "ttft.mean")
	about(t, "p", *c.P, 4.0/56, 1e-12)
	about(t, "high", math.Log1p(c.Interval.High), 0.05+2.446912*0.020656, 1e-6)
	if got := said(c.Test)[0]; got != "Student with a variance each, and permutation of 3 and 5 runs" {
		t.Error(got)
	}
	// With 2 and 3 runs no arrangement of ten is rare enough.
	c = change(t, compared(t, Options{}, repeated("A", "itl.mean", 1, 1.01), repeated("B", "itl.mean", 1.5, 1.52, 1.55)), "itl.mean")
	if c.Verdict != Worse || !strings.HasSuffix(said(c.Test)[0], "or with one variance for both where that is wider") {
		t.Errorf("%+v", c)
	}
}

func TestFiveRunsEachAreExchangedToo(t *testing.T) {
	// All of B above all of A: of the 252 arrangements two are as far apart.
	a, b := repeated("A", "throughput.output", 100, 101, 102, 103, 104), repeated("B", "throughput.output", 110, 111, 112, 113, 114)
	c := change(t, compared(t, Options{}, a, b), "throughput.output")
	about(t, "p", *c.P, 2.0/252, 1e-12)
	about(t, "adjusted", *c.Adjusted, 2.0/252, 1e-12)
	if c.Verdict != Better || said(c.Test)[0] != "Student with a variance each, and permutation of 5 and 5 runs" {
		t.Errorf("%+v", c)
	}
	// At 0.99 no arrangement is rare enough.
	c = change(t, compared(t, Options{Level: 0.99}, a, b), "throughput.output")
	if c.Verdict != Better || !(*c.P < 2.0/252) || strings.Contains(said(c.Test)[0], "permutation") {
		t.Errorf("%v: %+v", *c.P, c)
	}
	// Ten runs of each on two levels: none of A and six of B are slow. Student's P is 0.002.
	level := func(slow int) (values []float64) {
		for i := range 10 {
			values = append(values, map[bool]float64{true: 1.15, false: 1}[i < slow]*(1+1e-4*float64(i)))
		}
		return values
	}
	c = change(t, compared(t, Options{}, repeated("A", "ttft.mean", level(0)...), repeated("B", "ttft.mean", level(6)...)), "ttft.mean")
	if *c.P < 0.005 {
		t.Errorf("p %v", *c.P)
	}
}

// A difference of few runs needs another figure of its metric that moves in the same sense. With
// 4 degrees of freedom t is 8.610 for a P of 0.001, 2.999 for 0.04 and 2.601 for 0.06.
func TestADifferenceOfFewRunsNeedsAWitness(t *testing.T) {
	logs := func(n int, t float64) (values []float64) {
		error := 0.01 * math.Sqrt(2.0/3)
		for i := range n {
			values = append(values, math.Exp(t*error+0.01*float64(i%3-1)))
		}
		return values
	}
	runs := func(variant string, n int, figures map[string]float64) (out []ComparedRun) {
		for i := range n {
			var all []any
			for name, t := range figures {
				all = append(all, name, logs(n, t)[i])
			}
			out = append(out, named(variant, all...))
		}
		return out
	}
	const sure, likely, unlikely = 8.610, 2.999, 2.601
	for _, c := range []struct {
		n       int
		figures map[string]float64
		want    Verdict
	}{
		{3, map[string]float64{"ttft.mean": sure, "ttft.p99": likely}, Worse},
		{3, map[string]float64{"ttft.mean": sure, "ttft.p99": unlikely}, CannotTell},
		{3, map[string]float64{"ttft.mean": sure, "ttft.p99": -likely}, CannotTell},
		{3, map[string]float64{"ttft.mean": sure, "ttft.p99": 0, "tpot.mean": sure, "tpot.p99": sure}, CannotTell},
		{3, map[string]float64{"duration": sure, "throughput.output": -likely, "ttft.mean": 0, "ttft.p99": 0}, Worse},
		{3, map[string]float64{"ttft.mean": sure}, Worse}, // stands alone
		{5, map[string]float64{"ttft.mean": sure, "ttft.p99": 0}, Worse},
	} {
		still := map[string]float64{}
		for name := range c.figures {
			still[name] = 0
		}
		w := compared(t, Options{}, runs("A", c.n, still), runs("B", c.n, c.figures))
		name := "ttft.mean"
		if c.figures["duration"] != 0 {
			name = "duration"
		}
		got := change(t, w, name)
		if got.Verdict != c.want || got.Open.IsZero() != (c.want == Worse) {
			t.Errorf("%d runs, %v: %s, %s", c.n, c.figures, got.Verdict, got.Open.Code)
		}
		if c.want == CannotTell && (got.More != 2 || !strings.Contains(strings.Join(said(w.Notes...), "\n"), ": no other figure of TTFT moves; with 3 runs of each that may be a figure with two levels")) {
			t.Errorf("%d more runs; %q", got.More, said(w.Notes...))
		}
	}
}

func TestOneMetricOfChanceDoesNotHideOthers(t *testing.T) {
	// Four runs of each, in which all of B is far above all of A, beside a metric that is as far
	// apart where other runs are exchanged.
	runs := func(variant string, ttft, itl []float64) (out []ComparedRun) {
		for i := range ttft {
			out = append(out, named(variant, "ttft.mean", ttft[i], "itl.mean", itl[i]))
		}
		return out
	}
	a := runs("A", []float64{1, 1.01, 0.99, 1}, []float64{1.5, 1, 1.5, 1})
	b := runs("B", []float64{1.2, 1.21, 1.19, 1.2}, []float64{1.5, 1, 1.5, 1})
	w := compared(t, Options{}, a, b)
	if c := change(t, w, "ttft.mean"); c.Verdict != Worse || !(*c.Adjusted < 0.001) {
		t.Errorf("%+v, adjusted %v", c, *c.Adjusted)
	}
	if c := change(t, w, "itl.mean"); c.Verdict != CannotTell || *c.Adjusted != 1 {
		t.Errorf("%+v, adjusted %v", c, *c.Adjusted)
	}
}

func TestPairsTakeOutWhatTheyShare(t *testing.T) {
	// Pairs drift by 30 % from first to last, and differ by 0.02, 0.03, 0.04 in logarithms:
	// 0.03 ± t(0.975; 2)·0.01/√3, P = 0.035099 from t = 5.19615.
	a := repeated("A", "e2el.mean", exps(0, 0.1, 0.3)...)
	b := repeated("B", "e2el.mean", exps(0.02, 0.13, 0.34)...)
	c := change(t, compared(t, Options{Paired: true}, a, b), "e2el.mean")
	about(t, "high", c.Interval.High, math.Expm1(0.03+4.302653*0.01/math.Sqrt(3)), 1e-6)
	about(t, "p", *c.P, 0.035099, 1e-6)
	if c.Basis != Pairs || c.Verdict != Worse {
		t.Errorf("%+v", c)
	}
	if c := change(t, compared(t, Options{}, a, b), "e2el.mean"); c.Verdict != CannotTell || c.More < 1 {
		t.Errorf("without pairs: %+v", c)
	}
	eight := func(variant string, by float64) []ComparedRun {
		return repeated(variant, "e2el.mean", exps(by, 0.1+1.1*by, 0.3+by, 0.2+1.2*by, 0.5+by, 0.4+0.9*by, by, 0.7+by)...)
	}
	c = change(t, compared(t, Options{Paired: true}, eight("A", 0), eight("B", 0.03)), "e2el.mean")
	about(t, "p of eight pairs", *c.P, 2.0/256, 1e-12)

	_, err := Compare(slices.Concat(a, b[:2]), Options{Paired: true})
	if err == nil || !strings.Contains(err.Error(), "paired: A has 3 runs and B has 2") {
		t.Errorf("%v", err)
	}
}

func TestOneRunBorrowsTheNoiseOfTheOther(t *testing.T) {
	// One of B against three of A, standard deviation 0.01: standard error 0.01·√(4/3).
	c := change(t, compared(t, Options{}, repeated("A", "ttft.mean", exps(0, 0.01, 0.02)...), repeated("B", "ttft.mean", math.Exp(0.11))), "ttft.mean")
	about(t, "low", c.Interval.Low, math.Expm1(0.10-4.302653*0.01*math.Sqrt(4.0/3)), 1e-6)
	if c.Basis != Borrowed || c.Verdict != Worse {
		t.Errorf("%+v", c)
	}
}

func TestNoDifferenceLargerThan(t *testing.T) {
	a := repeated("A", "ttft.mean", 1.000, 1.001, 0.999, 1.002, 0.998)
	b := repeated("B", "ttft.mean", 1.001, 1.000, 0.999, 1.001, 0.999)
	c := change(t, compared(t, Options{}, a, b), "ttft.mean")
	if c.Verdict != Same || !(c.Bound > 0 && c.Bound < 0.003) || c.More != 0 {
		t.Errorf("%+v", c)
	}
	c = change(t, compared(t, Options{Margin: 0.001}, a, b), "ttft.mean")
	if c.Verdict != CannotTell || c.More < 1 {
		t.Errorf("with a margin of 0.1 %%: %+v", c)
	}
}

func TestADifferenceBelowTheRoundingIsNone(t *testing.T) {
	rounded := func(variant string, values ...float64) []ComparedRun {
		runs := repeated(variant, "throughput.requests", values...)
		for i := range runs {
			runs[i].figures[0].Step = 0.1
		}
		return runs
	}
	w := compared(t, Options{}, rounded("A", 5.5, 5.5, 5.5, 5.5), rounded("B", 5.6, 5.6, 5.6, 5.6))
	if c := change(t, w, "throughput.requests"); c.Verdict != CannotTell || !(c.Interval.Low <= 0) {
		t.Errorf("%+v %+v", c, c.Interval)
	}
	w = compared(t, Options{}, rounded("A", 5.5, 5.5, 5.5, 5.5), rounded("B", 5.9, 5.9, 5.9, 5.9))
	if c := change(t, w, "throughput.requests"); c.Verdict != Better {
		t.Errorf("%+v %+v", c, c.Interval)
	}
	if w.Rows[0].Cells[1].Step != 0.1 {
		t.Errorf("%+v", w.Rows[0].Cells[1])
	}
}

func TestFailuresAreCounts(t *testing.T) {
	failed := func(a, b []float64) Change {
		return change(t, compared(t, Options{}, repeated("A", "requests.failed", a...), repeated("B", "requests.failed", b...)), "requests.failed")
	}
	if c := failed([]float64{0, 0}, []float64{2, 2}); c.Verdict != CannotTell || !c.Plain || c.Relative != 2 {
		t.Errorf("two failures in each of two runs may be chance: %+v", c)
	}
	if c := failed([]float64{0, 0, 0}, []float64{40, 43, 38}); c.Verdict != Worse {
		t.Errorf("%+v", c)
	}
	w := compared(t, Options{}, repeated("A", "requests.failed", 0, 0), repeated("B", "requests.failed", 0, 0))
	if c := change(t, w, "requests.failed"); !w.Rows[0].Constant || c.Verdict != Same || c.Interval != nil {
		t.Errorf("%+v", c)
	}
}

func TestEqualCountsNeedNoTest(t *testing.T) {
	// A and B have as many tokens, C has others.
	w := compared(t, Options{}, repeated("A", "tokens.output", 500), repeated("B", "tokens.output", 500), repeated("C", "tokens.output", 510))
	if c := change(t, w, "tokens.output"); w.Rows[0].Constant || c.Verdict != Same || c.Interval != nil {
		t.Errorf("%+v", c)
	}
	if c := w.Rows[0].Cells[2].Change; c.Verdict != NotJudged {
		t.Errorf("%+v", c)
	}
	if got := gated(t, "tokens.output > 1%", Options{}, repeated("A", "tokens.output", 500, 500), repeated("B", "tokens.output", 500, 500)); got.Outcome != Pass {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsNoNumberIsLeftOut(t *testing.T) {
	w := compared(t, Options{}, []ComparedRun{named("A", "ttft.mean", 1.0, "itl.mean", math.Inf(1))}, []ComparedRun{named("B", "ttft.mean", 1.0, "itl.mean", math.NaN())})
	if len(w.Rows) != 1 {
		t.Errorf("%+v", w.Rows)
	}
}

func TestWhatNeverVariesIsDecidedByItsNumbers(t *testing.T) {
	// A simulation in virtual time gives the same figures each time.
	c := change(t, compared(t, Options{}, repeated("A", "ttft.mean", 0.1, 0.1), repeated("B", "ttft.mean", 0.09, 0.09)), "ttft.mean")
	if c.Verdict != Better || c.Interval.Low != c.Interval.High {
		t.Errorf("%+v %+v", c, c.Interval)
	}
}

func pointers(runs []ComparedRun) (out []*ComparedRun) {
	for i := range runs {
		out = append(out, &runs[i])
	}
	return out
}

func TestMoreRunsSettleIt(t *testing.T) {
	race.Skip(t)
	// As many further runs as are said find an effect of that size with that noise in
	// about four of five cases.
	a := repeated("A", "ttft.mean", exps(0, 0.02, -0.02)...)
	b := repeated("B", "ttft.mean", exps(0.03, 0.05, 0.01)...)
	c := change(t, compared(t, Options{}, a, b), "ttft.mean")
	if c.Verdict != CannotTell || c.More < 1 {
		t.Fatalf("%+v", c)
	}
	rng := newRand(7)
	found, sets := 0, 400
	n := 3 + c.More
	for range sets {
		draw := func(variant string, mean float64) []ComparedRun {
			var logs []float64
			for range n {
				logs = append(logs, mean+0.02*rng.NormFloat64())
			}
			return repeated(variant, "ttft.mean", exps(logs...)...)
		}
		if v := change(t, compared(t, Options{}, draw("A", 0), draw("B", 0.03)), "ttft.mean").Verdict; v == Worse {
			found++
		}
	}
	t.Logf("%d runs each: found in %.1f %%", n, float64(found)/float64(sets)*100)
	if rate := float64(found) / float64(sets); rate < 0.74 || rate > 0.92 {
		t.Errorf("%d runs of each find it in %.1f %% of the cases", n, 100*rate)
	}
}

func TestChangesDoNotDependOnOrderOrScale(t *testing.T) {
	race.Skip(t)
	rng := newRand(8)
	for range 50 {
		n := 2 + rng.IntN(4)
		a, b := enginePools()[0].runs(rng, "A", n, 0), enginePools()[0].runs(rng, "B", n, 0.02)
		want := fingerprintOf(compared(t, Options{}, a, b))
		rng.Shuffle(n, func(i, j int) { a[i], a[j] = a[j], a[i] })
		rng.Shuffle(n, func(i, j int) { b[i], b[j] = b[j], b[i] })
		if got := fingerprintOf(compared(t, Options{}, a, b)); got != want {
			t.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
		for _, r := range slices.Concat(a, b) {
			for i := range r.figures {
				r.figures[i].Value *= 1000
			}
		}
		if got := fingerprintOf(compared(t, Options{}, a, b)); got != want {
			t.Fatalf("a thousand times as large:\n%s\nwant\n%s", got, want)
		}
	}
}

// fingerprintOf is what was found of every change, to eight digits.
func fingerprintOf(w Workload) string {
	var out strings.Builder
	for _, r := range w.Rows {
		c := r.Cells[1].Change
		fmt.Fprintf(&out, "%s %.8f %.8f %.8f %s %d", r.Quantity.Name, c.Relative, c.Interval.Low, c.Interval.High, c.Verdict, c.More)
		if c.Adjusted != nil {
			fmt.Fprintf(&out, " %.8f", *c.Adjusted)
		}
		out.WriteString("\n")
	}
	return out.String()
}
