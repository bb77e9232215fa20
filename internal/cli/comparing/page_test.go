package comparing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

var english = words.In("en")

// repeated are three runs each of base and new, of which new is slower.
func repeated(t *testing.T) (s *shelf, ids []string) {
	t.Helper()
	s = newShelf(t)
	for _, v := range []string{"base", "new"} {
		for i := range 3 {
			ids = append(ids, s.put(fmt.Sprintf("%s-%d", v, i+1), map[string]float64{"base": 1, "new": 1.1}[v]+0.001*float64(i)))
		}
	}
	return s, ids
}

func ask(t *testing.T, p *Page, a view.Asked) view.Comparison {
	t.Helper()
	c, err := p.Compare(t.Context(), a, english)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompareOfStoredRuns(t *testing.T) {
	s, ids := repeated(t)
	p := NewPage(s.Store, "other.db", "1")
	c := ask(t, p, view.Asked{Runs: []string{"base-*", "new-*"}, Margin: 0.03})
	if c.Refused != nil || c.Overall.Tone != "worse" || c.Margin != 0.03 || c.Command != "pitot compare 'base-*' 'new-*' --margin 3% --store other.db" {
		t.Fatalf("%+v", c)
	}
	load := c.Loads[0]
	if load.Variants[0].Name != "base-*" || len(load.Variants[0].Runs) != 3 || len(load.Overlays) != 4 || len(load.Overlays[0].Curves) != 6 {
		t.Errorf("%+v", load)
	}
	row := load.Rows[slices.IndexFunc(load.Rows, func(r view.ComparedRow) bool { return r.Name == "ttft.mean" })]
	if cell := row.Cells[1]; cell.Kind != "worse" || *cell.Relative < 0.09 || *cell.Low > *cell.Relative || cell.Basis != "repeated runs" || row.Place != "main" {
		t.Errorf("%+v", row)
	}
	if n := len(p.observed.entries); n != 6 {
		t.Errorf("%d observations are kept", n)
	}
	// By ids, those of a variant with commas between; the other one as the baseline.
	c = ask(t, p, view.Asked{Runs: []string{strings.Join(ids[:3], ","), strings.Join(ids[3:], ",")}, Baseline: "new"})
	if v := c.Loads[0].Variants; c.Refused != nil || v[0].Name != "new" || v[1].Name != "base" || c.Overall.Tone != "better" {
		t.Errorf("%+v, %+v", c.Refused, c.Loads[0].Variants)
	}
	c = ask(t, p, view.Asked{Runs: []string{ids[0], ids[3]}, Baseline: ids[3]})
	if v := c.Loads[0].Variants; v[0].Name != "new-1" || v[1].Name != "base-1" || v[0].Runs[0].ID != ids[3] {
		t.Errorf("%+v", v)
	}
}

// What is kept is used, and what goes on is looked at anew.
func TestRunsAreLoadedOnce(t *testing.T) {
	s, ids := repeated(t)
	p := NewPage(s.Store, "", "1")
	asked := view.Asked{Runs: []string{"base-*", "new-*"}}
	ask(t, p, asked)
	release, err := p.wait(t.Context()) // nothing can be loaded while this is held
	if err != nil {
		t.Fatal(err)
	}
	ask(t, p, asked)
	asked.Margin = 0.05 // another question about the same runs
	ask(t, p, asked)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.put("late-1", 1)
	if _, err := p.Compare(ctx, view.Asked{Runs: []string{"base-*", "late-1"}}, english); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	release()
	if err := s.Remove(ids[0]); err != nil {
		t.Fatal(err)
	}
	if c := ask(t, p, asked); len(c.Loads[0].Variants[0].Runs) != 2 {
		t.Errorf("%+v", c.Loads[0].Variants[0])
	}
}

// What is damaged is left out, and said.
func TestCompareOfADamagedRun(t *testing.T) {
	s, ids := repeated(t)
	db, err := sql.Open("sqlite", s.file)
	if err == nil {
		_, err = db.Exec("UPDATE block SET chunks = x'ff' WHERE run_id = ?", ids[0])
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	p := NewPage(s.Store, "", "1")
	for range 2 {
		c := ask(t, p, view.Asked{Runs: []string{"base-*", "new-*"}, Margin: 0.03})
		if !slices.ContainsFunc(c.Notes, func(n view.Said) bool { return n.Tone == "unclear" && strings.Contains(n.Text, ids[0]) }) {
			t.Errorf("%+v", c.Notes)
		}
	}
}

func TestRefusals(t *testing.T) {
	s, _ := repeated(t)
	s.put("sim-1", 1, func(r *trace.Run) { r.Kind = trace.Simulated })
	s.put("rate-1", 1, func(r *trace.Run) { r.Plan.Rate = 20 })
	s.put("short-1", 1, func(r *trace.Run) { r.Plan.Requests = 20 })
	p := NewPage(s.Store, "", "1")
	both := []string{"base-*", "new-*"}
	for _, tt := range []struct {
		asked   view.Asked
		setting string
		says    string
		values  []string
	}{
		{view.Asked{Runs: []string{"base-*", "sim-1"}}, "predicted", "sim-1 is simulated, and base-* was measured", nil},
		{view.Asked{Runs: both, Baseline: "old"}, "baseline", `old: no variant is called so`, both},
		{view.Asked{Runs: []string{"base-*", "rate-1"}}, "loads", "share no load", []string{"rate"}},
		{view.Asked{Runs: []string{"base-*", "short-1"}}, "loads", "different size", nil},
		{view.Asked{Runs: []string{"base-*", "nobody"}}, "runs", "nobody: no such run", nil},
		{view.Asked{Runs: []string{"base-*", "base-1"}}, "runs", "a run belongs to one variant", nil},
		{view.Asked{Runs: []string{"base-*", "new-1"}, Paired: true}, "paired", "pairs need as many of each", nil},
		{view.Asked{Runs: both, Ignore: []string{"colour"}}, "ignore", "no run has a setting of that name", nil},
		{view.Asked{Runs: both, Gates: []string{"speed > 2"}}, "fail-if", `no figure is called "speed"`, nil},
		{view.Asked{Runs: both, By: "wrk"}, "by", "must be pitot, vllm or sglang", nil},
		{view.Asked{Runs: both, Level: 0.2}, "level", "must be from 50% to 99.9%", nil},
	} {
		c := ask(t, p, tt.asked)
		if r := c.Refused; r == nil || r.Setting != tt.setting || !strings.Contains(r.Text, tt.says) || !slices.Equal(r.Values, tt.values) {
			t.Errorf("%+v: %+v", tt.asked, r)
		}
		n, page, err := p.Note(t.Context(), tt.asked, english)
		if err != nil || n.Refused == nil || n.Refused.Setting != tt.setting || page.Markdown != nil {
			t.Errorf("the note of %+v: %+v, %v", tt.asked, n.Refused, err)
		}
	}
	// The ways out lead out.
	if c := ask(t, p, view.Asked{Runs: []string{"base-*", "sim-1"}, Predicted: true}); c.Refused != nil || c.Simulated == "" {
		t.Errorf("%+v", c)
	}
	if c := ask(t, p, view.Asked{Runs: []string{"base-*", "rate-1"}, Ignore: []string{"rate"}}); c.Refused != nil {
		t.Errorf("%+v", c)
	}
}

func TestWhatIsTooLarge(t *testing.T) {
	s, _ := repeated(t)
	asked := view.Asked{Runs: []string{"base-*", "new-*"}}
	for limits, says := range map[Limits]string{
		{Records: 39, Total: 1000, Runs: 10}: "has 40 requests",
		{Records: 40, Total: 239, Runs: 10}:  "240 requests together",
		{Records: 40, Total: 240, Runs: 5}:   "6 runs",
	} {
		p := NewPage(s.Store, "", "1")
		p.Limits = limits
		c := ask(t, p, asked)
		if r := c.Refused; r == nil || r.Setting != "size" || !strings.Contains(r.Text+" "+fmt.Sprint(6)+" runs", says) || len(p.observed.entries) > 0 {
			t.Errorf("%+v: %+v", limits, r)
		}
	}
	p := NewPage(s.Store, "", "1")
	p.Limits = Limits{Records: 40, Total: 240, Runs: 6}
	if c := ask(t, p, asked); c.Refused != nil {
		t.Errorf("%+v", c.Refused)
	}
}

// An experiment is judged by its file; before its own first look, as at one.
func TestCompareOfAnExperiment(t *testing.T) {
	s := newShelf(t)
	s.ab()
	p := NewPage(s.Store, "", "1")
	c := ask(t, p, view.Asked{Runs: []string{"ab"}})
	if c.Refused != nil || c.Experiment != "ab" || c.Margin != 0.05 || c.Loads[0].Variants[0].Name != "before" || c.Loads[0].Variants[0].Runs[0].Leg != 1 {
		t.Fatalf("%+v", c)
	}
	if !slices.ContainsFunc(c.Loads[0].Notes, func(n view.Said) bool { return strings.HasPrefix(n.Text, "look 1 of at most 8") }) {
		t.Errorf("%+v", c.Loads[0].Notes)
	}
	n, page, err := p.Note(t.Context(), view.Asked{Runs: []string{"ab"}}, words.In("zh"))
	if err != nil || n.Refused != nil || !strings.Contains(n.Markdown, "# ab\n") || !strings.Contains(n.Markdown, "ABBA") || n.Command != "pitot note ab --lang zh" {
		t.Fatalf("%+v, %v", n, err)
	}
	if len(page.Plots) == 0 || !strings.Contains(n.Markdown, "]("+page.Plots[0].Name+")") {
		t.Errorf("%d plots", len(page.Plots))
	}
}

// An experiment whose baseline has no valid leg says so, and why; one that goes on, that none is done yet.
func TestAnExperimentWithoutEvidence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status experiment.Status
		change func(l *experiment.Leg)
		want   string // setting, and what is said
	}{
		{"all fail", experiment.Failed, func(l *experiment.Leg) {
			if l.Variant == "before" {
				l.Status, l.Why = experiment.Failed, plan.Text("out of memory")
			}
		}, "legs: no leg of before was valid; all 2 failed: out of memory"},
		{"two reasons", experiment.Failed, func(l *experiment.Leg) {
			if l.Variant == "after" {
				l.Status, l.Why = experiment.Failed, plan.Text(fmt.Sprintf("reason %d", l.Slot))
			}
		}, "legs: no leg of after was valid; all 2 failed: reason 2; reason 3"},
		{"to come", experiment.Running, func(l *experiment.Leg) {
			if l.Variant == "before" {
				l.Status = experiment.Running
			}
		}, "pending: no leg of before is done yet"},
	} {
		s := newShelf(t)
		s.ab(func(j *experiment.Journal) {
			j.Status = tt.status
			for _, l := range j.Legs {
				tt.change(l)
			}
		})
		c := ask(t, NewPage(s.Store, "", "1"), view.Asked{Runs: []string{"ab"}})
		if c.Refused == nil || c.Refused.Setting+": "+c.Refused.Text != tt.want {
			t.Errorf("%s: %+v", tt.name, c.Refused)
		}
	}
}

