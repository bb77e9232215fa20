package live

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A state is everything that the view shows.
type runState struct {
	head
	course
	mark              string // of a warning; empty: none
	whole             string // how far the experiment is; empty: there is none
	failed, inFlight  int
	waiting           int     // requests that are due and have no place; -1: unknown
	requests, outputs float64 // finished requests and output tokens per second, over the last seconds
	seconds           []second
	stream            bool // answers are streams
	ttft, itl, e2el   percentiles
	failures          []failures
	health
	server resources.Live
}

// A head identifies a run.
type head struct{ model, target, load, id string }

func headOf(s Subject, hide func(string) string) head {
	r := s.Run
	target := r.Plan.URL
	if r.Env.Embedded {
		target = s.Lang.Word("report.embedded-engine")
		if r.Env.Profile != nil {
			target += " " + r.Env.Profile.Name
		}
	}
	id := r.ID
	if r.Name != "" {
		id = r.Name + "  " + id
	}
	return head{hide(r.Plan.Model), hide(target), hide(report.Load(r.Plan, s.Lang)), hide(id)}
}

// percentiles are P50, P90 and P99 in microseconds; nil without values.
type percentiles []int64

var shown = []float64{50, 90, 99}

func percentilesOf(h *hdrhistogram.Histogram) percentiles {
	if h.TotalCount() == 0 {
		return nil
	}
	return h.ValueAtPercentilesSlice(shown)
}

type failures struct {
	failure
	n int
}

type health struct {
	late   time.Duration // P99 of how late requests were sent
	timed  bool          // late is known
	busy   float64       // share of the processors, 0 to 1
	cpus   int
	doubts []plan.Message
}

func (p *Display) state(mark string) runState {
	p.mu.Lock()
	now, c := p.now()
	f := &p.figures
	s := runState{
		head: p.head, course: c, mark: mark, failed: now.Failed, inFlight: now.InFlight(), waiting: -1, stream: p.Run.Plan.Stream,
		ttft: percentilesOf(f.ttft), itl: percentilesOf(f.itl), e2el: percentilesOf(f.e2el), failures: byCount(f.failures),
	}
	at := count{c.elapsed, now.Tokens, now.Done}
	if p.past.add(at, s.inFlight, f.first) || p.health.cpus == 0 {
		p.health = p.healthNow(c.elapsed, s.e2el)
	}
	p.mu.Unlock()
	s.outputs, s.requests = p.recent.rates(at)
	if p.Whole != nil {
		s.whole = p.Whole()
	}
	if p.queue != nil && !c.over() {
		s.waiting = p.queue.waiting(max(0, time.Duration(now.At)), now.Released)
	}
	s.seconds, s.health, s.server = p.past.seconds, p.health, p.server.now()
	return s
}

