package store

import (
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Import stores a finished run with its records; records may be nil. If a run with
// this id exists, it is left unchanged, and known is true. The run is marked as
// running until it is complete, so that an interrupted import can be repeated.
func (s *Store) Import(run trace.Run, records iter.Seq2[*trace.Record, error]) (known bool, err error) {
	if known, err = s.knows(run.ID); known || err != nil {
		return known, err
	}
	if err := s.insert(run); err != nil {
		if known, again := s.knows(run.ID); known && again == nil { // another process was faster
			return true, nil
		}
		return false, err
	}
	w := Writer{store: s, id: run.ID}
	if err = w.copy(records); err == nil {
		err = s.Update(run)
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("import run %s: %w", run.ID, err), s.Remove(run.ID))
	}
	return false, nil
}

// knows reports whether a run exists, complete or in progress. It removes the
// remains of an interrupted import.
func (s *Store) knows(id string) (bool, error) {
	var status trace.Status
	var beat int64
	err := s.db.QueryRow("SELECT status, beat_ns FROM run WHERE id = ?", id).Scan(&status, &beat)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for run %s: %w", id, err)
	case alive(status, beat) != Killed:
		return true, nil
	}
	return false, s.Remove(id)
}

// copy commits records as they arrive, in batches.
func (w *Writer) copy(records iter.Seq2[*trace.Record, error]) error {
	if records == nil {
		return nil
	}
	var pending []*trace.Record
	for r, err := range records {
		if err != nil {
			return err
		}
		if pending = append(pending, r); len(pending) == batch {
			if err := w.commit(pending); err != nil {
				return err
			}
			pending = pending[:0]
		}
	}
	return w.commit(pending)
}
