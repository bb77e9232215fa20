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
	load    Load
	ending  atomic.Bool // nothing more is sent
	start   time.Time

	mu     sync.Mutex              // guards what follows
	ttft   *hdrhistogram.Histogram // microseconds, of the requests done
	itl    *hdrhistogram.Histogram
	course course // of the requests done
	came   []count

	over chan struct{}
	loop sync.WaitGroup
}

// A count is how many tokens had come at an instant.
type count struct {
	at     time.Duration
	tokens int
}

// How often a line is written, and over which time tokens per second are counted.
const (
	drawEvery  = 200 * time.Millisecond
	printEvery = 5 * time.Second
	recently   = 5 * time.Second
	maxLatency = int64(24 * time.Hour / time.Microsecond)
)

// Start begins to show a run; counts tell how far it is.
func Start(c *Console, counts func() trace.Snapshot, load Load) *Display {
	p := &Display{
		console: c, counts: counts, load: load, start: time.Now(), over: make(chan struct{}), came: []count{{}},
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.course.settled += r.OutputTokens
	if !r.OK() {
		return
	}
	p.course.answers++
	p.course.whole += r.OutputTokens
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
	p.mu.Lock()
	defer p.mu.Unlock()
	now, elapsed := p.counts(), time.Since(p.start)
	c := p.course
	c.Load, c.elapsed, c.sent, c.done, c.tokens, c.ending = p.load, elapsed, now.Released, now.Done, now.Tokens, p.ending.Load()
	parts := []string{
		c.progress(),
		fmt.Sprintf("%d failed", now.Failed),
		fmt.Sprintf("%d in flight", now.InFlight()),
	}
	if left, known := c.left(); known {
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	parts = append(parts, fmt.Sprintf("%.0f tok/s", p.rate(elapsed, now.Tokens)))
	if p.ttft.TotalCount() > 0 {
		parts = append(parts, "TTFT p50/p99 "+p50p99(p.ttft)+" ms")
	}
	if p.itl.TotalCount() > 0 {
		parts = append(parts, "ITL p50/p99 "+p50p99(p.itl)+" ms")
	}
	since := fmt.Sprintf("%5.1f s", elapsed.Seconds())
	if p.console.width == nil {
		return append([]string{since}, parts...)
	}
	return append(parts, since) // the first to be left out
}

// rate is how many tokens came per second, of late.
func (p *Display) rate(elapsed time.Duration, tokens int) float64 {
	p.came = append(p.came, count{elapsed, tokens})
	for len(p.came) > 2 && elapsed-p.came[1].at >= recently {
		p.came = p.came[1:]
	}
	first := p.came[0]
	if elapsed <= first.at {
		return 0
	}
	return float64(tokens-first.tokens) / (elapsed - first.at).Seconds()
}

// p50p99 are the two percentiles in milliseconds.
func p50p99(h *hdrhistogram.Histogram) string {
	return short(h.ValueAtQuantile(50)) + "/" + short(h.ValueAtQuantile(99))
}

// short is microseconds in milliseconds, in few characters.
func short(us int64) string {
	if us < 9950 {
		return fmt.Sprintf("%.1f", float64(us)/1000)
	}
	return fmt.Sprintf("%.0f", float64(us)/1000)
}
