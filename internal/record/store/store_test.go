package store

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "a ?#%.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newRun(id, name string, started int64) trace.Run {
	return trace.Run{
		ID: id, Name: name, Kind: trace.Measured, Started: time.Unix(started, 0).UTC(), End: trace.Never,
		Plan: trace.Load{Model: "m", Requests: 3},
	}
}

func sample(index int) *trace.Record {
	r := trace.NewRecord(index)
	r.ID, r.PromptTokens, r.WantTokens = "r", 5, 6
	r.Due, r.Released, r.Sent, r.FirstByte, r.Done = 0, 1, 2, 3, 900
	r.Chunks = []trace.Chunk{{At: 3, Kind: trace.Role}, {At: 500, Tokens: 2, Kind: trace.Text}}
	r.Text, r.Status, r.FinishReason = "hé", 200, "stop"
	r.Usage = trace.Usage{Prompt: 5, Completion: 2, Cached: 1, Reasoning: 1, At: 700}
	r.OutputTokens, r.CountedFrom, r.Redials = 2, trace.FromUsage, 1
	r.Stamps, r.Chunks[1].Slack = trace.KernelStamps, 20
	r.Tenant, r.Session, r.Turn, r.VisionTokens, r.Accept, r.OtherLines, r.Inputs, r.AudioSeconds = "a", "c1", 2, 1, 2.5, 3, 4, 5.5
	r.Retokenized = 6
	r.Resent, r.FirstSent = true, 3
	r.Usage.Tiers = &trace.CacheTiers{Device: 1, Backend: "disk"}
	return r
}

// plain is a record as most are.
func plain() *trace.Record {
	r := trace.NewRecord(0)
	r.ID, r.PromptTokens, r.WantTokens, r.Stamps = "r", 5, 6, trace.KernelStamps
	r.Due, r.Released, r.Sent, r.FirstByte, r.Done = 0, 1, 2, 3, 900
	r.Chunks = []trace.Chunk{{At: 3, Kind: trace.Role}, {At: 500, Tokens: 2, Kind: trace.Text}}
	r.Status, r.FinishReason, r.OutputTokens, r.CountedFrom = 200, "stop", 2, trace.FromUsage
	r.Usage = trace.Usage{Prompt: 5, Completion: 2, At: trace.Never}
	return r
}

