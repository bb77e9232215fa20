package store

import (
	"database/sql"
	"fmt"
	"math"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// KeepFigures keeps what was computed of t by a definition, in a version of it: one that
// gives other figures has another. They are kept only if the run is still stored as t
// has it, and until the run changes: none of its records, nor its plan, nor its end.
func (s *Store) KeepFigures(t *trace.Trace, definition, version string, figures []trace.Figure) error {
	err := s.change(func(tx *sql.Tx) error {
		var same bool
		err := tx.QueryRow("SELECT count(*) > 0 FROM run WHERE id = ? AND records = ? AND status = ? AND validity = ?",
			t.Run.ID, len(t.Records), t.Run.Status, validity(t.Run)).Scan(&same)
		if err != nil || !same {
			return err
		}
		if _, err := tx.Exec("INSERT OR REPLACE INTO computed (run_id, definition, version) VALUES (?, ?, ?)", t.Run.ID, definition, version); err != nil {
			return err
		}
		for i, f := range figures {
			_, err := tx.Exec("INSERT INTO figure (run_id, definition, version, place, name, value, step) VALUES (?, ?, ?, ?, ?, ?, ?)",
				t.Run.ID, definition, version, i, f.Name, f.Value, f.Step)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the figures of run %s: %w", t.Run.ID, err)
	}
	return nil
}

// Figures returns the figures of a run that KeepFigures kept, in their order. known
// tells whether there are any to return, be they none.
func (s *Store) Figures(runID, definition, version string) (figures []trace.Figure, known bool, err error) {
	rows, err := s.db.Query(`SELECT name, value, step FROM computed LEFT JOIN figure USING (run_id, definition, version)
		WHERE run_id = ? AND definition = ? AND version = ? ORDER BY place`, runID, definition, version)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		known = true
		var name sql.NullString // NULL: of a run without figures
		var value, step sql.NullFloat64
		if err := rows.Scan(&name, &value, &step); err != nil {
			return nil, false, fmt.Errorf("read the figures of run %s: %w", runID, err)
		}
		if !value.Valid {
			value.Float64 = math.NaN()
		}
		if name.Valid {
			figures = append(figures, trace.Figure{Name: name.String, Value: value.Float64, Step: step.Float64})
		}
	}
	return figures, known, rows.Err()
}

// forgetFigures drops the figures of a run that changes.
func forgetFigures(tx *sql.Tx, runID string) error {
	_, err := tx.Exec("DELETE FROM computed WHERE run_id = ?", runID)
	return err
}
