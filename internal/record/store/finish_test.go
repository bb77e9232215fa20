package store

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// rescuedTrace reads what a run was rescued to.
func rescuedTrace(t *testing.T, err error) (*trace.Trace, string) {
	t.Helper()
	var rescued *RescuedError
	if !errors.As(err, &rescued) {
		t.Fatalf("not rescued: %v", err)
	}
	info, err := os.Stat(rescued.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v: %v", err, info)
	}
	data, err := os.ReadFile(rescued.File)
	if err != nil {
		t.Fatal(err)
	}
	got := new(trace.Trace)
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	return got, rescued.File
}

// begun is a run of which two records are stored and one is not.
func begun(t *testing.T, s *Store) *Writer {
	t.Helper()
	w, err := s.Create(newRun("run-1", "", 1000), Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.end() // flushed by the test
	w.done.Wait()
	w.Append(sample(0))
	w.Append(sample(1))
	if err := w.flush(brief, false); err != nil {
		t.Fatal(err)
	}
	w.Append(sample(2))
	return w
}

func ended() trace.Run {
	run := newRun("run-1", "", 1000)
	run.Status, run.End = trace.Complete, 1000
	return run
}

// full lets the database grow no further.
func full(t *testing.T, s *Store) (room func()) {
	t.Helper()
	s.db.SetMaxOpenConns(1) // the limit is one of the connection
	limit := func(pragma string) {
		if _, err := s.db.Exec(pragma); err != nil {
			t.Fatal(err)
		}
	}
	limit("PRAGMA max_page_count = 1")
	return func() { limit("PRAGMA max_page_count = 1000000") }
}

// long has more text, which does not compress, than the free pages of a small database hold.
func long(index int) *trace.Record {
	r := sample(index)
	random := rand.New(rand.NewPCG(uint64(index), 0))
	text := make([]byte, 1<<16)
	for i := range text {
		text[i] = byte(' ' + random.IntN('~'-' '))
	}
	r.Text = string(text)
	return r
}

func TestARunThatCannotBeStoredIsRescued(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, s *Store) (remedy func()){
		"the disk is full": full,
		"the file is removed": func(t *testing.T, s *Store) func() {
			for _, file := range append(sidecarFiles(s.file), s.file) {
				if err := os.Rename(file, file+".away"); err != nil {
					t.Fatal(err)
				}
			}
			return func() {
				for _, file := range append(sidecarFiles(s.file), s.file) {
					if err := os.Rename(file+".away", file); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			w := begun(t, s)
			w.Append(long(3))
			remedy := spoil(t, s)
			run := ended()
			got, file := rescuedTrace(t, w.Finish(run))
			if filepath.Dir(file) != filepath.Dir(s.file) {
				t.Errorf("rescued to %s", file)
			}
			if diff := cmp.Diff([]*trace.Record{sample(0), sample(1), sample(2), long(3)}, got.Records); diff != "" {
				t.Error(diff)
			}
			if n := got.Run.Notes; len(n) != 1 || n[0].Code != rescued || n[0].Args["file"] != file || got.Run.Status != trace.Complete {
				t.Errorf("%+v", got.Run)
			}
			run.AcceptLength = 3 // as is known later
			if got, again := rescuedTrace(t, w.Finish(run)); got.Run.AcceptLength != 3 || again != file {
				t.Errorf("%s: %+v", again, got.Run)
			}
			remedy()
			if err := w.Finish(run); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", file, err)
			}
			if got, err := s.Load("run-1"); err != nil || len(got.Records) != 4 || got.Run.Status != trace.Complete || len(got.Run.Notes) != 1 || got.Run.Notes[0].Code != unsaved {
				t.Errorf("%v: %+v", err, got)
			}
		})
	}
}

// Where there is no room beside the store there may be some elsewhere.
func TestARunIsRescuedToTheTemporaryFolder(t *testing.T) {
	s := open(t)
	w := begun(t, s)
	folder := filepath.Dir(s.file)
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	got, file := rescuedTrace(t, w.Finish(ended()))
	if filepath.Dir(file) != temp || len(got.Records) != 3 {
		t.Errorf("rescued to %s: %d records", file, len(got.Records))
	}
	t.Setenv("TMPDIR", filepath.Join(temp, "no", "such"))
	if _, again := rescuedTrace(t, w.Finish(ended())); again != file {
		t.Errorf("rescued to %s", again)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.rescued = ""
	if err := w.Finish(ended()); err == nil || !strings.Contains(err.Error(), "2 of 3 records are stored") {
		t.Errorf("error %v", err)
	}
}

// A process that holds the store for longer than anyone waits. The file is there before
// the wait, and gone if the wait was worth it.
func TestAStoreThatIsLockedAtTheEnd(t *testing.T) {
	s := open(t)
	other := openFile(t, s.file)
	synctest.Test(t, func(t *testing.T) {
		w := begun(t, s)
		tx, err := other.db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		got, _ := rescuedTrace(t, w.Finish(ended()))
		if len(got.Records) != 3 || !strings.Contains(got.Run.Notes[0].Args["why"].(string), "locked") {
			t.Errorf("%+v", got)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if known, err := s.Import(got.Run, records(got.Records...), got.Telemetry); err != nil || known {
			t.Errorf("known %v, %v", known, err)
		}
	})
	if got, err := s.Load("run-1"); err != nil || len(got.Records) != 3 || got.Run.Status != trace.Complete {
		t.Errorf("%v: %+v", err, got)
	}
}

// The wait at the end is worth it if the store is free before it is over.
func TestAStoreThatIsFreeAgainAtTheEnd(t *testing.T) {
	s := open(t)
	other := openFile(t, s.file)
	synctest.Test(t, func(t *testing.T) {
		w := begun(t, s)
		tx, err := other.db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*brief, func() { _ = tx.Rollback() })
		if err := w.Finish(ended()); err != nil {
			t.Fatal(err)
		}
	})
	if got, err := s.Load("run-1"); err != nil || len(got.Records) != 3 || got.Run.Status != trace.Complete || got.Run.Notes[0].Code != unsaved {
		t.Errorf("%v: %+v", err, got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.file), "*rescue*")); left != nil {
		t.Errorf("left %v", left)
	}
}
