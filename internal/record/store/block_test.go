package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// late is the index of the n-th record to end, of requests that end up to some places late.
func late(n, by int) int { return n/by*by + by - 1 - n%by }

// commits writes records as a run that flushes some at a time and is killed.
func commits(t *testing.T, s *Store, some int, records ...*trace.Record) *Writer {
	t.Helper()
	w, err := s.Create(newRun("run-1", "", 1000), Owner{})
	if err != nil {
		t.Fatal(err)
	}
	w.end()
	w.done.Wait()
	w.running = true
	for part := range slices.Chunk(records, some) {
		for _, r := range part {
			w.Append(r)
		}
		if err := w.flush(brief, false); err != nil {
			t.Fatal(err)
		}
	}
	w.running = false
	return w
}

func ints(t *testing.T, s *Store, query string) (out []int) {
	t.Helper()
	for _, text := range s.strings(query) {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// The blocks of flushes are joined while a run is written, and readers find every record, in both orders, at any time.
func TestBlocksAreJoined(t *testing.T) {
	s := open(t)
	const n = 3*trace.BlockRecords + 100
	var ended []*trace.Record
	for i := range n {
		ended = append(ended, sample(late(i, 4)))
	}
	w := commits(t, s, 300, ended...)
	if got := ints(t, s, "SELECT records FROM block ORDER BY seq"); !slices.Equal(got, []int{900, 900, 900, 300, 172}) {
		t.Errorf("blocks of %v", got)
	}
	inOrder := slices.SortedFunc(slices.Values(ended), byIndex)
	check := func() {
		t.Helper()
		if got, err := s.Load("run-1"); err != nil || !cmp.Equal(inOrder, got.Records) {
			t.Errorf("%v: the records differ", err)
		}
		got, next := scanFrom(t, s, "run-1", 1000)
		if len(got) != n-1000 || got[0].Index != ended[1000].Index || next != n {
			t.Errorf("%d records to %d", len(got), next)
		}
		for _, index := range []int{0, 899, 905, n - 1} {
			if got, err := s.Record("run-1", index); err != nil || !cmp.Equal(sample(index), got) {
				t.Errorf("record %d: %v", index, err)
			}
		}
	}
	check()
	run := newRun("run-1", "", 1000)
	run.Status = trace.Complete
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	if got := ints(t, s, "SELECT records FROM block ORDER BY seq"); !slices.Equal(got, []int{900, 900, 900, 472}) {
		t.Errorf("blocks of %v", got)
	}
	check()
	if h, err := s.Check(nil); err != nil || h.Err() != nil {
		t.Errorf("%v: %s", err, h)
	}
}

// A block is joined with others between two reads of a reader.
func TestABlockThatIsJoinedIsFound(t *testing.T) {
	s := open(t)
	var all []*trace.Record
	for i := range 50 {
		all = append(all, sample(i))
	}
	w := commits(t, s, 10, all...)
	before, err := s.extents("run-1", 0)
	if err != nil || len(before) != 5 {
		t.Fatal(before, err)
	}
	if err := w.join(brief); err != nil {
		t.Fatal(err)
	}
	got, err := s.block("run-1", before[3], whole)
	if err != nil || !cmp.Equal(all[30:40], got) {
		t.Errorf("%v: %d records", err, len(got))
	}
}

// Blocks that cannot be joined stay as they are.
func TestAJoinOfALockedStore(t *testing.T) {
	s := open(t)
	all := []*trace.Record{sample(0), sample(1), sample(2)}
	w := commits(t, s, 1, all...)
	tx, err := openFile(t, s.file).db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.join(0); err == nil {
		t.Error("joined in a locked store")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := s.Load("run-1"); err != nil || !cmp.Equal(all, got.Records) {
			t.Errorf("%v: the records differ", err)
		}
		if err := w.join(brief); err != nil {
			t.Error(err)
		}
	}
}

// A block that is damaged loses its own records, by their indices.
func TestADamagedBlock(t *testing.T) {
	for name, tt := range map[string]struct {
		change string
		want   []string
	}{
		"heads":  {"UPDATE block SET heads = zeroblob(50) WHERE seq = 21", []string{"records 15 to 19 of run run-1 are damaged", "records 25 to 29 of run run-1 are damaged"}},
		"chunks": {"UPDATE block SET chunks = x'' WHERE seq = 21", []string{"records 15 to 19 of run run-1 are damaged", "records 25 to 29 of run run-1 are damaged"}},
		"both": {
			"UPDATE block SET heads = x'' WHERE seq IN (11, 21)",
			[]string{"10 records between 10 and 24 of run run-1 are damaged", "10 records between 15 and 29 of run run-1 are damaged"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "runs.db")
			s := openFile(t, file)
			var all []*trace.Record
			for _, five := range []int{0, 1, 2, 4, 3, 5, 6, 7} {
				for i := range 5 {
					all = append(all, sample(5*five+i))
				}
			}
			commits(t, s, 10, all...)
			execute(t, file, tt.change)
			got, lost, _, err := s.readRecords("run-1")
			if diff := cmp.Diff(tt.want, told(lost)); err != nil || diff != "" || len(got) != 40-10*(1+strings.Count(tt.change, ",")) {
				t.Errorf("%v: %d records, %s", err, len(got), diff)
			}
			if _, err := s.Record("run-1", 26); err == nil || !strings.Contains(err.Error(), "record 26 of run run-1 is damaged") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Requests that end in any order are read in that of the workload, with few of them in memory.
func TestAMergeIsNarrow(t *testing.T) {
	s := open(t)
	const n = 2 * mostRead
	if _, err := s.Import(newRun("run-1", "", 1), func(yield func(*trace.Record, error) bool) {
		for i := range n {
			r := plain()
			r.Index = i * 40503 % n
			if !yield(r, nil) {
				return
			}
		}
	}, nil); err != nil {
		t.Fatal(err)
	}
	m, err := s.merge("run-1")
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; {
		some, err := m.batch()
		if err != nil || m.read > mostRead {
			t.Fatalf("%d records in memory, %v", m.read, err)
		}
		for _, r := range some {
			if r.Index != at || len(r.Chunks) != 2 {
				t.Fatalf("record %d after %d", r.Index, at)
			}
			at++
		}
		if len(some) == 0 {
			if at != n {
				t.Errorf("%d records", at)
			}
			return
		}
	}
}
