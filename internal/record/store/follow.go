package store

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// RecordsSince reads records of a run in commit order: at most limit of those after
// number since. next is the number of the last one, for the next call; 0 is the
// beginning. No record is read twice, so a run can be followed while another
// process writes it.
func (s *Store) RecordsSince(runID string, since, limit int) (records []*trace.Record, next int, err error) {
	records, next, err = s.records(following, runID, since, limit)
	if err != nil {
		return nil, since, fmt.Errorf("read run %s: %w", runID, err)
	}
	return records, max(since, next), nil
}

// following selects the records of a run after a number, in order.
const following = "run_id = ?1 AND " + commitNumber + " > ?2 ORDER BY " + commitNumber + " LIMIT ?3"

// Snapshots reads the progress of a run at each flush after an instant, at most
// limit of them; trace.Never is before the first.
func (s *Store) Snapshots(runID string, after trace.Instant, limit int) ([]trace.Snapshot, error) {
	rows, err := s.db.Query("SELECT at_ns, released, done, failed, tokens FROM snapshot WHERE run_id = ? AND at_ns > ? ORDER BY at_ns LIMIT ?", runID, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", runID, err)
	}
	defer rows.Close()
	var out []trace.Snapshot
	for rows.Next() {
		var p trace.Snapshot
		if err := rows.Scan(&p.At, &p.Released, &p.Done, &p.Failed, &p.Tokens); err != nil {
			return nil, fmt.Errorf("read run %s: %w", runID, err)
		}
		out = append(out, p)
	}
	return out, rows.Err()
}
