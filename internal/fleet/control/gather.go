package control

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// A gathering is a run under way: its records so far, and the workers on it.
type gathering struct {
	*beginning
	timing
	f    *Fleet
	sink run.FleetSink

	receiver *delivery.Receiver
	stopped  context.CancelFunc // ends the receiver
	reading  sync.WaitGroup

	mu      sync.Mutex
	seen    []bool        // requests that have a record
	quiet   time.Duration // since the last of them came, but for the time in which this process was suspended
	looked  time.Time
	records []*trace.Record
	shares  []share
	level   fleet.Stop    // as the workers know it
	came    chan struct{} // has an element when an End came
	broken  error         // of the receiver
	settled bool          // there is an Outcome: nothing is taken any more
}

// A share has the requests for one worker, and their state.
type share struct {
	*member
	requests, records int
	places            int
	forged            bool          // it was reported that others send in its name
	ahead             trace.Instant // how far its instants can be ahead
	trouble           string        // reported last
	idle              time.Time     // since when it says that it is done; zero: it does not
	end               *fleet.End
	lost              plan.Message // zero: it is not
	lastHeard         time.Time
	final             fleet.Pulse
}

// active reports whether the worker still sends.
func (s *share) active() bool { return s.end == nil && s.lost.IsZero() }

func newGathering(f *Fleet, b *beginning, t run.FleetSink) *gathering {
	g := &gathering{
		beginning: b, timing: timingOf(f.job), f: f, sink: t,
		seen: make([]bool, len(b.owners)), looked: time.Now(), came: make(chan struct{}, 1),
	}
	for i, m := range f.crew {
		g.shares = append(g.shares, share{member: m, places: b.heading.Start[i].Places, ahead: spare})
	}
	for _, owner := range b.owners {
		g.shares[owner].requests++
	}
	g.receiver = delivery.NewReceiver(f.o.Bus.Stream(), b.heading)
	reading, stop := context.WithCancel(context.Background())
	g.stopped = stop
	g.reading.Go(func() {
		err := g.receiver.Run(reading, g)
		g.mu.Lock()
		defer g.mu.Unlock()
		if reading.Err() == nil {
			g.broken = err
		}
	})
	if t.Progress != nil {
		t.Progress.Follow(g.snapshot)
	}
	return g
}

func (g *gathering) end() {
	g.stopped()
	g.reading.Wait()
}

func (g *gathering) snapshot() trace.Snapshot {
	at := trace.Instant(now() - g.zero)
	if at < 0 {
		return trace.Snapshot{At: trace.Never}
	}
	sum := trace.Snapshot{At: at}
	for i := range g.shares {
		p, _ := g.shares[i].look()
		if !p.Progress.At.Happened() {
			continue
		}
		sum.Released += p.Progress.Released
		sum.Done += p.Progress.Done
		sum.Failed += p.Progress.Failed
		sum.Tokens += p.Progress.Tokens
	}
	return sum
}

// Record takes one that came. One that cannot be loses its worker.
func (g *gathering) Record(from int, r *trace.Record) {
	g.mu.Lock()
	ok := g.accept(from, r)
	g.mu.Unlock()
	if ok {
		g.sink.Record(r)
	}
}

// accept keeps a record, unless it is there already, of a request of another share, or of none, or cannot
// be, or its worker has sent such a one. g.mu is held.
func (g *gathering) accept(from int, r *trace.Record) bool {
	s := &g.shares[from]
	if g.settled || s.end != nil || s.lost.Code == lostDamaged ||
		r.Index < 0 || r.Index >= len(g.seen) || g.seen[r.Index] || g.owners[r.Index] != from {
		return false
	}
	if err := checkRecord(r, g.f.job.Requests.At(r.Index), g.due[r.Index], g.latest()+s.ahead); err != nil {
		g.damaged(from, err)
		return false
	}
	g.seen[r.Index], g.quiet = true, 0
	g.records = append(g.records, r)
	s.records++
	return true
}

// latest is the present instant of the run, by the clock that is ahead: one stands still while this
// machine is suspended. Where the controller is another one than at the start, neither says it. A share that
// is stopped before the run begins ends when it would have begun.
func (g *gathering) latest() trace.Instant {
	const long = trace.Instant(1000 * time.Hour)
	if g.resumed {
		return long
	}
	wall := time.Now().Round(0).Sub(g.zeroWall.Round(0))
	return trace.Instant(max(now()-g.zero, int64(wall), 0))
}

