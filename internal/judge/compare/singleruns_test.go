package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// An engineLike makes traces whose requests resemble those of an engine: the time
// to the first token goes with a queue that remembers, each request's length goes with
// its index, and gaps go with the load.
type engineLike struct {
	requests int
	memory   float64 // of the queue, from one request to the next
	slower   float64 // by what all latencies are multiplied
	lengths  []int   // of the answers, by index
}

func newEngineLike(rng *rand.Rand, requests int, memory float64) engineLike {
	e := engineLike{requests: requests, memory: memory, slower: 1}
	for range requests {
		e.lengths = append(e.lengths, 2+rng.IntN(8))
	}
	return e
}

func (e engineLike) run(rng *rand.Rand, variant string) *trace.Trace {
	t := &trace.Trace{Run: trace.Run{
		ID: variant, Name: variant, Status: trace.Complete,
		Plan: trace.Load{Dialect: "pitot", Stream: true, Protocol: "completions", Requests: e.requests, Arrival: plan.Text("constant"), Rate: 10},
	}}
	queue := rng.NormFloat64()
	for i := range e.requests {
		queue = e.memory*queue + math.Sqrt(1-e.memory*e.memory)*rng.NormFloat64()
		r := trace.NewRecord(i)
		at := func(s float64) trace.Instant { return trace.Instant(s * 1e9) }
		start := 0.1 * float64(i)
		r.PromptTokens, r.WantTokens, r.OutputTokens = 50+i%7, e.lengths[i], e.lengths[i]
		r.Due, r.Released, r.Sent = at(start), at(start), at(start)
		now := start + e.slower*0.2*math.Exp(0.4*queue+0.1*rng.NormFloat64())*(1+0.05*float64(e.lengths[i]))
		for range e.lengths[i] {
			r.Chunks = append(r.Chunks, trace.Chunk{At: at(now), Kind: trace.Text, Tokens: 1})
			now += e.slower * 0.02 * math.Exp(0.2*queue+0.3*rng.NormFloat64())
		}
		r.Done = at(now)
		t.Run.End = max(t.Run.End, r.Done)
		t.Records = append(t.Records, r)
	}
	return t
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

var pitotsRules = []RuleSource{{Tool: "pitot"}}

func (e engineLike) observed(rng *rand.Rand, variant string) ComparedRun {
	r := Observe(e.run(rng, variant), pitotsRules, foreign)
	r.Variant = variant
	return r
}

// observedCenters is observed for the centers alone, made of the samples, which saves most of the time.
func (e engineLike) observedCenters(rng *rand.Rand, variant string) ComparedRun {
	t := e.run(rng, variant)
	r := ComparedRun{Variant: variant, run: t.Run, requests: censusOf(t).fingerprint.Sum64()}
	var figures []trace.ReportedFigure
	var o observation
	_ = o.measure(t, metrics.InMemory(t.Records))
	for _, metric := range []figure.Metric{figure.TTFT, figure.TPOT, figure.ITL, figure.E2EL} {
		p := o.pools[metric]
		median, _ := p.percentiles(50)
		figures = append(figures, trace.ReportedFigure{Name: metric.Mean(), Value: p.mean}, trace.ReportedFigure{Name: metric.Median(), Value: median[0]})
	}
	influences, _ := o.requests.influences(t, o.pools, figures)
	for _, f := range figures {
		r.add(runFigure{ReportedFigure: f, definition: foreign.Definition("pitot", f.Name), influence: influences[f.Name]})
	}
	return r
}

// TestIntervalsWithinSingleRunsHold counts how often the intervals hold the truth, which
// is no difference, where requests come at a steady rate and the engine remembers.
// Burst loads and trends are beyond what batches of neighbours can tell: see Within.
func TestIntervalsWithinSingleRunsHold(t *testing.T) {
	race.Skip(t)
	for _, same := range []bool{false, true} {
		t.Run(fmt.Sprintf("the same requests %v", same), func(t *testing.T) {
			t.Parallel()
			const pairs, requests, memory = 1000, 250, 0.7
			rng := newRand(9)
			held, judged := map[string]float64{}, map[string]float64{}
			for range pairs {
				e := newEngineLike(rng, requests, memory)
				a := e.observedCenters(rng, "A")
				if !same {
					e = newEngineLike(rng, requests, memory)
				}
				b := e.observedCenters(rng, "B")
				for _, f := range within(t, a, b) {
					judged[f.quantity.Name]++
					if i := f.at(DefaultLevel); i.Holds(0) {
						held[f.quantity.Name]++
					}
				}
			}
			for _, name := range centers {
				rate := 100 * held[name] / judged[name]
				t.Logf("%-12s %4.0f judged, %.1f %% hold", name, judged[name], rate)
				if judged[name] < 0.9*pairs || rate < 93 || rate > 97 {
					t.Errorf("%s: %.0f judged, and %.1f %% of the intervals hold the truth", name, judged[name], rate)
				}
			}
		})
	}
}

// centers are the figures that runs of that length can tell something of.
var centers = []string{"ttft.mean", "ttft.median", "tpot.mean", "tpot.median", "itl.mean", "itl.median", "e2el.mean", "e2el.median"}

// within are the findings of two single runs.
func within(t *testing.T, a, b ComparedRun) (out []*finding) {
	t.Helper()
	both := []ComparedRun{a, b}
	tables, err := split(nil, pointers(both), Options{}.withDefaults())
	if err != nil || len(tables) != 1 {
		t.Fatalf("%d workloads, %v", len(tables), err)
	}
	table := tables[0]
	table.rows()
	for _, f := range table.contrast(table.variants[0], table.variants[1]) {
		if f != nil && f.basis == Within {
			out = append(out, f)
		}
	}
	return out
}

func TestABurstTellsNothingOfItself(t *testing.T) {
	// Everything is due at once and a queue drains: the wait of a request is the sum of all
	// before it. Batches of neighbours, even of differences between runs, would hold the
	// truth in half of the cases.
	rng := newRand(15)
	burst := func(variant string) ComparedRun {
		e := newEngineLike(newRand(16), 300, 0)
		tr := e.run(rng, variant)
		wait := 0.0
		for _, r := range tr.Records {
			wait += 0.1 * math.Exp(0.5*rng.NormFloat64())
			by := trace.Instant(wait*1e9) - r.Sent
			for i := range r.Chunks {
				r.Chunks[i].At += by
			}
			r.Done += by
			r.Due, r.Released, r.Sent = 0, 0, 0
		}
		r := Observe(tr, pitotsRules, foreign)
		r.Variant = variant
		return r
	}
	w := compared(t, Options{SingleRuns: true}, []ComparedRun{burst("A")}, []ComparedRun{burst("B")})
	for _, name := range []string{"ttft.mean", "ttft.median", "e2el.mean"} {
		if c := change(t, w, name); c.Basis != Nothing || c.Verdict != CannotTell {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := change(t, w, "itl.mean"); c.Basis != Within {
		t.Errorf("gaps do not wait for each other: %+v", c)
	}
}

// Two runs of the same requests at the same rate end nearly together, and which ends first
// is chance.
func TestRatesOfTheSameRequestsHold(t *testing.T) {
	const pairs = 150
	rng := newRand(17)
	held := map[string]int{}
	for range pairs {
		e := newEngineLike(rng, 250, 0.7)
		e.slower = 0.2 // most windows are alike, the ends are not
		w := compared(t, Options{}, []ComparedRun{e.observed(rng, "A")}, []ComparedRun{e.observed(rng, "B")})
		for _, name := range []string{"duration", "throughput.requests", "throughput.input", "throughput.output"} {
			if c := change(t, w, name); c.Interval != nil && c.Interval.Low <= 0 && 0 <= c.Interval.High {
				held[name]++
			}
		}
	}
	for name, n := range held {
		if n < pairs*93/100 {
			t.Errorf("%s: %d of %d intervals hold the truth", name, n, pairs)
		}
	}
	if len(held) != 4 {
		t.Errorf("%v", held)
	}
}

func TestSingleRunsSettleNothingUnlessAsked(t *testing.T) {
	rng := newRand(10)
	e := newEngineLike(rng, 300, 0.5)
	a := e.observed(rng, "A")
	e.slower = 1.5
	b := e.observed(rng, "B")
	w := compared(t, Options{}, []ComparedRun{a}, []ComparedRun{b})
	c := change(t, w, "itl.mean")
	if c.Basis != Within || c.Verdict != CannotTell || !c.ExcludesZero || c.P != nil || c.Noise != 0 || !(c.Effective > 10 && c.Effective <= 300) {
		t.Errorf("%+v", c)
	}
	if !(c.Interval.Low < 0.5 && 0.5 < c.Interval.High && c.Interval.High-c.Interval.Low < 0.2) {
		t.Errorf("%+v", c.Interval)
	}
	if i := w.Rows[0].Cells[0].Interval; !w.Rows[0].Constant || i != nil {
		t.Errorf("of a count there is no interval: %+v", i)
	}
	if len(w.Notes) != 1 || !strings.Contains(said(w.Notes...)[0], "not the variation from run to run") {
		t.Errorf("%q", w.Notes)
	}
	w = compared(t, Options{SingleRuns: true}, []ComparedRun{a}, []ComparedRun{b})
	c = change(t, w, "itl.mean")
	if c.Verdict != Worse || c.P == nil || !strings.Contains(said(w.Notes...)[0], "by --single-runs") {
		t.Errorf("%+v %q", c, w.Notes)
	}
}

func TestTheSameRequestsTellMore(t *testing.T) {
	// Lengths make most of what an answer takes: request by request it falls out.
	rng := newRand(11)
	e := newEngineLike(rng, 400, 0)
	a, b := e.observed(rng, "A"), e.observed(rng, "B")
	other := b
	other.requests++
	width := func(b ComparedRun) float64 {
		c := change(t, compared(t, Options{}, []ComparedRun{a}, []ComparedRun{b}), "e2el.mean")
		return c.Interval.High - c.Interval.Low
	}
	if paired, independent := width(b), width(other); paired > 0.95*independent {
		t.Errorf("request by request the interval is %.3g wide, else %.3g", paired, independent)
	}
}

// Requests in lockstep, 16 at a time, of which the first is slower: beyond the P90 are 19
// first ones and one batch as a whole, and that batch is a single value.
func TestATailOfBatchesTellsNothing(t *testing.T) {
	rng := newRand(18)
	var byRequest [][]float64
	for range 20 {
		pace := 1 + 0.01*rng.NormFloat64()
		for i := range 16 {
			v := pace
			if i == 0 {
				v += 0.15
			}
			byRequest = append(byRequest, []float64{v})
		}
	}
	p := poolOf(byRequest)
	q, _ := p.percentiles(90)
	p.middle = float64(p.n)
	sums, _ := p.ratios([]wanted{{worth: beyond(q[0])}})
	if _, ok := p.margin(0.9, sums[0], stats.EffectiveSize(sums[0])); !ok {
		t.Error("the values beyond it look as if they were independent")
	}
	influences, err := p.influences([]trace.ReportedFigure{{Name: "e2el.p90", Value: q[0]}})
	if err != nil || p.middle > 60 {
		t.Errorf("20 batches are worth %v requests: %v", p.middle, err)
	}
	if _, ok := influences["e2el.p90"]; ok {
		t.Error("a P90 of 20 batches has an interval")
	}
}

func TestPullsOfAMeanByHand(t *testing.T) {
	// Requests with gaps 1 and 3, none, and 5: the pooled mean is 3, with one gap a request
	// in the mean. The first pulls by (4 - 2·3)/3, the last by (5 - 3)/3.
	p := poolOf([][]float64{{1, 3}, nil, {5}})
	influences, err := p.influences([]trace.ReportedFigure{{Name: "itl.mean", Value: 3}, {Name: "ttft.mean", Value: 3.1}})
	pull, ok := influences["itl.mean"].pull.values()
	if want := []float64{-2.0 / 3, 0, 2.0 / 3}; err != nil || !ok || !slices.EqualFunc(pull, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("%v, want %v: %v", pull, want, err)
	}
	if _, ok := influences["ttft.mean"]; ok {
		t.Error("a figure that the samples do not give has no pull")
	}
}

func TestRatesByWindow(t *testing.T) {
	var y tally
	y.add(0.25, 0.75, 64) // half of the windows, two each
	for w, v := range y {
		want := 0.0
		if w >= 16 && w < 48 {
			want = 2
		}
		about(t, fmt.Sprintf("window %d", w), v, want, 1e-9)
	}
	y.add(1, 1, 1) // the last instant is in the last window
	about(t, "the last", y[63], 1, 1e-9)
}
