package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// How runs are read.
const (
	batch        = 2000                   // records between two looks at who waits
	abandoned    = 15 * time.Second       // after the last question
	patience     = 300 * time.Millisecond // that a question waits for a digest to be complete
	mostDigests  = 16                     // digests
	mostDigested = 1_500_000              // requests of all digests

	mostSnapshots = 1 << 20
)

// digests are those of runs that somebody looks at, the one that was asked for last at the end. A
// question has a goroutine read what there is since the last one, of a run under way as of one that
// was never read; it ends when it has read all, or nobody has asked for a while.
type digests struct {
	store *store.Store

	mu       sync.Mutex
	followed []*followed
	reading  sync.WaitGroup
	closed   bool
}

type followed struct {
	id    string
	store *store.Store

	mu       sync.Mutex // guards what follows
	digest   *view.Digest
	status   trace.Status // when it was last looked at; empty: not yet
	complete bool         // all that was stored then has been read
	records  int          // that are stored
	err      error
	asked    time.Time
	stop     context.CancelFunc // of its goroutine; nil: there is none
	done     chan struct{}      // closed when that has ended

	// Of the goroutine.
	next    int            // number of the last record
	blocks  int            // number of the last block of samples
	sampled *telemetry.Set // while there may be more
}

// A progress is how far the digest of a run has come.
type progress struct {
	Records int  // that are stored
	Running bool // there may be more
}

func (d *digests) close() {
	d.mu.Lock()
	d.closed = true
	for _, f := range d.followed {
		f.cancel()
	}
	d.mu.Unlock()
	d.reading.Wait()
}

// of finds the digest of a run, and has it read on.
func (d *digests) of(l store.Listing) (*followed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("the server is about to end")
	}
	i := slices.IndexFunc(d.followed, func(f *followed) bool { return f.id == l.ID })
	if i >= 0 && d.followed[i].fits(l) {
		f := d.followed[i]
		d.followed = append(slices.Delete(d.followed, i, i+1), f)
		return f, d.resume(f, l)
	}
	if i >= 0 {
		d.followed[i].cancel()
		d.followed = slices.Delete(d.followed, i, i+1)
	}
	run, err := d.store.Run(l.ID)
	if err != nil {
		return nil, err
	}
	f := &followed{id: l.ID, store: d.store, digest: view.NewDigest(run)}
	d.followed = append(d.followed, f)
	d.forget()
	return f, d.resume(f, l)
}

// forget drops the digests that were asked for the longest time ago.
func (d *digests) forget() {
	held := 0
	for i := len(d.followed) - 1; i >= 0; i-- {
		n := d.followed[i].size()
		if held += n; i < len(d.followed)-1 && (held > mostDigested || len(d.followed)-i > mostDigests) {
			d.followed[i].cancel()
			d.followed = slices.Delete(d.followed, i, i+1)
			held -= n
		}
	}
}

// resume reads on, if there is more than was read.
func (d *digests) resume(f *followed, l store.Listing) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = time.Now()
	f.records = l.Records
	if f.stop != nil || f.complete && f.status == l.Status && l.Status != trace.Running && f.records == l.Records {
		return f.err
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop, f.done, f.err = cancel, make(chan struct{}), nil
	d.reading.Go(func() {
		defer cancel()
		f.read(ctx)
	})
	return nil
}

// fits reports whether what was read is of the run that is stored now: one that was removed and
// imported again has the same id.
func (f *followed) fits(l store.Listing) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.digest.Requests() <= l.Records
}

// size is how many requests are held, or will be.
func (f *followed) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(f.digest.Requests(), f.records)
}

func (f *followed) cancel() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop != nil {
		f.stop()
	}
}

// read reads until there is no more, or nobody asks.
func (f *followed) read(ctx context.Context) {
	for {
		l, more, err := f.step()
		if f.ends(ctx, l, more, err) {
			return
		}
	}
}

// ends says what a step has found, and reports whether it was the last one: after that another
// goroutine may read on.
func (f *followed) ends(ctx context.Context, l store.Listing, more bool, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err == nil {
		f.complete, f.records = !more, max(l.Records, f.digest.Requests())
		f.digest.SetComplete(f.complete && f.status != trace.Running)
		f.digest.SetMissing(f.records - f.digest.Requests())
	}
	if more && err == nil && ctx.Err() == nil && time.Since(f.asked) < abandoned {
		return false
	}
	f.stop = nil
	close(f.done)
	return true
}

// step reads a batch, and reports whether there may be more of them.
func (f *followed) step() (l store.Listing, more bool, err error) {
	if l, err = f.store.Find(f.id); err != nil { // before its records: they are complete then, if it has ended
		return l, false, err
	}
	if l.Status != f.lastStatus() {
		if err := f.update(l); err != nil {
			return l, false, err
		}
	}
	f.next, more, err = f.store.Scan(f.id, f.next, batch, func(r *trace.Record) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.digest.Add(r)
	})
	if err == nil && !more && l.Status != trace.Complete {
		err = f.readSamples()
	}
	return l, more, err
}

func (f *followed) lastStatus() trace.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// update reads what has changed with the status of a run, and what was sampled up to then.
func (f *followed) update(l store.Listing) error {
	run, err := f.store.Run(f.id)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.digest.Update(run)
	f.status = l.Status
	f.mu.Unlock()
	return f.readSamples()
}

// readSamples reads data other than records: samples and, of a run without an end, its progress.
func (f *followed) readSamples() error {
	set, last, err := f.store.TelemetrySince(f.id, f.blocks)
	if err != nil {
		return err
	}
	f.mu.Lock()
	after, ended := f.digest.LastSnapshot(), f.status == trace.Complete
	f.mu.Unlock()
	var snapshots []trace.Snapshot
	if !ended {
		if snapshots, err = f.store.Snapshots(f.id, after, mostSnapshots); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.digest.Snapshots(snapshots)
	if last > f.blocks {
		f.sampled = extended(f.sampled, set)
		f.digest.Sampled(f.sampled)
	}
	if f.blocks = last; f.status != trace.Running {
		f.sampled = nil
	}
	return nil
}

// extended is a set with the samples of another that come after its own; both may be nil.
func extended(set, by *telemetry.Set) *telemetry.Set {
	if set == nil || by == nil {
		return cmp.Or(set, by)
	}
	set.Sources = by.Sources
	for _, one := range by.Series {
		set.Extend(one)
	}
	return set
}

// reading reports whether there is more that is stored to be read.
func (f *followed) reading() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stop != nil && !f.complete
}

// await waits until all that is stored has been read, but not long.
func (f *followed) await(ctx context.Context) {
	f.mu.Lock()
	reading, done := f.stop != nil, f.done
	f.mu.Unlock()
	if !reading {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	case <-ctx.Done():
	}
}

func (f *followed) ask(question func(*view.Digest, progress)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	question(f.digest, progress{Records: f.records, Running: f.status == trace.Running})
	return f.err
}
