package store

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Scan reads records of a run in commit order, without their texts: at least limit of those after number since, if there
// are as many. each gets them one by one. next is the number of the last one, for the next call; 0 is the beginning.
// No record is read twice, so a run can be followed while another process writes it. more reports whether
// there may be records after next. Damaged records are passed over.
func (s *Store) Scan(runID string, since, limit int, each func(*trace.Record)) (next int, more bool, err error) {
	next, n, err := s.scanRows(runID, since, limit, each)
	switch {
	case damaged(err):
		next++ // the records of a page are passed over one by one
		return next, next <= s.extent(runID), nil
	case err != nil:
		return next, false, fmt.Errorf("read run %s: %w", runID, err)
	case n == limit:
		return next, true, nil
	}
	blocks, err := s.extents(runID, next)
	if err != nil {
		return next, false, fmt.Errorf("read run %s: %w", runID, err)
	}
	for i, e := range blocks {
		if passed := next + 1 - e.seq; passed > 0 {
			e.seq, e.records = e.seq+passed, e.records-passed
		}
		if all, err := s.block(runID, e, chunks); err == nil {
			for _, r := range all {
				each(r)
			}
			n += len(all)
		}
		if next = e.end(); n >= limit {
			return next, i+1 < len(blocks), nil
		}
	}
	return next, false, nil
}

// scanRows is Scan of a run of version 13 or before; n counts its rows.
func (s *Store) scanRows(runID string, since, limit int, each func(*trace.Record)) (next, n int, err error) {
	next = since
	rows, err := s.db.Query("SELECT "+columns+", "+commitNumber+" FROM record WHERE "+following, runID, since, limit)
	if err != nil {
		return next, 0, err
	}
	defer rows.Close()
	d := reader{number: since}
	for ; rows.Next(); n++ {
		if r, err := d.scan(rows); err == nil {
			each(r)
		}
		next = max(next, d.number)
	}
	return next, n, rows.Err()
}

// Weight is about how many bytes the chunks and texts of a run take in memory.
func (s *Store) Weight(runID string) (n int64, err error) {
	err = s.db.QueryRow(`SELECT (SELECT coalesce(sum(length(chunks) * 5 / 2 + length(text)), 0) FROM record WHERE run_id = ?1)
		+ (SELECT coalesce(sum(count * 16 + bytes), 0) FROM block WHERE run_id = ?1)`, runID).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read run %s: %w", runID, err)
	}
	return n, nil
}
