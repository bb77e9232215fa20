package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// Start has the crew begin at one instant. Workers that are lost before that are replaced, or left
// out, as Options say.
func (f *Fleet) Start(ctx context.Context, r *trace.Run) (err error) {
	f.begun, err = f.begin(ctx, r)
	return err
}

// Drive gathers the records of the crew.
func (f *Fleet) Drive(ctx context.Context, stop <-chan struct{}, t run.FleetSink) (run.Outcome, error) {
	f.followed = true
	g := newGathering(f, f.begun, t)
	defer g.end()
	out, err := g.watch(ctx, stop)
	f.gathered = err == nil
	out.Stopped = out.Stopped || err != nil // it is not complete
	return out, err
}

// A beginning is a crew that has begun.
type beginning struct {
	zero     int64 // instant 0 on the controller's clock
	zeroWall time.Time
	heading  fleet.Heading
	owners   []int // of the requests, by share
	resumed  bool  // by another controller than that which began it
}

// begin deals the shares and has everybody begin at one instant.
func (f *Fleet) begin(ctx context.Context, r *trace.Run) (*beginning, error) {
	for late := 0; ; {
		since, err := f.awaitUp(ctx)
		if err != nil {
			return nil, err
		}
		if err := f.fillAgain(ctx); err != nil {
			return nil, err
		}
		f.each(func(_ int, m *member) { m.tune(ctx) })
		b, err := f.deal(ctx, r)
		if err == nil {
			err = f.create(ctx, b)
		}
		var lost *lostError
		up, now := f.o.Bus.Up()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !up || now != since: // a lost connection, not the worker
			continue
		case errors.As(err, &lost):
			f.logf("%v", err)
			f.dropLost(lost.worker.ID)
			continue
		case err != nil:
			return nil, err
		case f.isLate(b):
			if late++; late == mostLate {
				return nil, fmt.Errorf("the workers could not agree on a start in %v: the NATS server or the network is too slow", f.lead)
			}
			continue
		}
		f.each(func(_ int, m *member) { m.update(func(b *fleet.Beat) { b.Go = true }) })
		return b, nil
	}
}

// mostLate is how often the start may come too late.
const mostLate = 5

// isLate reports that workers may not hear in time that they are to begin.
func (f *Fleet) isLate(b *beginning) bool { return now() > b.zero-int64(f.lead/4) }

// each calls do for all members at once, with their shares.
func (f *Fleet) each(do func(share int, m *member)) {
	var all sync.WaitGroup
	for i, m := range f.crew {
		all.Go(func() { do(i, m) })
	}
	all.Wait()
}

// fillAgain replaces the members that were lost since they were hired.
func (f *Fleet) fillAgain(ctx context.Context) error {
	want, up := len(f.crew), f.upFor()
	for _, m := range slices.Clone(f.crew) {
		p, silent := m.look()
		if p.State != fleet.Failed && min(silent, up) < f.o.Grace {
			continue
		}
		why := fmt.Errorf("it did not answer for %v", silent.Round(time.Second/10))
		if p.State == fleet.Failed {
			why = errors.New(p.Why)
		}
		f.logf("%v", &lostError{m.Worker, why})
		f.dropLost(m.ID)
	}
	if len(f.crew) == want && want > 0 {
		return nil
	}
	return f.fill(ctx)
}

// dropLost removes a worker from the crew, and tries to inform it.
func (f *Fleet) dropLost(id string) {
	i := slices.IndexFunc(f.crew, func(m *member) bool { return m.ID == id })
	if i < 0 {
		return
	}
	f.crew[i].release()
	f.crew = slices.Delete(f.crew, i, i+1)
}

// dealTime is how long a slow worker takes to find its requests, for each of all requests.
const dealTime = 500 * time.Nanosecond

// leadTrips is how many round trips to the slowest worker the start is ahead: one for its Start, half of one for
// the Go, and others for delays.
const leadTrips = 6

// deal gives every member its Start.
func (f *Fleet) deal(ctx context.Context, r *trace.Run) (*beginning, error) {
	n := len(f.crew)
	f.lead = f.o.Lead + time.Duration(f.job.Requests.N)*dealTime
	for _, m := range f.crew {
		f.lead = max(f.lead, leadTrips*m.roundTrip())
	}
	b := &beginning{zero: now() + int64(f.lead), owners: fleet.Owners(f.job.Requests, n)}
	b.zeroWall = time.Now().Add(time.Duration(b.zero - now()))
	b.heading = fleet.Heading{Fleet: f.run, Digest: f.digest, Run: *r, Zero: b.zeroWall}
	b.heading.Run.Started = b.zeroWall
	total := f.job.Spec.Gate.Concurrency
	places := fleet.Places(total, n)
	for i, m := range f.crew {
		m.mu.Lock()
		at := m.clock.Theirs(b.zero)
		_, bound := m.clock.At(b.zero)
		m.mu.Unlock()
		if bound == fleet.Unknown {
			return nil, &lostError{m.Worker, errors.New("its clock could not be read")}
		}
		s := fleet.Start{
			Run: f.run, StoredID: r.ID, Share: i, Of: n, Places: places[i], Most: total, Probe: i == 0, At: at,
		}
		b.heading.Workers, b.heading.Start = append(b.heading.Workers, m.Worker), append(b.heading.Start, s)
		b.heading.Bounds = append(b.heading.Bounds, time.Duration(bound))
		if err := enoughFiles(m.Worker, places[i]); err != nil {
			return nil, err
		}
	}
	errs := make([]error, n)
	f.each(func(i int, m *member) { errs[i] = f.start(ctx, m, b.heading.Start[i]) })
	return b, errors.Join(errs...)
}

// enoughFiles refuses a share that would run out of files on its worker.
func enoughFiles(w fleet.Worker, places int) error {
	need := uint64(places + run.SpareFiles)
	if places == 0 || w.Files == 0 || need <= w.Files {
		return nil
	}
	return fmt.Errorf("worker %s on %s may open %d files and its share needs about %d; raise `ulimit -n` there, or use more workers", w.Name, w.Host, w.Files, need)
}

// start gives a member its Start, which it has to answer within half of the time until then.
func (f *Fleet) start(ctx context.Context, m *member, s fleet.Start) error {
	m.update(func(b *fleet.Beat) { b.Places = s.Places })
	call, cancel := context.WithTimeout(ctx, f.lead/2)
	defer cancel()
	r, err := bus.Request[fleet.Readiness](call, f.o.Bus, bus.SubjectOf(m.ID, bus.Start), s)
	r.State, r.Why = fleet.State(words(string(r.State))), words(r.Why)
	switch {
	case err != nil:
		return &lostError{m.Worker, err}
	case r.State != fleet.Armed:
		return &lostError{m.Worker, fmt.Errorf("it is %s and does not start: %s", r.State, r.Why)}
	}
	return nil
}

// create makes the stream of the records, with a Heading for another controller.
func (f *Fleet) create(ctx context.Context, b *beginning) error {
	if f.stored { // by a start that did not come about
		if err := delivery.Remove(ctx, f.o.Bus.Stream(), f.run); err != nil {
			return err
		}
	}
	f.stored = true
	return delivery.Create(ctx, f.o.Bus.Stream(), b.heading)
}
