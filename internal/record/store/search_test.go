package store

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestSearches(t *testing.T) {
	s := open(t)
	at := time.Unix(1_700_000_000, 5)
	w, err := s.BeginSearch(Search{Name: "cap", Kind: Capacity, Started: at, Command: []string{"capacity", "--slo", "x y"}, Body: json.RawMessage(`{"legs":[]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Search("cap"); err != nil || got.Status != trace.Running || got.Kind != Capacity || !got.Started.Equal(at) || !slices.Equal(got.Command, []string{"capacity", "--slo", "x y"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := w.Write(json.RawMessage(`{"legs":[1]}`)); err != nil {
		t.Fatal(err)
	}
	if err := w.End(trace.Complete); err != nil {
		t.Fatal(err)
	}
	again, err := s.BeginSearch(Search{Name: "cap", Kind: Capacity, Started: at.Add(time.Hour), Body: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Search("cap"); err != nil || got.Status != trace.Running || string(got.Body) != `{}` || !got.Started.Equal(at) {
		t.Errorf("one that goes on: %+v, %v", got, err)
	}
	if err := again.End(trace.Interrupted); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Search("cap"); err != nil || got.Status != trace.Interrupted {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Search("other"); !errors.Is(err, ErrNoSearch) {
		t.Errorf("another name: %v", err)
	}
}

// A process that is killed gives no more signs.
func TestASearchWhoseProcessIsGoneIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pitot.db")
	s := openFile(t, file)
	w, err := s.BeginSearch(Search{Name: "a", Kind: Sweep, Started: time.Now(), Body: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	w.end()
	w.done.Wait()
	execute(t, file, "UPDATE search SET beat_ns = ?", time.Now().Add(-2*silence).UnixNano())
	if all, err := s.Searches(); err != nil || len(all) != 1 || all[0].Status != Killed {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestGroups(t *testing.T) {
	s := open(t)
	for i, r := range []trace.Run{
		{ID: "1", Name: "a / x=1 / 1", Leg: &trace.Leg{Experiment: "a"}},
		{ID: "2", Name: "b/1", Leg: &trace.Leg{Experiment: "b"}},
		{ID: "3", Name: "alone"},
		{ID: "4", Name: "a / x=2 / 1", Leg: &trace.Leg{Experiment: "a"}},
	} {
		r.Started, r.Status = time.Unix(int64(i+1), 0), trace.Complete
		if _, err := s.Import(r, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Groups()
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[0].Runs != 2 || all[0].Newest.ID != "4" || all[1].Name != "b" || all[1].Runs != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// A store that is repaired keeps its searches.
func TestSearchesAreRepaired(t *testing.T) {
	s := open(t)
	w, err := s.BeginSearch(Search{Name: "a", Kind: Sweep, Started: time.Unix(5, 0), Command: []string{"sweep"}, Body: json.RawMessage(`{"points":[]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.End(trace.Complete); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "new.db")
	if err := s.copyTo(file); err != nil {
		t.Fatal(err)
	}
	want, err := s.Search("a")
	if err != nil {
		t.Fatal(err)
	}
	got, err := openFile(t, file).Search("a")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