// End takes the last that comes from a worker.
func (g *gathering) End(from int, e fleet.End) {
	g.mu.Lock()
	if from >= 0 && from < len(g.shares) && g.shares[from].end == nil {
		s := &g.shares[from]
		if err := checkEnd(&e, g.heading.Start[from], s.records, g.latest()+s.ahead); err != nil {
			g.damaged(from, err)
		} else {
			s.end = &e
			g.checkStopped(s)
		}
	}
	g.mu.Unlock()
	select {
	case g.came <- struct{}{}:
	default:
	}
}

// checkStopped loses a worker that did not come to the end of its share, unless it was to stop. Of a run
// that another controller began, that one may have asked for it. g.mu is held.
func (g *gathering) checkStopped(s *share) {
	if s.end.Stopped && g.level < fleet.NoMore && s.lost.IsZero() && !g.resumed {
		g.lost(s, plan.Msg(lostEnded))
	}
}

// Damaged loses a worker that sends unreadable messages.
func (g *gathering) Damaged(from int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.damaged(from, err)
}

// damaged is Damaged. g.mu is held.
func (g *gathering) damaged(from int, err error) {
	if from >= 0 && from < len(g.shares) && g.shares[from].lost.IsZero() {
		g.lost(&g.shares[from], plan.Msg(lostDamaged, "why", err))
	}
}

// Forged loses a worker that sends in the name of another. The message is dropped, whoever sent it.
func (g *gathering) Forged(share, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.shares[share]
	if by >= 0 {
		g.damaged(by, fmt.Errorf("it is in the name of worker %s", s.Name))
	} else if !s.forged {
		s.forged = true
		g.sink.Note(plan.Msg(noteForged, "worker", s.Name, "host", s.Host))
	}
}

// How a worker is lost.
const (
	lostSilent  plan.Code = "fleet.lost-silent"
	lostGone    plan.Code = "fleet.lost-gone"
	lostFailed  plan.Code = "fleet.lost-failed"
	lostDamaged plan.Code = "fleet.lost-damaged"
	lostEnded   plan.Code = "fleet.lost-ended"
	lostOverdue plan.Code = "fleet.lost-overdue"
	lostGoesOn  plan.Code = "fleet.lost-goes-on"
)

// noteLost says during the run that a worker was lost, and noteForged that somebody sends in the name of one.
const (
	noteLost   plan.Code = "fleet.lost-note"
	noteForged plan.Code = "fleet.forged"
)

// lookEvery is how often the workers are looked at.
const lookEvery = 100 * time.Millisecond

// watch follows the run to its end.
func (g *gathering) watch(ctx context.Context, stop <-chan struct{}) (run.Outcome, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	done := ctx.Done()
	var late <-chan time.Time // for cancelled requests
	patience := 2*g.f.o.Grace + g.f.o.Lead
	for {
		select {
		case <-stop:
			stop = nil
			g.raise(fleet.NoMore)
		case <-done:
			done, stop = nil, nil
			g.raise(fleet.Cancel)
			late = time.After(patience)
		case <-late:
			g.loseRest(patience)
		case <-g.came:
		case <-tick.C:
		}
		if err := g.look(); err != nil {
			return g.outcome(), err
		}
		if g.allOver() {
			err := g.catchUp() // the level is final
			return g.outcome(), err
		}
	}
}

// raise sends all workers how far the run is ended.
func (g *gathering) raise(level fleet.Stop) {
	g.mu.Lock()
	g.level = max(g.level, level)
	g.mu.Unlock()
	for _, m := range g.f.crew {
		m.update(func(b *fleet.Beat) { b.Stop = max(b.Stop, level) })
	}
}

