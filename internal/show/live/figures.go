package live

import (
	"fmt"
	"iter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// figures accumulate finished requests. Latencies are in microseconds.
type figures struct {
	ttft, itl, e2el, late *hdrhistogram.Histogram
	detailed              bool // also what only the view shows

	settled         int // tokens of finished requests
	answers, tokens int // successful requests and their tokens
	first           sum // TTFT
	failures        map[failure]int
	client          metrics.LiveHealth
}

// A failure is one way in which requests failed.
type failure struct {
	class  trace.Class
	status int // of class http
}

type sum struct {
	of float64
	n  int
}

const maxLatency = int64(24 * time.Hour / time.Microsecond)

func newFigures(r *trace.Run, whole bool) figures {
	spread := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, maxLatency, 3) }
	f := figures{ttft: spread(), itl: spread(), detailed: whole, client: metrics.LiveHealth{Run: r}}
	if whole {
		f.e2el, f.late, f.failures = spread(), spread(), map[failure]int{}
	}
	return f
}

// add adds a finished request.
func (f *figures) add(r *trace.Record) {
	f.settled += r.OutputTokens
	if f.detailed {
		f.more(r)
	}
	if !r.OK() {
		return
	}
	f.answers++
	f.tokens += r.OutputTokens
	prev := trace.Never
	for _, c := range r.Chunks {
		if !c.Kind.Output() {
			continue
		}
		if prev.Happened() {
			keep(f.itl, c.At.Sub(prev))
		} else {
			first := c.At.Sub(r.Sent)
			keep(f.ttft, first)
			f.first.of, f.first.n = f.first.of+first.Seconds(), f.first.n+1
		}
		prev = c.At
	}
}

// more adds what only the view shows.
func (f *figures) more(r *trace.Record) {
	f.client.Add(r)
	if late, sent := metrics.Lateness(r); sent {
		keep(f.late, time.Duration(late*1e9))
	}
	switch {
	case r.OK():
		keep(f.e2el, r.Done.Sub(r.Sent))
	case r.Class == trace.HTTP:
		f.failures[failure{r.Class, r.Status}]++
	default:
		f.failures[failure{r.Class, 0}]++
	}
}

// keep records a latency; one of more than a day is dropped.
func keep(in *hdrhistogram.Histogram, d time.Duration) { _ = in.RecordValue(d.Microseconds()) }

// A count is how far a run was at an instant.
type count struct {
	at           time.Duration
	tokens, done int
}

// recently is the time over which rates are counted.
const recently = 5 * time.Second

// recent are the counts of the last seconds.
type recent []count

// rates adds a count and returns the tokens received and the requests finished per second over the
// last seconds.
func (r *recent) rates(now count) (tokens, done float64) {
	all := append(*r, now)
	for len(all) > 2 && now.at-all[1].at >= recently {
		all = all[1:]
	}
	first := all[0]
	*r = append((*r)[:0], all...) // over all[0]
	took := (now.at - first.at).Seconds()
	if took <= 0 {
		return 0, 0
	}
	return float64(now.tokens-first.tokens) / took, float64(now.done-first.done) / took
}

// A second holds the values of one second, or of a longer gap between two drawings.
type second struct {
	requests, tokens float64 // finished and received, per second
	inFlight         float64
	ttft             *float64 // seconds, mean over the requests that finished; nil: none did
}

// A history is the last minute of a run, second by second.
type history struct {
	seconds []second
	last    count
	first   sum // TTFT at last
}

const kept = 60 // seconds

func (p *history) add(now count, inFlight int, first sum) bool {
	took := (now.at - p.last.at).Seconds()
	if took < 0.95 { // timers are inexact
		return false
	}
	s := second{float64(now.done-p.last.done) / took, float64(now.tokens-p.last.tokens) / took, float64(inFlight), nil}
	if n := first.n - p.first.n; n > 0 {
		mean := (first.of - p.first.of) / float64(n)
		s.ttft = &mean
	}
	if len(p.seconds) == kept {
		p.seconds = append(p.seconds[:0], p.seconds[1:]...)
	}
	p.seconds, p.last, p.first = append(p.seconds, s), now, first
	return true
}

// A queue counts the requests that are due by the schedule.
type queue struct {
	next   func() (time.Duration, bool)
	stop   func()
	at     time.Duration // when the next is due
	peeked bool          // at is known
	due    int
	most   int
}

// newQueue returns nil without a schedule or a gate.
func newQueue(l Load) *queue {
	if l.Due == nil || l.Gate == 0 {
		return nil
	}
	q := &queue{most: l.Requests}
	q.next, q.stop = iter.Pull(l.Due)
	return q
}

// waiting is the number of requests that are due at now and not sent. now must not decrease.
func (q *queue) waiting(now time.Duration, sent int) int {
	for q.due < q.most {
		if !q.peeked {
			if q.at, q.peeked = q.next(); !q.peeked {
				q.most = q.due
				break
			}
		}
		if q.at > now {
			break
		}
		q.due, q.peeked = q.due+1, false
	}
	return max(0, q.due-sent)
}

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
