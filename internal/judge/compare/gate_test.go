package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]Gate{
		"ttft.mean > +2%":               {Name: "ttft.mean", Above: true, Relative: true, Limit: 0.02},
		"throughput.output < -3 %":      {Name: "throughput.output", Relative: true, Limit: -0.03},
		"itl.p99>80ms":                  {Name: "itl.p99", Above: true, Limit: 0.08},
		"e2el.p99.9 > 1.5s":             {Name: "e2el.p99.9", Above: true, Limit: 1.5},
		"tpot.p50 > 900us":              {Name: "tpot.median", Above: true, Limit: 0.0009},
		"requests.failed > 0":           {Name: "requests.failed", Above: true},
		"throughput.requests < 9 req/s": {Name: "throughput.requests", Limit: 9},
		"throughput.output < 1e3":       {Name: "throughput.output", Limit: 1000},
	} {
		got, err := ParseGate("  " + text)
		want.Text = text
		if err != nil || got.Name != want.Name || got.Above != want.Above || got.Relative != want.Relative || math.Abs(got.Limit-want.Limit) > 1e-12 || got.Text != want.Text {
			t.Errorf("%s: %+v, want %+v (%v)", text, got, want, err)
		}
	}
	for text, want := range map[string]string{
		"ttft.mean 2%":            "neither > nor <",
		"ttfft.mean > 2%":         `no figure is called "ttfft.mean"; there are requests.ok`,
		"ttft.mean >= 2%":         "without =",
		"ttft.mean => 2%":         "without =",
		"ttft.mean > 80":          "80 of what? a time is written 80ms or 80s, a change 80%",
		"ttft.mean > x%":          `"x" is not a number`,
		"ttft.mean > ms":          `"" is not a number`,
		"throughput.output < 3ms": "in tok/s, nor a change in %",
		"requests.failed > ":      `"" is not a number`,
		"requests.failed > inf":   "is not a number",
		"requests.failed > nan%":  "is not a number",
		"answers.hazard > -2x":    "is a ratio, which is above 0; write a limit such as 2x",
		"answers.length < 0":      "is a ratio, which is above 0; write a limit such as 2x",
	} {
		if _, err := ParseGate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A message that lists what a gate can be on has each name once.
func TestGateNamesStandOnce(t *testing.T) {
	if names := strings.Split(gateNames(), ", "); len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Error(names)
	}
}

func FuzzParseGate(f *testing.F) {
	for _, s := range []string{"ttft.mean > +2%", "itl.p99 > 80ms", "requests.failed>0", "goodput < -1e309%", "p > µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGate(text)
		if err == nil && (math.IsNaN(g.Limit) || math.IsInf(g.Limit, 0) || g.Name == "") {
			t.Errorf("%q: %+v", text, g)
		}
	})
}

// gated is what becomes of a gate between two groups of runs.
func gated(t *testing.T, gate string, o Options, groups ...[]ComparedRun) GateResult {
	t.Helper()
	g, err := ParseGate(gate)
	if err != nil {
		t.Fatal(err)
	}
	o.Gates = []Gate{g}
	var all []ComparedRun
	for _, runs := range groups {
		all = append(all, runs...)
	}
	c, err := Compare(all, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Gates) != 1 {
		t.Fatalf("%+v", c.Gates)
	}
	return c.Gates[0]
}

func TestGatesAreOnTheInterval(t *testing.T) {
	// A change of 0.05 in logarithms, known to ±0.0023 as in TestThreeRunsEachByHand with a
	// tenth of the noise, or to ±0.05.
	a := repeated("A", "ttft.mean", exps(-0.001, 0, 0.001)...)
	b := repeated("B", "ttft.mean", exps(0.049, 0.05, 0.051)...)
	noisy := repeated("B", "ttft.mean", exps(0.02, 0.05, 0.08)...)
	for _, c := range []struct {
		gate string
		b    []ComparedRun
		want Outcome
	}{
		{"ttft.mean > 2%", b, Fail},
		{"ttft.mean > 6%", b, Pass},
		{"ttft.mean > 5.1%", b, Inconclusive},
		{"ttft.mean > 2%", noisy, Inconclusive}, // the point fails, the interval does not
		{"ttft.mean < -2%", b, Pass},
		{"ttft.mean < +6%", b, Fail},
		{"ttft.mean > 1.0s", b, Fail},
		{"ttft.mean > 1.2s", b, Pass},
		{"ttft.mean > 1.05s", b, Inconclusive},
	} {
		got := gated(t, c.gate, Options{}, a, c.b)
		if got.Outcome != c.want || got.Variant != "B" || got.Why.IsZero() || got.Interval == nil {
			t.Errorf("%s: %+v, want %s", c.gate, got, c.want)
		}
	}
}

