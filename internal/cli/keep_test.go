package cli

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/live"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/progress"
)

// on runs a command line on a store.
func on(t *testing.T, store, args string) (code int, stdout, stderr string) {
	t.Helper()
	p, out, errs := process(t, nil, append(strings.Fields(args), "--store", store)...)
	code = Run(p)
	return code, out.String(), errs.String()
}

// The file of the store is removed while a run goes on: that is said, the run is whole in a
// file, and the line at the end takes it back.
func TestARunThatCannotBeKeptIsRescued(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a store.db")
	p, _, _ := process(t, nil)
	said := new(bytes.Buffer)
	l := &live.View{Console: progress.NewConsole(said, nil, func(s string) string { return s }), Options: live.Options{Quiet: true}}
	k, err := p.newKeeper(file, l.Unsaved)
	if err != nil {
		t.Fatal(err)
	}
	made := trace.Run{ID: "20260101-000000-aaaa", Kind: trace.Measured, Started: time.Now(), Status: trace.Running, Plan: trace.Plan{Requests: 2}}
	if err := k.Handle(run.Starting{Run: &made}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + "-wal", file + "-shm"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	records := []*trace.Record{trace.NewRecord(0), trace.NewRecord(1)}
	for _, r := range records {
		_ = k.Handle(run.Recorded{Record: r})
	}
	made.Status, made.End = trace.Complete, 5
	if err := k.Handle(run.Ended{Run: &made}); err != nil {
		t.Errorf("it is not over: %v", err)
	}
	if want := "pitot: the store cannot be written: " + file + " was removed; records stay in memory until it can\n"; said.String() != want {
		t.Errorf("said %q, want %q", said, want)
	}
	err = k.Handle(run.Judged{Result: &run.Result{Trace: &trace.Trace{Run: made, Records: records}}})
	rescued := filepath.Join(filepath.Dir(file), "pitot-rescue-"+made.ID+".json")
	if err == nil || !strings.Contains(err.Error(), file+" was removed; all of it is in "+rescued) {
		t.Errorf("error %v", err)
	}
	if got, want := k.where(made.ID, err), "to store run "+made.ID+": pitot import '"+rescued+"' --store '"+file+"'"; got != strings.ReplaceAll(want, "'"+rescued+"'", shell.Quote(rescued)) {
		t.Errorf("%s", got)
	}
	k.close()
	if code, out, errs := on(t, file, "import "+rescued); code != exitOK || !strings.Contains(out, "1 new") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, out, errs := on(t, file, "runs show"); code != exitOK || !strings.Contains(out, "2 of 2 requests") || !strings.Contains(out, "the run was put into "+rescued) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// Damage is told by the run's id, and stops nothing but that run.
func TestDamageIsPassedOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	for _, name := range []string{"a-1", "a-2", "a-3", "b"} {
		if code, _, errs := on(t, file, "sim -q -n 3 --name "+name); code != exitOK {
			t.Fatal(errs)
		}
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA foreign_keys = 1; UPDATE run_body SET body = 'x' WHERE run_id IN (SELECT id FROM run WHERE name = 'a-1'); DELETE FROM computed;" +
		"UPDATE record SET chunks = x'ff' WHERE idx = 1 AND run_id IN (SELECT id FROM run WHERE name = 'a-2')"); err != nil {
		t.Fatal(err)
	}
	const body, record = " is damaged: invalid character", "one record of run "
	for _, tt := range []struct {
		args   string
		code   int
		stdout string
		stderr []string
	}{
		{"runs list -f ttft.p99", exitOK, "a-1", []string{body}},
		{"compare a-* b", exitOK, "2 runs", []string{body, record}},
		{"runs report a-1", exitFailed, "", []string{body}},
		{"runs report a-2", exitOK, "SIMULATED", []string{record}},
		{"runs export a-2 -f jsonl", exitOK, "{", []string{record}},
		{"runs check", exitFailed, "record 1 of run ", []string{"the store is damaged; `pitot runs repair`"}},
		{"runs repair", exitOK, "repaired; the damaged store is " + file + ".damaged-", nil},
		{"runs check", exitOK, "4 runs, 11 records: no damage", nil},
		{"compare a-* b", exitOK, "a-*", []string{record}},
		{"runs report a-1", exitOK, "it was rebuilt from", nil},
		{"runs rm a-1 a-2", exitOK, "removed", nil},
	} {
		code, out, errs := on(t, file, tt.args)
		if code != tt.code || !strings.Contains(out, tt.stdout) || tt.stderr == nil && errs != "" {
			t.Errorf("%s: exit code %d: %s%s", tt.args, code, out, errs)
		}
		for _, want := range tt.stderr {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: said %q, want %q", tt.args, errs, want)
			}
		}
	}
}
