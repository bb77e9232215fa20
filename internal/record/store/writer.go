package store

import (
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// flushEvery is the maximum time before a record is committed.
const flushEvery = 250 * time.Millisecond

// batch is the number of records per commit, small enough that a concurrent
// measurement never waits long for the store.
const batch = 1000

// A flush during a run pauses after each few records. Otherwise a single processor has no time for
// due requests until all records are inserted. The pause is a sleep of more than 0, since the
// runtime polls for events only when no goroutine can run. Many records take half of the time until
// the next flush.
const (
	insertsAtOnce = 16 // records, 0.15 ms of work
	leastPause    = 50 * time.Microsecond
	longestPause  = time.Millisecond
)

// pauseAmong is the pause of a flush of n records.
func pauseAmong(n int) time.Duration {
	return min(max(flushEvery/2*insertsAtOnce/time.Duration(max(n, 1)), leastPause), longestPause)
}

// A Writer stores the records of one run as they are completed, and its samples. Append and
// Sample never wait for the disk. A failed write is repeated with the next flush, and at the
// end goes to a separate file.
type Writer struct {
	store *Store
	id    string
	owner Owner
	mu    sync.Mutex // guards all
	all   []*trace.Record
	end   func() // ends the loop
	done  sync.WaitGroup

	samples samples

	alreadyStored map[int]bool // requests that were stored before the run was reopened
	base          int          // the number of the last of these

	// Used by one goroutine at a time: that of the loop, then that of Finish.
	running bool           // the run is under way
	pause   time.Duration  // after each few records of the flush that is made
	stored  int            // records committed: those at the beginning of all
	notes   []plan.Message // for the run
	trouble time.Time      // of the first flush that failed since the last that did not; zero: none
	why     error          // of that flush
	rescued string         // the file to which the run was written
}

// An Owner is the producer of the run that a Writer stores. Its functions are called one
// after the other; both may be nil.
type Owner struct {
	Progress func() trace.Snapshot // the progress of the run, stored with each flush
	// Trouble is called with the error of the first flush that fails, and with nil once
	// all is written after that.
	Trouble func(error)
}

// Create stores a new run and returns the writer of its records.
func (s *Store) Create(run trace.Run, owner Owner) (*Writer, error) {
	if err := s.insert(run); err != nil {
		return nil, err
	}
	w := newWriter(s, run.ID, owner)
	w.start()
	return w, nil
}

// The statements of every flush.
const (
	beat     = "UPDATE run SET tally = '', beat_ns = ?, records = records + ?, failed = failed + ? WHERE id = ?"
	progress = "INSERT OR REPLACE INTO snapshot (run_id, at_ns, released, done, failed, tokens) VALUES (?, ?, ?, ?, ?, ?)"
)

func newWriter(s *Store, id string, owner Owner) *Writer {
	s.prepare(beat, forget, progress)
	return &Writer{store: s, id: id, owner: owner, samples: samples{rows: map[*telemetry.Series]sampled{}}}
}

// start begins to flush.
func (w *Writer) start() {
	stop := make(chan struct{})
	w.end = sync.OnceFunc(func() { close(stop) })
	w.running = true
	w.done.Go(func() { w.loop(stop) })
}

// Append takes a record; it must not be changed afterwards.
func (w *Writer) Append(r *trace.Record) {
	w.mu.Lock()
	w.all = append(w.all, r)
	w.mu.Unlock()
}

func (w *Writer) loop(stop <-chan struct{}) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	defer func() { w.running = false }()
	for {
		select {
		case <-tick.C:
			_ = w.flush(brief, false)
		case <-stop:
			return
		}
	}
}

// records are those appended so far.
func (w *Writer) records() []*trace.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}

// flush commits the records that are not, with a heartbeat and the progress of the run, and the
// samples if it is time for them or nothing follows.
func (w *Writer) flush(wait time.Duration, last bool) error {
	err := w.store.mark.Check()
	if err == nil {
		err = w.write(w.records()[w.stored:], wait)
	}
	if err == nil {
		err = w.flushSamples(wait, last)
	}
	w.reportFlush(err)
	return err
}

// The notes on a run.
const (
	unsaved plan.Code = "store.unsaved"
	rescued plan.Code = "store.rescued"
)

// reportFlush tells the owner when flushes begin to fail and when they succeed again, and notes it.
func (w *Writer) reportFlush(err error) {
	failing := !w.trouble.IsZero()
	if failing == (err != nil) {
		return
	}
	if failing {
		w.notes = append(w.notes, plan.Msg(unsaved, "why", w.why, "seconds", time.Since(w.trouble)))
		w.trouble = time.Time{}
	} else {
		w.trouble, w.why = time.Now(), err
	}
	if w.owner.Trouble != nil {
		w.owner.Trouble(err)
	}
}

// write commits records in batches, at least an empty one.
func (w *Writer) write(records []*trace.Record, wait time.Duration) error {
	if w.pause = 0; w.running {
		w.pause = pauseAmong(len(records))
	}
	for first := true; first || len(records) > 0; first = false {
		next := records[:min(batch, len(records))]
		if err := w.commit(next, wait); err != nil {
			return err
		}
		records = records[len(next):]
	}
	return nil
}

func (w *Writer) commit(batch []*trace.Record, wait time.Duration) error {
	err := w.store.changeOn(wait, func(conn *sql.Conn, tx *sql.Tx) error {
		if err := w.add(conn, tx, batch); err != nil {
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
func (w *Writer) add(conn *sql.Conn, tx *sql.Tx, batch []*trace.Record) error {
	fresh, failed := 0, 0
	for _, r := range batch {
		if w.alreadyStored[r.Index] {
			continue
		}
		fresh++
		if !r.OK() {
			failed++
		}
	}
	if err := w.store.exec(tx, beat, time.Now().UnixNano(), fresh, failed, w.id); err != nil || fresh == 0 {
		return err
	}
	if err := w.store.exec(tx, forget, w.id); err != nil {
		return err
	}
	return insertRecords(conn, func(to *inserter) error {
		for i, r := range batch {
			if w.alreadyStored[r.Index] {
				continue
			}
			if err := to.insert(w.id, w.base+w.stored+i+1, r); err != nil {
				return fmt.Errorf("record %d: %w", r.Index, err)
			}
			if w.pause > 0 && i%insertsAtOnce == insertsAtOnce-1 {
				time.Sleep(w.pause)
			}
		}
		return nil
	})
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
	return w.store.addSnapshot(tx, w.id, p)
}

func (s *Store) addSnapshot(tx *sql.Tx, id string, p trace.Snapshot) error {
	return s.exec(tx, progress, id, p.At, p.Released, p.Done, p.Failed, p.Tokens)
}
