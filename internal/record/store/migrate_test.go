package store

import (
	"bytes"
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

// unpack copies a store of the oldest version to a folder of the test, as of a later one and with changes made to it. It
// has a complete run, a killed and a labelled one, both with telemetry, simulated runs of a sweep, and an imported one.
// v9.json is the export of its runs, newest first, by the Pitot that wrote them.
func unpack(t *testing.T, version int, change string) (file string) {
	t.Helper()
	packed, err := os.Open("testdata/v9.db.gz")
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
	for n := oldest + 1; n <= version; n++ {
		text, err := script(n)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, file, text+fmt.Sprintf(";PRAGMA user_version = %d", n))
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
func exported(t *testing.T) (out []*trace.Trace) {
	t.Helper()
	data, err := os.ReadFile("testdata/v9.json")
	var compact bytes.Buffer // as settings of a Spec that are JSON are stored
	if err := errors.Join(err, json.Compact(&compact, data)); err != nil {
		t.Fatal(err)
	}
	err = json.Unmarshal(compact.Bytes(), &out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStoresOfOlderVersions(t *testing.T) {
	for version := oldest; version <= newest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := openFile(t, unpack(t, version, ""))
			want := exported(t)
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
			if found, err := s.Searches(); err != nil || len(found) != 1 || found[0].Name != "lengths" {
				t.Errorf("%v: searches %+v", err, found)
			}
			checkWritable(t, s)
		})
	}
}

// checkWritable stores a run.
func checkWritable(t *testing.T, s *Store) {
	t.Helper()
	w, err := s.Create(newRun("new", "", 2e9), Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.Append(sample(0))
	if err := w.Finish(newRun("new", "", 2e9)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load("new"); err != nil || len(got.Records) != 1 {
		t.Errorf("%v: %+v", err, got)
	}
}

func TestStoresThatAreTooOld(t *testing.T) {
	file := unpack(t, oldest, "PRAGMA user_version = 8")
	for _, open := range []func(string) (*Store, error){Open, OpenRead, OpenWrite} {
		_, err := open(file)
		want := "open store " + file + ": version 8 is too old (this pitot supports 9 to 16); move the file away to start a new store"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
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
	if w.Run.Origin != nil {
		failed = 1
	}
	run := w.Run
	if leg := run.Leg; leg != nil {
		run.Leg = &trace.Leg{Experiment: leg.Experiment, Block: leg.Block, Position: leg.Position, ServerStart: leg.ServerStart}
	}
	got := []any{l.ID, l.Name, l.Kind, l.Status, string(l.Validity), l.Started.UTC(), l.Records, l.Failed, l.Leg}
	want := []any{run.ID, run.Name, run.Kind, run.Status, validity(run), run.Started, len(w.Records), failed, run.Leg}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run %s: %s", run.ID, diff)
	}
	p := run.Plan
	planned := trace.Load{
		Dialect: p.Dialect, URL: p.URL, Model: p.Model, Workload: p.Workload, Arrival: p.Arrival,
		Requests: p.Requests, Concurrency: p.Concurrency, Rate: p.Rate,
	}
	if diff := cmp.Diff(planned, l.Plan()); diff != "" {
		t.Errorf("run %s: %s", run.ID, diff)
	}
}

// checkFollowed reads the records of a run one by one.
func checkFollowed(t *testing.T, s *Store, w *trace.Trace) {
	t.Helper()
	got := scanAll(t, s, w.Run.ID, 1)
	byIndex := cmpopts.SortSlices(func(a, b *trace.Record) bool { return a.Index < b.Index })
	if diff := cmp.Diff(w.Records, got, cmpopts.EquateEmpty(), byIndex); diff != "" {
		t.Errorf("run %s: %s", w.Run.ID, diff)
	}
}

func TestADamagedRunIsListedAndCanBeRemoved(t *testing.T) {
	s := openFile(t, unpack(t, oldest, "UPDATE run_body SET body = 'x' WHERE run_id = (SELECT id FROM run WHERE name = 'nightly / base')"))
	list, err := s.List(Filter{})
	if err != nil || len(list) != 6 {
		t.Fatalf("%v: %+v", err, list)
	}
	l, err := s.Find("nightly / base")
	if err != nil || l.Records != 4 || l.Failed != 0 || l.Status != trace.Complete {
		t.Errorf("%v: %+v", err, l)
	}
	if _, err := s.Load(l.ID); err == nil || !strings.Contains(err.Error(), "run "+l.ID+" is damaged") {
		t.Errorf("loaded, error %v", err)
	}
	if _, err := s.Load("result"); err != nil {
		t.Error(err)
	}
	if err := s.Remove(l.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(l.ID); !errors.Is(err, ErrNoRun) {
		t.Errorf("still there, error %v", err)
	}
}

// A migration waits while an older Pitot writes a run.
func TestALiveRunOfAnOlderPitotPutsTheMigrationOff(t *testing.T) {
	file := unpack(t, oldest, "")
	beat := "UPDATE run SET beat_ns = ? WHERE name = 'killed'"
	execute(t, file, beat, time.Now().UnixNano())
	if s, err := Open(file); err == nil || !strings.Contains(err.Error(), "another pitot is writing a run") {
		t.Fatalf("opened %v, error %v", s, err)
	}
	execute(t, file, beat, time.Now().Add(-2*silence).UnixNano())
	openFile(t, file)
}
