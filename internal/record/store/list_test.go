package store

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// add stores finished runs.
func add(t *testing.T, s *Store, runs ...trace.Run) {
	t.Helper()
	for _, run := range runs {
		run.Status = trace.Complete
		if _, err := s.Import(run, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestListSelectsRuns(t *testing.T) {
	s := open(t)
	first, second := newRun("a1", "", 6), newRun("a2", "", 7)
	first.Leg = &trace.Leg{Experiment: "x", Block: 1, Position: 2, ServerStart: 3}
	second.Leg = &trace.Leg{Experiment: "x", Block: 1, Position: 3}
	add(t, s, newRun("1", "note / base", 1), newRun("2", "note / base / p99", 2), newRun("3", "note", 3), newRun("4", "notes", 4), newRun("5", "[n]ote *", 5), first, second)
	for _, tt := range []struct {
		f    Filter
		want []string
	}{
		{Filter{}, []string{"a2", "a1", "5", "4", "3", "2", "1"}},
		{Filter{Limit: 2}, []string{"a2", "a1"}},
		{Filter{Match: "3"}, []string{"3"}},
		{Filter{Match: "note"}, []string{"3", "2", "1"}},
		{Filter{Match: "note / base"}, []string{"2", "1"}},
		{Filter{Match: "note / b"}, nil},
		{Filter{Match: "note*"}, []string{"4", "3", "2", "1"}},
		{Filter{Match: "note*", Limit: 1}, []string{"4"}},
		{Filter{Match: "note?"}, []string{"4"}},
		{Filter{Match: "a?"}, []string{"a2", "a1"}},
		{Filter{Match: "[n]ote *"}, []string{"5"}},
		{Filter{Match: "[n]*"}, []string{"5"}},
		{Filter{Match: "*]*"}, []string{"5"}},
		{Filter{Match: "NOTE"}, nil},
		{Filter{Experiment: "x"}, []string{"a2", "a1"}},
		{Filter{Experiment: "x", Match: "a1"}, []string{"a1"}},
		{Filter{Experiment: "y"}, nil},
		{Filter{Since: time.Unix(6, 0)}, []string{"a2", "a1"}},
		{Filter{Since: time.Unix(8, 0)}, nil},
		{Filter{Model: "m", Limit: 1}, []string{"a2"}},
		{Filter{Model: "[m]"}, nil},
		{Filter{Model: "?", Match: "a1"}, []string{"a1"}},
		{Filter{Kind: trace.Measured, Limit: 1}, []string{"a2"}},
		{Filter{Kind: trace.Imported}, nil},
		{Filter{Status: trace.Complete, Match: "a2"}, []string{"a2"}},
		{Filter{Status: Killed}, nil},
		{Filter{Status: trace.Running}, nil},
		{Filter{Validity: trace.Valid}, nil},
		{Filter{Grouped: true}, []string{"a2", "5", "4", "3", "2", "1"}},
		{Filter{Grouped: true, Since: time.Unix(5, 0)}, []string{"a2", "5"}},
		{Filter{Grouped: true, Match: "a1"}, []string{"a1"}}, // the newest of those that are selected
	} {
		list, err := s.List(tt.f)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, l := range list {
			ids = append(ids, l.ID)
		}
		if diff := cmp.Diff(tt.want, ids); diff != "" {
			t.Errorf("%+v: %s", tt.f, diff)
		}
		unlimited := tt.f
		unlimited.Limit = 0
		all, err := s.List(unlimited)
		if n, errCount := s.Count(tt.f); err != nil || errCount != nil || n != len(all) {
			t.Errorf("%+v: %d runs, %v, %v", tt.f, n, err, errCount)
		}
	}
}

// The runs of a group are summed as far as a filter selects them.
func TestGroupsAreSummed(t *testing.T) {
	s := open(t)
	one, two, other := newRun("a1", "", 1), newRun("a2", "", 2), newRun("b1", "", 3)
	one.Leg, two.Leg, other.Leg = &trace.Leg{Experiment: "x"}, &trace.Leg{Experiment: "x"}, &trace.Leg{Experiment: "y"}
	one.Verdict, two.Verdict = &trace.Verdict{Validity: trace.Invalid}, &trace.Verdict{Validity: trace.Valid}
	two.Plan.Model = "n"
	add(t, s, one, two, other)
	if err := s.CreateExperiment(Experiment{Name: "x", Status: "failed", Body: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Sum(Filter{}, []string{"x", "y", "none"})
	if err != nil || len(all) != 2 || all["y"] != (Summed{Runs: 1, Loads: 1, Models: 1}) {
		t.Fatalf("%+v, %v", all, err)
	}
	if got, want := all["x"], (Summed{Kind: "experiment", Status: "failed", Runs: 2, Valid: 1, Invalid: 1, Loads: 1, Models: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if some, err := s.Sum(Filter{Validity: trace.Invalid}, []string{"x"}); err != nil || some["x"].Runs != 1 || some["x"].Models != 1 {
		t.Errorf("%+v, %v", some, err)
	}
}

func TestALegIsListedAsItWasStored(t *testing.T) {
	s := open(t)
	run := newRun("a", "", 1)
	run.Leg = &trace.Leg{Experiment: "x", Block: 1, Position: 2, ServerStart: 3}
	other := newRun("b", "", 2)
	other.Leg = &trace.Leg{Experiment: "x", Block: 2, Position: 3}
	add(t, s, run, other)
	list, err := s.List(Filter{Experiment: "x"})
	if err != nil || len(list) != 2 {
		t.Fatalf("%v: %+v", err, list)
	}
	if diff := cmp.Diff([]*trace.Leg{other.Leg, run.Leg}, []*trace.Leg{list[0].Leg, list[1].Leg}); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Run("a"); err != nil || !cmp.Equal(got.Leg, run.Leg) {
		t.Errorf("%v: %+v", err, got.Leg)
	}
	var started int
	if err := s.db.QueryRow("SELECT count(server_start) FROM run").Scan(&started); err != nil || started != 1 {
		t.Errorf("%d legs know the start of their server, %v", started, err)
	}
}

// The listing of a run follows its writer.
func TestAListShowsHowManyRecordsThereAreSoFar(t *testing.T) {
	s := open(t)
	run := newRun("run-1", "", 1)
	w, err := s.Create(run, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(records, failed int, status trace.Status, of trace.Validity) {
		t.Helper()
		l, err := s.Find("run-1")
		if err != nil || l.Records != records || l.Failed != failed || l.Status != status || l.Validity != of {
			t.Errorf("%v: %+v", err, l)
		}
	}
	check(0, 0, trace.Running, "")
	bad := trace.NewRecord(1)
	bad.Class = trace.Reset
	for _, r := range []*trace.Record{sample(0), bad} {
		w.Append(r)
		_ = w.flush(brief, false)
	}
	check(2, 1, trace.Running, "")
	w.Append(sample(2))
	run.Status, run.Verdict = trace.Interrupted, &trace.Verdict{Validity: trace.Invalid}
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	check(3, 1, trace.Interrupted, trace.Invalid)
}

// A table has no records: it only has its own count of failures.
func TestFailuresOfAnImportedRun(t *testing.T) {
	s := open(t)
	silent, reporting, detailed := imported(), imported(), imported()
	reporting.ID, detailed.ID = "told", "detailed"
	reporting.Origin = &trace.Origin{Figures: []trace.ReportedFigure{{Name: "requests.failed", Value: 2}}}
	add(t, s, silent, reporting)
	bad := trace.NewRecord(1)
	bad.Class = trace.HTTP
	detailed.Origin = reporting.Origin
	if _, err := s.Import(detailed, records(sample(0), bad), nil); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"imp-1": -1, "told": 2, "detailed": 1} {
		if l, err := s.Find(id); err != nil || l.Failed != want {
			t.Errorf("%s: %d failed, want %d; %v", id, l.Failed, want, err)
		}
	}
}

func TestLongListsOfCandidatesAreCut(t *testing.T) {
	s := open(t)
	for _, c := range "abcdefg" {
		add(t, s, newRun("2026-"+string(c), "", int64(c)))
	}
	_, err := s.Find("2026")
	if want := `no such run: "2026" could be any of 7: 2026-g, 2026-f, 2026-e, 2026-d, 2026-c …`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if l, err := s.Find("2026-c"); err != nil || l.ID != "2026-c" {
		t.Errorf("%+v, %v", l, err)
	}
}

// Listing reads neither the bodies of runs nor their records.
func TestAListReadsOneTable(t *testing.T) {
	s := open(t)
	add(t, s, newRun("a", "", 1))
	if _, err := s.db.Exec("ALTER TABLE run_body RENAME TO gone_body; ALTER TABLE record RENAME TO gone_record"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(Filter{}); err != nil || !slices.ContainsFunc(list, func(l Listing) bool { return l.ID == "a" }) {
		t.Errorf("%v: %+v", err, list)
	}
	if _, err := s.Find("last"); err != nil {
		t.Error(err)
	}
}
