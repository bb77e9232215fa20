package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// watching is a Watch and what must be true of its next poll.
func watching(t *testing.T, s *Store) func(want Changes) {
	t.Helper()
	w, err := s.Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return func(want Changes) {
		t.Helper()
		got, err := w.Poll(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got.Added)
		slices.Sort(got.Changed)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
}

// A reader in another process hears of new runs, of their end, their labels, their figures and
// their removal, each once.
func TestChangesAreNoticed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s, reader := openFile(t, file), openFile(t, file)
	add(t, s, newRun("old", "", 1))
	check := watching(t, reader)
	check(Changes{Stored: 1})
	run := newRun("new", "", 2)
	w, err := s.Create(run, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.end() // the test flushes
	w.done.Wait()
	check(Changes{Any: true, Stored: 2, Added: []string{"new"}})
	w.Append(sample(0))
	if err := w.flush(brief, false); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2})
	run.Status = trace.Complete
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2, Changed: []string{"new"}})
	run.Verdict = &trace.Verdict{Validity: trace.Valid}
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2, Changed: []string{"new"}})
	if err := s.StoreFigures(&trace.Trace{Run: run, Records: []*trace.Record{sample(0)}}, "pitot", "1", nil); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2, Changed: []string{"new"}})
	if _, err := s.Label("old", to(trace.Labels{Tags: []string{"x"}})); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2, Changed: []string{"old"}})
	check(Changes{Stored: 2})
	if err := s.Remove("new"); err != nil {
		t.Fatal(err)
	}
	add(t, s, newRun("newer", "", 3)) // with the row number of the one that was removed
	check(Changes{Any: true, Stored: 2, Added: []string{"newer"}, Removed: []string{"new"}})
	if err := s.CreateExperiment(Experiment{Name: "x", Body: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2, Experiments: []string{"x"}})
	if err := s.RemoveExperiment("x", true); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2, Experiments: []string{"x"}})
	check(Changes{Stored: 2})
}

// Of a run whose process was killed nobody commits anything: its silence tells.
func TestAKilledRunIsNoticed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s, reader := openFile(t, file), openFile(t, file)
	w, err := s.Create(newRun("a", "", 1), Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.end()
	w.done.Wait()
	check := watching(t, reader)
	check(Changes{Stored: 1})
	execute(t, file, "UPDATE run SET beat_ns = ?", time.Now().Add(-2*silence).UnixNano())
	check(Changes{Any: true, Stored: 1, Changed: []string{"a"}})
	check(Changes{Stored: 1})
	if err := w.flush(brief, false); err != nil { // it was only suspended
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 1, Changed: []string{"a"}})
	p, err := reader.Pulse("a")
	if err != nil || p.Status != trace.Running || p.Last.At.Happened() {
		t.Errorf("%v: %+v", err, p)
	}
}

// A store that takes the name of another is followed.
func TestAReplacedStoreIsFollowed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.db")
	s := openFile(t, file)
	add(t, s, newRun("a", "", 1), newRun("b", "", 2))
	reader := openFile(t, file)
	check := watching(t, reader)
	other := openFile(t, filepath.Join(dir, "other.db"))
	add(t, other, newRun("b", "", 2), newRun("c", "", 3))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, name := range sidecarFiles(file) {
		if err := os.Rename(name, sidecarFiles(file + ".old")[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(file, file+".old"); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Refresh(); err == nil {
		t.Error("a store that was removed is no error")
	}
	if err := os.Rename(filepath.Join(dir, "other.db"), file); err != nil {
		t.Fatal(err)
	}
	check(Changes{Any: true, Stored: 2, Added: []string{"c"}, Removed: []string{"a"}})
	if _, err := reader.Find("c"); err != nil {
		t.Error(err)
	}
	if again, err := reader.Refresh(); err != nil || again {
		t.Errorf("%v %v", again, err)
	}
}

func TestMilestones(t *testing.T) {
	s := open(t)
	add(t, s, newRun("a", "", 1), newRun("none", "", 2))
	for i := range 1000 {
		if _, err := s.db.Exec("INSERT INTO snapshot VALUES ('a', ?, 0, 0, 0, ?)", i*100+5, i); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Milestones("a", 4)
	want := []Milestone{{5, 0}, {24905, 249}, {49905, 499}, {74905, 749}, {99905, 999}}
	if diff := cmp.Diff(want, all); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if all, err := s.Milestones("none", 4); err != nil || len(all) != 0 {
		t.Error(err, all)
	}
}

func TestOutlines(t *testing.T) {
	s := open(t)
	run := newRun("a", "", 1)
	if _, err := s.Import(run, many(3), nil); err != nil {
		t.Fatal(err)
	}
	all, err := s.Outlines("a", 10)
	want := []Outline{{3, 900, 2}, {3, 900, 2}, {3, 900, 2}}
	if diff := cmp.Diff(want, all); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if some, err := s.Outlines("a", 2); err != nil || len(some) != 2 {
		t.Error(err, some)
	}
	if none, err := s.Outlines("b", 2); err != nil || len(none) != 0 {
		t.Error(err, none)
	}
}

// Records come in workload order, some at a time, without the damaged ones.
func TestEachRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	const n = 2*batch + 5
	if _, err := s.Import(newRun("a", "", 1), many(n), nil); err != nil {
		t.Fatal(err)
	}
	inRows(t, file)
	execute(t, file, "UPDATE record SET chunks = x'ff' WHERE idx = 7")
	var got []int
	for some, err := range s.EachRecord("a") {
		if err != nil || len(some) > batch {
			t.Fatal(err, len(some))
		}
		for _, r := range some {
			got = append(got, r.Index)
		}
	}
	if len(got) != n-1 || !slices.IsSorted(got) || slices.Contains(got, 7) {
		t.Errorf("%d records", len(got))
	}
	for _, err := range s.EachRecord("a") {
		if err != nil {
			t.Error(err)
		}
		break
	}
	for some, err := range s.EachRecord("b") {
		t.Error(some, err)
	}
}
