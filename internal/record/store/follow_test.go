package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A concurrent reader, as in another process, gets each record once, in commit
// order, and the snapshot of each flush.
func TestARunIsFollowedWhileItIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s, reader := openFile(t, file), openFile(t, file)
	progress := trace.Snapshot{At: trace.Never}
	run := newRun("run-1", "", 1)
	w, err := s.Create(run, Owner{Progress: func() trace.Snapshot { return progress }})
	if err != nil {
		t.Fatal(err)
	}
	w.end() // the test flushes
	w.done.Wait()
	read := func(since int, want ...*trace.Record) (next int) {
		t.Helper()
		got, next := scanFrom(t, reader, "run-1", since)
		for _, r := range want {
			r.Text = ""
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		return next
	}
	flush := func(records ...*trace.Record) {
		t.Helper()
		for _, r := range records {
			w.Append(r)
		}
		if err := w.flush(brief, false); err != nil {
			t.Fatal(err)
		}
	}
	flush() // before the run: no snapshot
	next := read(0)
	progress = trace.Snapshot{At: 5, Released: 4, Done: 2, Failed: 1, Tokens: 30}
	flush(sample(2), sample(0))
	read(1, sample(0))
	next = read(next, sample(2), sample(0))
	next = read(next)
	progress.At, progress.Tokens = 7, 40
	flush()
	progress.At, progress.Done = 9, 4
	flush(sample(1), sample(3))
	next = read(next, sample(1), sample(3))
	read(next)
	if err := w.join(brief); err != nil { // at the end
		t.Fatal(err)
	}
	read(next)
	read(3, sample(3))
	read(0, sample(2), sample(0), sample(1), sample(3))

	want := []trace.Snapshot{
		{At: 5, Released: 4, Done: 2, Failed: 1, Tokens: 30}, {At: 7, Released: 4, Done: 2, Failed: 1, Tokens: 40}, {At: 9, Released: 4, Done: 4, Failed: 1, Tokens: 40},
	}
	for _, tt := range []struct {
		after trace.Instant
		limit int
		want  []trace.Snapshot
	}{{trace.Never, 10, want}, {trace.Never, 2, want[:2]}, {5, 10, want[1:]}, {9, 10, nil}} {
		if got, err := reader.Snapshots("run-1", tt.after, tt.limit); err != nil || !cmp.Equal(tt.want, got) {
			t.Errorf("after %d: %+v, %v", tt.after, got, err)
		}
	}
	if want[0].InFlight() != 2 {
		t.Errorf("%d in flight", want[0].InFlight())
	}
}

// Following a run costs as much as its new records.
func TestWhatWasReadIsNotReadAgain(t *testing.T) {
	s := open(t)
	rows, err := s.db.Query("EXPLAIN QUERY PLAN SELECT "+columns+" FROM record WHERE "+following, "r", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if got := fmt.Sprint(plan); len(plan) != 1 || !strings.Contains(got, "USING INDEX record_seq (run_id=? AND <expr>>?)") {
		t.Error(got)
	}
}
