package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// flushEvery is the maximum time before a record is committed.
const flushEvery = 400 * time.Millisecond

// pause is how long a flush during a run waits after each 0.1 ms of work. Otherwise a single processor has no time for
// due requests until all is encoded. It is a sleep of more than 0, since the runtime polls for events only when no
// goroutine can run.
const pause = 50 * time.Microsecond

// A Writer stores the records of one run as they are completed, and its samples. Append and
// Sample never wait for the disk. A failed write is repeated with the next flush, and at the
// end goes to a separate file.
type Writer struct {
	store   *Store
	id      string
	owner   Owner
	mu      sync.Mutex // guards these
	all     []*trace.Record
	held    int           // of a virtual run, see chunksOf
	most    int           // of held
	failing bool          // the last flush failed
	written sync.Cond     // flush
	full    chan struct{} // asks for a flush
	end     func()        // ends the loop
	done    sync.WaitGroup

	samples samples

	reopened      bool
	alreadyStored requests // before the run was reopened

	// Used by one goroutine at a time: that of the loop, then that of Finish.
	running  bool            // the run is under way
	stored   int             // records committed: those at the beginning of all
	released bool            // others that were committed before are not in all any more
	seen     requests        // that have a record
	last     int             // the number of the last record
	small    []*trace.Record // those of the last blocks, which are small, or not compressed
	pack     trace.Packer
	notes    []plan.Message // for the run
	trouble  time.Time      // of the first flush that failed since the last that did not; zero: none
	why      error          // of that flush
	rescued  string         // the file to which the run was written
	unsaved  error          // of the last Finish
}

// An Owner is the producer of the run that a Writer stores. Its functions are called one
// after the other; both may be nil.
type Owner struct {
	Progress func() trace.Snapshot // the progress of the run, stored with each flush
	// Trouble is called with the error of the first flush that fails, and with nil once
	// all is written after that.
	Trouble func(error)
	// Virtual: the run is a simulation, which can wait for the disk and can be made again. Records that were committed
	// leave memory where there are many, and Append waits while many are not.
	Virtual bool
}

// A virtual run has this many chunks in memory, or records of as many bytes.
const mostVirtual = 1 << 21

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
	beat       = "UPDATE run SET tally = '', beat_ns = ?, records = records + ?, failed = failed + ? WHERE id = ?"
	dropBlocks = "DELETE FROM block WHERE run_id = ? AND seq >= ?"
	progress   = "INSERT OR REPLACE INTO snapshot (run_id, at_ns, released, done, failed, tokens) VALUES (?, ?, ?, ?, ?, ?)"
)

func newWriter(s *Store, id string, owner Owner) *Writer {
	s.prepare(beat, forget, progress, insertBlock, dropBlocks)
	w := &Writer{store: s, id: id, owner: owner, samples: samples{rows: map[*telemetry.Series]sampled{}}, full: make(chan struct{}, 1), most: mostVirtual}
	w.written.L = &w.mu
	return w
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
	defer w.mu.Unlock()
	w.all = append(w.all, r)
	if w.owner.Virtual {
		for w.held += chunksOf(r); w.held > w.most && !w.failing; w.written.Wait() {
			select {
			case w.full <- struct{}{}:
			default:
			}
		}
	}
}

// chunksOf is how many chunks take as much memory as a record.
func chunksOf(r *trace.Record) int { return 40 + len(r.Chunks) }

// release drops the records of a large virtual run that are committed.
func (w *Writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owner.Virtual && (w.released || w.held > w.most/2) {
		for _, r := range w.all[:w.stored] {
			w.held -= chunksOf(r)
		}
		w.all, w.stored, w.released = slices.Clone(w.all[w.stored:]), 0, true
	}
	w.failing = !w.trouble.IsZero()
	w.written.Broadcast()
}

