package capacity_test

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// An alien is an engine that no profile describes:
//
//   - batches are padded to the sizes of graphs; a step with prompts has none, and takes the
//     longer of what memory and what arithmetic need, in tiles of 64 tokens;
//   - attention grows with the root of the number of sequences too;
//   - 512 tokens of at most 4 prompts are computed beside the decode in a step;
//   - 1.5 % of the steps stall for about 25 ms, all take up to 3 % more or less in waves of 40 s;
//   - one thread takes requests in (1.2 ms) and hands tokens out (40 us each).
type alien struct {
	dice    *rand.Rand
	now     time.Duration
	thread  time.Duration // when it is free
	coming  []alienJob    // taken in later than now
	waiting []*alienJob
	prompts []*alienJob // being computed
	running []*alienJob
	stepEnd time.Duration // 0: no step is under way
	first   []*alienJob   // have their first token at its end
	out     []engine.Emission
}

type alienJob struct {
	engine.Job
	at      time.Duration
	began   time.Duration
	left    int // of the prompt
	emitted int
}

func newAlien(seed uint64) engine.Model {
	return &alien{dice: rand.New(rand.NewPCG(seed, 99))}
}

// Add takes a request in by the thread.
func (a *alien) Add(now time.Duration, j engine.Job) {
	a.now = now
	a.thread = max(a.thread, now) + 1200*time.Microsecond
	a.coming = append(a.coming, alienJob{Job: j, at: a.thread, left: j.PromptTokens})
}

// Cancel does nothing: nobody cancels here.
func (a *alien) Cancel(time.Duration, uint64) {}

// Load is not looked at.
func (a *alien) Load() engine.Load { return engine.Load{} }

// Next is the next token out, the end of a step, or a request that an idle engine gets.
func (a *alien) Next() (time.Duration, bool) {
	next := time.Duration(math.MaxInt64)
	if len(a.out) > 0 {
		next = a.out[0].At
	}
	if a.stepEnd > 0 {
		next = min(next, a.stepEnd)
	} else if len(a.coming) > 0 {
		next = min(next, a.coming[0].at)
	}
	return next, next < math.MaxInt64
}

// Step goes on until now.
func (a *alien) Step(now time.Duration, out []engine.Emission) []engine.Emission {
	for {
		at, ok := a.Next()
		if !ok || at > now {
			a.now = now
			return out
		}
		a.now = at
		switch {
		case len(a.out) > 0 && a.out[0].At == at:
			out = append(out, a.out[0])
			a.out = a.out[1:]
			continue
		case a.stepEnd > 0:
			a.endStep()
		}
		a.beginStep()
	}
}

func (a *alien) endStep() {
	rest := a.running[:0:0]
	for _, j := range append(a.running, a.first...) {
		a.thread = max(a.thread, a.stepEnd) + 40*time.Microsecond
		j.emitted++
		done := j.emitted >= j.OutputTokens
		a.out = append(a.out, engine.Emission{ID: j.ID, Start: j.began, At: a.thread, Tokens: 1, Done: done})
		if !done {
			rest = append(rest, j)
		}
	}
	a.running, a.first, a.stepEnd = rest, nil, 0
}

func (a *alien) beginStep() {
	for len(a.coming) > 0 && a.coming[0].at <= a.now {
		j := a.coming[0]
		a.coming = a.coming[1:]
		a.waiting = append(a.waiting, &j)
	}
	for len(a.waiting) > 0 && len(a.prompts) < 4 && len(a.running)+len(a.prompts) < 128 {
		a.waiting[0].began = a.now
		a.prompts = append(a.prompts, a.waiting[0])
		a.waiting = a.waiting[1:]
	}
	budget, computed := 512, 0
	var rest []*alienJob
	for _, j := range a.prompts {
		n := min(budget, j.left)
		j.left, budget, computed = j.left-n, budget-n, computed+n
		if j.left == 0 {
			a.first = append(a.first, j)
		} else {
			rest = append(rest, j)
		}
	}
	a.prompts = rest
	if len(a.running)+computed > 0 {
		a.stepEnd = a.now + time.Duration(a.cost(len(a.running), computed)*1e9)
	}
}

// cost is the time of a step in seconds.
func (a *alien) cost(n, prompt int) float64 {
	context := 0
	for _, j := range a.running {
		context += j.PromptTokens + j.emitted
	}
	padded := 1
	for padded < n {
		if padded < 8 {
			padded *= 2
		} else {
			padded += 8
		}
	}
	memory := 0.0066 + 45e-9*float64(context) + 0.00022*math.Sqrt(float64(n))
	t := memory + 28e-6*float64(padded)
	if prompt > 0 {
		tiles := math.Ceil(float64(n+prompt) / 64)
		t = max(memory+0.0012, 0.0021+0.00125*tiles) + 30e-6*float64(n)
	}
	t *= 1 + 0.03*math.Sin(2*math.Pi*a.now.Seconds()/40) + 0.01*a.dice.ExpFloat64()
	if a.dice.Float64() < 0.015 {
		t += 0.025 * math.Exp(0.4*a.dice.NormFloat64())
	}
	return t
}
