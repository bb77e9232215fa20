package store

import (
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func imported() trace.Run {
	run := newRun("imp-1", "note / baseline", 9)
	run.Kind, run.Started = trace.Imported, time.Time{}
	run.Origin = &trace.Origin{Tool: "vllm", Detail: trace.Table, Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: 1.5, Step: 1e-5}}}
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
		if known, err := s.Import(imported(), records(sample(0), sample(1)), nil); err != nil || known != want {
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
	if list, err := s.List(Filter{}); err != nil || len(list) != 1 {
		t.Errorf("%v: %+v", err, list)
	}
}

func TestARunWithoutRecordsIsOlderThanAnyOther(t *testing.T) {
	s := open(t)
	if _, err := s.Import(imported(), nil, nil); err != nil {
		t.Fatal(err)
	}
	w, err := s.Create(newRun("own", "", 9), Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(newRun("own", "", 9)); err != nil {
		t.Fatal(err)
	}
	if last, err := s.Find("last"); err != nil || last.ID != "own" {
		t.Errorf("last is %s, %v", last.ID, err)
	}
}

func TestImportLeavesNothingOfARunThatCannotBeRead(t *testing.T) {
	s := open(t)
	broken := errors.New("line 7: no number")
	_, err := s.Import(imported(), func(yield func(*trace.Record, error) bool) {
		_ = yield(sample(0), nil) && yield(nil, broken)
	}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if list, err := s.List(Filter{}); err != nil || len(list) != 0 {
		t.Errorf("%v: %+v", err, list)
	}
}

// A killed import leaves a run that is marked as running and has no heartbeat, and so does
// a run whose store could not be written any more. Both are imported anew, once the store
// has been silent.
func TestARunThatWasCutShortIsImportedAnew(t *testing.T) {
	s := open(t)
	run := imported()
	run.Status = trace.Complete
	synctest.Test(t, func(t *testing.T) {
		if err := s.insert(run); err != nil {
			t.Fatal(err)
		}
		w := Writer{store: s, id: "imp-1"}
		if err := w.copy(records(sample(0))); err != nil {
			t.Fatal(err)
		}
		live := run
		live.Status = trace.Running
		if known, err := s.Import(live, records(sample(0)), nil); err != nil || !known {
			t.Fatalf("one that is under way: known %v, %v", known, err)
		}
		began := time.Now()
		if known, err := s.Import(run, records(sample(0), sample(1)), nil); err != nil || known || time.Since(began) < silence {
			t.Fatalf("one that may be dead: known %v after %v, %v", known, time.Since(began), err)
		}
		if err := s.Update(run); err != nil {
			t.Fatal(err)
		}
		if known, err := s.Import(run, records(sample(0)), nil); err != nil || !known {
			t.Fatalf("one that is complete: known %v, %v", known, err)
		}
	})
	if got, err := s.Load("imp-1"); err != nil || len(got.Records) != 2 || got.Run.Status != trace.Complete {
		t.Errorf("%v: %+v", err, got)
	}
}

func TestImportOfManyBatches(t *testing.T) {
	s := open(t)
	var many []*trace.Record
	for i := range 2*batch + 1 {
		many = append(many, sample(i))
	}
	if _, err := s.Import(imported(), records(many...), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load("imp-1"); err != nil || len(got.Records) != len(many) || got.Records[batch].Index != batch {
		t.Errorf("%v: %d records", err, len(got.Records))
	}
}

// Stores of version 12 and before have the command line of an imported result, and objectives, in
// another form.
func TestAnOldBodyOfAnImportedRun(t *testing.T) {
	s := open(t)
	run := imported()
	if _, err := s.Import(run, records(), nil); err != nil {
		t.Fatal(err)
	}
	const old = `json_set(body, '$.plan.foreign', json('{"args":["--label=x"]}'), '$.plan.objectives', json('[{"metric":"ttft","limit_ns":2000000}]'))`
	if _, err := s.db.Exec("UPDATE run_body SET body = "+old+" WHERE run_id = ?", run.ID); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(run.ID)
	want := []plan.Objective{{Metric: "ttft", Limit: plan.Duration(2 * time.Millisecond)}}
	if err != nil || string(got.Origin.Command) != `{"args":["--label=x"]}` || !slices.Equal(got.Plan.Objectives, want) {
		t.Errorf("%v: %s, %+v", err, got.Origin.Command, got.Plan.Objectives)
	}
}
