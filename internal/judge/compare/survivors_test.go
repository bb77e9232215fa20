package compare

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// refusing is a run of sent requests whose TTFT rises from 1 ms in steps of 1 ms, times factor; the
// last of them failed, after 10 s.
func refusing(variant string, sent, failed int, factor float64, edit func(*trace.Trace)) ComparedRun {
	t := &trace.Trace{Run: trace.Run{ID: fmt.Sprint(variant, factor), Kind: trace.Measured, Status: trace.Complete, End: trace.Instant(sent) * 1e6, Plan: trace.Load{Dialect: "pitot", Stream: true, Requests: sent, Concurrency: 8}}}
	for i := range sent {
		r := trace.NewRecord(i)
		r.Due, r.Released, r.Sent, r.Done = 0, 0, 0, 10e9
		if i < sent-failed {
			at := trace.Instant(float64(i+1) * 1e6 * factor)
			r.Done, r.OutputTokens = at+20e6, 2
			r.Chunks = []trace.Chunk{{At: at, Kind: trace.Text}, {At: at + 20e6, Kind: trace.Text}}
		} else {
			r.Class, r.Status = trace.HTTP, 429
		}
		t.Records = append(t.Records, r)
	}
	if edit != nil {
		edit(t)
	}
	r := Observe(t, pitotsRules, foreign)
	r.Variant = variant
	return r
}

// thrice are runs that differ by 1 % from one to the next.
func thrice(variant string, sent, failed int, factor float64) (runs []ComparedRun) {
	for i := range 3 {
		runs = append(runs, refusing(variant, sent, failed, factor*(1+0.01*float64(i)), nil))
	}
	return runs
}

