package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestMarkKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	s := openFile(t, file)
	one, err := s.MarkKey()
	if err != nil || one == (trace.MarkKey{}) {
		t.Fatalf("%x, %v", one, err)
	}
	again, _ := openFile(t, file).MarkKey()
	other, _ := openFile(t, filepath.Join(t.TempDir(), "t.db")).MarkKey()
	if again != one || other == one {
		t.Errorf("keys %x, %x of the same store and %x of another", one, again, other)
	}
	fresh := filepath.Join(t.TempDir(), "u.db")
	if err := s.copyTo(fresh); err != nil {
		t.Fatal(err)
	}
	if copied, _ := openFile(t, fresh).MarkKey(); copied != one {
		t.Errorf("a repaired store has key %x, want %x", copied, one)
	}
	execute(t, file, "UPDATE mark_key SET key = x'00'")
	if _, err := openFile(t, file).MarkKey(); err == nil || !strings.Contains(err.Error(), "1 bytes, want 16") {
		t.Errorf("a short key: %v", err)
	}
}

// Texts in the file of another tool are marked under the key of the store that imports them.
func TestImportedTextsAreMarkedAgain(t *testing.T) {
	s := open(t)
	r := sample(0)
	r.Text = "the Pitot tube"
	trace.InClear().MarkText(r)
	run := imported()
	run.MarkedBy = trace.InClear().ID()
	if _, err := s.Import(run, records(r), nil); err != nil {
		t.Fatal(err)
	}
	key, err := s.MarkKey()
	got, unread := s.Load(run.ID)
	if err != nil || unread != nil {
		t.Fatal(err, unread)
	}
	own, want := trace.NewMarker(key), sample(0)
	want.Text = r.Text
	own.MarkText(want)
	if got.Run.MarkedBy != own.ID() || got.Records[0].Marks != want.Marks || want.Marks == "" {
		t.Errorf("marked by %s: %x, want %x by %s", got.Run.MarkedBy, got.Records[0].Marks, want.Marks, own.ID())
	}
}

// Marks and defects are stored, and come back with whole records and alone.
func TestMarksAreStored(t *testing.T) {
	s := open(t)
	marker := trace.NewMarker(trace.MarkKey{1})
	run := trace.Run{ID: "run-1", Kind: trace.Imported, Status: trace.Complete, MarkedBy: marker.ID()}
	var want []*trace.Record
	for i := range 2000 {
		var a trace.Answer
		a.Begin(marker)
		a.AddString(trace.VisiblePart, strings.Repeat(fmt.Sprint("answer ", i, " "), i%200))
		r := trace.NewRecord(i)
		r.Marks, r.Defects = a.End(false, false)
		want = append(want, r)
	}
	if _, err := s.Import(run, records(want...), nil); err != nil {
		t.Fatal(err)
	}
	same := func(how string, got []*trace.Record) {
		t.Helper()
		for i, r := range got {
			if r.Index != i || r.Marks != want[i].Marks || r.Defects != want[i].Defects {
				t.Fatalf("%s: record %d has %x %v, want %x %v", how, r.Index, r.Marks, r.Defects, want[i].Marks, want[i].Defects)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d records", how, len(got))
		}
	}
	back, err := s.Load("run-1")
	if err != nil || back.Run.MarkedBy != run.MarkedBy {
		t.Fatal(err, back.Run.MarkedBy)
	}
	same("whole", back.Records)
	var alone []*trace.Record
	for some, err := range s.EachMarked("run-1") {
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, some...)
	}
	same("marks alone", alone)
}
