package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// tableOf is a run of a table that begins in a line of a note.
func tableOf(id string, line int, text string) trace.Run {
	run := imported()
	run.ID, run.Origin.Line = id, line
	if text != "" {
		run.Origin.Note = noteOf(text)
	}
	return run
}

func noteOf(text string) *trace.Note {
	n := &trace.Note{Passages: []trace.Passage{{Line: 1, Text: text}, {Line: 90, Text: "the end"}}, Cut: true}
	_, n.ID = n.Body()
	return n
}

// noted is a store of two runs of one note and one of another.
func noted(t *testing.T) *Store {
	t.Helper()
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	for _, run := range []trace.Run{tableOf("a", 3, "one"), tableOf("b", 30, "one"), tableOf("c", 3, "two")} {
		if _, err := s.Import(run, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func notes(s *Store) []string { return s.strings("SELECT id FROM note ORDER BY rowid") }

func TestNoteIsStoredOnceAndGoesWithItsLastRun(t *testing.T) {
	s := noted(t)
	one, two := noteOf("one"), noteOf("two")
	if got, err := s.Note(one.ID); err != nil || !cmp.Equal(one, got) {
		t.Errorf("%+v, %v", got, err)
	}
	if list, err := s.List(Filter{Note: one.ID}); err != nil || len(list) != 2 || list[0].ID != "b" {
		t.Errorf("%+v, %v", list, err)
	}
	// What reads a run and stores it again leaves its note alone.
	run, err := s.Run("b")
	if err == nil {
		err = s.Update(run)
	}
	if again, _ := s.Run("b"); err != nil || !cmp.Equal(&trace.Note{ID: one.ID}, run.Origin.Note) || !cmp.Equal(run, again) {
		t.Errorf("%v: %+v", err, again.Origin.Note)
	}
	for _, step := range []struct {
		remove string
		want   []string
	}{{"a", []string{one.ID, two.ID}}, {"b", []string{two.ID}}, {"c", nil}} {
		if err := s.Remove(step.remove); err != nil {
			t.Fatal(err)
		}
		if got := notes(s); !cmp.Equal(step.want, got) {
			t.Errorf("without %s: notes %v, want %v", step.remove, got, step.want)
		}
	}
	if _, err := s.Note(one.ID); !errors.Is(err, ErrNoNote) {
		t.Errorf("error %v", err)
	}
}

// A run of before there were notes gets its own; lines of another text are none of it.
func TestNoteOfAKnownRun(t *testing.T) {
	s := open(t)
	for _, step := range []struct {
		run  trace.Run
		want string
	}{
		{tableOf("a", 3, ""), ""},
		{tableOf("a", 4, "changed"), ""},
		{tableOf("a", 3, "one"), noteOf("one").ID},
		{tableOf("a", 3, "two"), noteOf("one").ID},
	} {
		if _, err := s.Import(step.run, nil, nil); err != nil {
			t.Fatal(err)
		}
		got := ""
		run, err := s.Run("a")
		if n := run.Origin.Note; n != nil {
			got = n.ID
		}
		if err != nil || got != step.want {
			t.Errorf("%+v: note %q, %v", step.run.Origin.Note, got, err)
		}
	}
	if got := notes(s); len(got) != 1 {
		t.Errorf("notes %v", got)
	}
}

// An export has the note, and another store has the same one of it.
func TestNoteOfAnExport(t *testing.T) {
	s, other := noted(t), open(t)
	got, err := s.Complete(s.Load("a"))
	if err != nil || !cmp.Equal(noteOf("one"), got.Run.Origin.Note) {
		t.Fatalf("%v: %+v", err, got.Run.Origin.Note)
	}
	if _, err := other.Import(got.Run, nil, nil); err != nil || !cmp.Equal(notes(other), notes(s)[:1]) {
		t.Errorf("%v: %v", err, notes(other))
	}
	forged := tableOf("z", 1, "one")
	forged.Origin.Note.Passages[0].Text = "another text"
	if _, err := other.Import(forged, nil, nil); err != nil || len(notes(other)) != 1 {
		t.Errorf("%v: a note under the digest of another: %v", err, notes(other))
	}
	if n, err := other.Note(noteOf("one").ID); err != nil || n.Passages[0].Text != "one" {
		t.Errorf("%v: %+v", err, n)
	}
}

func TestDamagedNotes(t *testing.T) {
	s := noted(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := s.file
	one, two := noteOf("one").ID, noteOf("two").ID
	execute(t, file, "UPDATE note SET body = replace(body, 'one', 'eleven') WHERE id = '"+one+"'")
	s = openFile(t, file)
	h, err := s.Check(nil)
	if err != nil || len(h.Damage) != 1 || !strings.Contains(h.String(), "note "+one+" is damaged") {
		t.Errorf("%v: %s", err, h)
	}
	if got, err := s.Complete(s.Load("a")); err != nil || got.Run.Origin.Note != nil || len(LeftOut(got)) != 1 {
		t.Errorf("%v: %+v, %v", err, got.Run.Origin.Note, LeftOut(got))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Repair(file, nil); err != nil {
		t.Fatal(err)
	}
	s = openFile(t, file)
	if h, err := s.Check(nil); err != nil || len(h.Damage) > 0 || h.Runs != 3 || !cmp.Equal(notes(s), []string{two}) {
		t.Errorf("%v: %s, notes %v", err, h, notes(s))
	}
}

// A note that a run has lost, and one of an experiment that is removed with its runs.
func TestLostNotes(t *testing.T) {
	s := noted(t)
	execute(t, s.file, "DELETE FROM note WHERE id = '"+noteOf("two").ID+"'")
	if h, err := s.Check(nil); err != nil || len(h.Damage) != 1 || !strings.Contains(h.String(), "no such note") {
		t.Errorf("%v: %s", err, h)
	}
	execute(t, s.file, "UPDATE run SET experiment = 'x'")
	if err := s.RemoveExperiment("x", true); err != nil || len(notes(s)) > 0 {
		t.Errorf("%v: %v", err, notes(s))
	}
}
