package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Import stores a finished run with its records and its telemetry; both may be nil. If a run with
// this id exists, it is left unchanged but for a note that it lacks, and known is true, unless its process died before its
// end. The run is marked as running until it is complete, so that an interrupted import can be
// repeated.
func (s *Store) Import(run trace.Run, records iter.Seq2[*trace.Record, error], sampled *telemetry.Set) (known bool, err error) {
	if known, err = s.knows(run); known && err == nil {
		return known, s.attach(run)
	}
	if err == nil && run.MarkedBy == trace.InClear().ID() {
		run.MarkedBy, records, err = s.markAgain(records)
	}
	if err != nil {
		return false, err
	}
	if err := s.insert(run); err != nil {
		if known, again := s.knows(run); known && again == nil { // another process was faster
			return true, nil
		}
		return false, err
	}
	w := Writer{store: s, id: run.ID}
	if err = w.copy(records); err == nil {
		err = s.storeTelemetry(run.ID, sampled)
	}
	if err == nil {
		err = cmp.Or(s.attach(run), s.Update(run))
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("import run %s: %w", run.ID, err), s.Remove(run.ID))
	}
	s.seal(run.ID, patient)
	return false, nil
}

// markAgain marks answers under the key of the store.
func (s *Store) markAgain(records iter.Seq2[*trace.Record, error]) (by string, marked iter.Seq2[*trace.Record, error], err error) {
	key, err := s.MarkKey()
	if err != nil || records == nil {
		return "", records, err
	}
	m := trace.NewMarker(key)
	return m.ID(), func(yield func(*trace.Record, error) bool) {
		for r, err := range records {
			if err == nil {
				m.MarkText(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}, nil
}

// knows reports whether a run exists, complete or in progress. It removes the remains of
// one that was not ended.
func (s *Store) knows(run trace.Run) (bool, error) {
	var last int64
	for since := time.Now(); ; time.Sleep(flushEvery) {
		status, beat, err := s.pulse(run.ID)
		if beat != last {
			last, since = beat, time.Now()
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("look for run %s: %w", run.ID, err)
		case status == Killed, status == trace.Running && time.Since(since) > silence:
			return false, s.Remove(run.ID)
		case status != trace.Running || run.Status == trace.Running:
			return true, nil
		}
		// It has ended, and still runs in the store: its process could not write there, and
		// will be silent, or another process imports it.
	}
}

// pulse returns the status of a run and its last heartbeat.
func (s *Store) pulse(id string) (status trace.Status, beat int64, err error) {
	err = s.db.QueryRow("SELECT status, beat_ns FROM run WHERE id = ?", id).Scan(&status, &beat)
	return alive(status, beat), beat, err
}

// copy commits records as they arrive, in blocks.
func (w *Writer) copy(records iter.Seq2[*trace.Record, error]) error {
	if records == nil {
		return nil
	}
	var pending []*trace.Record
	for r, err := range records {
		if err != nil {
			return err
		}
		if pending = append(pending, r); len(pending) < trace.BlockRecords {
			continue
		}
		n, _ := trace.Fit(pending)
		if err := w.commit(pending[:n], true, patient); err != nil {
			return err
		}
		pending = slices.Delete(pending, 0, n)
	}
	return w.write(pending, patient)
}
