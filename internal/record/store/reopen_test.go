package store

import (
	"errors"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A run is gone on with if it lacks records: its process died, it was interrupted, or it gave a worker
// up. What is there stays, and nothing is there twice.
func TestReopen(t *testing.T) {
	lost := sample(2)
	lost.Class, lost.Error = trace.WorkerLost, "gone"
	for _, tt := range []struct {
		name    string
		records []*trace.Record
		status  trace.Status // Running: nobody finishes it
		want    error
	}{
		{"killed", []*trace.Record{sample(0), sample(1)}, trace.Running, nil},
		{"interrupted", []*trace.Record{sample(0), sample(1)}, trace.Interrupted, nil},
		{"with a lost worker", []*trace.Record{sample(0), sample(1), lost}, trace.Complete, nil},
		{"complete", []*trace.Record{sample(0), sample(1), sample(2)}, trace.Complete, ErrRunEnded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t)
			run := newRun("run-1", "", 1000)
			run.Status = trace.Running
			w, err := s.Create(run, Owner{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range tt.records {
				w.Append(r)
			}
			if _, err := s.Reopen("run-1", Owner{}); !errors.Is(err, ErrRunAlive) {
				t.Errorf("while it is written: %v", err)
			}
			run.Status = tt.status
			if err := w.Finish(run); err != nil {
				t.Fatal(err)
			}
			if tt.status == trace.Running {
				if _, err := s.db.Exec("UPDATE run SET beat_ns = 1"); err != nil {
					t.Fatal(err)
				}
			}
			w, err = s.Reopen("run-1", Owner{})
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, not %v", err, tt.want)
			}
			if tt.want != nil {
				return
			}
			for i := range 3 {
				w.Append(sample(i))
			}
			run.Status = trace.Complete
			if err := w.Finish(run); err != nil {
				t.Fatal(err)
			}
			got, err := s.Load("run-1")
			if err != nil || got.Run.Status != trace.Complete || len(got.Records) != 3 {
				t.Fatalf("%v, %s, %d records", err, got.Run.Status, len(got.Records))
			}
			for i, r := range got.Records {
				if r.Index != i || !r.OK() {
					t.Errorf("record %d: index %d, class %q", i, r.Index, r.Class)
				}
			}
		})
	}
}
