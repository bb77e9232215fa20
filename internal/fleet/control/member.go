package control

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

const (
	beatEvery = 250 * time.Millisecond
	beatLimit = 2 * time.Second // for the reply to one
	burst     = 16              // exchanges at once, to know the clock well
	burstFor  = 4 * time.Second // or as many as there is time for
)

// epoch is instant 0 of the controller's monotonic clock.
var epoch = time.Now()

func now() int64 { return int64(time.Since(epoch)) }

type member struct {
	fleet.Worker
	bus   *bus.Bus
	run   string
	end   context.CancelFunc // of its beats
	done  sync.WaitGroup
	hurry chan struct{} // has an element when a beat is due at once

	mu       sync.Mutex
	clock    fleet.Clock
	nextBeat fleet.Beat // the next beat
	pulse    fleet.Pulse
	heard    time.Time     // when the last pulse came
	wall     time.Duration // how far its wall clock was ahead then
	silence  error         // of the last beat; nil: it was answered
	silent   time.Duration // how long beats were not answered, without the time in which this process was suspended
	ended    int64         // when the last beat was over
}

// join begins to ask for the pulse of a worker.
func join(b *bus.Bus, w fleet.Worker, run string) *member {
	m := &member{Worker: w, bus: b, run: run, hurry: make(chan struct{}, 1), nextBeat: fleet.Beat{Run: run}, heard: time.Now(), ended: now()}
	ctx, cancel := context.WithCancel(context.Background())
	m.end = cancel
	m.done.Go(func() { m.beats(ctx) })
	return m
}

// beats asks again and again.
func (m *member) beats(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		m.beat(ctx)
		select {
		case <-tick.C:
		case <-m.hurry:
		case <-ctx.Done():
			return
		}
	}
}

// beat sends one Beat, and takes the Pulse.
func (m *member) beat(ctx context.Context) {
	m.mu.Lock()
	what := m.nextBeat
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, beatLimit)
	defer cancel()
	sent := now()
	p, err := bus.Request[fleet.Pulse](ctx, m.bus, bus.SubjectOf(m.ID, bus.Beat), what)
	received := now()
	m.mu.Lock()
	defer m.mu.Unlock()
	since := time.Duration(received - m.ended)
	m.silence, m.ended = err, received
	if err != nil {
		m.silent += min(since, beatEvery+beatLimit)
		return
	}
	m.silent = 0
	m.pulse, m.heard = tidyPulse(p), time.Now()
	m.wall = time.Unix(0, p.Wall).Sub(m.heard)
	m.clock.Add(fleet.Exchange{Sent: sent, Arrived: p.Arrived, Answered: p.Answered, Received: received})
}

// update changes the next beat, and sends it at once.
func (m *member) update(change func(*fleet.Beat)) {
	m.mu.Lock()
	before := m.nextBeat
	change(&m.nextBeat)
	changed := m.nextBeat != before
	m.mu.Unlock()
	if !changed {
		return
	}
	select {
	case m.hurry <- struct{}{}:
	default:
	}
}

// tune measures the clock with many exchanges.
func (m *member) tune(ctx context.Context) {
	for i, begin := 0, time.Now(); i < burst && time.Since(begin) < burstFor; i++ {
		m.beat(ctx)
	}
}

// look is the last pulse, and how long the worker has been silent since.
func (m *member) look() (p fleet.Pulse, silent time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pulse, m.silent
}

// aheadBy is how far the instants of the worker can be ahead of those that are read here, with a second to spare.
func (m *member) aheadBy() trace.Instant {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, bound := m.clock.At(now())
	return trace.Instant(min(bound, int64(spare)-int64(time.Second)) + int64(time.Second))
}

// roundTrip is the least that was seen.
func (m *member) roundTrip() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Duration(m.clock.RoundTrip())
}

func (m *member) stopBeats() {
	m.end()
	m.done.Wait()
}

// release has the worker forget a run that has not begun.
func (m *member) release() {
	m.stopBeats()
	letGo(m.bus, m.Worker, m.run)
}

// letGo informs a worker that a run is over for it. A suspended worker gets the message when it resumes.
func letGo(b *bus.Bus, w fleet.Worker, run string) {
	ctx, cancel := context.WithTimeout(context.Background(), beatEvery)
	defer cancel()
	_, _ = bus.Request[fleet.Pulse](ctx, b, bus.SubjectOf(w.ID, bus.Beat), fleet.Beat{Run: run, Stop: fleet.Finished})
}

// dismiss informs the worker, after its beats, that the run is over for it.
func (m *member) dismiss(ctx context.Context) {
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, beatLimit)
		_, err := bus.Request[fleet.Pulse](call, m.bus, bus.SubjectOf(m.ID, bus.Beat), fleet.Beat{Run: m.run, Stop: fleet.Finished})
		cancel()
		if err == nil || errors.Is(err, bus.ErrGone) {
			return
		}
	}
}

// A Seen is a worker that was asked who it is, and its clock.
type Seen struct {
	fleet.Worker
	RoundTrip time.Duration // the least of a few exchanges; 0: it did not answer them
	Bound     time.Duration // how well its clock is known
	WallAhead time.Duration // of its wall clock, against this machine's
}

// Look asks who is there, for at most wait, and measures their clocks.
func Look(ctx context.Context, b *bus.Bus, pitot string, wait time.Duration) ([]Seen, error) {
	all, err := pollWorkers(ctx, b, pitot, wait)
	seen := make([]Seen, len(all))
	var each sync.WaitGroup
	for i, w := range all {
		each.Go(func() {
			m := &member{Worker: w, bus: b} // a beat of no run is answered too
			m.tune(ctx)
			_, bound := m.clock.At(now())
			seen[i] = Seen{Worker: w}
			if m.clock.Exchanges() > 0 {
				seen[i].RoundTrip, seen[i].Bound, seen[i].WallAhead = time.Duration(m.clock.RoundTrip()), time.Duration(bound), m.wall
			}
		})
	}
	each.Wait()
	return seen, err
}
