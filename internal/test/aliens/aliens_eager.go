package aliens

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
)

// An Eager engine launches steps from a host that is one step ahead of its device: the tokens of a
// step leave when the next one is launched. Steps with prompts are launched kernel by kernel, for
// 17 to 34 ms, those without are graphs. Its frontend is a queue of small tasks; see eagerFrontend.
//
// The host is fast or slow for about a second each (0.78 and 1.28 times as long), by another
// factor at each start (8 %), and no two launches are alike (6 %); tasks of the frontend have the
// power 0.6 of that. The device pads batches to multiples of 8 and prompts to tiles of 128 tokens,
// and holds a launch back until 55 % of its own step is done. It is an engine.Model; the head
// of each response leaves as an emission without tokens.
type Eager struct {
	dice  *rand.Rand
	speed eagerSpeed
	front eagerFrontend

	coming, waiting, running []*job
	flights                  []flight
	device                   time.Duration // when it is done with all that is launched
	host                     time.Duration // until when the host launches or waits
	does                     hostWork
	steps                    uint64
}

// What the host does.
type hostWork int

const (
	idle hostWork = iota
	launching
	blocked // on the oldest step in flight
)

// A flight is a step that was launched.
type flight struct {
	end    time.Duration
	tokens []*job // each has one
}

// The limits and costs of Eager, times in s.
const (
	eagerPlaces, eagerBudget = 200, 8192
	eagerPrompts             = 21.5e-3
	eagerFurther             = 0.45e-3 // for every prompt but the first of a step
	eagerGraph, eagerRow     = 1.6e-3, 23e-6
	eagerHeld                = 0.55
	eagerHandOver            = 1200 * time.Microsecond // from the head of a response to the engine
)

// NewEager is an idle engine. Its seed draws the speed of its host.
func NewEager(seed uint64) *Eager {
	source := arrival.Dice(seed, "eager", 0)
	e := &Eager{dice: rand.New(&source)}
	e.speed = newEagerSpeed(seed)
	return e
}

// Heads reports that an emission without tokens comes first.
func (e *Eager) Heads() bool { return true }

// Add gives the frontend a request.
func (e *Eager) Add(now time.Duration, j engine.Job) {
	j.PromptTokens, j.OutputTokens = max(1, j.PromptTokens), max(1, j.OutputTokens)
	e.front.push(task{kind: accepting, job: &job{Job: j}})
	e.front.start(now, &e.speed)
}

// Cancel removes a request, and what is left to send of its answer.
func (e *Eager) Cancel(_ time.Duration, id uint64) {
	its := func(j *job) bool { return j.ID == id }
	for _, list := range []*[]*job{&e.coming, &e.waiting, &e.running} {
		*list = slices.DeleteFunc(*list, its)
	}
	for i := range e.flights {
		e.flights[i].tokens = slices.DeleteFunc(e.flights[i].tokens, its)
	}
	e.front.forget(id)
}

// Next is the next instant at which the frontend or the host is done with something.
func (e *Eager) Next() (at time.Duration, ok bool) {
	at = e.front.next()
	if len(e.coming) > 0 {
		at = min(at, e.coming[0].ready)
	}
	if e.does != idle {
		at = min(at, e.host)
	}
	return at, at < math.MaxInt64
}

// Step appends what has left until now.
func (e *Eager) Step(now time.Duration, out []engine.Emission) []engine.Emission {
	for {
		at, ok := e.Next()
		if !ok || at > now {
			return out
		}
		out = e.front.step(at, func(j *job) {
			j.ready = at + eagerHandOver
			e.coming = append(e.coming, j)
		}, out)
		for len(e.coming) > 0 && e.coming[0].ready <= at {
			e.waiting, e.coming = append(e.waiting, e.coming[0]), e.coming[1:]
		}
		if e.does != idle && e.host == at {
			e.finish()
		}
		if e.does == idle {
			e.proceed(at)
		}
		e.front.start(at, &e.speed)
	}
}

