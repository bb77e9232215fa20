package aliens

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
)

// An Alien is one engine. It is an engine.Model; the same calls give the same emissions.
type Alien struct {
	habits
	dice    *rand.Rand
	phase   float64       // of the drift
	thread  time.Duration // until when the frontend is busy
	coming  []*job        // on their way through the frontend, in order
	waiting []*job        // known, not admitted
	running []*job        // admitted, in order
	leaving []*job        // ended, but still with their place: a scheduler that is ahead does not know yet
	out     []engine.Emission
	cache   cache

	busy       bool
	began, end time.Duration // of the present or last step
	counters   engine.Counters
}

// habits are what distinguishes one alien from another.
type habits struct {
	law       func(batch) float64 // s of a step, without noise
	sequences int                 // running at once at most
	reserve   int                 // tokens in which prompt and answer are reserved; 0: without limit
	chunk     int                 // prompt tokens of a step
	shared    bool                // those that decode count among them
	prompts   int                 // in a step at most
	even      bool                // a chunk is divided among the prompts, not given in order
	within    float64             // s that a step with prompts should take at most: its chunk is what fits; 0: chunk
	shortest  bool                // prompts go in order of what is left of them, not of arrival
	gather    time.Duration       // requests become known together, at multiples of it
	window    int                 // tokens that a token attends to at most; 0: all before it
	ahead     bool                // a step is planned while the one before it runs
	caching   bool                // there is a prefix cache
	drafts    int                 // tokens that are drafted for each that decodes
	accept    float64             // probability that the first of them is accepted
	noise     float64             // relative standard deviation of a step
	stall     float64             // share of the steps that stall
	drift     float64             // of the pace, up and down

	request, promptToken, token time.Duration // work of the frontend
}

// A job is a request under way.
type job struct {
	engine.Job
	ready  time.Duration // the scheduler can know it from then on
	start  time.Duration // of the first step that works on it
	cached int           // tokens of the prompt
	done   int           // of the prompt, with those cached
	part   int           // of the prompt in the present step
	sent   int           // tokens of the answer

	written int     // of Eager: tokens of the answer that have left
	luck    float64 // of Drafting: how much likelier its drafts are accepted
}

func (j *job) decodes() bool { return j.done == j.PromptTokens }

func newAlien(h habits, seed uint64) *Alien {
	source := arrival.Dice(seed, "alien", 0)
	a := &Alien{habits: h, dice: rand.New(&source)}
	a.phase = 2 * math.Pi * a.dice.Float64()
	return a
}

// Add gives the frontend a request.
func (a *Alien) Add(now time.Duration, j engine.Job) {
	j.PromptTokens, j.OutputTokens = max(1, j.PromptTokens), max(1, j.OutputTokens)
	a.thread = max(a.thread, now) + a.request + time.Duration(j.PromptTokens)*a.promptToken
	ready := a.thread
	if a.gather > 0 {
		ready = (ready + a.gather - 1) / a.gather * a.gather
	}
	a.coming = append(a.coming, &job{Job: j, ready: ready})
}

// Cancel removes a request, and what is left to send of its answer. The present step takes no
// less time.
func (a *Alien) Cancel(_ time.Duration, id uint64) {
	for _, list := range []*[]*job{&a.coming, &a.waiting, &a.running} {
		*list = slices.DeleteFunc(*list, func(j *job) bool { return j.ID == id })
	}
	a.out = slices.DeleteFunc(a.out, func(e engine.Emission) bool { return e.ID == id })
}

// Next is when a token leaves, a step ends, or an idle engine begins.
func (a *Alien) Next() (at time.Duration, ok bool) {
	at = math.MaxInt64
	if len(a.out) > 0 {
		at = a.out[0].At
	}
	switch {
	case a.busy:
		at = min(at, a.end)
	case len(a.coming) > 0: // an idle engine admits whoever is first
		at = min(at, a.coming[0].ready)
	}
	return at, at < math.MaxInt64
}

// Step appends the tokens that have left until now.
func (a *Alien) Step(now time.Duration, out []engine.Emission) []engine.Emission {
	for {
		at, ok := a.Next()
		switch {
		case !ok || at > now:
			return out
		case len(a.out) > 0 && a.out[0].At == at:
			out = append(out, a.out[0])
			a.out = a.out[1:]
		case a.busy:
			a.finish()
			a.begin(at, a.began)
		default:
			a.begin(at, at)
		}
	}
}

// Load counts the requests known to the scheduler.
func (a *Alien) Load() engine.Utilization {
	l := engine.Utilization{Running: len(a.running), Waiting: len(a.waiting), Counters: a.counters}
	if a.reserve > 0 {
		l.KV = float64(a.reserved()) / float64(a.reserve)
	}
	return l
}

// begin starts the next step at now, if there is work. One that was planned ahead knows what
// there was at the instant planned.
func (a *Alien) begin(now, planned time.Duration) {
	a.busy = false
	b, ok := batch{}, false
	if a.ahead && planned < now {
		b, ok = a.plan(planned)
	}
	a.leaving = a.leaving[:0]
	if !ok {
		if b, ok = a.plan(now); !ok {
			return
		}
	}
	for _, j := range a.running {
		if j.start == 0 && j.part > 0 {
			j.start = now
		}
	}
	a.counters.Steps++
	a.busy, a.began, a.end = true, now, now+a.duration(b, now)
}

// finish ends the present step: its tokens go to the frontend, one after the other.
func (a *Alien) finish() {
	a.running = slices.DeleteFunc(a.running, func(j *job) bool {
		if j.done += j.part; !j.decodes() {
			j.part = 0
			return false
		}
		if j.part > 0 && a.caching {
			a.cache.keep(j.Prompt)
		}
		n := 1
		if j.part == 0 {
			n += a.accepted(j)
		}
		j.part = 0
		n = min(n, j.OutputTokens-j.sent)
		j.sent += n
		a.thread = max(a.thread, a.end) + a.token
		over := j.sent == j.OutputTokens
		a.out = append(a.out, engine.Emission{ID: j.ID, Start: j.start, At: a.thread, Tokens: int32(n), Cached: int32(j.cached), Done: over})
		if over {
			a.leaving = append(a.leaving, j)
		}
		return over
	})
}