func TestGatesWithoutEvidenceAreInconclusive(t *testing.T) {
	one, other := repeated("A", "ttft.mean", 1), repeated("B", "ttft.mean", 2)
	if got := gated(t, "ttft.mean > 2%", Options{}, one, other); got.Outcome != Inconclusive || !strings.Contains(said(got.Why)[0], "repeat the runs") || got.Value != 1 {
		t.Errorf("%+v", got)
	}
	if got := gated(t, "ttft.mean > 1s", Options{}, one, other); got.Outcome != Inconclusive || !strings.Contains(said(got.Why)[0], "repeat it") {
		t.Errorf("%+v", got)
	}
	if got := gated(t, "ttft.mean > 2%", Options{}, one); got.Outcome != Inconclusive || !strings.Contains(said(got.Why)[0], "no other variant") {
		t.Errorf("%+v", got)
	}
	_, err := Compare(one, Options{Gates: []Gate{{Text: "itl.p99 > 2%", Name: "itl.p99"}}})
	if err == nil || err.Error() != `gates[0] "itl.p99 > 2%": no run has itl.p99; there are ttft.mean` {
		t.Errorf("%v", err)
	}
}

func TestGatesAreOnComparableRows(t *testing.T) {
	// The variant has the figure by another definition, too, in which nothing is known of
	// the baseline.
	a, b := repeated("A", "ttft.mean", exps(-0.001, 0, 0.001)...), repeated("B", "ttft.mean", exps(0.049, 0.05, 0.051)...)
	other := foreign.Definition("vllm", "ttft.mean")
	for i := range b {
		b[i].add(runFigure{ReportedFigure: trace.ReportedFigure{Name: "ttft.mean", Value: 7}, definition: other})
	}
	if got := gated(t, "ttft.mean > 6%", Options{}, a, b); got.Outcome != Pass {
		t.Errorf("%+v", got)
	}
	if got := gated(t, "ttft.mean > 6s", Options{}, a, b); got.Outcome != Fail || got.Value != 7 {
		t.Errorf("%+v", got)
	}
	for i := range a {
		a[i].figures[0].definition = foreign.Definition("sglang", "ttft.mean")
	}
	if got := gated(t, "ttft.mean > 6%", Options{}, a, b); got.Outcome != Inconclusive || !strings.Contains(said(got.Why)[0], "by the same definition") {
		t.Errorf("%+v", got)
	}
}

func TestGatesWithinSingleRuns(t *testing.T) {
	e := newEngineLike(newRand(12), 300, 0.5)
	a := e.observed(newRand(13), "A")
	e.slower = 1.5
	b := e.observed(newRand(14), "B")
	for gate, why := range map[string]string{"itl.mean > 10%": "--single-runs", "itl.mean > 10ms": "--single-runs"} {
		if got := gated(t, gate, Options{}, []ComparedRun{a}, []ComparedRun{b}); got.Outcome != Inconclusive || !strings.Contains(said(got.Why)[0], why) {
			t.Errorf("%s: %+v", gate, got)
		}
		if got := gated(t, gate, Options{SingleRuns: true}, []ComparedRun{a}, []ComparedRun{b}); got.Outcome != Fail {
			t.Errorf("%s: %+v", gate, got)
		}
	}
}

func TestGatesOnCountsAreExact(t *testing.T) {
	a := repeated("A", "requests.failed", 0, 0)
	for _, c := range []struct {
		b    []float64
		want Outcome
	}{{[]float64{0, 0}, Pass}, {[]float64{0, 1}, Fail}} {
		if got := gated(t, "requests.failed > 0", Options{}, a, repeated("B", "requests.failed", c.b...)); got.Outcome != c.want {
			t.Errorf("%v: %+v", c.b, got)
		}
	}
	got := gated(t, "requests.failed > 10%", Options{}, a, repeated("B", "requests.failed", 5, 6))
	if got.Outcome != Inconclusive || !strings.Contains(said(got.Why)[0], "so there is no percentage") {
		t.Errorf("%+v", got)
	}
	if got := gated(t, "requests.failed > 10%", Options{}, a, repeated("B", "requests.failed", 0, 0)); got.Outcome != Pass {
		t.Errorf("the same in every run: %+v", got)
	}
	if got := gated(t, "requests.failed > 0", Options{}, repeated("A", "requests.failed", 3)); got.Outcome != Fail || got.Variant != "A" {
		t.Errorf("a single variant: %+v", got)
	}
}

