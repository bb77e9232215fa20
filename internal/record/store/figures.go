package store

import (
	"database/sql"
	"fmt"
	"math"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// StoreFigures stores the figures of t by one version of a definition; changed
// figures need a new version. It stores them only if the run in the store still
// equals t, and they are dropped when the run changes: its records, its plan or its
// end. A store that cannot be written keeps none.
func (s *Store) StoreFigures(t *trace.Trace, definition, version string, figures []trace.ReportedFigure) error {
	return s.StoreFiguresOf(t.Run, len(t.Records), definition, version, figures)
}

// StoreFiguresOf is StoreFigures of a run with so many records.
func (s *Store) StoreFiguresOf(run trace.Run, records int, definition, version string, figures []trace.ReportedFigure) error {
	return s.storeComputed(run, records, definition, version, func(tx *sql.Tx) error {
		for i, f := range figures {
			_, err := tx.Exec("INSERT INTO figure (run_id, definition, version, place, name, value, step) VALUES (?, ?, ?, ?, ?, ?, ?)",
				run.ID, definition, version, i, f.Name, f.Value, f.Step)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// storeComputed calls insert in a transaction that notes the definition as computed, if the run in the store is still the
// one with so many records.
func (s *Store) storeComputed(run trace.Run, records int, definition, version string, insert func(*sql.Tx) error) error {
	err := s.change(patient, func(tx *sql.Tx) error {
		var same bool
		err := tx.QueryRow("SELECT count(*) > 0 FROM run WHERE id = ? AND records = ? AND status = ? AND validity = ?",
			run.ID, records, run.Status, validity(run)).Scan(&same)
		if err != nil || !same {
			return err
		}
		if _, err := tx.Exec("INSERT OR REPLACE INTO computed (run_id, definition, version) VALUES (?, ?, ?)", run.ID, definition, version); err != nil {
			return err
		}
		return insert(tx)
	})
	if err != nil && !unwritable(err) {
		return fmt.Errorf("store the figures of run %s: %w", run.ID, err)
	}
	return nil
}

// StoreObservation stores, like StoreFigures, parts of what was observed of a run with so many records.
func (s *Store) StoreObservation(run trace.Run, records int, definition, version string, parts map[string][]byte) error {
	return s.storeComputed(run, records, definition, version, func(tx *sql.Tx) error {
		for part, body := range parts {
			_, err := tx.Exec("INSERT INTO observation (run_id, definition, version, part, body) VALUES (?, ?, ?, ?, ?)", run.ID, definition, version, part, body)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Observation returns the parts that StoreObservation stored of a run, each of which is read when it is wanted.
func (s *Store) Observation(runID, definition, version string) map[string]func() []byte {
	const of = " FROM observation WHERE run_id = ? AND definition = ? AND version = ?"
	parts := map[string]func() []byte{}
	for _, part := range s.strings("SELECT part"+of, runID, definition, version) {
		parts[part] = func() (body []byte) { // nil of one that is gone
			_ = s.db.QueryRow("SELECT body"+of+" AND part = ?", runID, definition, version, part).Scan(&body)
			return body
		}
	}
	return parts
}

// Figures returns the figures of a run stored by StoreFigures, in order. known
// reports whether they are stored, even if there are none.
func (s *Store) Figures(runID, definition, version string) (figures []trace.ReportedFigure, known bool, err error) {
	rows, err := s.db.Query(`SELECT name, value, step FROM computed LEFT JOIN figure USING (run_id, definition, version)
		WHERE run_id = ? AND definition = ? AND version = ? ORDER BY place`, runID, definition, version)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		known = true
		var name sql.NullString // NULL: a run without figures
		var value, step sql.NullFloat64
		if err := rows.Scan(&name, &value, &step); err != nil {
			return nil, false, fmt.Errorf("read the figures of run %s: %w", runID, err)
		}
		if !value.Valid {
			value.Float64 = math.NaN()
		}
		if name.Valid {
			figures = append(figures, trace.ReportedFigure{Name: name.String, Value: value.Float64, Step: step.Float64})
		}
	}
	return figures, known, rows.Err()
}

const forget = "DELETE FROM computed WHERE run_id = ?"

// forgetFigures drops the figures of a changing run.
func forgetFigures(tx *sql.Tx, runID string) error {
	_, err := tx.Exec(forget, runID)
	return err
}
