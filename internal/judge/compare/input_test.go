package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// loaded are three runs of a variant under a load.
func loaded(variant string, change func(*trace.Run), figures ...any) (runs []ComparedRun) {
	for i := range 3 {
		r := named(variant, figures...)
		for k := range r.figures {
			if !strings.HasPrefix(r.figures[k].Name, "tokens.") && !strings.HasPrefix(r.figures[k].Name, "requests.") {
				r.figures[k].Value *= 1 + 0.01*float64(i)
			}
		}
		change(&r.run)
		runs = append(runs, r)
	}
	return runs
}

// verdicts are those on the figures of the second variant.
func verdicts(w Workload) map[string]Verdict {
	out := map[string]Verdict{}
	for r, c := range w.Changes() {
		out[r.Quantity.Name] = c.Verdict
	}
	return out
}

func TestWhatALoadMakesIsNotJudged(t *testing.T) {
	slow := []any{"duration", 50.0, "throughput.requests", 4.0, "goodput", 3.0, "concurrency", 2.0, "ttft.mean", 0.02}
	fast := []any{"duration", 25.0, "throughput.requests", 8.0, "goodput", 6.0, "concurrency", 4.0, "ttft.mean", 0.03}
	rate := func(rate float64) func(*trace.Run) { return func(r *trace.Run) { r.Plan.Rate = rate } }
	limit := func(n int) func(*trace.Run) { return func(r *trace.Run) { r.Plan.Concurrency = n } }
	for name, c := range map[string]struct {
		ignore []string
		a, b   func(*trace.Run)
		want   map[string]Verdict
	}{
		"one load": {nil, rate(4), rate(4), map[string]Verdict{"duration": Better, "throughput.requests": Better, "goodput": Better, "concurrency": NotJudged, "ttft.mean": Worse}},
		"twice the rate": {[]string{"rate"}, rate(4), rate(8), map[string]Verdict{
			"duration": NotJudged, "throughput.requests": NotJudged, "goodput": NotJudged, "concurrency": NotJudged, "ttft.mean": Worse,
		}},
		// How much faster a server is with more requests at once is what people measure.
		"twice the limit": {[]string{"concurrency"}, limit(2), limit(4), map[string]Verdict{
			"duration": Better, "throughput.requests": Better, "goodput": Better, "concurrency": NotJudged, "ttft.mean": Worse,
		}},
	} {
		w := compared(t, Options{Ignore: c.ignore}, loaded("A", c.a, slow...), loaded("B", c.b, fast...))
		if diff := cmp.Diff(c.want, verdicts(w)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A server that keeps up with the arrivals has their throughput; one that does not has its own.
func TestArrivalsMakeTheThroughput(t *testing.T) {
	answered := func(rate float64, limit int, ends ...trace.Instant) *trace.Trace {
		out := &trace.Trace{Run: trace.Run{Plan: trace.Load{Rate: rate, Concurrency: limit}}}
		for i, end := range ends {
			due := trace.Instant(i) * 1e9
			out.Records = append(out.Records, &trace.Record{Index: i, Due: due, Done: due + end})
		}
		return out
	}
	quick := slices.Repeat([]trace.Instant{1e8}, 20)
	late := slices.Clone(quick)
	late[3] = 30e9
	failed, turns := answered(1, 0, quick...), answered(1, 0, quick...)
	failed.Records[2].Class, turns.Records[2].Turn = trace.Timeout, 1
	for name, c := range map[string]struct {
		t    *trace.Trace
		want bool
	}{
		"all in time": {answered(1, 0, quick...), true}, "behind": {answered(1, 0, late...), false}, "no rate": {answered(0, 0, quick...), false},
		"a limit": {answered(1, 4, quick...), false}, "a failure": {failed, false}, "turns wait for answers": {turns, false}, "no records": {answered(1, 0), false},
	} {
		if got := censusOf(c.t).keepsUp(); got != c.want {
			t.Errorf("%s: kept up %v", name, got)
		}
	}
	a, b := loaded("A", func(*trace.Run) {}, "throughput.output", 100.0), loaded("B", func(*trace.Run) {}, "throughput.output", 150.0)
	for i := range a {
		a[i].keptUp, b[i].keptUp = true, true
	}
	if got := verdicts(compared(t, Options{}, a, b)); got["throughput.output"] != NotJudged {
		t.Errorf("%v", got)
	}
	b[1].keptUp = false
	if got := verdicts(compared(t, Options{}, a, b)); got["throughput.output"] != Better {
		t.Errorf("of a server that was late once: %v", got)
	}
}

func TestTheDurationAskedForIsNotJudged(t *testing.T) {
	asked := func(r *trace.Run) { r.Plan.Spec = &plan.Spec{Duration: 20e9} }
	w := compared(t, Options{}, loaded("A", asked, "duration", 20.0, "throughput.output", 100.0), loaded("B", asked, "duration", 30.0, "throughput.output", 150.0))
	if diff := cmp.Diff(map[string]Verdict{"duration": NotJudged, "throughput.output": Better}, verdicts(w)); diff != "" {
		t.Error(diff)
	}
}

func TestWorkloadsOfDifferentSizeAreRefused(t *testing.T) {
	requests := func(n int) func(*trace.Run) { return func(r *trace.Run) { r.Plan.Requests = n } }
	called := func(name string) func(*trace.Run) { return func(r *trace.Run) { r.Plan.Workload = plan.Text(name) } }
	tokens := func(in, out float64) []any {
		return []any{"ttft.mean", 0.02, "requests.ok", 100.0, "tokens.input", in, "tokens.output", out}
	}
	for _, c := range []struct {
		ignore string
		a, b   []ComparedRun
		want   string
	}{
		{"requests", loaded("A", requests(200), "duration", 50.0), loaded("B", requests(20), "duration", 4.0), "A has 200 requests and B has 20"},
		{"requests", loaded("A", requests(200), "duration", 50.0), loaded("B", requests(199), "duration", 4.0), ""},
		{"workload", loaded("A", called("a"), tokens(25600, 6400)...), loaded("B", called("b"), tokens(51200, 6400)...), "A has 256 prompt tokens per request and B has 512"},
		{"workload", loaded("A", called("a"), tokens(25600, 6400)...), loaded("B", called("b"), tokens(25600, 800)...), "A has 64 output tokens per request and B has 8"},
		{"workload", loaded("A", called("a"), tokens(25600, 6400)...), loaded("B", called("b"), tokens(25000, 6000)...), ""},
		// Of one workload answers may be shorter: that is what a server does.
		{"workload", loaded("A", called("a"), tokens(25600, 6400)...), loaded("B", called("a"), tokens(25600, 800)...), ""},
	} {
		_, err := Compare(slices.Concat(c.a, c.b), Options{Ignore: []string{c.ignore}})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestVariantsWithoutACommonLoad(t *testing.T) {
	limit := func(n int) func(*trace.Run) { return func(r *trace.Run) { r.Plan.Concurrency = n } }
	a, b := loaded("A", limit(2), "ttft.mean", 0.02), loaded("B", limit(4), "ttft.mean", 0.02)
	for _, c := range []struct {
		runs []ComparedRun
		want plan.Code
	}{
		{slices.Concat(a, b), LoadsDiffer},
		{slices.Concat(a, loaded("B", func(r *trace.Run) { r.Plan.Requests = 7 }, "ttft.mean", 0.02)), SizesDiffer},
		{slices.Concat(a, b, loaded("C", limit(4), "ttft.mean", 0.02)), ""},
		{a, ""},
	} {
		result, err := Compare(c.runs, Options{})
		if err != nil || result.WhyNothingCompared().Code != c.want {
			t.Errorf("%v, %v, want %q", result.WhyNothingCompared(), err, c.want)
		}
	}
}

// The figure that is shown is the one that the change is made of.
func TestCellsAndChangesAgree(t *testing.T) {
	w := compared(t, Options{}, repeated("A", "ttft.mean", 1, 1.1, 3), repeated("B", "ttft.mean", 1.05, 1.2, 2))
	a, b := w.Rows[0].Cells[0], w.Rows[0].Cells[1]
	about(t, "relative", b.Change.Relative, b.Center/a.Center-1, 1e-12)
	about(t, "center", a.Center, math.Cbrt(3.3), 1e-12)
	w = compared(t, Options{}, repeated("A", "requests.failed", 0, 3, 9), repeated("B", "requests.failed", 1, 5, 6))
	a, b = w.Rows[0].Cells[0], w.Rows[0].Cells[1]
	about(t, "difference", b.Change.Relative, b.Center-a.Center, 1e-12)
}

// A percentile that moves in steps differs as surely as the mean does.
func TestAFewRunsOnOneStep(t *testing.T) {
	runs := func(variant string, mean []float64, by, p99 float64) (out []ComparedRun) {
		for _, v := range mean {
			out = append(out, named(variant, "itl.mean", v*by, "itl.p99", p99))
		}
		return out
	}
	noisy := []float64{1, 1.01, 0.99}
	for _, c := range []struct {
		mean    []float64
		by, p99 float64
		want    Verdict
	}{
		{noisy, 1, 2.6, CannotTell}, {noisy, 1.1, 2.6, Worse}, // a step of 30 %, beside a mean that is the same and one that is not
		{noisy, 1.1, 2.005, CannotTell}, {[]float64{1, 1, 1}, 1, 2.6, CannotTell}, {[]float64{1, 1, 1}, 1.1, 2.6, Worse},
	} {
		w := compared(t, Options{}, runs("A", c.mean, 1, 2), runs("B", c.mean, c.by, c.p99))
		if got := verdicts(w)["itl.p99"]; got != c.want {
			t.Errorf("2 and %v beside means of %v by %v: %s, want %s", c.p99, c.mean, c.by, got, c.want)
		}
	}
}

func TestIdentitiesAreNoDifference(t *testing.T) {
	for name, want := range map[string]bool{
		"ids": true, "id": true, "request-id-prefix": true, "run-id": true, "metadata.run-id": true, "uuid": true,
		"model-id": false, "tokenizer-id": false, "dataset-id": false, "grid": false, "lora-id": false,
	} {
		if got := identity.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// censusOf counts the requests of a run.
func censusOf(t *trace.Trace) *census {
	c := newCensus(t.Run)
	for _, r := range metrics.InOrder(t.Records) {
		c.add(r)
	}
	return c
}