func TestClaimsMayMeanAnyEarlierVariant(t *testing.T) {
	with := func(name string, value float64, claims ...trace.Claim) ComparedRun {
		return tabled("2025-12", []string{name}, func(r *trace.Run) {
			r.Origin.Figures[2].Value, r.Origin.Claims = value, claims
		})
	}
	claim := func(stat string, change, step float64) trace.Claim {
		return trace.Claim{Text: "stated", Metric: "ttft", Stat: stat, Change: change, Step: step}
	}
	a, b := with("A", 0.100), with("B", 0.090)
	for _, c := range []struct {
		claim   trace.Claim
		against string
		agrees  bool
		matches int
	}{
		{claim("", -0.2, 0.01), "A", true, 1},         // 0.080 against 0.100
		{claim("mean", -0.11, 0.01), "B", true, 2},    // against 0.090, and the baseline beside it
		{claim("mean", -0.112, 0.001), "B", false, 2}, // nearly
		{claim("mean", -0.5, 0.01), "A", false, 1},    // nothing like it: the baseline
		{claim("median", -0.2, 0.01), "", false, 0},   // nothing in the tables
	} {
		_, result := layout(t, Options{}, a, b, with("C", 0.080, c.claim))
		got := result.Workloads[0].Claims[0]
		if got.Agrees != c.agrees || got.Stands || len(got.Matches) != c.matches || c.matches > 0 && got.Matches[0].Against != c.against {
			t.Errorf("%+v: %+v", c.claim, got)
		}
	}
}

func TestClaimsStandByTheVerdict(t *testing.T) {
	table := func(name string, value float64, claims ...trace.Claim) ComparedRun {
		return tabled("2025-12", []string{name}, func(r *trace.Run) {
			r.Origin.Figures[2].Value, r.Origin.Claims = value, claims
		})
	}
	claim := trace.Claim{Metric: "ttft", Stat: "mean", Change: -0.2, Step: 0.01}
	_, c := layout(t, Options{}, table("A", 0.1), table("A", 0.1003), table("A", 0.0997), table("B", 0.08, claim), table("B", 0.0801), table("B", 0.0799))
	if got := c.Workloads[0].Claims[0]; !got.Agrees || !got.Stands || got.Matches[0].Verdict != Better {
		t.Errorf("%+v", got)
	}
}

// One run has its figures, whatever another one would have: unless it is invalid, or has none
// of that name.
func TestJudgeRun(t *testing.T) {
	gates := []Gate{{Name: "ttft.p99", Above: true, Limit: 0.2}, {Name: "ttft.p99", Limit: 0.2}, {Name: "itl.p99", Above: true, Limit: 1}, {Name: "e2el.p99"}}
	figures := []trace.ReportedFigure{{Name: "ttft.p99", Value: 0.3}, {Name: "e2el.p99", Value: math.NaN()}}
	for validity, want := range map[trace.Validity][]Outcome{
		trace.Valid: {Fail, Pass, Inconclusive, Inconclusive}, trace.Doubtful: {Fail, Pass, Inconclusive, Inconclusive},
		trace.Invalid: {Inconclusive, Inconclusive, Inconclusive, Inconclusive},
	} {
		for i, r := range JudgeRun(gates, trace.Run{ID: "a", Verdict: &trace.Verdict{Validity: validity}}, figures) {
			if r.Outcome != want[i] || r.Variant != "a" {
				t.Errorf("%s: %+v is %s, want %s", validity, gates[i], r.Outcome, want[i])
			}
		}
	}
}

// A table of a client that saw no text says 0 for what it did not measure: nothing is worse than
// that, and no gate on it is decided.
func TestWhatWasNotMeasuredIsNotCompared(t *testing.T) {
	of := func(path string, ttft, tpot float64) (runs []ComparedRun) {
		for i := range 4 {
			runs = append(runs, tabled("", []string{path}, func(r *trace.Run) {
				by := 1 + float64(i)/1000
				r.Origin.Figures = []trace.ReportedFigure{{Name: "requests.ok", Value: 100}, {Name: "e2el.mean", Value: 2.5 * by}, {Name: "ttft.mean", Value: ttft * by, Step: 1e-5}, {Name: "tpot.mean", Value: tpot * by, Step: 1e-5}}
			}))
		}
		return runs
	}
	unseen, seen := of("before", 0, 0.0061), of("after", 0.3104, 0.0054)
	w := compared(t, Options{}, unseen, seen)
	for row, c := range w.Changes() {
		if name := row.Quantity.Name; name != "e2el.mean" && name != "requests.ok" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if want := "TTFT and TPOT of before are left out"; !slices.ContainsFunc(said(w.Notes...), func(s string) bool { return strings.HasPrefix(s, want) }) {
		t.Errorf("%v", said(w.Notes...))
	}
	for _, runs := range [][2][]ComparedRun{{unseen, seen}, {unseen, of("after", 0, 0.0054)}} {
		if got := gated(t, "ttft.mean > +5%", Options{}, runs[0], runs[1]); got.Outcome != Inconclusive || got.Value != 0 {
			t.Errorf("%+v", got)
		}
	}
}
