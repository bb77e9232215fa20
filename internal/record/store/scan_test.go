package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// scanAll reads a run in pieces.
func scanAll(t *testing.T, s *Store, id string, limit int) (all []*trace.Record) {
	t.Helper()
	for next, more := 0, true; more; {
		var err error
		before := next
		next, more, err = s.Scan(id, next, limit, func(r *trace.Record) {
			one := *r
			one.Chunks = slices.Clone(r.Chunks)
			all = append(all, &one)
		})
		if err != nil || more && next <= before {
			t.Fatalf("from %d to %d: %v", before, next, err)
		}
	}
	return all
}

// What Scan has of a record is what RecordsSince has of it.
func TestScan(t *testing.T) {
	s := openFile(t, threeRuns(t))
	whole, _, err := s.RecordsSince("run-2", 0, 100)
	if err != nil || len(whole) != 60 {
		t.Fatalf("%d records: %v", len(whole), err)
	}
	var want []*trace.Record
	for _, r := range whole {
		one := trace.NewRecord(r.Index)
		one.Turn, one.Inputs, one.PromptTokens, one.Usage.Prompt, one.OutputTokens = r.Turn, r.Inputs, r.PromptTokens, r.Usage.Prompt, r.OutputTokens
		one.Due, one.Released, one.Sent, one.FirstByte, one.Done = r.Due, r.Released, r.Sent, r.FirstByte, r.Done
		one.Status, one.Class, one.Error, one.Stamps, one.Chunks = r.Status, r.Class, r.Error, r.Stamps, r.Chunks
		want = append(want, one)
	}
	for _, limit := range []int{1, 7, 60, 1000} {
		if diff := cmp.Diff(want, scanAll(t, s, "run-2", limit)); diff != "" {
			t.Errorf("%d at once: %s", limit, diff)
		}
	}
	if got := scanAll(t, s, "run-9", 10); got != nil {
		t.Errorf("a run that is not there has %d records", len(got))
	}
}

func TestScanPassesOverDamage(t *testing.T) {
	file := threeRuns(t)
	s := openFile(t, file)
	execute(t, file, "UPDATE record SET chunks = x'ff' WHERE run_id = 'run-2' AND idx IN (17, 40)")
	if got := scanAll(t, s, "run-2", 7); len(got) != 58 {
		t.Errorf("%d records", len(got))
	}
}

// A page of the file that is overwritten loses the records on it, and no scan fails or goes on
// for ever.
func TestScanOfADamagedFile(t *testing.T) {
	const page = 4096
	file := threeRuns(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	leaves := 0 // pages that lose a few records
	for at := 4 * page; at < len(data); at += page {
		broken := slices.Clone(data)
		for i := range page {
			broken[at+i] = 0xab
		}
		s, err := Open(writeFile(t, broken))
		if err != nil {
			continue
		}
		lost := 180
		for _, id := range []string{"run-1", "run-2", "run-3"} {
			lost -= len(scanAll(t, s, id, 16))
		}
		_ = s.Close()
		if lost > 0 && lost < 40 {
			leaves++
		}
	}
	if leaves < 10 {
		t.Errorf("%d pages have some of the records", leaves)
	}
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "broken.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
