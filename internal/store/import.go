package store

import (
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/pitot-bench/pitot/internal/trace"
)

// Import stores a finished run with its records, all or nothing; records may be
// nil. A run that is there already, by its id, is left as it is, and known says
// so.
func (s *Store) Import(run trace.Run, records iter.Seq2[*trace.Record, error]) (known bool, err error) {
	body, err := json.Marshal(run)
	if err != nil {
		return false, fmt.Errorf("import run %s: %w", run.ID, err)
	}
	if err := s.db.QueryRow("SELECT count(*) > 0 FROM run WHERE id = ?", run.ID).Scan(&known); known || err != nil {
		return known, err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it has nothing to do
	done, err := tx.Exec("INSERT INTO run (id, name, status, validity, started, beat_ns, model, url, workload, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		run.ID, run.Name, run.Status, validity(run), unixNano(run.Started), time.Now().UnixNano(), run.Plan.Model, run.Plan.URL, run.Plan.Workload, string(body))
	if err != nil {
		return false, fmt.Errorf("import run %s: %w", run.ID, err)
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil { // another process was faster
		return err == nil, err
	}
	if records == nil {
		return false, tx.Commit()
	}
	stmt, err := tx.Prepare(insert)
	if err != nil {
		return false, err
	}
	defer stmt.Close()
	for r, err := range records {
		if err != nil {
			return false, fmt.Errorf("import run %s: %w", run.ID, err)
		}
		if _, err := stmt.Exec(values(run.ID, r)...); err != nil {
			return false, fmt.Errorf("import run %s: record %d: %w", run.ID, r.Index, err)
		}
	}
	return false, tx.Commit()
}

// unixNano is 0 for a time that nobody knows, so that such runs are the oldest.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
