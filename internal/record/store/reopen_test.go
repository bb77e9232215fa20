package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// left is a store with a run whose process has died after it had stored some records.
func left(t *testing.T, records ...*trace.Record) (s *Store, run trace.Run) {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	run = trace.Run{ID: "20261124-120000-dead", Kind: trace.Measured, Started: time.Now()}
	w, err := s.Create(run, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		w.Append(r)
	}
	w.end()
	w.done.Wait()
	if err := w.flush(brief, true); err != nil {
		t.Fatal(err)
	}
	return s, run
}

// answered is a record of a request whose answer took a time of its own.
func answered(index int, done trace.Instant) *trace.Record {
	r := trace.NewRecord(index)
	r.Due, r.Released, r.Sent, r.FirstByte, r.Done, r.Status = 0, 0, 0, 1, done, 200
	return r
}

func lost(index int) *trace.Record {
	r := answered(index, 9)
	r.Class = trace.WorkerLost
	return r
}

// What the dead process stored stays as it is, what it had given up is taken, and nothing is there twice.
func TestARunIsReopened(t *testing.T) {
	s, run := left(t, answered(0, 10), answered(2, 12), lost(3))
	if _, err := s.Reopen(run.ID, Owner{}); !errors.Is(err, ErrRunAlive) {
		t.Fatalf("while it is written: %v", err)
	}
	execute(t, s.file, "UPDATE run SET beat_ns = ?", time.Now().Add(-2*silence).UnixNano())
	w, err := s.Reopen(run.ID, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reopen(run.ID, Owner{}); !errors.Is(err, ErrRunAlive) {
		t.Errorf("by two at once: %v", err)
	}
	for _, r := range []*trace.Record{answered(3, 23), answered(0, 20), answered(1, 21), answered(2, 22)} {
		w.Append(r)
	}
	run.Status, run.End = trace.Complete, 30
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load(run.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []trace.Instant{10, 21, 12, 23}
	for i, r := range got.Records {
		if r.Index != i || r.Done != want[i] {
			t.Errorf("record %d has index %d and ended at %d, want %d", i, r.Index, r.Done, want[i])
		}
	}
	listed, err := s.Find(run.ID)
	if err != nil || len(got.Records) != 4 || listed.Records != 4 || listed.Failed != 0 || listed.Status != trace.Complete {
		t.Errorf("%d records; listed %+v, %v", len(got.Records), listed, err)
	}
	if followed, _, err := s.RecordsSince(run.ID, 0, 10); err != nil || len(followed) != 4 {
		t.Errorf("%d records in the order of commits, %v", len(followed), err)
	}
	if _, err := s.Reopen(run.ID, Owner{}); !errors.Is(err, ErrRunEnded) {
		t.Errorf("after its end: %v", err)
	}
	if _, err := s.Reopen("nothing", Owner{}); !errors.Is(err, ErrNoRun) {
		t.Errorf("one that is not there: %v", err)
	}
}
