package capacity

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/objective"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func limits(t *testing.T, text string) []objective.Objective {
	t.Helper()
	all, err := objective.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// codes are what an answer says.
func codes(a *Answer) (out []plan.Code) {
	for _, m := range a.Says {
		out = append(out, m.Code)
	}
	return out
}

func TestAnswersSayWhatIsKnown(t *testing.T) {
	s := Settings{Objectives: limits(t, "ttft.p99=500ms"), By: Rate, Budget: time.Minute, Precision: 0.05}
	side := Side{Load: 9, Legs: 1, Requests: 100, Attained: []float64{1}}
	light := Made{Leg{Number: 1, Load: 1, By: Concurrency}, Outcome{Requests: 10, Tails: [][]Tail{{{N: 10}}}}}
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
		{Result{End: Found, Load: 4, Passes: 3, Fails: 5, Precision: 0.04, Above: side}, "capacity.found capacity.binds capacity.clusters"},
		{Result{End: Found, Load: 4, Passes: 3, Fails: 5, Above: Side{Legs: 1, Attained: []float64{0.5}, Reason: queueGrew}}, "capacity.found capacity.binds capacity.other-reason"},
		{Result{End: Nothing, Legs: []Made{light}}, "capacity.nothing"},
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
	}
}

// counted is a leg with so many requests, of which some are twice the limit.
func counted(n, above int) Made {
	m := Made{Leg{Number: 2, Load: 5, By: Rate, Why: Seek}, Outcome{Requests: n, Spent: time.Second, Tails: [][]Tail{make([]Tail, 1)}}}
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
	legs := []AnswerLeg{Told(counted(1000, 20), []float64{math.Inf(1)}, goals), Begun(Leg{Number: 3, Load: 7, By: Rate, Why: Fails})}
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
	tr := &trace.Trace{Run: trace.Run{Plan: trace.Plan{Stream: true}}}
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
	r, err := Run(t.Context(), s, func(_ context.Context, l Leg) (Outcome, error) {
		m := counted(1000, map[bool]int{true: 400, false: 0}[l.By == Rate && l.Load > 20])
		m.E2EL, m.Long = 0.1, 0.1
		m.Spent = l.Length()
		return m.Outcome, nil
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
