package store

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestExperiments(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "pitot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := time.Unix(1_700_000_000, 5)
	first := Experiment{Name: "a", Status: "running", Started: at, Body: json.RawMessage(`{"legs":[]}`)}
	if err := s.CreateExperiment(first); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateExperiment(first); !errors.Is(err, ErrExperimentExists) {
		t.Errorf("twice: %v", err)
	}
	if err := s.CreateExperiment(Experiment{Name: "b", Started: at.Add(time.Hour), Body: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	first.Status, first.Body = "complete", json.RawMessage(`{"legs":[1]}`)
	changed, err := s.UpdateExperiment(first)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Experiment("a")
	if err != nil || got.Status != "complete" || string(got.Body) != `{"legs":[1]}` || !got.Started.Equal(at) || got.Changed.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if !got.Changed.Equal(changed) {
		t.Errorf("changed %v, and it says %v", got.Changed, changed)
	}
	all, err := s.Experiments()
	if err != nil || len(all) != 2 || all[0].Name != "b" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := s.Import(trace.Run{ID: "r", Leg: &trace.Leg{Experiment: "a", Block: 1}}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveExperiment("a", true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateExperiment(got); !errors.Is(err, ErrExperimentChanged) {
		t.Errorf("update of one that was removed: %v", err)
	}
	if _, err := s.Experiment("a"); !errors.Is(err, ErrNoExperiment) {
		t.Errorf("removed: %v", err)
	}
	if _, err := s.Run("r"); !errors.Is(err, ErrNoRun) {
		t.Errorf("a run that was removed: %v", err)
	}
	if n, err := s.Count(Filter{}); n != 0 || err != nil {
		t.Errorf("%d runs are left, %v", n, err)
	}
}

// Of two processes that both read an experiment, one goes on with it.
func TestAnExperimentIsChangedByOneOfTwo(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "pitot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateExperiment(Experiment{Name: "a", Status: "interrupted", Body: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	read, err := s.Experiment("a")
	if err != nil {
		t.Fatal(err)
	}
	one, other := read, read
	one.Body, other.Body = json.RawMessage(`{"by":1}`), json.RawMessage(`{"by":2}`)
	if one.Changed, err = s.UpdateExperiment(one); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateExperiment(other); !errors.Is(err, ErrExperimentChanged) {
		t.Errorf("the other one: %v", err)
	}
	if _, err := s.UpdateExperiment(one); err != nil {
		t.Errorf("once more: %v", err)
	}
	if got, err := s.Experiment("a"); err != nil || string(got.Body) != `{"by":1}` {
		t.Errorf("%s, %v", got.Body, err)
	}
}