// A quantile q of all requests is that of the answered at q/(1-f): of 1000 with 20 failures
// P95 is at 0.969388 and P99 never is, of 10 000 with 10 P99 is at 0.990991. The answered took
// 1, 2, 3 ... ms, so that quantile q of n of them is at 1 + q (n-1) ms.
func TestQuantilesWithFailures(t *testing.T) {
	all, few := refusing("B", 1000, 20, 1, nil), refusing("B", 10_000, 10, 1, nil)
	for _, tt := range []struct {
		run  ComparedRun
		name string
		want float64 // s
	}{
		{all, "ttft.p95", (1 + 0.95/0.98*979) / 1e3},
		{all, "ttft.median", (1 + 0.5/0.98*979) / 1e3},
		{all, "ttft.p99", math.Inf(1)},
		{few, "ttft.p99", (1 + 0.99/0.999*9989) / 1e3},
	} {
		f := tt.run.figure(tt.name, "pitot")
		if math.Abs(f.low-tt.want) > 1e-12 || f.high != f.low && !math.IsInf(f.low, 1) {
			t.Errorf("%s: from %v to %v, want %v", tt.name, f.low, f.high, tt.want)
		}
	}
	if got := all.toll; got != (failureCount{20, 1000}) {
		t.Errorf("%+v", got)
	}
	// Below a tenth of what is beyond the percentile it stays as it is.
	for name, most := range map[string]float64{"ttft.p99": 0.001, "ttft.p95": 0.005, "e2el.p90": 0.01, "itl.median": 0.03, "ttft.mean": 0.002, "duration": 0.002, "ttft.max": 0} {
		if got, judged := harmless(name); !judged || math.Abs(got-most) > 1e-12 {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, name := range []string{"goodput", "requests.failed", "slo.attainment"} {
		if survives(name, failureCount{1, 2}) {
			t.Errorf("%s counts failures", name)
		}
	}
}

// The mean of 980 answers is 490.5 ms. Failures that took no time make it 480.69 ms, those at a
// limit of 4 s, which they were beyond, 680.69 ms; without a limit it may be anything.
func TestMeansWithFailures(t *testing.T) {
	limited := func(limit time.Duration) func(*trace.Trace) {
		return func(t *trace.Trace) { t.Run.Plan.Spec = &plan.Spec{Client: plan.Client{Timeout: plan.Duration(limit)}} }
	}
	for limit, high := range map[time.Duration]float64{0: math.Inf(1), 4 * time.Second: 0.98*0.4905 + 0.02*10, 20 * time.Second: 0.98*0.4905 + 0.02*20} {
		r := refusing("B", 1000, 20, 1, limited(limit))
		f := r.figure("ttft.mean", "pitot")
		if math.Abs(f.low-0.98*0.4905) > 1e-12 || math.Abs(f.high-high) > 1e-12 && high != f.high {
			t.Errorf("limit %v: from %v to %v", limit, f.low, f.high)
		}
	}
}

// A printed table has few quantiles: those around q/(1-f) bound it.
func TestQuantilesOfATableWithFailures(t *testing.T) {
	r := tabled("", nil, func(r *trace.Run) {
		r.Origin.Figures = []trace.ReportedFigure{
			{Name: "requests.ok", Value: 980}, {Name: "requests.failed", Value: 20}, {Name: "ttft.median", Value: 1}, {Name: "ttft.p90", Value: 2}, {Name: "ttft.p95", Value: 3}, {Name: "ttft.p99", Value: 4},
		}
	})
	for name, want := range map[string][2]float64{"ttft.median": {1, 2}, "ttft.p90": {2, 3}, "ttft.p95": {3, 4}, "ttft.p99": {math.Inf(1), math.Inf(1)}} {
		if f := r.figure(name, "vllm"); f.low != want[0] || f.high != want[1] {
			t.Errorf("%s: from %v to %v, want %v", name, f.low, f.high, want)
		}
	}
}

// What a server that refuses answers is quick, and is no better.
func TestAServerThatRefusesIsNoBetter(t *testing.T) {
	for name, c := range map[string]struct {
		a, b  []ComparedRun
		want  map[string]Verdict
		notes int
	}{
		"2 % of the variant": {thrice("A", 1000, 0, 1), thrice("B", 1000, 20, 0.7), map[string]Verdict{
			"requests.failed": Worse, "ttft.mean": CannotTell, "ttft.median": Better, "ttft.p95": Better, "ttft.p99": Worse, "throughput.requests": Worse,
		}, 1},
		"2 % of the baseline": {thrice("A", 1000, 20, 0.7), thrice("B", 1000, 0, 1), map[string]Verdict{
			"requests.failed": Better, "ttft.mean": CannotTell, "ttft.median": Worse, "ttft.p95": Worse, "ttft.p99": Better, "throughput.requests": Better,
		}, 1},
		"as many of both": {thrice("A", 1000, 20, 1), thrice("B", 1000, 20, 0.7), map[string]Verdict{
			"ttft.mean": CannotTell, "ttft.median": Better, "ttft.p95": Better, "ttft.p99": CannotTell,
		}, 1},
		"most of the variant": {thrice("A", 120, 0, 1), thrice("B", 120, 116, 0.1), map[string]Verdict{
			"requests.failed": Worse, "ttft.mean": CannotTell, "ttft.median": Worse, "ttft.p99": Worse, "e2el.mean": CannotTell,
		}, 1},
		"a harmless share": {thrice("A", 2000, 0, 1), thrice("B", 2000, 2, 0.7), map[string]Verdict{"ttft.mean": Better, "ttft.median": Better, "ttft.p99": Better}, 0},
		"none":             {thrice("A", 200, 0, 1), thrice("B", 200, 0, 0.7), map[string]Verdict{"ttft.mean": Better, "ttft.p99": Better}, 0},
	} {
		w := compared(t, Options{}, c.a, c.b)
		got := map[string]Verdict{}
		for name := range c.want {
			got[name] = change(t, w, name).Verdict
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		notes := 0
		for _, n := range w.Notes {
			if n.Code == FailuresDiffer {
				notes++
			}
		}
		if notes != c.notes {
			t.Errorf("%s: %v", name, said(w.Notes...))
		}
		for r, c := range w.Changes() {
			if c.Open.Code == NeverAnswered && (c.Interval != nil || math.Abs(c.Relative) < 1) {
				t.Errorf("%s: %s is never, and %+v", name, r.Quantity.Name, c)
			}
		}
	}
}

// A gate is not passed by the answered requests alone, and one of the value fails by them.
func TestGatesOnFiguresOfTheAnswered(t *testing.T) {
	good, bad := thrice("A", 1000, 0, 1), thrice("B", 1000, 50, 0.5)
	for gate, want := range map[string]Outcome{
		"ttft.mean > +5%": Inconclusive, "ttft.p99 > 1s": Inconclusive, "ttft.p99 > +5%": Inconclusive, "duration > +5%": Inconclusive,
		"ttft.p99 > 10ms": Fail, "requests.failed > 0": Fail, "requests.failed > 60": Pass,
	} {
		if got := gated(t, gate, Options{}, good, bad); got.Outcome != want {
			t.Errorf("%s: %+v", gate, got)
		}
	}
	// The baseline failed some: the variant has nothing to answer for.
	if got := gated(t, "ttft.p99 > 2s", Options{}, bad, good); got.Outcome != Pass {
		t.Errorf("%+v", got)
	}
	figures := []trace.ReportedFigure{{Name: "requests.ok", Value: 90}, {Name: "requests.failed", Value: 10}, {Name: "ttft.p99", Value: 0.1}, {Name: "goodput", Value: 9}}
	for text, want := range map[string]Outcome{"ttft.p99 > 200ms": Inconclusive, "ttft.p99 > 50ms": Fail, "goodput < 5": Pass, "requests.failed > 20": Pass} {
		g, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := JudgeRun([]Gate{g}, trace.Run{ID: "r"}, figures)[0]; got.Outcome != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Of results that count no failures those are failed that were asked for and not completed. Where
// nobody tells how many were asked for, runs with other numbers of completed may be one load.
func TestFailuresThatNobodyCounted(t *testing.T) {
	result := func(path string, ok float64, asked int, reported bool) ComparedRun {
		return tabled("", []string{path}, func(r *trace.Run) {
			r.Plan.Requests = asked
			r.Origin.Figures = []trace.ReportedFigure{{Name: "duration", Value: 10}, {Name: "requests.ok", Value: ok}, {Name: "ttft.mean", Value: 0.1}}
			if reported {
				r.Origin.Setup = map[string]string{"num_prompts": fmt.Sprint(asked)}
			}
		})
	}
	w := compared(t, Options{}, []ComparedRun{result("a", 64, 64, true)}, []ComparedRun{result("b", 20, 64, true)})
	c := change(t, w, "requests.failed")
	if c.Relative != 44 || w.Variants[1].Failed != 44.0/64 || change(t, w, "duration").Open.Code != FailuresDiffer {
		t.Errorf("%+v %+v", c, w.Variants)
	}
	whole, err := Compare([]ComparedRun{result("a", 64, 64, false), result("b", 20, 20, false)}, Options{})
	if err != nil || len(whole.Workloads) != 2 || whole.Notes[0].Code != AskedUnknown {
		t.Errorf("%v %+v", err, whole.Notes)
	}
}
