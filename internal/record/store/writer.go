package store

import (
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// flushEvery is how long a record waits for its commit at most.
const flushEvery = 250 * time.Millisecond

// batch is how many records are committed at once: nobody who measures meanwhile is
// kept from the store for long.
const batch = 1000

// A Writer adds the records of one run as they are completed. Append never waits for
// the disk. Records that could not be written stay in memory and are tried again with
// the next flush.
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

// An Owner is who makes the run that a Writer stores. Its functions are called at each
// flush, one after the other; both may be nil.
type Owner struct {
	Progress func() trace.Snapshot // how far the run has come, kept with the flush
	Flushed  func(error)           // told what the flush came to: nil if all is written
}

// Create stores a run that begins, and returns the writer of its records.
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

// flush commits what is pending, with a sign of life and how far the run has come.
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

// write commits records in batches, at least an empty one, and returns how many of them
// are on the disk.
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

// add inserts records, and gives a sign of life.
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

// snapshot inserts how far the run has come.
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

// Finish writes what is left and the run as it ended. It returns the error that
// kept records from the disk, if any are still missing.
func (w *Writer) Finish(run trace.Run) error {
	close(w.stop)
	w.done.Wait()
	if err := w.flush(); err != nil {
		return fmt.Errorf("store %d records of run %s: %w", len(w.pending), w.id, err)
	}
	return w.store.Update(run)
}
