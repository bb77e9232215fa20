package store

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// flushEvery is how long a record waits for its commit at most.
const flushEvery = 250 * time.Millisecond

// A Writer adds the records of one run as they are completed. Append never
// waits for the disk.
type Writer struct {
	store   *Store
	id      string
	mu      sync.Mutex // guards pending and err
	pending []*trace.Record
	err     error
	stop    chan struct{}
	done    sync.WaitGroup
}

// Create stores a run that begins, and returns the writer of its records.
func (s *Store) Create(run trace.Run) (*Writer, error) {
	if err := s.insert(run); err != nil {
		return nil, err
	}
	w := &Writer{store: s, id: run.ID, stop: make(chan struct{})}
	w.done.Go(w.loop)
	return w, nil
}

// insert stores a run that is under way.
func (s *Store) insert(run trace.Run) error {
	run.Status = trace.Running
	run.End = trace.Never
	body, err := json.Marshal(run)
	if err == nil {
		_, err = s.db.Exec("INSERT INTO run (id, name, status, validity, started, beat_ns, model, url, workload, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			run.ID, run.Name, run.Status, validity(run), unixNano(run.Started), time.Now().UnixNano(), run.Plan.Model, run.Plan.URL, workload(run.Plan), string(body))
	}
	if err != nil {
		return fmt.Errorf("store run %s: %w", run.ID, err)
	}
	return nil
}

// workload is what is sent, as the words of a run that has no more, or as JSON.
func workload(p trace.Plan) string {
	if words, ok := p.Workload.Words(); ok {
		return words
	}
	return p.Workload.Key()
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
			w.flush()
		case <-w.stop:
			return
		}
	}
}

// flush commits what is pending, with a sign of life. What cannot be written
// stays pending for the next attempt.
func (w *Writer) flush() {
	w.mu.Lock()
	batch := w.pending
	w.mu.Unlock()
	err := w.commit(batch)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = err; err == nil {
		w.pending = w.pending[len(batch):]
	}
}

func (w *Writer) commit(batch []*trace.Record) error {
	tx, err := w.store.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it has nothing to do
	if _, err := tx.Exec("UPDATE run SET beat_ns = ? WHERE id = ?", time.Now().UnixNano(), w.id); err != nil {
		return err
	}
	stmt, err := tx.Prepare(insert)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, r := range batch {
		if _, err := stmt.Exec(values(w.id, r)...); err != nil {
			return fmt.Errorf("record %d: %w", r.Index, err)
		}
	}
	return tx.Commit()
}

// Finish writes what is left and the run as it ended. It returns the error that
// kept records from the disk, if any are still missing.
func (w *Writer) Finish(run trace.Run) error {
	close(w.stop)
	w.done.Wait()
	w.flush()
	if w.err != nil {
		return fmt.Errorf("store %d records of run %s: %w", len(w.pending), w.id, w.err)
	}
	return w.store.Update(run)
}

// Update writes what is known of a run, its records aside, in place of what was
// known when it was created.
func (s *Store) Update(run trace.Run) error {
	body, err := json.Marshal(run)
	if err == nil {
		_, err = s.db.Exec("UPDATE run SET name = ?, status = ?, validity = ?, started = ?, body = ? WHERE id = ?",
			run.Name, run.Status, validity(run), unixNano(run.Started), string(body), run.ID)
	}
	if err != nil {
		return fmt.Errorf("store the end of run %s: %w", run.ID, err)
	}
	return nil
}

// validity of a run, empty as long as nobody judged it.
func validity(run trace.Run) string {
	if run.Verdict == nil {
		return ""
	}
	return string(run.Verdict.Validity)
}
