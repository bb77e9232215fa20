package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// Why a run cannot be reopened; wrapped by errors of Reopen.
var (
	ErrRunAlive = errors.New("another process is writing it")
	ErrRunEnded = errors.New("it has ended, and its records are complete")
)

// Reopen continues a run after its process died or gave up workers or records, and returns the
// writer of its records; this process then owns the run. Append takes all records of the run.
// Stored ones stay as they are, except requests that the dead process had given up as those of a
// lost worker. No further samples are taken.
//
// The error wraps ErrNoRun, ErrRunAlive or ErrRunEnded.
func (s *Store) Reopen(id string, owner Owner) (*Writer, error) {
	var stored requests
	var last int
	err := s.change(patient, func(tx *sql.Tx) (err error) {
		if err = claim(tx, id); err == nil {
			stored, last, err = s.storedRecords(tx, id)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("go on with run %s: %w", id, err)
	}
	w := newWriter(s, id, owner)
	w.alreadyStored, w.last, w.reopened = stored, last, true
	w.start()
	return w, nil
}

// claim assigns the run of a dead process to this one.
func claim(tx *sql.Tx, id string) error {
	var status trace.Status
	var beat int64
	err := tx.QueryRow("SELECT status, beat_ns FROM run WHERE id = ?", id).Scan(&status, &beat)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNoRun
	case err != nil:
		return err
	case alive(status, beat) == trace.Running:
		return ErrRunAlive
	case status != trace.Running:
		if gaps, err := hasGaps(tx, id, status); err != nil || !gaps {
			return cmp.Or(err, ErrRunEnded)
		}
	}
	_, err = tx.Exec("UPDATE run SET tally = '', status = ?, beat_ns = ? WHERE id = ?", trace.Running, time.Now().UnixNano(), id)
	if err == nil {
		const owned = "UPDATE run_body SET body = json_set(body, '$.writer', ?) WHERE run_id = ? AND json_valid(body)"
		_, err = tx.Exec(owned, proc.Identity(), id)
	}
	return err
}

// bury marks the runs of processes that are known to have ended, as far as it can be written: others count as killed
// when they have been silent for long enough.
func (s *Store) bury() {
	for _, run := range s.strings(`SELECT id || char(10) || json_extract(body, '$.writer')
		FROM run JOIN run_body ON run_id = id WHERE status = 'running' AND beat_ns > ? AND json_valid(body)`, time.Now().Add(-silence).UnixNano()) {
		if id, writer, _ := strings.Cut(run, "\n"); proc.HasEnded(writer) {
			s.giveUp(id)
		}
	}
}

// giveUp marks a run that nobody goes on with, if that can be written.
func (s *Store) giveUp(id string) {
	_ = s.change(0, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE run SET beat_ns = 0 WHERE id = ? AND status = ?", id, trace.Running)
		return err
	})
}

// hasGaps reports whether a run that has ended lacks records that may be found.
func hasGaps(tx *sql.Tx, id string, status trace.Status) (gaps bool, err error) {
	err = tx.QueryRow(`SELECT ?1 OR EXISTS (SELECT 1 FROM record WHERE run_id = ?2 AND class = ?3)
		OR EXISTS (SELECT 1 FROM block WHERE run_id = ?2 AND lost > 0)`, status == trace.Interrupted, id, string(trace.WorkerLost)).Scan(&gaps)
	return gaps, err
}

// storedRecords are the requests that have a record, and the number of the last one. Records of lost workers
// are removed: that the process died is no reason why they should have been.
func (s *Store) storedRecords(tx *sql.Tx, id string) (stored requests, last int, err error) {
	if _, err := tx.Exec("DELETE FROM record WHERE run_id = ? AND class = ?", id, string(trace.WorkerLost)); err != nil {
		return nil, 0, err
	}
	stored, n, failed := requests{}, 0, 0
	add := func(index int, class trace.Class) {
		stored.add(index)
		n++
		if class != "" {
			failed++
		}
	}
	rows, err := tx.Query("SELECT idx, class FROM record WHERE run_id = ?", id)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var index int
		var class trace.Class
		if err := rows.Scan(&index, &class); err != nil {
			return nil, 0, err
		}
		add(index, class)
	}
	err = cmp.Or(rows.Err(), s.withoutLost(tx, id, func(r *trace.Record) { add(r.Index, r.Class) }))
	if err == nil {
		_, err = tx.Exec("UPDATE run SET records = ?, failed = ? WHERE id = ?", n, failed, id)
	}
	if err == nil {
		err = tx.QueryRow(`SELECT max((SELECT coalesce(max(`+commitNumber+`), 0) FROM record WHERE run_id = ?1),
			(SELECT coalesce(max(seq + records - 1), 0) FROM block WHERE run_id = ?1))`, id).Scan(&last)
	}
	return stored, last, err
}
