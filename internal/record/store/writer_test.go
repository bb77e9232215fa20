package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The owner is told about a failed flush when it fails, not at the end of the run, and
// once; the run says so.
func TestTheOwnerHearsOfTrouble(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan error, 10)
		w, err := s.Create(newRun("run-1", "", 1000), Owner{Trouble: func(err error) { heard <- err }})
		if err != nil {
			t.Fatal(err)
		}
		pass := func(want ...string) {
			t.Helper()
			time.Sleep(flushEvery)
			synctest.Wait()
			if n := len(heard); n != len(want) {
				t.Fatalf("heard %d times", n)
			}
			for _, text := range want {
				if err := <-heard; text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
					t.Errorf("heard %v, want %q", err, text)
				}
			}
		}
		pass()
		execute(t, file, "ALTER TABLE block RENAME TO gone")
		w.Append(sample(0))
		pass("no such table")
		pass()
		execute(t, file, "ALTER TABLE gone RENAME TO block")
		pass("")
		pass()
		if err := w.Finish(newRun("run-1", "", 1000)); err != nil || len(heard) != 0 {
			t.Errorf("%v, and heard of %d more", err, len(heard))
		}
	})
	got, err := s.Load("run-1")
	if err != nil || len(got.Records) != 1 || len(got.Run.Notes) != 1 || got.Run.Notes[0].Code != unsaved || got.Run.Notes[0].Args["seconds"] != (2*flushEvery).Seconds() {
		t.Errorf("%v: %+v", err, got)
	}
}

// A long flush holds the store for one batch at a time. The batches before a failed
// one are written, once.
func TestAFlushKeepsTheBatchesThatWereWritten(t *testing.T) {
	s := open(t)
	w, err := s.Create(newRun("run-1", "", 1000), Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.end()
	w.done.Wait()
	for i := range 2*trace.BlockRecords + 1 {
		w.Append(sample(i))
	}
	w.Append(sample(0)) // an index in use
	for range 2 {
		if err := w.flush(brief, false); err == nil || w.stored != 2*trace.BlockRecords {
			t.Errorf("%d records stored, error %v", w.stored, err)
		}
	}
	w.all = w.all[:2*trace.BlockRecords+1]
	if err := w.flush(brief, false); err != nil || w.stored != 2*trace.BlockRecords+1 {
		t.Errorf("%d records stored, error %v", w.stored, err)
	}
	got, next := scanFrom(t, s, "run-1", 2*trace.BlockRecords-1)
	if len(got) != 2 || got[1].Index != 2*trace.BlockRecords || next != 2*trace.BlockRecords+1 {
		t.Errorf("%d records, next %d", len(got), next)
	}
	if l, err := s.Find("run-1"); err != nil || l.Records != 2*trace.BlockRecords+1 {
		t.Errorf("%v: %+v", err, l)
	}
}

// Snapshots come with the flushes of a run, even while no request is done.
func TestSnapshotsComeWithEachFlush(t *testing.T) {
	s := open(t)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		run := newRun("run-1", "", 1000)
		w, err := s.Create(run, Owner{Progress: func() trace.Snapshot { return trace.Snapshot{At: trace.Instant(time.Since(begin)), Released: 3} }})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4*flushEvery + flushEvery/2)
		if err := w.Finish(run); err != nil {
			t.Fatal(err)
		}
	})
	got, err := s.Snapshots("run-1", trace.Never, 100)
	if err != nil || len(got) != 5 || got[0] != (trace.Snapshot{At: trace.Instant(flushEvery), Released: 3}) {
		t.Errorf("%v: %+v", err, got)
	}
}

// A flush beside a run leaves the processor to others after each few records. One after it does not.
func TestAFlushBesideARunPauses(t *testing.T) {
	s := open(t)
	synctest.Test(t, func(t *testing.T) {
		w, err := s.Create(newRun("run-1", "", 1000), Owner{})
		if err != nil {
			t.Fatal(err)
		}
		w.end()
		w.done.Wait()
		flush := func(first int) time.Duration {
			for i := range 2 {
				r := sample(first + i)
				r.Text = strings.Repeat(fmt.Sprint(i), 40<<10)
				w.Append(r)
			}
			before := time.Now()
			if err := w.flush(brief, false); err != nil {
				t.Fatal(err)
			}
			return time.Since(before)
		}
		if took := flush(0); took != 0 {
			t.Errorf("the flush after the run pauses for %v", took)
		}
		w.running = true
		if took := flush(2); took != pause {
			t.Errorf("the flush beside the run pauses for %v, want %v", took, pause)
		}
	})
}