func TestARunAndItsRecordsComeBackAsTheyWere(t *testing.T) {
	s := open(t)
	run := newRun("run-1", "first", 1000)
	w, err := s.Create(run, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	failed := trace.NewRecord(1)
	failed.Class, failed.Error = trace.Reset, "reset"
	want := []*trace.Record{sample(0), failed, sample(2)}
	for _, i := range []int{2, 0, 1} {
		w.Append(want[i])
	}
	run.Status, run.End = trace.Complete, 1000
	run.Probes = []*trace.Record{sample(0)}
	run.Notes = []plan.Message{plan.Text("a note"), plan.Msg("a-code", "n", 1)}
	run.Verdict = &trace.Verdict{Validity: trace.Doubtful, Reasons: []plan.Message{plan.Text("one"), plan.Msg("another")}}
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	var validity string
	if err := s.db.QueryRow("SELECT validity FROM run").Scan(&validity); err != nil || validity != "doubtful" {
		t.Errorf("validity %q, %v", validity, err)
	}
	got, err := s.Load("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&trace.Trace{Run: run, Records: want}, got); diff != "" {
		t.Error(diff)
	}
	list, err := s.List(Filter{})
	if err != nil || len(list) != 1 || list[0].Records != 3 || list[0].Failed != 1 || list[0].Status != trace.Complete {
		t.Errorf("%v: %+v", err, list)
	}
}

// Records are stored before the run ends, and a process without a heartbeat counts
// as dead.
func TestAKilledRunKeepsItsRecords(t *testing.T) {
	s := open(t)
	w, err := s.Create(newRun("run-1", "", 1000), Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.Append(sample(0))
	w.flush(brief, false)
	got, err := s.Load("last")
	if err != nil || len(got.Records) != 1 || got.Run.Status != trace.Running || got.Run.End != trace.Never {
		t.Fatalf("%v: %+v", err, got)
	}
	if _, err := s.db.Exec("UPDATE run SET beat_ns = ?", time.Now().Add(-2*silence).UnixNano()); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Load("last"); err != nil || got.Run.Status != Killed {
		t.Errorf("%v: %+v", err, got.Run.Status)
	}
	w.flush(brief, false) // a slow process is not a dead one
	if got, err = s.Load("last"); err != nil || got.Run.Status != trace.Running {
		t.Errorf("%v: %+v", err, got.Run.Status)
	}
}

func TestFlushKeepsWhatCannotBeWritten(t *testing.T) {
	s := open(t)
	run := newRun("run-1", "", 1000)
	w, err := s.Create(run, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("ALTER TABLE block RENAME TO gone"); err != nil {
		t.Fatal(err)
	}
	w.Append(sample(0))
	w.flush(brief, false)
	w.Append(sample(1))
	if _, err := s.db.Exec("ALTER TABLE gone RENAME TO block"); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load("run-1"); err != nil || len(got.Records) != 2 {
		t.Errorf("%v: %+v", err, got)
	}
}

func TestFinishSaysWhatWasNotWritten(t *testing.T) {
	s := open(t)
	run := newRun("run-1", "", 1000)
	w, err := s.Create(run, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.Append(sample(0))
	w.Append(sample(0)) // the same index twice
	if err := w.Finish(run); err == nil || !strings.Contains(err.Error(), "run run-1 could not be stored: request 0 of run run-1 has a second record") {
		t.Errorf("got %v", err)
	}
}

func TestFind(t *testing.T) {
	s := open(t)
	for i, r := range []trace.Run{newRun("2026-a1", "base", 1), newRun("2026-a2", "base", 2), newRun("2027-b1", "", 3)} {
		w, err := s.Create(r, Owner{})
		if err != nil {
			t.Fatal(i, err)
		}
		if err := w.Finish(r); err != nil {
			t.Fatal(err)
		}
	}
	for ref, want := range map[string]string{
		"2026-a1": "2026-a1", "2027": "2027-b1", "last": "2027-b1", "base": "2026-a2", "2026-a": "could be any of 2: 2026-a2, 2026-a1",
		"nope": `no such run: "nope"`, "": `no such run: ""`,
	} {
		found, err := s.Find(ref)
		id := found.ID
		if err != nil {
			id = err.Error()
			if !errors.Is(err, ErrNoRun) {
				t.Errorf("%q: %v", ref, err)
			}
		}
		if !strings.HasPrefix(id, want) && !strings.Contains(id, want) {
			t.Errorf("%q: %s, want %s", ref, id, want)
		}
	}
	if err := s.Remove("2026-a1"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(Filter{}); err != nil || len(list) != 2 || list[0].ID != "2027-b1" {
		t.Errorf("%v: %+v", err, list)
	}
	var n int
	if err := s.db.QueryRow("SELECT count(*) FROM block WHERE run_id = '2026-a1'").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d records left behind, %v", n, err)
	}
}

func TestOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(file) // while one is open, and without a second migration
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Close(), again.Close()
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "written by a newer pitot (version 99") {
		t.Errorf("newer: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing", "runs.db")); err == nil || !strings.Contains(err.Error(), "open store") {
		t.Errorf("missing folder: %v", err)
	}
}

func TestInstantScan(t *testing.T) {
	var at trace.Instant
	if err := (instant{&at}).Scan("x"); err == nil {
		t.Error("text was taken for an instant")
	}
	if err := (instant{&at}).Scan(nil); err != nil || at != trace.Never {
		t.Error(err, at)
	}
}

func TestTheDatabaseOfAnotherProgramIsLeftAlone(t *testing.T) {
	for _, version := range []int{0, 1} {
		file := filepath.Join(t.TempDir(), "other.db")
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(fmt.Sprintf("CREATE TABLE run (id TEXT); PRAGMA user_version = %d", version)); err != nil {
			t.Fatal(err)
		}
		_ = db.Close()
		if s, err := Open(file); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("version %d: opened %v, error %v", version, s, err)
		}
	}
}
