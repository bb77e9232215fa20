package engine

import (
	"math/rand/v2"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// A Latency is the simple timing model: jobs queue in order of arrival for one of
// Slots places; a job that gets its place at s emits
//
//	token 1  at  s + TTFT + PerPromptToken·(prompt tokens) + Σ PerImage
//	token k  at  token k-1 + ITL
//
// TTFT and PerPromptToken are drawn once per job, PerImage once per image, ITL once
// per later token. A place is free again the instant its last token is due. The
// zero value answers at once.
type Latency struct {
	TTFT           arrival.Duration
	ITL            arrival.Duration
	PerPromptToken arrival.Duration
	PerImage       arrival.Duration
	Slots          int // places; 0 means no limit
}

// A LatencyModel is the Model of a Latency.
type LatencyModel struct {
	model   Latency
	seed    uint64
	jobs    map[uint64]*seat
	queue   []*seat              // waiting, oldest first; may hold cancelled seats
	waiting int                  // seats in queue that are not cancelled
	running arrival.Queue[*seat] // by the instant of the next token
	source  seatSource
	rand    *rand.Rand
}

// NewLatencyModel returns an empty core. A job's draws depend only on seed and the
// job's ID, not on the other jobs.
func NewLatencyModel(m Latency, seed uint64) *LatencyModel {
	c := &LatencyModel{model: m, seed: seed, jobs: make(map[uint64]*seat)}
	c.rand = rand.New(&c.source)
	return c
}

// A seat is a job in the core, waiting or running.
type seat struct {
	job     Job
	arrived time.Duration
	start   time.Duration
	left    int  // tokens still to emit
	runs    bool // it has a place
	gone    bool // cancelled while waiting
	dice    rand.PCG
}

// A seatSource lends the core's one rand.Rand to the current seat.
type seatSource struct{ dice *rand.PCG }

func (s *seatSource) Uint64() uint64 { return s.dice.Uint64() }

// Add adds a job; it starts at once if a place is free.
func (c *LatencyModel) Add(now time.Duration, j Job) {
	s := &seat{job: j, arrived: now, left: max(j.OutputTokens, 1)}
	s.dice = arrival.Dice(c.seed, "latency", j.ID)
	c.jobs[j.ID] = s
	c.queue = append(c.queue, s)
	c.waiting++
	c.fill(now)
}

// Cancel removes a job; the oldest waiting job takes its place at now.
func (c *LatencyModel) Cancel(now time.Duration, id uint64) {
	s := c.jobs[id]
	if s == nil {
		return
	}
	delete(c.jobs, id)
	if !s.runs {
		s.gone = true
		c.waiting--
		return
	}
	c.running.Remove(int(id))
	c.fill(now)
}

// Next is the instant of the earliest token.
func (c *LatencyModel) Next() (time.Duration, bool) {
	_, at, ok := c.running.First()
	return at, ok
}

// Step emits every token due until now.
func (c *LatencyModel) Step(now time.Duration, out []Emission) []Emission {
	for {
		s, at, ok := c.running.First()
		if !ok || at > now {
			return out
		}
		s.left--
		out = append(out, Emission{ID: s.job.ID, Start: s.start, At: at, Tokens: 1, Done: s.left == 0})
		if s.left > 0 {
			c.running.Delay(later(at, c.draw(s, c.model.ITL)))
			continue
		}
		c.running.Pop()
		delete(c.jobs, s.job.ID)
		c.fill(at)
	}
}

// Load counts occupied places and waiting jobs.
func (c *LatencyModel) Load() Utilization {
	return Utilization{Running: c.running.Len(), Waiting: c.waiting}
}

// fill gives free places to waiting jobs at now, or at their arrival if that was
// later: a late Step frees places in the past.
func (c *LatencyModel) fill(now time.Duration) {
	for c.waiting > 0 && (c.model.Slots == 0 || c.running.Len() < c.model.Slots) {
		s := c.queue[0]
		c.queue[0] = nil
		c.queue = c.queue[1:]
		if s.gone {
			continue
		}
		c.waiting--
		s.start, s.runs = max(now, s.arrived), true
		c.running.Push(later(s.start, c.firstToken(s)), int(s.job.ID), s)
	}
	if c.waiting == 0 {
		c.queue = nil // the rest, if any, was cancelled
	}
}

func (c *LatencyModel) firstToken(s *seat) time.Duration {
	d := c.draw(s, c.model.TTFT)
	d = later(d, times(c.draw(s, c.model.PerPromptToken), s.job.PromptTokens))
	for range s.job.Images {
		d = later(d, c.draw(s, c.model.PerImage))
	}
	return d
}

func (c *LatencyModel) draw(s *seat, d arrival.Duration) time.Duration {
	if fixed, ok := d.Fixed(); ok {
		return fixed
	}
	c.source.dice = &s.dice
	return d.Draw(c.rand)
}

// forever is an instant that never comes: the sum of two still fits a Duration.
const forever = arrival.Longest

// later is t+d, at most forever.
func later(t, d time.Duration) time.Duration { return min(t+d, forever) }

// times is n times d, at most forever.
func times(d time.Duration, n int) time.Duration {
	return time.Duration(min(float64(d)*float64(n), float64(forever)))
}