// healthNow judges the client by the records so far.
func (p *Display) healthNow(elapsed time.Duration, e2el percentiles) health {
	g := &p.figures.client
	used, cpus := p.CPU()
	g.Elapsed, g.CPU, g.CPUs = elapsed, used-p.used, cpus
	h := health{busy: g.Busy(), cpus: max(1, cpus), timed: p.figures.late.TotalCount() > 0}
	if h.timed {
		h.late = micros(p.figures.late.ValueAtQuantile(99))
	}
	g.Late = h.late.Seconds()
	if e2el != nil {
		g.E2EL = micros(e2el[0]).Seconds()
	}
	h.doubts = g.Doubts()
	return h
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// byCount lists the kinds of failures, the most frequent first.
func byCount(all map[failure]int) (out []failures) {
	for f, n := range all {
		out = append(out, failures{f, n})
	}
	slices.SortFunc(out, func(a, b failures) int {
		return cmp.Or(b.n-a.n, cmp.Compare(a.class, b.class), a.status-b.status)
	})
	return out
}

func (f failures) text(l *words.Language) string {
	why := l.Word(f.class.Code())
	if f.class == trace.HTTP && f.status > 0 {
		why = l.Word("progress.status", "status", f.status)
	}
	return l.Word("progress.failures", "failures", f.n, "why", why)
}

// sampled holds the samples of servers and devices.
type sampled struct {
	mu   sync.Mutex
	set  telemetry.Set
	live resources.Live
}

// add adds new samples. Those of hosts are not shown.
func (s *sampled) add(sources []telemetry.Source, values []telemetry.Value, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set.Sources = sources
	every := time.Second
	for _, source := range sources {
		every = max(every, source.Every)
	}
	for _, v := range values {
		if strings.HasPrefix(v.Name, "server.") || strings.HasPrefix(v.Name, "device.") {
			s.set.Add(v)
		}
	}
	back := resources.SpansOf(every)
	s.set.Trim(at - back.Count)
	s.live = resources.LiveAt(&s.set, at, back)
}

func (s *sampled) now() resources.Live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// A Load is what a run has to do, as far as that is known before it begins.
type Load struct {
	Requests int           // at most
	Output   int           // tokens of all answers together, at most; 0: unknown
	LastDue  time.Duration // when the last request is due; 0: all wait for a place or for an answer
	Until    time.Duration // nothing is sent from then on; 0: no limit
	Gate     int           // requests in flight at most; 0: no limit
	// Due yields the due times of the requests in order; nil if they wait for answers, or only for
	// places.
	Due iter.Seq[time.Duration]
}

// A course is how far a run is.
type course struct {
	Load
	elapsed        time.Duration
	sent, done     int
	tokens         int  // received, those of answers in flight included
	settled        int  // tokens of the requests that are done
	answers, whole int  // requests that succeeded, and their tokens
	ending         bool // nothing more is sent
}

// over reports whether nothing more is sent.
func (c course) over() bool { return c.ending || c.Until > 0 && c.elapsed >= c.Until }

// progress is how many requests are done, and of how many, if that is known: not while time
// decides it.
func (c course) progress() string {
	switch {
	case c.over():
		return fmt.Sprintf("%d/%d", c.done, c.sent)
	case c.Until > 0:
		return fmt.Sprintf("%d done", c.done)
	}
	return fmt.Sprintf("%d/%d", c.done, c.Requests)
}

// share is the share of the run that is done, from 0 to 1: of its requests, or of its time if that
// ends it.
func (c course) share() float64 {
	of := func(a, b float64) float64 {
		if b <= 0 {
			return 0
		}
		return min(1, a/b)
	}
	switch {
	case c.over():
		return of(c.work(), float64(c.sent))
	case c.Until > 0:
		return of(float64(c.elapsed), float64(c.Until))
	}
	return of(c.work(), float64(c.Requests))
}

// length is the mean length of an answer in tokens, 0 if it is unknown.
func (c course) length() float64 {
	switch {
	case c.answers > 0:
		return float64(c.whole) / float64(c.answers)
	case c.Requests > 0:
		return float64(c.Output) / float64(c.Requests)
	}
	return 0
}

// work is the number of requests that are done, and of those in flight the share that has
// come.
func (c course) work() float64 {
	inFlight := float64(c.sent - c.done)
	length := c.length()
	if length == 0 {
		return float64(c.done)
	}
	return float64(c.done) + min(inFlight, max(0, float64(c.tokens-c.settled)/length))
}

// left is the time until the last answer, false before anything has come. While requests
// become due and the gate has places, it is the time until the schedule ends plus that
// of an answer, by Little's law the requests in flight divided by the rate of
// completion; else the remaining work divided by that rate.
func (c course) left() (time.Duration, bool) {
	work := c.work()
	if work == 0 || c.elapsed <= 0 {
		return 0, false
	}
	each := float64(c.elapsed) / work
	all := time.Duration((float64(c.Requests) - work) * each)
	inFlight := time.Duration((float64(c.sent) - work) * each)
	answer := time.Duration(float64(c.sent-c.done) * each)
	due := c.LastDue - c.elapsed
	switch full := c.Gate > 0 && c.sent-c.done >= c.Gate; {
	case c.over():
		all = inFlight
	case due > 0 && full:
		all = max(all, due+answer)
	case due > 0:
		all = due + answer
	}
	if c.Until > c.elapsed {
		all = min(all, c.Until-c.elapsed+answer)
	}
	return max(0, all), true
}
