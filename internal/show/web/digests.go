package web

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/digest"
)

// How runs are read.
const (
	batch     = 2000                   // records between two looks at who waits
	pause     = 500 * time.Millisecond // between reads of a run that goes on
	abandoned = 15 * time.Second       // after the last question
	patience  = 300 * time.Millisecond // that a question waits for a digest to be whole
	mostKept  = 16                     // digests
	mostHeld  = 2_000_000              // requests of all digests
)

// digests are those of runs that somebody looks at, the one that was asked for last at the end. Each
// is read by a goroutine of its own, which ends when it has read all there is, unless somebody
// follows, and when nobody has asked for a while.
type digests struct {
	store *store.Store

	mu      sync.Mutex
	kept    []*followed
	reading sync.WaitGroup
	closed  bool
}

// A followed run is one with its digest.
type followed struct {
	id    string
	store *store.Store

	mu       sync.Mutex // guards all below
	digest   *digest.Digest
	running  bool
	whole    bool // all that is stored has been read
	next     int  // number of the last record
	records  int  // that are stored
	err      error
	stop     context.CancelFunc // of its goroutine; nil: there is none
	asked    time.Time
	watchers int
	grown    chan struct{} // closed when there is more
}

// A progress is how far the digest of a run has come.
type progress struct {
	Read    int
	Records int   // that are stored
	Running bool  // there may be more
	Whole   bool  // all that is stored has been read
	Err     error // why it is read no further, as of a run that was removed
}

// follow tells how far the digest of a run has come: at first, and when it has grown, as often as
// the channel is read. It is closed when ctx ends, after an error, and when a run that has ended
// was read to its end.
func (s *Server) follow(ctx context.Context, id string) (<-chan progress, error) {
	l, err := s.Runs.Find(id)
	if err != nil {
		return nil, err
	}
	d := s.stored()
	f, err := d.of(l)
	if err != nil {
		return nil, err
	}
	if !f.watch(1) && l.Status == trace.Running { // it may have ended before it knew
		err = d.resume(f, l)
	}
	to := make(chan progress)
	go func() { // ends with ctx, which is that of a question
		defer close(to)
		defer f.watch(-1)
		f.report(ctx, to)
	}()
	return to, err
}

// watch changes how many follow, and reports whether the run is being read.
func (f *followed) watch(by int) (reading bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers += by
	f.asked = time.Now()
	return f.stop != nil
}

// report sends the progress whenever there is more.
func (f *followed) report(ctx context.Context, to chan<- progress) {
	for last, first := (progress{}), true; ; first = false {
		p, grown, reading := f.look()
		if first || p != last {
			select {
			case to <- p:
			case <-ctx.Done():
				return
			}
		}
		if last = p; !reading {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

// look is the progress, what says that it has changed, and whether it will.
func (f *followed) look() (p progress, grown <-chan struct{}, reading bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.progress(), f.grown, f.stop != nil
}

// close ends all goroutines.
func (d *digests) close() {
	d.mu.Lock()
	d.closed = true
	for _, f := range d.kept {
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
	i := slices.IndexFunc(d.kept, func(f *followed) bool { return f.id == l.ID })
	if i >= 0 && d.kept[i].fits(l) {
		f := d.kept[i]
		d.kept = append(slices.Delete(d.kept, i, i+1), f)
		return f, d.resume(f, l)
	}
	if i >= 0 {
		d.kept[i].cancel()
		d.kept = slices.Delete(d.kept, i, i+1)
	}
	run, err := d.store.Run(l.ID)
	if err != nil {
		return nil, err
	}
	f := &followed{id: l.ID, store: d.store, digest: digest.New(run), running: true, grown: make(chan struct{})}
	d.kept = append(d.kept, f)
	d.forget()
	return f, d.resume(f, l)
}

// forget drops the digests that were asked for the longest time ago.
func (d *digests) forget() {
	held := 0
	for i := len(d.kept) - 1; i >= 0; i-- {
		n := d.kept[i].size()
		if held += n; i < len(d.kept)-1 && (held > mostHeld || len(d.kept)-i > mostKept) {
			d.kept[i].cancel()
			d.kept = slices.Delete(d.kept, i, i+1)
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
	if f.stop != nil || f.whole && !f.running && l.Status != trace.Running {
		return f.err
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop, f.err = cancel, nil
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
	defer f.stopped()
	for ctx.Err() == nil {
		more, err := f.step()
		switch {
		case err != nil:
			f.mu.Lock()
			f.err = err
			f.mu.Unlock()
			return
		case more && !f.abandoned():
			continue
		case more || f.idle():
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// stopped tells those that wait.
func (f *followed) stopped() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop = nil
	f.tell()
}

// tell wakes those that wait for more; f is locked.
func (f *followed) tell() {
	close(f.grown)
	f.grown = make(chan struct{})
}

// step reads a batch, and reports whether there may be more of them.
func (f *followed) step() (more bool, err error) {
	run, err := f.store.Run(f.id) // before its records: they are complete then, if it has ended
	if err != nil {
		return false, err
	}
	records, next, err := f.store.RecordsSince(f.id, f.next, batch)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = next
	for _, r := range records {
		f.digest.Add(r)
	}
	more = len(records) == batch
	f.digest.Rename(run)
	f.running, f.whole = run.Status == trace.Running, !more
	f.records = max(f.records, f.digest.Requests())
	if len(records) > 0 || f.whole {
		f.tell()
	}
	return more, nil
}

// abandoned reports whether nobody has asked for a while.
func (f *followed) abandoned() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watchers == 0 && time.Since(f.asked) > abandoned
}

// idle reports whether nobody follows a run that has been read, or it has ended.
func (f *followed) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watchers == 0 || !f.running
}

// await waits until all that is stored has been read, but not long.
func (f *followed) await(ctx context.Context) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		f.mu.Lock()
		done, grown := f.stop == nil || f.whole, f.grown
		f.mu.Unlock()
		if done {
			return
		}
		select {
		case <-grown:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// progress is how far the digest has come; f is locked.
func (f *followed) progress() progress {
	return progress{Read: f.digest.Requests(), Records: f.records, Running: f.running, Whole: f.whole, Err: f.err}
}

// ask answers a question from the digest.
func (f *followed) ask(question func(*digest.Digest, progress)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	question(f.digest, f.progress())
	return f.err
}
