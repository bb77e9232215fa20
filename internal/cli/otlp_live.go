package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/otlp"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// Live is a sink that sends a run to a collector while it goes on: its progress about once a second,
// and samples as they come. It never holds a run up: what a slow collector has no time for, or an
// unreachable one does not take, is left out. One line says so at the first failure, and one at the
// end how much that was; the run does not fail.
type otlpLive struct {
	Say       func(string) // writes a line for the user
	collector *otlpCollector

	mu      sync.Mutex
	current *stream // nil between runs
}

// Live is a sink for runs, one after the other.
func (c *otlpCollector) Live() *otlpLive { return &otlpLive{collector: c} }

// Bounds of a stream.
const (
	mostWaiting = 1 << 16 // values that wait to be sent
	sendEvery   = time.Second
	patience    = 10 * time.Second // for what is left when a run has ended
)

// Handle takes an event of a run.
func (l *otlpLive) Handle(e run.Event) error {
	switch e := e.(type) {
	case run.Starting:
		l.end()
		l.start(e)
	case run.Sampled:
		l.with(func(s *stream) { s.add(e.Values) })
	case run.Ended:
		l.with((*stream).last)
	case run.Judged: // nothing waits for it any more
		l.end()
	}
	return nil
}

// Close ends what is under way: a run that failed.
func (l *otlpLive) Close() { l.end() }

func (l *otlpLive) with(do func(*stream)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		do(l.current)
	}
}

// start begins a stream, unless the run is simulated: that is over before anybody could look.
func (l *otlpLive) start(e run.Starting) {
	if e.Progress == nil {
		return
	}
	exporter, err := l.collector.Exporter(*e.Run)
	if err != nil {
		l.Say(fmt.Sprintf("collector: %v", err))
		return
	}
	s := &stream{exporter: exporter, progress: e.Progress, run: e.Run.ID, say: l.Say, hurry: make(chan struct{}), over: make(chan struct{})}
	go s.send()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = s
}

// end ends the stream, once all has been sent or 10 s have passed.
func (l *otlpLive) end() {
	l.mu.Lock()
	s := l.current
	l.current = nil
	l.mu.Unlock()
	if s == nil {
		return
	}
	close(s.hurry)
	<-s.over
	s.exporter.Close()
	if s.lost > 0 {
		l.Say(fmt.Sprintf("collector: %s not sent; `pitot runs export %s --otlp %s` sends all that was kept", session.Plural(s.lost, "sample"), s.run, l.collector.url.Redacted()))
	}
}

// A stream is one run on its way to a collector.
type stream struct {
	exporter *otlp.Exporter
	run      string // its id
	say      func(string)
	hurry    chan struct{} // closed when nothing more comes
	over     chan struct{} // closed when all is done

	mu       sync.Mutex
	progress *driver.Progress // nil at the end of the run
	waiting  []telemetry.Value
	lost     int // values that were not sent; after over without the mutex
	failed   bool
}

// add puts values into the queue, as far as there is room.
func (s *stream) add(values []telemetry.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := min(len(values), max(0, mostWaiting-len(s.waiting)))
	s.waiting = append(s.waiting, values[:room]...)
	s.lost += len(values) - room
}

// last adds how far the run is for the last time.
func (s *stream) last() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	s.progress = nil
}

// advance adds how far the run is, if it has begun.
func (s *stream) advance() {
	if s.progress == nil {
		return
	}
	if now := s.progress.Snapshot(); now.At.Happened() {
		s.waiting = append(s.waiting, otlp.Progress(now)...)
	}
}

// take empties the queue.
func (s *stream) take() (values []telemetry.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	values, s.waiting = s.waiting, nil
	return values
}

// send sends what waits, every second and at the end.
func (s *stream) send() {
	defer close(s.over)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.hurry:
			time.AfterFunc(patience, cancel)
		case <-ctx.Done():
		}
	}()
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.deliver(ctx)
		case <-s.hurry:
			s.deliver(ctx)
			return
		}
	}
}

// deliver sends what waits. What fails is not sent again: a collector that took it and did not
// say so would have it twice.
func (s *stream) deliver(ctx context.Context) {
	values := s.take()
	out, err := s.exporter.Send(ctx, values)
	s.mu.Lock()
	s.lost += len(values) - out.Sent + out.Rejected
	first := (err != nil || out.Rejected > 0) && !s.failed
	s.failed = s.failed || first
	s.mu.Unlock()
	switch {
	case !first:
	case err != nil:
		s.say(err.Error())
	default:
		s.say(fmt.Sprintf("collector rejected %s: %s", session.Plural(out.Rejected, "sample"), out.Message))
	}
}
