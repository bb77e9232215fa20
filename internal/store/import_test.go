package store

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/trace"
)

func imported() trace.Run {
	run := newRun("imp-1", "note / baseline", 9)
	run.Kind, run.Started = trace.Imported, time.Time{}
	run.Origin = &trace.Origin{Tool: "vllm", Detail: trace.Table, Figures: []trace.Figure{{Name: "ttft.mean", Value: 1.5, Step: 1e-5}}}
	return run
}

func records(of ...*trace.Record) iter.Seq2[*trace.Record, error] {
	return func(yield func(*trace.Record, error) bool) {
		for _, r := range of {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestImportOnce(t *testing.T) {
	s := open(t)
	for i, want := range []bool{false, true, true} {
		if known, err := s.Import(imported(), records(sample(0), sample(1))); err != nil || known != want {
			t.Fatalf("import %d: known %v, %v", i, known, err)
		}
	}
	got, err := s.Load("imp-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&trace.Trace{Run: imported(), Records: []*trace.Record{sample(0), sample(1)}}, got); diff != "" {
		t.Error(diff)
	}
	if list, err := s.List(); err != nil || len(list) != 1 {
		t.Errorf("%v: %+v", err, list)
	}
}

func TestARunWithoutRecordsIsOlderThanAnyOther(t *testing.T) {
	s := open(t)
	if _, err := s.Import(imported(), nil); err != nil {
		t.Fatal(err)
	}
	w, err := s.Create(newRun("own", "", 9))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(newRun("own", "", 9)); err != nil {
		t.Fatal(err)
	}
	if last, err := s.Find("last"); err != nil || last != "own" {
		t.Errorf("last is %s, %v", last, err)
	}
}

func TestImportLeavesNothingOfARunThatCannotBeRead(t *testing.T) {
	s := open(t)
	broken := errors.New("line 7: no number")
	_, err := s.Import(imported(), func(yield func(*trace.Record, error) bool) {
		_ = yield(sample(0), nil) && yield(nil, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("%v: %+v", err, list)
	}
}
