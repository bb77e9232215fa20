package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// scanFrom reads what follows a number.
func scanFrom(t *testing.T, s *Store, id string, since int) (all []*trace.Record, next int) {
	t.Helper()
	next, more, err := s.Scan(id, since, 1<<20, func(r *trace.Record) { all = append(all, r) })
	if err != nil || more {
		t.Fatalf("after %d: more %t, %v", since, more, err)
	}
	return all, next
}

// What Scan has of a record is all but its text.
func TestScan(t *testing.T) {
	for name, file := range map[string]string{"blocks": threeRuns(t), "rows": inRows(t, threeRuns(t))} {
		s := openFile(t, file)
		want, _, _, err := s.readRecords("run-2")
		if err != nil || len(want) != 60 {
			t.Fatalf("%s: %d records: %v", name, len(want), err)
		}
		for _, limit := range []int{1, 7, 60, 1000} {
			if diff := cmp.Diff(want, scanAll(t, s, "run-2", limit), cmpopts.IgnoreFields(trace.Record{}, "Text")); diff != "" {
				t.Errorf("%s, %d at once: %s", name, limit, diff)
			}
		}
		if got := scanAll(t, s, "run-9", 10); got != nil {
			t.Errorf("%s: a run that is not there has %d records", name, len(got))
		}
	}
}

func TestScanPassesOverDamage(t *testing.T) {
	file := inRows(t, threeRuns(t))
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
	file := inRows(t, threeRuns(t))
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
