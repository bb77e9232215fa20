package calibrate

import (
	"cmp"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A schedule is what prompts wait for, as a replay assumes it.
type stepsSchedule struct {
	first        bool          // prompts stop those that decode, as SGLang's do
	promptBudget bool          // the budget is for prompts alone; decoding sequences do not count
	async        bool          // a step is planned while the one before it runs
	ahead        bool          // it is launched before that one's tokens are sent, so that it lengthens that one
	budget       int           // tokens of a step
	drafts       int           // tokens of it for each sequence that decodes, beside the one
	prompts      int           // in a step at most; 0: any number
	even         bool          // the prompts of a step share its budget evenly; else in order, each as much as it can
	most         int           // streams that run at once at most; 0: any number
	memory       float64       // tokens behind them, together, at most; 0: any number
	work         time.Duration // on each request, one after the other, before the engine knows it
	delay        time.Duration // after that
}

// near reports whether a step has nearly no memory left: streams are then computed again, which
// nothing shows.
func (s *stepsSchedule) near(at *step) bool { return s.memory > 0 && at.held() > 0.85*s.memory }

// remaining is how many tokens of prompts a step has room for.
func (s *stepsSchedule) remaining(decodes int) int {
	switch {
	case s.first && decodes > 0:
		return 0
	case s.promptBudget || s.first:
		return s.budget
	}
	return s.budget - decodes*(1+s.drafts)
}

// A replayed log says what was computed of prompts in each step. What does not fit the
// schedule is counted.
type replayed struct {
	tokens, pairs []float64 // of prompts, by step
	waiting       []bool    // a request without a token was known
	prompts       int       // tokens of all prompts
	over          float64   // tokens computed beyond the budget
	early, late   int       // first tokens that the schedule has before, or that came before their request was known
}

// A replayer runs a schedule on the observed clock.
type replayer struct {
	stepsSchedule
	*steplog
	out     *replayed
	done    []int           // tokens computed, by stream
	soon    []bool          // streams counted as early
	at      []time.Duration // when the engine knows of a stream
	known   []int           // streams that wait, in order
	partial int             // streams with a part of their prompt computed
	part    float64         // tokens of those
	held    float64         // tokens of those that decode, when they last did
}

// replay runs the schedule: a prompt is completed in the step in which its first token came,
// and the rest of the budget goes to the others in order. It stops once more than most first
// tokens were late or early.
func (l *steplog) replay(s stepsSchedule, most float64) *replayed {
	n := len(l.steps)
	out := &replayed{tokens: make([]float64, n), pairs: make([]float64, n), waiting: make([]bool, n)}
	r := replayer{stepsSchedule: s, steplog: l, out: out, done: make([]int, len(l.Streams)), soon: make([]bool, len(l.Streams))}
	for i := range l.Streams {
		r.done[i] = l.Streams[i].Cached
		out.prompts += l.Streams[i].Prompt - l.Streams[i].Cached
	}
	order := l.order
	if s.even { // short prompts overtake long ones, so that the first one served need not have come first
		order = l.inOrder()
	}
	r.arrive(order)
	next := 0
	for k := range l.steps {
		if float64(out.late+out.early) > most {
			break
		}
		if l.steps[k].decodes > 0 {
			r.held = l.steps[k].held()
		}
		planned := r.planned(k)
		for next < len(order) && r.at[order[next]] <= planned {
			r.known = append(r.known, order[next])
			next++
		}
		left := r.finish(k, planned)
		for len(r.known) > 0 && l.first[r.known[0]] <= k {
			r.known = r.known[1:]
		}
		out.waiting[k] = len(r.known) > 0
		r.fill(k, left)
	}
	return out
}

// arrive finds when the engine knows of each stream, in their order.
func (r *replayer) arrive(order []int) {
	r.at = make([]time.Duration, len(order))
	var free time.Duration
	for _, i := range order {
		free = max(free, r.Streams[i].known) + r.work
		r.at[i] = free + r.delay
	}
}

// planned is when a step was planned: as it began or, if the schedule is a step ahead of a busy
// engine, as the one before it began.
func (r *replayer) planned(k int) time.Duration {
	switch {
	case !r.async || !r.busy(k):
		return r.began(k)
	case r.ahead && !r.busy(k-1): // the tokens of the first step wait for its launch and that of this one
		return (r.began(k-1) + r.steps[k-1].end) / 2
	}
	return r.began(k - 1)
}

// busy reports whether the engine had work as step k began.
func (r *replayer) busy(k int) bool { return k > 0 && (r.steps[k].active > 0 || r.partial > 0) }

// began is when step k did: as the one before ended or, if the engine was idle, with its first
// request.
func (r *replayer) began(k int) time.Duration {
	if r.busy(k) {
		return r.steps[k-1].end
	}
	at := r.steps[k].end
	for _, i := range r.steps[k].firsts {
		at = min(at, r.at[i])
	}
	return at
}

// finish completes the prompts with their first token in step k, and returns the rest of its
// budget.
func (r *replayer) finish(k int, planned time.Duration) (left int) {
	s := &r.steps[k]
	left = r.remaining(s.decodes)
	for _, first := range s.firsts {
		i := int(first)
		if r.at[i] > planned {
			r.out.late++
		}
		if r.done[i] > r.Streams[i].Cached {
			r.partial--
			r.part -= float64(r.done[i])
		}
		rest := r.Streams[i].Prompt - r.done[i]
		if s.active > 0 && !r.near(s) { // else steps before it may have had no token to show
			r.out.over += float64(max(0, rest-max(0, left)))
		}
		left -= rest
		r.compute(k, i, rest)
	}
	return left
}

// fill gives the rest of a step's budget to prompts that are not complete.
func (r *replayer) fill(k, left int) {
	s := &r.steps[k]
	prompts, most := len(s.firsts), max(left, 1)
	if r.even {
		most = cmp.Or(r.evenPart(k, left), most)
	}
	for _, i := range r.known {
		if r.first(i) <= k {
			continue
		}
		if fresh := r.done[i] == r.Streams[i].Cached; left <= 0 || r.prompts > 0 && prompts >= r.prompts || fresh && r.full(s, i, left) {
			return
		}
		prompts++
		rest := r.Streams[i].Prompt - r.done[i]
		part := min(rest-1, left, most)
		if rest <= min(left, most) && !r.soon[i] && !r.near(s) {
			r.soon[i] = true
			r.out.early++
		}
		if left -= min(rest, most); part <= 0 {
			continue
		}
		if r.done[i] == r.Streams[i].Cached {
			r.partial++
			r.part += float64(r.done[i])
		}
		r.part += float64(part)
		r.compute(k, i, part)
	}
}

// evenPart is how many tokens of one prompt a step has at most, if those that are not complete share
// left evenly; 0: no limit.
func (r *replayer) evenPart(k, left int) int {
	s := &r.steps[k]
	places := len(r.known)
	if r.most > 0 {
		places = r.most - s.active - len(s.firsts) - r.partial
	}
	var rests []int
	for _, i := range r.known {
		fresh := r.done[i] == r.Streams[i].Cached
		switch {
		case r.first(i) <= k:
			continue
		case r.prompts > 0 && len(s.firsts)+len(rests) >= r.prompts || fresh && places <= 0:
			return engine.EqualPart(left, rests)
		case fresh:
			places--
		}
		rests = append(rests, r.Streams[i].Prompt-r.done[i])
	}
	return engine.EqualPart(left, rests)
}

// first is the step of the first token of a stream.
func (r *replayer) first(i int) int { return r.steplog.first[i] }

// full reports whether no place is left in a step for another stream, or no memory for as much of
// its prompt as the step has room for.
func (r *replayer) full(s *step, i, left int) bool {
	chunk := float64(min(left, r.Streams[i].Prompt-r.done[i]))
	return r.most > 0 && s.active+len(s.firsts)+r.partial >= r.most || r.memory > 0 && r.held+r.part+chunk > r.memory
}

// compute adds n tokens of the prompt of a stream to step k.
func (r *replayer) compute(k, i, n int) {
	r.out.tokens[k] += float64(n)
	r.out.pairs[k] += float64(n) * (float64(r.done[i]) + float64(n)/2)
	r.done[i] += n
}