// finish ends what the host does: the tokens that it has waited for go to the frontend.
func (e *Eager) finish() {
	if e.does == blocked {
		if f := e.flights[0]; len(f.tokens) > 0 {
			e.front.push(task{kind: flushing, tokens: f.tokens})
		}
		e.flights = e.flights[1:]
	}
	e.does = idle
}

// proceed launches a step if there is one and fewer than two are in flight, or waits for the oldest.
func (e *Eager) proceed(now time.Duration) {
	if len(e.flights) < 2 && e.launch(now) {
		return
	}
	if len(e.flights) > 0 {
		e.does, e.host = blocked, max(now, e.flights[0].end)
	}
}

// launch plans a step at now, as if those in flight were done; false if there is nothing to do.
func (e *Eager) launch(now time.Duration) bool {
	for len(e.waiting) > 0 && len(e.running) < eagerPlaces {
		e.running, e.waiting = append(e.running, e.waiting[0]), e.waiting[1:]
	}
	decodes, context, prompts, tokens, left := 0, 0, 0, 0, eagerBudget
	var f flight
	for _, j := range e.running {
		if j.start == 0 {
			j.start = now
		}
		if j.decodes() {
			decodes, context, left = decodes+1, context+j.PromptTokens+j.sent, left-1
			f.tokens = append(f.tokens, j)
			continue
		}
		part := min(left, j.PromptTokens-j.done)
		j.done, tokens, left, prompts = j.done+part, tokens+part, left-part, prompts+min(part, 1)
		if part > 0 && j.decodes() {
			f.tokens = append(f.tokens, j)
		}
	}
	if len(e.running) == 0 {
		return false
	}
	e.running = slices.DeleteFunc(e.running, func(j *job) bool {
		if slices.Contains(f.tokens, j) {
			j.sent++
		}
		return j.sent == j.OutputTokens
	})
	e.time(now, &f, decodes, context, prompts, tokens)
	return true
}

// time is how long the launch of a planned step and the step on the device take.
func (e *Eager) time(now time.Duration, f *flight, decodes, context, prompts, tokens int) {
	seconds := func(s float64) time.Duration { return time.Duration(s * 1e9) }
	launch := eagerGraph + eagerRow*float64(decodes)
	work := 1.8e-3 + 25e-6*float64(tiled(decodes, 8)) + 9e-9*float64(context)
	if prompts > 0 {
		launch = eagerPrompts + eagerFurther*float64(prompts-1)
		work += 0.4e-3 + 3.4e-6*float64(tiled(tokens, 128))
	}
	launch *= e.speed.at(now) * (1 + 0.06*e.dice.NormFloat64())
	work *= 1 + 0.01*e.dice.ExpFloat64()
	begin := max(now, e.device)
	e.does, e.host = launching, now+seconds(launch)
	if prompts > 0 {
		e.host = max(e.host, begin+seconds(eagerHeld*work))
	}
	e.device = max(begin+seconds(work), e.host)
	f.end = e.device
	e.flights = append(e.flights, *f)
	e.steps++
}

// Load counts the requests known to the scheduler.
func (e *Eager) Load() engine.Utilization {
	return engine.Utilization{Running: len(e.running), Waiting: len(e.waiting), Counters: engine.Counters{Steps: e.steps}}
}

// An eagerSpeed is a host that is fast or slow in turns.
type eagerSpeed struct {
	dice  *rand.Rand
	start float64
	slow  bool
	until time.Duration
}

func newEagerSpeed(seed uint64) eagerSpeed {
	source := arrival.Dice(seed, "eager host", 0)
	s := eagerSpeed{dice: rand.New(&source)}
	s.start = max(0.5, 1+0.08*s.dice.NormFloat64())
	s.slow = s.dice.Float64() < 0.5
	return s
}

// at is the factor on the time that launches take. Calls come in order.
func (s *eagerSpeed) at(now time.Duration) float64 {
	for s.until <= now {
		s.slow = !s.slow
		s.until += time.Duration(1e9 * (0.1 + 0.9*s.dice.ExpFloat64()))
	}
	if s.slow {
		return 1.28 * s.start
	}
	return 0.78 * s.start
}