func TestTogether(t *testing.T) {
	runs := map[string][]string{ // names of runs, by what finds them
		"a*": {"a1", "a2"}, "a1": {"a1"}, "id-b": {"b"}, "id-c": {"b"}, "x,y": {"x,y"}, "d-1": {"d-1"}, "d-2": {"d-2"},
	}
	find := func(name string) (picks []session.Pick, err error) {
		for _, run := range runs[name] {
			id := run
			if strings.HasPrefix(name, "id-") {
				id = name
			}
			picks = append(picks, session.Pick{Run: trace.Run{ID: id, Name: run}})
		}
		if picks == nil {
			err = errors.New("no " + name)
		}
		return picks, err
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"a*"}, "a1: a2:"},
		{[]string{"a*", "id-b"}, "a1:a* a2:a* b:b"},
		{[]string{"id-b", "id-c"}, "b:id-b b:id-c"},                  // one name for two
		{[]string{"a1,id-b", "x,y"}, "a1:a1,id-b b:a1,id-b x,y:x,y"}, // nothing in common
		{[]string{"d-1,d-2", "a1"}, "d-1:d d-2:d a1:a1"},
		{[]string{"a*", "a1"}, "error"},
		{[]string{"a1,nobody"}, "error"},
	} {
		picks, err := session.Merge(tt.names, tt.names, find)
		var got []string
		for _, one := range picks {
			got = append(got, one.Run.Name+":"+one.Label)
		}
		if text := strings.Join(got, " "); err == nil && text != tt.want || err != nil && tt.want != "error" {
			t.Errorf("%q: %s, %v", tt.names, text, err)
		}
	}
}

