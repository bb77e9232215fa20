package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// ErrNoNote is wrapped by errors for notes that are not stored.
var ErrNoNote = errors.New("no such note")

// Note reads a note.
func (s *Store) Note(id string) (*trace.Note, error) {
	var body string
	err := s.db.QueryRow("SELECT body FROM note WHERE id = ?", id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %s", ErrNoNote, id)
	}
	if err != nil {
		return nil, repairable(err)
	}
	n := new(trace.Note)
	if err := json.Unmarshal([]byte(body), n); err != nil {
		return nil, fmt.Errorf("note %s is damaged: %w", id, err)
	}
	if _, n.ID = n.Body(); n.ID != id {
		return nil, fmt.Errorf("note %s is damaged: it has changed since it was stored", id)
	}
	return n, nil
}

// Complete adds the note that a loaded run came from, for another store. One that cannot be read is left out,
// with a message on the run.
func (s *Store) Complete(t *trace.Trace, err error) (*trace.Trace, error) {
	if err != nil || t.Run.Origin == nil || t.Run.Origin.Note == nil {
		return t, err
	}
	if t.Run.Origin.Note, err = s.Note(t.Run.Origin.Note.ID); err != nil {
		t.Run.Notes = append(t.Run.Notes, alteredRun(t.Run.ID, err))
	}
	return t, nil
}

// attach stores the note of an imported run. A run keeps the note that it has; one that was stored before there were
// notes gets its own where its table stands in the same line.
func (s *Store) attach(run trace.Run) error {
	if run.Origin == nil || run.Origin.Note == nil || len(run.Origin.Note.Passages) == 0 {
		return nil
	}
	stored, err := s.Run(run.ID)
	if err != nil || stored.Origin == nil || stored.Origin.Note != nil || stored.Origin.Line != run.Origin.Line {
		return nil //nolint:nilerr // a damaged run stays as it is
	}
	id := run.Origin.Note.ID
	return s.change(patient, func(tx *sql.Tx) error {
		var there bool
		if err := tx.QueryRow("SELECT count(*) > 0 FROM note WHERE id = ?", id).Scan(&there); err != nil {
			return repairable(err)
		}
		if !there {
			var body string
			if body, id = run.Origin.Note.Body(); id != run.Origin.Note.ID {
				return fmt.Errorf("note %s has the digest %s", run.Origin.Note.ID, id)
			}
			if _, err := tx.Exec("INSERT INTO note (id, body) VALUES (?, ?)", id, body); err != nil {
				return err
			}
		}
		_, err := tx.Exec("UPDATE run SET note = ? WHERE id = ?", id, run.ID)
		return err
	})
}

// dropNotes removes the notes of removed runs.
func dropNotes(tx *sql.Tx) error {
	_, err := tx.Exec("DELETE FROM note WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.note = note.id)")
	return err
}

// checkNotes finds notes that cannot be read.
func (s *Store) checkNotes() (found []*Damage) {
	for _, id := range s.strings("SELECT DISTINCT note FROM run WHERE note IS NOT NULL") {
		if _, err := s.Note(id); err != nil {
			found = append(found, &Damage{Why: err})
		}
	}
	return found
}
