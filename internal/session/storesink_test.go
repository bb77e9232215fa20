package session

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// The file of the store is removed while a run goes on: that is said, the run is whole in a
// file, and the line at the end takes it back.
func TestARunThatCannotBeKeptIsRescued(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a store.db")
	p := &Session{Stderr: io.Discard, Env: func(string) (string, bool) { return "", false }}
	output := new(bytes.Buffer)
	l := &View{Console: live.NewConsole(output, nil, func(s string) string { return s }), ViewOptions: ViewOptions{Quiet: true, Lang: words.In("en")}}
	k, err := p.newStoreSink(file, l.Unsaved)
	if err != nil {
		t.Fatal(err)
	}
	made := trace.Run{ID: "20260101-000000-aaaa", Kind: trace.Measured, Started: time.Now(), Status: trace.Running, Plan: trace.Load{Requests: 2}}
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
	if want := "pitot: the store cannot be written: " + file + " was removed; records stay in memory until it can\n"; output.String() != want {
		t.Errorf("said %q, want %q", output, want)
	}
	err = k.Handle(run.Judged{Result: &run.Result{Trace: &trace.Trace{Run: made, Records: records}}})
	rescued := filepath.Join(filepath.Dir(file), "pitot-rescue-"+made.ID+".json")
	if err == nil || !strings.Contains(err.Error(), file+" was removed; all of it is in "+rescued) {
		t.Errorf("error %v", err)
	}
	if got, want := k.hint(made.ID, err, words.In("en")), "to store run "+made.ID+": pitot import '"+rescued+"' --store '"+file+"'"; got != strings.ReplaceAll(want, "'"+rescued+"'", shell.Quote(rescued)) {
		t.Errorf("%s", got)
	}
	k.close()
	all, _, err := Files([]string{rescued})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	found, problems, data, err := all[0].Read()
	if err != nil || len(problems) > 0 || len(found) != 1 {
		t.Fatal(found, problems, err)
	}
	defer data.Close()
	if back, err := found[0].Trace(); err != nil || len(back.Records) != 2 || back.Run.ID != made.ID {
		t.Errorf("%v, %v", back, err)
	}
}
