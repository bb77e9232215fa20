package live

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// line is how the run goes in a line, the most important first.
func (p *Display) line() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, c := p.now()
	parts := []string{
		c.progress(),
		fmt.Sprintf("%d failed", now.Failed),
		fmt.Sprintf("%d in flight", now.InFlight()),
	}
	if left, known := c.left(); known {
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	tokens, _ := p.recent.rates(count{c.elapsed, now.Tokens, now.Done})
	parts = append(parts, fmt.Sprintf("%.0f tok/s", tokens))
	if p.figures.ttft.TotalCount() > 0 {
		parts = append(parts, "TTFT p50/p99 "+p50p99(p.figures.ttft)+" ms")
	}
	if p.figures.itl.TotalCount() > 0 {
		parts = append(parts, "ITL p50/p99 "+p50p99(p.figures.itl)+" ms")
	}
	since := fmt.Sprintf("%5.1f s", c.elapsed.Seconds())
	if p.console.term == nil {
		return append([]string{since}, parts...)
	}
	return append(parts, since) // the first to be left out
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
