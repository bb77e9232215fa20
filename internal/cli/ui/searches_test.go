package ui

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/metrics"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

var english = words.In(words.Default)

func open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var began = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// add stores a run of a search with figures.
func add(t *testing.T, s *store.Store, id, search, name string, rate float64, figures ...trace.ReportedFigure) {
	t.Helper()
	run := trace.Run{
		ID: id, Name: name, Kind: trace.Measured, Status: trace.Complete, Started: began, End: 1e9, Leg: &trace.Leg{Experiment: search, Position: 1},
		Plan: trace.Load{Model: "m", URL: "http://gpu1", Rate: rate, Requests: 10, Arrival: plan.Msg("arrival.poisson", "rate", rate)}, Verdict: &trace.Verdict{Validity: trace.Valid},
	}
	put(t, s, run, figures...)
}

func put(t *testing.T, s *store.Store, run trace.Run, figures ...trace.ReportedFigure) {
	t.Helper()
	if _, err := s.Import(run, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.StoreFigures(&trace.Trace{Run: run}, "pitot", metrics.Version, figures); err != nil {
		t.Fatal(err)
	}
}

// queue are the figures of a queue with one server that answers 10 requests/s.
func queue(rate float64) []trace.ReportedFigure {
	return []trace.ReportedFigure{
		{Name: "throughput.requests", Value: rate},
		{Name: "throughput.output", Value: 100 * rate},
		{Name: "tpot.mean", Value: 0.01 / (10 - rate)},
		{Name: "e2el.mean", Value: 1 / (10 - rate)},
	}
}

// keep keeps a search that ended.
func keep(t *testing.T, s *store.Store, x store.Search, body any, status trace.Status) {
	t.Helper()
	var err error
	if x.Body, err = json.Marshal(body); err != nil {
		t.Fatal(err)
	}
	x.Started = began
	w, err := s.BeginSearch(x)
	if err == nil {
		err = w.End(status)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func show(t *testing.T, s *store.Store, name string, l *words.Language) view.Search {
	t.Helper()
	v, err := Show(s, name, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := view.JSON(v); err != nil {
		t.Fatal(err)
	}
	return v
}

func rates(all ...string) (points []curve.Point) {
	for _, rate := range all {
		points = append(points, curve.Point{{Name: "rate", Value: rate}})
	}
	return points
}

func TestASweepIsMadeOfItsRuns(t *testing.T) {
	s := open(t)
	for i, rate := range []float64{1, 5, 9} {
		name := curve.RunName("q", rates("1", "5", "9")[i], 1)
		add(t, s, string(rune('a'+i)), "q", name, rate, queue(rate)...)
	}
	late := []plan.Message{plan.Text("the client was late")}
	target := trace.Load{URL: "http://gpu1"}
	put(t, s, trace.Run{
		Plan: target, ID: "bad", Name: "q / rate=9 / 2", Kind: trace.Measured, Status: trace.Complete, Started: began, Leg: &trace.Leg{Experiment: "q"},
		Verdict: &trace.Verdict{Validity: trace.Invalid, Reasons: late},
	})
	put(t, s, trace.Run{Plan: target, ID: "cut", Name: "q / rate=5 / 2", Kind: trace.Measured, Status: trace.Interrupted, Started: began, Leg: &trace.Leg{Experiment: "q"}})
	d := curve.Design{Points: rates("1", "5", "9", "20"), Repeats: 2, Devices: 2, Load: "rate", Moves: []string{"rate"}}
	keep(t, s, store.Search{Name: "q", Kind: store.Sweep, Command: []string{"sweep", "--rate", "1,5,9,20", "--name", "q"}}, d, trace.Interrupted)

	v := show(t, s, "q", english)
	if v.Row.Status != "interrupted" || v.Row.Planned != 8 || v.Row.Runs != 5 || v.Row.URL != "http://gpu1" || !slices.Equal(v.Row.Terms, []string{"rate: 1, 5, 9, 20"}) {
		t.Errorf("%+v", v.Row)
	}
	p := v.Sweep.Points
	if len(p) != 4 || !slices.Equal(p[1].Runs, []string{"b"}) || !p[1].Knee || p[1].Figures["device"].Value != 250 || len(p[3].Runs) != 0 {
		t.Errorf("%+v", p)
	}
	if len(p[2].Failed) != 1 || !strings.Contains(p[2].Failed[0], "the client was late") {
		t.Errorf("%q", p[2].Failed)
	}
	if p[0].Same == "" || p[0].Same == p[1].Same || p[3].Same != "" {
		t.Errorf("loads %q, %q, %q", p[0].Same, p[1].Same, p[3].Same)
	}
	if len(v.Answer) == 0 || !strings.HasPrefix(v.Answer[0], "knee: rate=5,") {
		t.Errorf("%q", v.Answer)
	}
	if v.Command != "pitot sweep --resume q --rate 1,5,9,20" {
		t.Errorf("%q", v.Command)
	}
	if says := show(t, s, "q", words.In("zh")).Answer[0]; !strings.Contains(says, "拐点") {
		t.Errorf("%q", says)
	}
}

// A run that goes on is at its point, before it has figures.
func TestARunUnderWayIsAtItsPoint(t *testing.T) {
	s := open(t)
	w, err := s.Create(trace.Run{ID: "now", Name: "q / rate=5 / 1", Kind: trace.Measured, Started: began, Leg: &trace.Leg{Experiment: "q"}}, store.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Finish(trace.Run{ID: "now", Status: trace.Complete, Leg: &trace.Leg{Experiment: "q"}}) }()
	keep(t, s, store.Search{Name: "q", Kind: store.Sweep}, curve.Design{Points: rates("1", "5"), Repeats: 1, Load: "rate"}, trace.Running)
	v := show(t, s, "q", english)
	if p := v.Sweep.Points; p[0].Running || !p[1].Running || !slices.Equal(p[1].Runs, []string{"now"}) || v.Row.Status != "running" {
		t.Errorf("%+v", v)
	}
}

// answer is a search for a capacity that goes on: two legs, and one under way.
func answer(t *testing.T) *search.Answer {
	t.Helper()
	goals, _, err := metrics.Parse("ttft.p95=500ms")
	if err != nil {
		t.Fatal(err)
	}
	legs := []search.AnswerLeg{
		{Number: 1, Load: 1, By: search.Concurrency, Why: search.Light, Requests: 10, Attained: []float64{1}, Limited: []float64{0.1}, Verdict: search.Met},
		{Number: 2, Load: 5, By: search.Rate, Why: search.Seek, Requests: 100, Attained: []float64{0.5}, Limited: []float64{0}, Verdict: search.NotMet, Clear: true},
		{Number: 3, Load: 4, By: search.Rate, Why: search.Seek, Requests: 100, Attained: []float64{1}, Limited: []float64{0.3}, Verdict: search.Refused, Reason: "capacity.queue-grew"},
		search.Begun(search.Leg{Number: 4, Load: 3, By: search.Rate, Why: search.Seek}),
	}
	return search.NewAnswer("cap", &search.Result{Load: 4, Passes: 3, Fails: 5, Precision: 0.3}, search.Settings{Objectives: goals, By: search.Rate, Budget: time.Hour, Precision: 0.05}, legs)
}

func TestACapacitySearchThatGoesOn(t *testing.T) {
	s := open(t)
	for i, rate := range []float64{0, 5, 4} {
		add(t, s, string(rune('a'+i)), "cap", "cap/"+string(rune('1'+i)), rate)
	}
	keep(t, s, store.Search{Name: "cap", Kind: store.Capacity, Command: []string{"capacity", "--slo", "ttft.p95=500ms", "--name=cap", "--", "--name", "x y"}}, answer(t), trace.Running)
	v := show(t, s, "cap", english)
	c := v.Capacity
	if len(c.Legs) != 4 || c.Legs[1].Run != "b" || !c.Legs[3].Running || c.Legs[3].Run != "" || *c.Legs[1].Beyond[0] != 0.5 || c.Legs[3].Beyond == nil {
		t.Errorf("%+v", c.Legs)
	}
	if l := c.Legs[1]; l.Verdict != "not-met" || !l.Clear || l.Latency[0] != nil {
		t.Errorf("%+v", l)
	}
	if l := c.Legs[2]; l.Verdict != "void" || l.Reason != "the queue grew" || *l.Latency[0] != 0.3 {
		t.Errorf("%+v", l)
	}
	if o := c.Objectives[0]; o.Name != "ttft.p95" || o.Limit != 0.5 || o.Beyond < 0.0499 || o.Beyond > 0.0501 || c.Binding != 0 {
		t.Errorf("%+v", c)
	}
	if *c.Load != 4 || *c.Passes != 3 || *c.Fails != 5 || c.End != "" || v.Answer[0] != "so far: about 4 req/s, between 3 req/s and 5 req/s" {
		t.Errorf("%+v, %q", c, v.Answer)
	}
	if v.Command != "pitot capacity --resume cap --slo ttft.p95=500ms -- --name 'x y'" {
		t.Errorf("%q", v.Command)
	}
}

// Once its process is gone no leg of a search is under way.
func TestACapacitySearchThatWasInterrupted(t *testing.T) {
	s := open(t)
	add(t, s, "a", "cap", "cap/1", 0)
	keep(t, s, store.Search{Name: "cap", Kind: store.Capacity}, answer(t), trace.Interrupted)
	if l := show(t, s, "cap", english).Capacity.Legs[3]; l.Running || l.Verdict != "" {
		t.Errorf("%+v", l)
	}
}

// A search that ended without an answer says how, in the list too: its process did all it could.
func TestASearchThatFoundNothing(t *testing.T) {
	s := open(t)
	for name, end := range map[string]search.End{"nothing": search.Nothing, "open": search.OutOfTime} {
		add(t, s, name, name, name+"/1", 0)
		a := answer(t)
		a.End, a.Load, a.Passes, a.Fails = end, 0, 0, 0
		keep(t, s, store.Search{Name: name, Kind: store.Capacity}, a, trace.Complete)
		if row := show(t, s, name, english).Row; row.End != name {
			t.Errorf("%s: %+v", name, row)
		}
	}
	add(t, s, "s", "empty", "empty / rate=1 / 1", 1)
	keep(t, s, store.Search{Name: "empty", Kind: store.Sweep}, curve.Design{Points: rates("2"), Repeats: 1}, trace.Complete)
	if row := show(t, s, "empty", english).Row; row.End != "nothing" {
		t.Errorf("%+v", row)
	}
}

func TestSearchesAreListed(t *testing.T) {
	s := open(t)
	add(t, s, "a", "kept", "kept / rate=1 / 1", 1)
	keep(t, s, store.Search{Name: "kept", Kind: store.Sweep}, curve.Design{Points: rates("1", "2"), Repeats: 1}, trace.Complete)
	keep(t, s, store.Search{Name: "removed", Kind: store.Sweep}, curve.Design{}, trace.Complete) // its runs were
	add(t, s, "c", "an experiment", "an experiment / a / 1", 1)
	add(t, s, "d", "ab", "ab / rate=1 / 1", 1) // the name of an experiment
	if err := s.CreateExperiment(store.Experiment{Name: "ab", Body: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	found, err := List(s, english)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range found.Rows {
		names = append(names, row.Name+" "+row.Kind)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"kept sweep"}) {
		t.Errorf("%q", names)
	}
	for _, name := range []string{"an experiment", "ab", "nothing"} {
		if _, err := Show(s, name, english); !errors.Is(err, store.ErrNoSearch) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADamagedSearchIsAnError(t *testing.T) {
	s := open(t)
	keep(t, s, store.Search{Name: "x", Kind: store.Capacity}, "no object", trace.Complete)
	if _, err := Show(s, "x", english); err == nil || !strings.Contains(err.Error(), "search x is damaged") {
		t.Error(err)
	}
}
