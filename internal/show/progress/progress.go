package progress

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Display shows how a run goes.
type Display struct {
	console *Console
	counts  func() trace.Snapshot
	total   int
	ending  atomic.Bool // nothing more is sent
	start   time.Time

	mu     sync.Mutex              // guards what follows
	ttft   *hdrhistogram.Histogram // microseconds, of the requests done
	itl    *hdrhistogram.Histogram
	tokens int

	over chan struct{}
	loop sync.WaitGroup
}

// How often a line is written.
const (
	drawEvery  = 200 * time.Millisecond
	printEvery = 5 * time.Second
	maxLatency = int64(24 * time.Hour / time.Microsecond)
)

// Start begins to show a run of so many requests; counts tell how far it is.
func Start(c *Console, counts func() trace.Snapshot, total int) *Display {
	p := &Display{
		console: c, counts: counts, total: total, start: time.Now(), over: make(chan struct{}),
		ttft: hdrhistogram.New(1, maxLatency, 3), itl: hdrhistogram.New(1, maxLatency, 3),
	}
	every := printEvery
	if c.width != nil {
		every = drawEvery
	}
	p.loop.Go(func() { p.show(every) })
	return p
}

// Record adds a finished request to the figures.
func (p *Display) Record(r *trace.Record) {
	if !r.OK() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens += r.OutputTokens
	prev := trace.Never
	for _, c := range r.Chunks {
		if !c.Kind.Output() {
			continue
		}
		if prev.Happened() {
			_ = p.itl.RecordValue(c.At.Sub(prev).Microseconds()) // beyond a day: not shown
		} else {
			_ = p.ttft.RecordValue(c.At.Sub(r.Sent).Microseconds())
		}
		prev = c.At
	}
}

func (p *Display) show(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.console.draw(p.line()...)
		case <-p.over:
			return
		}
	}
}

// Ending says that nothing more is sent.
func (p *Display) Ending() { p.ending.Store(true) }

// Stop ends the display and clears its line.
func (p *Display) Stop() {
	close(p.over)
	p.loop.Wait()
	p.console.clear()
}

// line is how the run goes, the most important first.
func (p *Display) line() []string {
	now := p.counts()
	released, done, failed := int64(now.Released), int64(now.Done), int64(now.Failed)
	elapsed := time.Since(p.start)
	p.mu.Lock()
	defer p.mu.Unlock()
	total := int64(p.total)
	if p.ending.Load() {
		total = released
	}
	since := fmt.Sprintf("%5.1f s", elapsed.Seconds())
	parts := []string{
		fmt.Sprintf("%d/%d", done, total),
		fmt.Sprintf("%d failed", failed),
		fmt.Sprintf("%d in flight", released-done),
		left(done, total, elapsed) + " left",
		fmt.Sprintf("%.0f tok/s", float64(p.tokens)/elapsed.Seconds()),
		"TTFT " + p50p99(p.ttft),
		"ITL " + p50p99(p.itl) + " ms",
	}
	if p.console.width == nil {
		return append([]string{since}, parts...)
	}
	return append(parts, since) // the first to be left out
}

// p50p99 are the two percentiles in milliseconds.
func p50p99(h *hdrhistogram.Histogram) string {
	if h.TotalCount() == 0 {
		return "–/–"
	}
	return short(h.ValueAtQuantile(50)) + "/" + short(h.ValueAtQuantile(99))
}

// short is microseconds in milliseconds, in few characters.
func short(us int64) string {
	if us < 9950 {
		return fmt.Sprintf("%.1f", float64(us)/1000)
	}
	return fmt.Sprintf("%.0f", float64(us)/1000)
}

// left extrapolates the time that the rest will take.
func left(done, total int64, elapsed time.Duration) string {
	if done == 0 {
		return "?"
	}
	rest := float64(total-done) / float64(done) * float64(elapsed)
	return time.Duration(rest).Round(time.Second).String()
}