func TestKept(t *testing.T) {
	k := lru[int]{most: 3, weight: 10}
	for i, weight := range []int{4, 4, 4} {
		k.put(fmt.Sprint(i), i, weight)
	}
	if _, ok := k.get("0"); ok {
		t.Error("more is kept than the weight allows")
	}
	if v, ok := k.get("1"); !ok || v != 1 {
		t.Error("1 is lost")
	}
	k.put("3", 3, 4) // 2 was used before 1
	if _, ok := k.get("2"); ok || len(k.entries) != 2 {
		t.Errorf("%+v", k.entries)
	}
	k.put("4", 4, 100)
	if _, ok := k.get("4"); !ok || len(k.entries) != 1 {
		t.Errorf("%+v", k.entries)
	}
	light := lru[int]{most: 2}
	for i := range 5 {
		light.put("a", i, 0)
		light.put(fmt.Sprint(i), i, 0)
	}
	if v, _ := light.get("a"); v != 4 || len(light.entries) != 2 {
		t.Errorf("%+v", light.entries)
	}
}

func TestPercent(t *testing.T) {
	for text, want := range map[string]float64{"2%": 0.02, "0.02": 0.02, " 2 % ": 0.02, "x": 0, "0": 0, "100%": 0, "NaN": 0} {
		if got, err := Percent("--margin", text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := Gates([]string{"ttft.mean > +2%", "x"}, compare.ParseGate); err == nil || !strings.Contains(err.Error(), "--fail-if") {
		t.Error(err)
	}
}
