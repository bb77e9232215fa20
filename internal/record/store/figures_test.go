package store

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// finished stores a run with one record and returns its trace.
func finished(t *testing.T, s *Store) *trace.Trace {
	t.Helper()
	run := newRun("run-1", "", 1)
	run.Status, run.End = trace.Complete, 1000
	if _, err := s.Import(run, records(sample(0)), nil); err != nil {
		t.Fatal(err)
	}
	return &trace.Trace{Run: run, Records: []*trace.Record{sample(0)}}
}

// known returns the figures in the store, and whether it has any.
func known(t *testing.T, s *Store, definition, version string) ([]trace.ReportedFigure, bool) {
	t.Helper()
	figures, ok, err := s.Figures("run-1", definition, version)
	if err != nil {
		t.Fatal(err)
	}
	return figures, ok
}

func keep(t *testing.T, s *Store, tr *trace.Trace, definition, version string, figures ...trace.ReportedFigure) {
	t.Helper()
	if err := s.StoreFigures(tr, definition, version, figures); err != nil {
		t.Fatal(err)
	}
}

func TestFiguresAreKeptByDefinitionAndVersion(t *testing.T) {
	s := open(t)
	tr := finished(t, s)
	if _, ok := known(t, s, "pitot", "1"); ok {
		t.Error("known before anybody computed them")
	}
	want := []trace.ReportedFigure{{Name: "ttft.mean", Value: 0.25, Step: 1e-5}, {Name: "itl.p99", Value: math.NaN()}, {Name: "a", Value: math.Inf(1)}}
	keep(t, s, tr, "pitot", "1", trace.ReportedFigure{Name: "old"})
	keep(t, s, tr, "pitot", "1", want...)
	keep(t, s, tr, "vllm", "2026-11")
	if got, ok := known(t, s, "pitot", "1"); !ok || !cmp.Equal(want, got, cmpopts.EquateNaNs()) {
		t.Errorf("%v, %+v", ok, got)
	}
	if got, ok := known(t, s, "vllm", "2026-11"); !ok || len(got) != 0 {
		t.Errorf("none were computed: %v, %+v", ok, got)
	}
	for _, other := range [][2]string{{"pitot", "2"}, {"vllm", "1"}} {
		if _, ok := known(t, s, other[0], other[1]); ok {
			t.Errorf("%v is known", other)
		}
	}
	if err := s.Remove("run-1"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.db.QueryRow("SELECT count(*) FROM figure").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d figures left behind, %v", n, err)
	}
}

func TestFiguresGoWhenTheRunChanges(t *testing.T) {
	for name, change := range map[string]func(s *Store, tr *trace.Trace) error{
		"another record": func(s *Store, tr *trace.Trace) error {
			w := Writer{store: s, id: tr.Run.ID, stored: 1}
			return w.write([]*trace.Record{sample(1)}, brief)
		},
		"other objectives": func(s *Store, tr *trace.Trace) error {
			tr.Run.Plan.Objectives = []plan.Objective{{Metric: "ttft", Limit: 1}}
			return s.Update(tr.Run)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			tr := finished(t, s)
			keep(t, s, tr, "pitot", "1", trace.ReportedFigure{Name: "ttft.mean", Value: 1})
			if err := change(s, tr); err != nil {
				t.Fatal(err)
			}
			if got, ok := known(t, s, "pitot", "1"); ok || len(got) > 0 {
				t.Errorf("still there: %+v", got)
			}
		})
	}
}

// Figures of a run that has changed since are not stored.
func TestFiguresOfAnotherStateOfTheRunAreNotKept(t *testing.T) {
	s := open(t)
	tr := finished(t, s)
	judged := *tr
	judged.Run.Verdict = &trace.Verdict{Validity: trace.Valid}
	for name, other := range map[string]*trace.Trace{
		"fewer records": {Run: tr.Run}, "another verdict": &judged, "no run": {Run: newRun("nobody", "", 1)},
	} {
		keep(t, s, other, "pitot", "1", trace.ReportedFigure{Name: "x"})
		if got, ok := known(t, s, "pitot", "1"); ok {
			t.Errorf("%s: kept %+v", name, got)
		}
	}
}