func (w *Writer) loop(stop <-chan struct{}) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	defer func() { w.running = false }()
	for {
		select {
		case <-tick.C:
		case <-w.full:
		case <-stop:
			return
		}
		_ = w.flush(brief, false)
		w.release()
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

// write commits records in blocks, at least an empty one. Records that do not fill a block are compressed when it is
// joined with others, or after the run.
func (w *Writer) write(records []*trace.Record, wait time.Duration) error {
	for first := true; first || len(records) > 0; first = false {
		n, full := trace.Fit(records)
		full = full || !w.running && len(w.small) == 0
		if err := w.commit(records[:n], full, wait); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// commit commits records as a block, with a heartbeat and the progress of the run.
func (w *Writer) commit(records []*trace.Record, full bool, wait time.Duration) error {
	fresh, err := w.fresh(records)
	if err != nil {
		return err
	}
	if n, _ := trace.Fit(slices.Concat(w.small, fresh)); len(w.small) > 0 && (full || n < len(w.small)+len(fresh)) {
		if err := w.join(wait); err != nil {
			return err
		}
	}
	var block trace.Block
	if len(fresh) > 0 {
		block = w.packer(full).Block(fresh)
	}
	err = w.store.change(wait, func(tx *sql.Tx) error {
		if err := w.add(tx, fresh, block); err != nil {
			return err
		}
		return w.snapshot(tx)
	})
	if err != nil {
		return err
	}
	for _, r := range fresh {
		w.seen.add(r.Index)
	}
	w.stored, w.last = w.stored+len(records), w.last+len(fresh)
	w.release()
	if !full && len(fresh) > 0 {
		w.small = append(w.small, fresh...)
	}
	return nil
}

// packer is what makes a block.
func (w *Writer) packer(compress bool) *trace.Packer {
	w.pack.Plain, w.pack.Pause = !compress, nil
	if w.running && !w.owner.Virtual {
		w.pack.Pause = func() { time.Sleep(pause) }
	}
	return &w.pack
}

// fresh are the records that are to be stored.
func (w *Writer) fresh(records []*trace.Record) ([]*trace.Record, error) {
	if w.seen == nil {
		w.seen = requests{}
	}
	fresh, now := make([]*trace.Record, 0, len(records)), requests{}
	for _, r := range records {
		if w.alreadyStored.has(r.Index) {
			continue
		}
		if w.seen.has(r.Index) || now.has(r.Index) {
			return nil, fmt.Errorf("request %d of run %s has a second record", r.Index, w.id)
		}
		now.add(r.Index)
		fresh = append(fresh, r)
	}
	return fresh, nil
}

// add inserts a block of records and updates the heartbeat.
func (w *Writer) add(tx *sql.Tx, fresh []*trace.Record, block trace.Block) error {
	failed := 0
	for _, r := range fresh {
		if !r.OK() {
			failed++
		}
	}
	err := w.store.exec(tx, beat, time.Now().UnixNano(), len(fresh), failed, w.id)
	if err == nil && len(fresh) > 0 {
		err = cmp.Or(w.store.exec(tx, forget, w.id), w.store.addBlock(tx, w.id, w.last+1, block))
	}
	return err
}

// join replaces the small blocks by one that is compressed, in one transaction: a process that is killed leaves either.
func (w *Writer) join(wait time.Duration) error {
	if len(w.small) == 0 {
		return nil
	}
	block := w.packer(true).Block(w.small)
	first := w.last - len(w.small) + 1
	err := w.store.change(wait, func(tx *sql.Tx) error {
		if err := w.store.exec(tx, dropBlocks, w.id, first); err != nil {
			return err
		}
		return w.store.addBlock(tx, w.id, first, block)
	})
	if err == nil {
		w.small = nil
	}
	return err
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

// requests is a set of indices, 64 in a word.
type requests map[int]uint64

func (r requests) add(index int) { r[index>>6] |= 1 << (index & 63) }

func (r requests) has(index int) bool { return r[index>>6]>>(index&63)&1 != 0 }
