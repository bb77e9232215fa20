package store

import (
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// versions are those of the stores in testdata: each was written by a Pitot with that newest
// migration, and has a complete run, a killed run and, since imports exist, imported runs; since
// there is telemetry, the first two have some. The JSON next to each is the export of its runs by the
// same version, newest first.
var versions = []int{1, 2, 3, 6, 7, 8}

// unpack copies an old store to a folder of the test, with changes made to it.
func unpack(t *testing.T, version int, change string) (file string) {
	t.Helper()
	packed, err := os.Open(fmt.Sprintf("testdata/v%d.db.gz", version))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unzip, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, file, change)
	return file
}

// execute runs SQL on a database like another program would.
func execute(t *testing.T, file, statements string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements, args...); err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T, file string) *Store {
	t.Helper()
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// exported are the traces that an old Pitot exported.
func exported(t *testing.T, version int) (out []*trace.Trace) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("testdata/v%d.json", version))
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStoresOfOlderVersions(t *testing.T) {
	for _, version := range versions {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := openFile(t, unpack(t, version, ""))
			want := exported(t, version)
			list, err := s.List(Filter{})
			if err != nil || len(list) != len(want) {
				t.Fatalf("%v: %+v", err, list)
			}
			for i, w := range want {
				got, err := s.Load(w.Run.ID)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(w, got, cmpopts.EquateEmpty(), asSampled); diff != "" {
					t.Error(diff)
				}
				checkListing(t, list[i], w)
				checkFollowed(t, s, w)
			}
			w, err := s.Create(newRun("new", "", 2e9), Owner{})
			if err != nil {
				t.Fatal(err)
			}
			w.Append(sample(0))
			if err := w.Finish(newRun("new", "", 2e9)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Load("last"); err != nil || len(got.Records) != 1 {
				t.Errorf("%v: %+v", err, got)
			}
		})
	}
}

// checkListing compares the listing of a run with the run.
func checkListing(t *testing.T, l Listing, w *trace.Trace) {
	t.Helper()
	failed := 0
	for _, r := range w.Records {
		if !r.OK() {
			failed++
		}
	}
	if o := w.Run.Origin; o != nil && o.Detail == trace.Table {
		failed = 2
	}
	run := w.Run
	got := []any{l.ID, l.Name, l.Kind, l.Status, string(l.Validity), l.Started.UTC(), l.Records, l.Failed, l.Leg}
	want := []any{run.ID, run.Name, run.Kind, run.Status, validity(run), run.Started, len(w.Records), failed, run.Leg}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run %s: %s", run.ID, diff)
	}
	p := run.Plan
	planned := trace.Load{
		Dialect: p.Dialect, URL: p.URL, Model: p.Model, Workload: p.Workload, Arrival: p.Arrival, Requests: p.Requests, Concurrency: p.Concurrency, Rate: p.Rate,
	}
	if diff := cmp.Diff(planned, l.Plan()); diff != "" {
		t.Errorf("run %s: %s", run.ID, diff)
	}
}

// checkFollowed reads the records of a run one by one.
func checkFollowed(t *testing.T, s *Store, w *trace.Trace) {
	t.Helper()
	var got []*trace.Record
	for since := 0; ; {
		some, next, err := s.RecordsSince(w.Run.ID, since, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, some...); len(some) == 0 {
			break
		}
		since = next
	}
	if diff := cmp.Diff(w.Records, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("run %s: %s", w.Run.ID, diff)
	}
}

// A damaged run affects no other run, whether damaged before a migration or after.
func TestADamagedRunIsListedAndCanBeRemoved(t *testing.T) {
	const id = "20260101-000000-aaaa"
	for damage, file := range map[string]string{
		"before": unpack(t, 3, "UPDATE run SET body = substr(body, 1, 100) WHERE id = '"+id+"'"),
		"after":  unpack(t, 3, ""),
	} {
		t.Run(damage, func(t *testing.T) {
			s := openFile(t, file)
			if damage == "after" {
				execute(t, file, "UPDATE run_body SET body = 'x' WHERE run_id = ?", id)
			}
			list, err := s.List(Filter{})
			if err != nil || len(list) != 4 {
				t.Fatalf("%v: %+v", err, list)
			}
			l, err := s.Find("nightly / base")
			if err != nil || l.ID != id || l.Records != 3 || l.Failed != 1 || l.Status != trace.Complete {
				t.Errorf("%v: %+v", err, l)
			}
			if _, err := s.Load(id); err == nil || !strings.Contains(err.Error(), "run "+id+" is damaged") {
				t.Errorf("loaded, error %v", err)
			}
			if _, err := s.Load("v-json"); err != nil {
				t.Error(err)
			}
			if err := s.Remove(id); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Find(id); !errors.Is(err, ErrNoRun) {
				t.Errorf("still there, error %v", err)
			}
		})
	}
}

// A migration waits while an older Pitot writes a run.
func TestALiveRunOfAnOlderPitotPutsTheMigrationOff(t *testing.T) {
	file := unpack(t, 3, "")
	beat := "UPDATE run SET beat_ns = ? WHERE name = 'killed'"
	execute(t, file, beat, time.Now().UnixNano())
	if s, err := Open(file); err == nil || !strings.Contains(err.Error(), "another pitot is writing a run") {
		t.Fatalf("opened %v, error %v", s, err)
	}
	execute(t, file, beat, time.Now().Add(-2*silence).UnixNano())
	openFile(t, file)
}
