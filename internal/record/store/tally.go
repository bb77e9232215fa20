package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// tally counts what a run has, by the words that a person reads. It is stored with a run that has ended, and cleared by
// what changes its records.
const tally = `(SELECT json_object('records', sum(n), 'bytes of chunks', sum(packed), 'chunks', sum(chunks),
	'bytes of text', sum(texts), 'output tokens', sum(tokens),
	'snapshots', (SELECT count(*) FROM snapshot WHERE run_id = ?1),
	'samples', (SELECT coalesce(sum(points), 0) FROM telemetry_block WHERE run_id = ?1),
	'series', (SELECT count(*) FROM telemetry_series WHERE run_id = ?1),
	'sources', (SELECT count(*) FROM telemetry_source WHERE run_id = ?1))
	FROM (SELECT count(*) AS n, total(length(chunks)) AS packed, 0 AS chunks, total(length(text)) AS texts, total(output_tokens) AS tokens
		FROM record WHERE run_id = ?1
		UNION ALL SELECT coalesce(sum(records), 0), 0, total(count), total(bytes), total(tokens) FROM block WHERE run_id = ?1))`

// seal stores the tally of a run that has ended. One that cannot be stored is missing when the run is checked.
func (s *Store) seal(id string, wait time.Duration) {
	_ = s.change(wait, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE run SET tally = "+tally+" WHERE id = ?1", id)
		return err
	})
}

// readAll reads the records of a run, and says which it passed over or are missing, and what else is not as it was
// stored.
func (s *Store) readAll(id string) (all []*trace.Record, lost, changed []*Damage, err error) {
	all, lost, changed, err = s.readRecords(id)
	if err == nil {
		missing, altered := s.lost(id)
		changed = append(changed, altered...)
		if len(lost) > 0 {
			changed = nil // that says why
		}
		lost = append(lost, missing...)
	}
	return all, lost, changed, err
}

// lost is what a run has lost, or has too much, since it was stored: of its records, and of all else.
func (s *Store) lost(id string) (records, rest []*Damage) {
	var listed int
	var then, now string // as of one moment: another process may be writing the run
	err := s.db.QueryRow("SELECT records, tally, "+tally+" FROM run WHERE id = ?1", id).Scan(&listed, &then, &now)
	var before, after map[string]float64
	if err != nil || json.Unmarshal([]byte(now), &after) != nil {
		return nil, nil // reading the records reports it, or the run was removed
	}
	part := func(why string, args ...any) *Damage {
		return &Damage{Run: id, First: -1, Last: -1, Why: fmt.Errorf(why, args...)}
	}
	if missing := listed - int(after["records"]); missing > 0 {
		records = append(records, &Damage{Run: id, First: -1, Last: -1, Missing: missing, Why: errors.New("they are missing")})
	} else if missing < 0 {
		rest = append(rest, part("it has %.0f records and not %d", after["records"], listed))
	}
	if then == "" {
		return records, rest
	}
	if err := json.Unmarshal([]byte(then), &before); err != nil {
		return records, append(rest, part("its tally: %w", err))
	}
	delete(before, "records")
	var changed []string
	for _, what := range slices.Sorted(maps.Keys(before)) {
		if after[what] != before[what] {
			changed = append(changed, fmt.Sprintf("%.0f %s and not %.0f", after[what], what, before[what]))
		}
	}
	if len(changed) > 0 && len(records) == 0 { // of records that are missing, much else is missing
		rest = append(rest, part("it has %s", strings.Join(changed, ", ")))
	}
	return records, rest
}
