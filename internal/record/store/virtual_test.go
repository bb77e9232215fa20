package store

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// A simulation waits for the disk where it is faster, and what is committed leaves memory. All records can be read
// once it is finished.
func TestAVirtualRunWaitsForTheDisk(t *testing.T) {
	s := open(t)
	synctest.Test(t, func(t *testing.T) {
		w, err := s.Create(newRun("run-1", "", 1000), Owner{Virtual: true})
		if err != nil {
			t.Fatal(err)
		}
		const n = 500
		w.most = 20 * chunksOf(sample(0))
		for i := range n {
			w.Append(sample(i))
			if len(w.records()) > 25 {
				t.Fatalf("%d records in memory", len(w.records()))
			}
		}
		if err := w.Finish(newRun("run-1", "", 1000)); err != nil {
			t.Fatal(err)
		}
		i := 0
		for some, err := range w.Records() {
			for _, r := range some {
				if r.Index != i || err != nil {
					t.Fatalf("record %d: %+v, %v", i, r, err)
				}
				i++
			}
		}
		if i != n {
			t.Errorf("%d records", i)
		}
	})
}

// One that cannot be stored does not wait, and is not written to a file where records of it have left memory.
func TestAVirtualRunThatCannotBeStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	synctest.Test(t, func(t *testing.T) {
		w, err := s.Create(newRun("run-1", "", 1000), Owner{Virtual: true})
		if err != nil {
			t.Fatal(err)
		}
		w.most = 20 * chunksOf(sample(0))
		for i := range 200 {
			if i == 100 {
				execute(t, file, "ALTER TABLE block RENAME TO gone")
			}
			w.Append(sample(i))
		}
		err = w.Finish(newRun("run-1", "", 1000))
		if err == nil || !strings.Contains(err.Error(), "it is a simulation and can be made again") || w.rescued != "" {
			t.Errorf("%v, %q", err, w.rescued)
		}
		for some, err := range w.Records() {
			if some != nil || err == nil {
				t.Errorf("%d records, %v", len(some), err)
			}
		}
	})
}