// look finds those that are lost, and deals the places of those that have ended.
func (g *gathering) look() error {
	up := g.f.upFor()
	if is, since := g.f.o.Bus.Up(); !is && time.Since(since) > g.f.o.Away {
		return fmt.Errorf("there was no connection to %s for %v; once there is one, `pitot fleet resume` collects the rest", g.f.o.Bus.Address(), g.f.o.Away)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.quiet += min(time.Since(g.looked), time.Second)
	g.looked = time.Now()
	for i := range g.shares {
		s := &g.shares[i]
		s.ahead = s.aheadBy()
		if !s.active() {
			continue
		}
		p, silent := s.look()
		quiet := min(g.quiet, up)
		over := g.overdue(trace.Instant(now()-g.zero), quiet, g.silenceLimit(p))
		switch {
		case p.State == fleet.Failed:
			g.lost(s, plan.Msg(lostFailed, "why", p.Why))
		case g.endless(s, p.State, quiet):
			g.lost(s, plan.Msg(lostFailed, "why", "it is done, and its end did not come"))
		case over > 0:
			g.lost(s, plan.Msg(lostOverdue, "seconds", over.Round(time.Second), "state", string(p.State)))
		case silent > g.f.o.Grace && up > g.f.o.Grace && s.isGone():
			g.lost(s, plan.Msg(lostGone, "seconds", silent))
		case silent > g.f.o.Grace && up > g.f.o.Grace:
			g.lost(s, plan.Msg(lostSilent, "seconds", silent))
		case p.Why != "" && p.Why != s.trouble:
			g.f.logf("worker %s on %s: %s", s.Name, s.Host, p.Why)
			s.trouble = p.Why
		}
	}
	g.redeal()
	return g.broken
}

// endless reports a worker that says that it has delivered everything, while nothing more comes: somebody
// else has ended its run. g.mu is held.
func (g *gathering) endless(s *share, state fleet.State, quiet time.Duration) bool {
	switch {
	case state != fleet.Idle:
		s.idle = time.Time{}
		return false
	case s.idle.IsZero():
		s.idle = time.Now()
	}
	return min(time.Since(s.idle), quiet) > silenceGraces*g.f.o.Grace
}

// silenceGraces is how many times the grace a worker may deliver nothing although more is due.
const silenceGraces = 6

// silenceLimit is how long nothing may come of a worker: as long as workers try to deliver, if it says that it does.
func (g *gathering) silenceLimit(p fleet.Pulse) time.Duration {
	if p.State == fleet.Delivering || p.Why != "" {
		return g.f.o.Away + silenceGraces*g.f.o.Grace
	}
	return silenceGraces * g.f.o.Grace
}

func (g *gathering) lost(s *share, why plan.Message) {
	p, silent := s.look()
	s.lost, s.lastHeard, s.final = why, time.Now().Add(-silent), p
	s.update(func(b *fleet.Beat) { b.Stop = max(b.Stop, fleet.Cancel) })
	g.sink.Note(plan.Msg(noteLost, "worker", s.Name, "host", s.Host, "why", why, "requests", s.requests-s.records))
}

// redeal gives the places of shares that have ended to the others.
func (g *gathering) redeal() {
	total := g.f.job.Spec.Gate.Concurrency
	if total == 0 {
		return
	}
	active, have := make([]bool, len(g.shares)), make([]int, len(g.shares))
	for i := range g.shares {
		s := &g.shares[i]
		active[i], have[i] = s.active() && !s.sentAll(), s.places
	}
	for i, n := range fleet.Redeal(total, active, have) {
		s := &g.shares[i]
		if active[i] && n > s.places {
			s.places = n
			s.update(func(b *fleet.Beat) { b.Places = n })
		}
	}
}

// sentAll reports a worker that has answers to all of its requests.
func (s *share) sentAll() bool {
	p, _ := s.look()
	return p.State == fleet.Delivering || p.State == fleet.Idle
}

// isGone reports a worker that is not connected, which is more than being silent.
func (m *member) isGone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return isGone(m.silence)
}

// loseRest gives up on workers that have not ended within the limit after the order to end.
func (g *gathering) loseRest(after time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.shares {
		if s := &g.shares[i]; s.active() {
			if _, silent := s.look(); silent > g.f.o.Grace {
				g.lost(s, plan.Msg(lostSilent, "seconds", silent))
			} else {
				g.lost(s, plan.Msg(lostGoesOn, "seconds", after))
			}
		}
	}
}

func (g *gathering) allOver() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.shares {
		if g.shares[i].active() {
			return false
		}
	}
	return true
}

// catchUp waits for the delivered records of lost workers.
func (g *gathering) catchUp() error {
	limit := catchUpLimit
	if g.level >= fleet.Cancel {
		limit = 2 * g.f.o.Grace
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := g.receiver.CaughtUp(ctx); err != nil {
		return fmt.Errorf("read what the workers delivered: %w", err)
	}
	return nil
}

const catchUpLimit = time.Minute
