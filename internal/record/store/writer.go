package store

import (
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// flushEvery is the maximum time before a record is committed.
const flushEvery = 250 * time.Millisecond

// batch is the number of records per commit, small enough that a concurrent
// measurement never waits long for the store.
const batch = 1000

// A Writer stores the records of one run as they are completed. Append never waits
// for the disk. Records that could not be written stay in memory until the next
// flush.
type Writer struct {
	store   *Store
	id      string
	owner   Owner
	mu      sync.Mutex // guards pending
	pending []*trace.Record
	stored  int // records committed; used by one goroutine at a time
	stop    chan struct{}
	done    sync.WaitGroup
}

// An Owner is the producer of the run that a Writer stores. Its functions are
// called at each flush, one after the other; both may be nil.
type Owner struct {
	Progress func() trace.Snapshot // the progress of the run, stored with the flush
	Flushed  func(error)           // called with the result of the flush: nil if all is written
}

// Create stores a new run and returns the writer of its records.
func (s *Store) Create(run trace.Run, owner Owner) (*Writer, error) {
	if err := s.insert(run); err != nil {
		return nil, err
	}
	w := &Writer{store: s, id: run.ID, owner: owner, stop: make(chan struct{})}
	w.done.Go(w.loop)
	return w, nil
}

// Append takes a record; it must not be changed afterwards.
func (w *Writer) Append(r *trace.Record) {
	w.mu.Lock()
	w.pending = append(w.pending, r)
	w.mu.Unlock()
}

func (w *Writer) loop() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = w.flush()
		case <-w.stop:
			return
		}
	}
}

// flush commits pending records, with a heartbeat and the progress of the run.
func (w *Writer) flush() error {
	w.mu.Lock()
	pending := w.pending
	w.mu.Unlock()
	written, err := w.write(pending)
	w.mu.Lock()
	w.pending = w.pending[written:]
	w.mu.Unlock()
	if w.owner.Flushed != nil {
		w.owner.Flushed(err)
	}
	return err
}

// write commits records in batches, at least an empty one, and returns the number
// of records on disk.
func (w *Writer) write(records []*trace.Record) (written int, err error) {
	for {
		next := records[written:min(written+batch, len(records))]
		if err := w.commit(next); err != nil {
			return written, err
		}
		if written += len(next); written == len(records) {
			return written, nil
		}
	}
}

func (w *Writer) commit(batch []*trace.Record) error {
	err := w.store.change(func(tx *sql.Tx) error {
		if err := w.add(tx, batch); err != nil {
			return err
		}
		return w.snapshot(tx)
	})
	if err == nil {
		w.stored += len(batch)
	}
	return err
}

// add inserts records and updates the heartbeat.
func (w *Writer) add(tx *sql.Tx, batch []*trace.Record) error {
	failed := 0
	for _, r := range batch {
		if !r.OK() {
			failed++
		}
	}
	if _, err := tx.Exec("UPDATE run SET beat_ns = ?, records = records + ?, failed = failed + ? WHERE id = ?", time.Now().UnixNano(), len(batch), failed, w.id); err != nil || len(batch) == 0 {
		return err
	}
	if err := forgetFigures(tx, w.id); err != nil {
		return err
	}
	stmt, err := tx.Prepare(insertRecord)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, r := range batch {
		if _, err := stmt.Exec(values(w.id, w.stored+i+1, r)...); err != nil {
			return fmt.Errorf("record %d: %w", r.Index, err)
		}
	}
	return nil
}

// snapshot inserts the progress of the run.
func (w *Writer) snapshot(tx *sql.Tx) error {
	if w.owner.Progress == nil {
		return nil
	}
	p := w.owner.Progress()
	if !p.At.Happened() {
		return nil
	}
	_, err := tx.Exec("INSERT OR REPLACE INTO snapshot (run_id, at_ns, released, done, failed, tokens) VALUES (?, ?, ?, ?, ?, ?)",
		w.id, p.At, p.Released, p.Done, p.Failed, p.Tokens)
	return err
}

// Finish writes the remaining records and the finished run. If records are still
// missing, it returns the error that prevented writing them.
func (w *Writer) Finish(run trace.Run) error {
	close(w.stop)
	w.done.Wait()
	if err := w.flush(); err != nil {
		return fmt.Errorf("store %d records of run %s: %w", len(w.pending), w.id, err)
	}
	return w.store.Update(run)
}

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
