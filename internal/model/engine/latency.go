package engine

import (
	"math/rand/v2"
	"time"

	"github.com/pitot-bench/pitot/internal/load/dist"
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
	TTFT           dist.Duration
	ITL            dist.Duration
	PerPromptToken dist.Duration
	PerImage       dist.Duration
	Slots          int // places; 0 means no limit
}

// A LatencyModel is the Model of a Latency.
type LatencyModel struct {
	model   Latency
	seed    uint64
	jobs    map[uint64]*seat
	queue   []*seat // waiting, oldest first; may hold cancelled seats
	waiting int     // seats in queue that are not cancelled
	due     calendar
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
	next    time.Duration // when running: the next token's instant
	left    int           // tokens still to emit
	index   int           // position in the calendar, -1 while not running
	gone    bool          // cancelled while waiting
	dice    rand.PCG
}

// A seatSource lends the core's one rand.Rand to the current seat.
type seatSource struct{ dice *rand.PCG }

func (s *seatSource) Uint64() uint64 { return s.dice.Uint64() }

// Add adds a job; it starts at once if a place is free.
func (c *LatencyModel) Add(now time.Duration, j Job) {
	s := &seat{job: j, arrived: now, left: max(j.OutputTokens, 1), index: -1}
	s.dice = Dice(c.seed, "latency", j.ID)
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
	if s.index < 0 {
		s.gone = true
		c.waiting--
		return
	}
	c.due.remove(s)
	c.fill(now)
}

// Next is the instant of the earliest token.
func (c *LatencyModel) Next() (time.Duration, bool) {
	if len(c.due) == 0 {
		return 0, false
	}
	return c.due[0].next, true
}

// Step emits every token due until now.
func (c *LatencyModel) Step(now time.Duration, out []Emission) []Emission {
	for len(c.due) > 0 && c.due[0].next <= now {
		s := c.due[0]
		s.left--
		out = append(out, Emission{ID: s.job.ID, Start: s.start, At: s.next, Tokens: 1, Done: s.left == 0})
		if s.left > 0 {
			s.next = later(s.next, c.draw(s, c.model.ITL))
			c.due.down(0)
			continue
		}
		c.due.remove(s)
		delete(c.jobs, s.job.ID)
		c.fill(s.next)
	}
	return out
}

// Load counts occupied places and waiting jobs.
func (c *LatencyModel) Load() Load {
	return Load{Running: len(c.due), Waiting: c.waiting}
}

// fill gives free places to waiting jobs at now, or at their arrival if that was
// later: a late Step frees places in the past.
func (c *LatencyModel) fill(now time.Duration) {
	for c.waiting > 0 && (c.model.Slots == 0 || len(c.due) < c.model.Slots) {
		s := c.queue[0]
		c.queue[0] = nil
		c.queue = c.queue[1:]
		if s.gone {
			continue
		}
		c.waiting--
		s.start = max(now, s.arrived)
		s.next = later(s.start, c.firstToken(s))
		c.due.add(s)
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

func (c *LatencyModel) draw(s *seat, d dist.Duration) time.Duration {
	if fixed, ok := d.Fixed(); ok {
		return fixed
	}
	c.source.dice = &s.dice
	return d.Draw(c.rand)
}

// A calendar is a binary heap of running seats, earliest token first; equal
// instants in order of arrival.
type calendar []*seat

func (c calendar) before(i, j int) bool {
	if c[i].next != c[j].next {
		return c[i].next < c[j].next
	}
	return c[i].job.ID < c[j].job.ID
}

func (c calendar) swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].index, c[j].index = i, j
}

func (c *calendar) add(s *seat) {
	s.index = len(*c)
	*c = append(*c, s)
	c.up(s.index)
}

func (c *calendar) remove(s *seat) {
	i, last := s.index, len(*c)-1
	c.swap(i, last)
	(*c)[last] = nil
	*c = (*c)[:last]
	s.index = -1
	if i < last {
		c.down(i)
		c.up(i)
	}
}

func (c calendar) up(i int) {
	for i > 0 && c.before(i, (i-1)/2) {
		c.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (c calendar) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(c) {
			return
		}
		if child+1 < len(c) && c.before(child+1, child) {
			child++
		}
		if !c.before(child, i) {
			return
		}
		c.swap(i, child)
		i = child
	}
}

// forever is an instant that never comes: the sum of two still fits a Duration.
const forever = dist.Longest

// later is t+d, at most forever.
func later(t, d time.Duration) time.Duration { return min(t+d, forever) }

// times is n times d, at most forever.
func times(d time.Duration, n int) time.Duration {
	return time.Duration(min(float64(d)*float64(n), float64(forever)))
}
