package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Stream gives the records that Load does, each time, and the notes on what is damaged once they were read.
func TestStreamIsLoadInParts(t *testing.T) {
	s := open(t)
	const n = 2*batch + 7
	var records []*trace.Record
	for i := range n {
		records = append(records, sample(i))
	}
	tr := trace.Run{ID: "run-1", Status: trace.Complete, Plan: trace.Load{Requests: n}}
	if _, err := s.Import(tr, func(yield func(*trace.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := s.Load("run-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, mostReread} {
		got, parts, err := s.stream("run-1", limit)
		if err != nil || got.Records != nil {
			t.Fatal(err, len(got.Records))
		}
		for range 2 {
			var read []*trace.Record
			for some, err := range parts {
				if err != nil || len(some) > batch && limit == 0 {
					t.Fatal(err, len(some))
				}
				read = append(read, some...)
			}
			if diff := cmp.Diff(whole.Records, read); diff != "" || got.Run.Notes != nil {
				t.Error(got.Run.Notes, diff)
			}
		}
	}
}

func TestStreamNotesDamage(t *testing.T) {
	file := threeRuns(t)
	s := openFile(t, file)
	execute(t, file, "UPDATE run SET records = 62 WHERE id = 'run-2'")
	whole, err := s.Load("run-2")
	if err != nil || len(LeftOut(whole)) == 0 {
		t.Fatal(err, whole.Run.Notes)
	}
	got, parts, err := s.Stream("run-2")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, err := range parts {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(whole.Run.Notes, got.Run.Notes); diff != "" {
		t.Error(diff)
	}
}
