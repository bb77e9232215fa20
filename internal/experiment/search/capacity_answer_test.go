package search

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func limits(t *testing.T, text string) []metrics.Objective {
	t.Helper()
	all, _, err := metrics.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// codes are what an answer says.
func codes(a *Answer) (out []plan.Code) {
	for _, m := range a.Text {
		out = append(out, m.Code)
	}
	return out
}

func TestAnswersSayWhatIsKnown(t *testing.T) {
	s := Settings{Objectives: limits(t, "ttft.p99=500ms"), By: Rate, Budget: time.Minute, Precision: 0.05}
	side := Side{Load: 9, Legs: 1, Requests: 100, Attained: []float64{1}}
	missed := Side{Load: 3, Legs: 1, Requests: 100, Attained: []float64{0.98}, Low: []float64{0.93}, High: []float64{0.99}}
	spoilt := MeasuredLeg{Leg{Number: 2, Load: 8, By: Rate}, Outcome{Client: []plan.Message{plan.Msg("verdict.ran-out")}}}
	light := MeasuredLeg{Leg{Number: 1, Load: 1, By: Concurrency}, Outcome{Requests: 10, Tails: [][]Tail{{{N: 10}}}}}
	for _, c := range []struct {
		result Result
		want   string
	}{
		{Result{}, "capacity.none-judged"},
		{Result{Passes: 4}, "capacity.so-far"},
		{Result{Load: 4, Passes: 3, Fails: 5, Precision: 0.3}, "capacity.so-far"},
		{Result{End: Everything, Passes: 40}, "capacity.everything"},
		{Result{End: OutOfTime, Fails: 40}, "capacity.unknown"},
		{Result{End: OutOfTime, Load: 4, Passes: 3, Fails: 5, Precision: 0.3}, "capacity.approximate capacity.out-of-time"},
		{Result{End: OutOfTime, Load: 4, Passes: 3, Fails: 5, Precision: 0.015}, "capacity.approximate capacity.unconfirmed"},
		{Result{End: OutOfTime, Load: 4, Passes: 3, Fails: 5, Precision: 0.3, Below: missed}, "capacity.approximate capacity.out-of-time capacity.below-missed"},
		{Result{End: Client, Passes: 3, Legs: []MeasuredLeg{light, spoilt}}, "capacity.client report.remedy capacity.so-far"},
		{Result{End: Client, Legs: []MeasuredLeg{spoilt}}, "capacity.client report.remedy"},
		{Result{End: Found, Load: 4, Passes: 3, Fails: 5, Precision: 0.04, Above: side}, "capacity.found-above capacity.binds capacity.clusters"},
		{Result{End: Found, Load: 4, Passes: 3, Fails: 5, Above: Side{Legs: 1, Attained: []float64{0.5}, Reason: queueGrew}}, "capacity.found capacity.binds capacity.other-reason"},
		{Result{End: Nothing, Legs: []MeasuredLeg{light}}, "capacity.nothing"},
	} {
		a := NewAnswer("x", &c.result, s, nil)
		var got []string
		for _, code := range codes(a) {
			got = append(got, string(code))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v says %v, want %s", c.result, got, c.want)
		}
		if known := c.result.End != "" || c.result.Load > 0; (a.Binding != "") != known {
			t.Errorf("%+v: %q binds", c.result, a.Binding)
		}
		if known := c.result.Load > 0 || c.result.End == Everything; a.Known() != known {
			t.Errorf("%+v is known: %v", c.result, !known)
		}
	}
}

// Where nothing meets the objectives the tightest are those that the lightest load kept; what it did
// not answer makes none.
func TestTheTightestObjectives(t *testing.T) {
	goals := limits(t, "ttft.p99=500ms,tpot.p95=5ms")
	legs := make([]AnswerLeg, 3)
	r := &Result{End: Nothing}
	for i, l := range []Leg{{Number: 1, Load: 1, By: Concurrency}, {Number: 2, Load: 4, By: Rate}, {Number: 3, Load: 2, By: Rate}} {
		m := MeasuredLeg{l, Outcome{Requests: 40, Tails: [][]Tail{make([]Tail, 1), make([]Tail, 1)}}}
		r.Legs, legs[i] = append(r.Legs, m), NewAnswerLeg(m, []float64{0.8, 0.00712345}, goals)
	}
	legs[2].Limited[0] = 0.8123456
	a := NewAnswer("x", r, Settings{Objectives: goals, By: Rate}, legs)
	if want := []string{"ttft.p99=813ms", "tpot.p95=7.13ms"}; !slices.Equal(a.Tightest, want) || !slices.Contains(codes(a), "capacity.tightest") {
		t.Errorf("%v, %v, want %v", a.Tightest, codes(a), want)
	}
	legs[2].Limited[0] = 0
	if a := NewAnswer("x", r, Settings{Objectives: goals, By: Rate}, legs); a.Tightest != nil {
		t.Errorf("unanswered requests had %v", a.Tightest)
	}
}

// The interval of a share is Wilson's where what is beyond comes evenly, 5 of 100 in 0.887 to 0.978,
// and wider where it comes in clusters.
func TestSharesHaveIntervals(t *testing.T) {
	parts := func(above ...int) (all []Tail) {
		for _, n := range above {
			p := Tail{N: 25}
			p.Above[centre] = n
			all = append(all, p)
		}
		return all
	}
	low, share, high := shareOf(parts(1, 1, 2, 1))
	if math.Abs(low-0.8882) > 1e-3 || math.Abs(share-0.95) > 1e-12 || math.Abs(high-0.9785) > 1e-3 {
		t.Errorf("%v in %v to %v", share, low, high)
	}
	if wide, same, wider := shareOf(parts(5, 0, 0, 0)); wide > low-0.05 || same != share || wider < high {
		t.Errorf("in clusters %v in %v to %v", same, wide, wider)
	}
	if low, share, high := shareOf(nil); low != 0 || share != 0 || high != 1 {
		t.Errorf("of nothing %v in %v to %v", share, low, high)
	}
}

// A client is in the way of a run that is invalid or that others starved, and not of one that the
// server answered with nothing.
func TestWhoIsInTheWay(t *testing.T) {
	for _, c := range []struct {
		validity trace.Validity
		reasons  []plan.Code
		want     bool
	}{
		{trace.Valid, nil, false},
		{trace.Doubtful, []plan.Code{"verdict.itl-bounded"}, false},
		{trace.Doubtful, []plan.Code{"verdict.itl-bounded", "verdict.starved"}, true},
		{trace.Invalid, []plan.Code{"verdict.sent-late"}, true},
		{trace.Invalid, []plan.Code{"verdict.held-back"}, true},
		{trace.Invalid, []plan.Code{"verdict.none-answered"}, false},
		{trace.Invalid, []plan.Code{"verdict.none-answered", "verdict.ran-out"}, true},
	} {
		v := &trace.Verdict{Validity: c.validity}
		for _, code := range c.reasons {
			v.Reasons = append(v.Reasons, plan.Msg(code))
		}
		if got := InTheWay(v); len(got) > 0 != c.want {
			t.Errorf("%v: %v", v, got)
		}
	}
	if InTheWay(nil) != nil {
		t.Error("a run without a verdict has a client in the way")
	}
}

// server is a server whose answers take 0.1 s and which keeps its limits up to 20 requests per second.
func server(l Leg) Outcome {
	m := counted(1000, map[bool]int{true: 400, false: 0}[l.By == Rate && l.Load > 20])
	m.E2EL, m.Long, m.Spent = 0.1, 0.1, l.Length()
	return m.Outcome
}

// A client that is in the way of a load is given one more chance; after that the search ends with
// what it knows, at no lower load.
func TestAClientInTheWayEndsASearch(t *testing.T) {
	spoils := func(which func(Leg) bool) (*Result, error) {
		s := Settings{Objectives: limits(t, "ttft.p95=500ms"), By: Rate, Budget: 10 * time.Minute, Precision: 0.1, Seed: 1}
		return RunCapacity(t.Context(), s, func(_ context.Context, l Leg) (Outcome, error) {
			o := server(l)
			if which(l) {
				o.Client = []plan.Message{plan.Msg("verdict.starved")}
			}
			return o, nil
		}, nil)
	}
	r, err := spoils(func(l Leg) bool { return l.Load > 15 })
	if n := len(r.Legs); err != nil || r.End != Client || n < 3 || r.Legs[n-1].Load != r.Legs[n-2].Load || r.Legs[n-1].Seed == r.Legs[n-2].Seed {
		t.Errorf("%v, %v after %d legs", err, r.End, len(r.Legs))
	}
	if r, err := spoils(func(l Leg) bool { return l.Number == 1 || l.Number == 4 }); err != nil || r.End == Client || r.Load < 10 {
		t.Errorf("%v, %v, %v req/s: a load that was repeated ends the search", err, r.End, r.Load)
	}
	if r, err := spoils(func(Leg) bool { return true }); err != nil || r.End != Client || len(r.Legs) != 2 {
		t.Errorf("%v, %v after %d legs", err, r.End, len(r.Legs))
	}
}

// A leg of a low rate lasts until there is something to count.
func TestLegsHaveRequests(t *testing.T) {
	s := Settings{Objectives: limits(t, "ttft.p95=500ms"), By: Rate, Budget: time.Hour, Precision: 0.1, Seed: 1}
	_, err := RunCapacity(t.Context(), s, func(_ context.Context, l Leg) (Outcome, error) {
		if l.By == Rate && l.Load*l.Count.Seconds() < leastDue-1 {
			t.Errorf("%v/s for %v", l.Load, l.Count)
		}
		o := counted(100, 12).Outcome // not met, at any load
		o.E2EL, o.Long, o.Spent = 2, 2, l.Length()
		return o, nil
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

// counted is a leg with so many requests, of which some are twice the limit.
func counted(n, above int) MeasuredLeg {
	m := MeasuredLeg{Leg{Number: 2, Load: 5, By: Rate, Why: Seek}, Outcome{Requests: n, Spent: time.Second, Tails: [][]Tail{make([]Tail, 1)}}}
	for i := range n {
		m.Tails[0][0].add(map[bool]float64{true: 2, false: 0.5}[i < above])
	}
	return m
}

// Between four times what is allowed beyond a limit and a third of it no leg decides.
func TestALegAloneDecidesFarFromTheLimit(t *testing.T) {
	goals := limits(t, "ttft.p95=500ms")
	for above, want := range map[int]bool{0: true, 15: true, 20: false, 50: false, 100: false, 200: false, 210: true, 900: true} {
		leg := counted(1000, above)
		if leg.Clear(goals) != want {
			t.Errorf("%d of 1000 beyond the limit, 50 are allowed: clear %v", above, !want)
		}
	}
	few := counted(20, 0)
	if few.Clear(goals) {
		t.Error("20 requests decide")
	}
	if few.Growing = true; !few.Clear(goals) {
		t.Error("a queue that grows does not decide")
	}
}

// What is kept of a search is what was said of it.
func TestAnAnswerIsKept(t *testing.T) {
	goals := limits(t, "ttft.p95=500ms")
	legs := []AnswerLeg{NewAnswerLeg(counted(1000, 20), []float64{math.Inf(1)}, goals), Begun(Leg{Number: 3, Load: 7, By: Rate, Why: Fails})}
	a := NewAnswer("x", &Result{Load: 5, Passes: 4, Fails: 6, Precision: 0.2, Spent: time.Minute}, Settings{Objectives: goals, By: Rate, Budget: time.Hour, Precision: 0.05}, legs)
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var kept Answer
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*a, kept); diff != "" {
		t.Error(diff)
	}
	if l := kept.Runs[0]; l.Verdict != Met || l.Clear || l.Limited[0] != 0 || math.Abs(l.Attained[0]-0.98) > 1e-12 || l.Seconds != 1 {
		t.Errorf("%+v", l)
	}
	if l := kept.Runs[1]; l.Verdict != "" || l.Why != Fails || l.Load != 7 {
		t.Errorf("%+v", l)
	}
}

// The figure that an objective limits is that of the requests that count.
func TestLimitedFigures(t *testing.T) {
	tr := &trace.Trace{Run: trace.Run{Plan: trace.Load{Stream: true}}}
	for i := range 20 {
		at := trace.Instant(time.Duration(i) * time.Second)
		first := at + trace.Instant(time.Duration(i+1)*10*time.Millisecond)
		tr.Records = append(tr.Records, &trace.Record{
			Due: at, Sent: at, Done: first + 1, OutputTokens: 2, Chunks: []trace.Chunk{{At: first, Tokens: 1, Kind: trace.Text}, {At: first + 1, Tokens: 1, Kind: trace.Text}},
		})
	}
	leg := Leg{Number: 1, By: Rate, Ramp: 5 * time.Second, Count: 10 * time.Second} // requests 5 to 14: 60 to 150 ms
	goals := limits(t, "ttft.p50=100ms,e2el.p90=1s")
	got := Limited(tr, leg, goals)
	if len(got) != 2 || math.Abs(got[0]-0.105) > 1e-6 || math.Abs(got[1]-0.141) > 1e-6 {
		t.Errorf("%v, want 105 ms and 141 ms", got)
	}
	o := Observe(tr, leg, goals)
	if o.Requests != 10 || o.Tail(0).Above[centre] != 5 {
		t.Errorf("%d requests, %d beyond 100 ms", o.Requests, o.Tail(0).Above[centre])
	}
}

// A search tells of each leg before it is made, with what it knew.
func TestASearchTellsWhatItKnows(t *testing.T) {
	goals := limits(t, "ttft.p95=500ms")
	var begun []Leg
	var known []Result
	s := Settings{Objectives: goals, By: Rate, Budget: 10 * time.Minute, Precision: 0.1, Seed: 1, Begins: func(l Leg, r *Result) {
		begun, known = append(begun, l), append(known, *r)
	}}
	r, err := RunCapacity(t.Context(), s, func(_ context.Context, l Leg) (Outcome, error) {
		return server(l), nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(begun) != len(r.Legs) || begun[0].Why != Light || len(known[0].Legs) != 0 || known[0].End != "" {
		t.Errorf("told of %d legs, %d were made: %+v", len(begun), len(r.Legs), known[0])
	}
	last := known[len(known)-1]
	if !slices.IsSortedFunc(known, func(a, b Result) int { return len(a.Legs) - len(b.Legs) }) || last.Load < 10 || last.Load > 40 {
		t.Errorf("%+v", last)
	}
}
