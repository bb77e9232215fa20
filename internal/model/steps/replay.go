package steps

import (
	"cmp"
	"slices"
	"time"
)

// A schedule is what prompts wait for, as a replay assumes it.
type schedule struct {
	budget int           // tokens of a step, those that decode among them
	most   int           // streams that run at once at most; 0: any number
	delay  time.Duration // from a request being sent until the engine knows it
}

// A replayed log says what was computed of prompts in each step. What does not fit the
// schedule is counted.
type replayed struct {
	tokens, pairs []float64 // of prompts, by step
	waiting       []bool    // somebody was known who had no token yet
	prompts       int       // tokens of all prompts
	over          float64   // tokens computed beyond the budget
	early, late   int       // first tokens that the schedule has before, or that came before their request was known
}

// replay runs the schedule on the observed clock: prompts whose first token came in a step
// were completed in it, and what is left of the budget goes to the others in their order.
func (l *log) replay(s schedule) *replayed {
	n := len(l.steps)
	r := &replayed{tokens: make([]float64, n), pairs: make([]float64, n), waiting: make([]bool, n)}
	order, done, soon := make([]int, len(l.Streams)), make([]int, len(l.Streams)), make([]bool, len(l.Streams))
	for i := range order {
		order[i], done[i] = i, l.Streams[i].Cached
		r.prompts += l.Streams[i].Prompt - l.Streams[i].Cached
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Streams[a].Sent, l.Streams[b].Sent) })
	var known []int
	partial, next := 0, 0
	for k := range l.steps {
		began := l.steps[k].end // an engine that was idle begins with the first request
		if k > 0 && (l.steps[k].active > 0 || partial > 0) {
			began = l.steps[k-1].end
		}
		for next < len(order) && l.Streams[order[next]].Sent+s.delay <= began {
			known = append(known, order[next])
			next++
		}
		left := s.budget - l.steps[k].decodes
		for _, first := range l.steps[k].firsts {
			i := int(first)
			if l.Streams[i].Sent+s.delay > began {
				r.late++
			}
			if done[i] > l.Streams[i].Cached {
				partial--
			}
			rest := l.Streams[i].Prompt - done[i]
			if l.steps[k].active > 0 { // else steps before it may have had no token to show
				r.over += float64(max(0, rest-max(0, left)))
			}
			left -= rest
			r.compute(k, done[i], rest)
			done[i] = l.Streams[i].Prompt
		}
		for len(known) > 0 && l.first[known[0]] <= k {
			known = known[1:]
		}
		r.waiting[k] = len(known) > 0
		for _, i := range known {
			if l.first[i] <= k {
				continue
			}
			if left <= 0 || s.most > 0 && done[i] == l.Streams[i].Cached && l.steps[k].decodes+len(l.steps[k].firsts)+partial >= s.most {
				break
			}
			rest := l.Streams[i].Prompt - done[i]
			part := min(rest-1, left)
			if rest <= left && !soon[i] {
				soon[i] = true
				r.early++
			}
			if left -= rest; part <= 0 {
				continue
			}
			if done[i] == l.Streams[i].Cached {
				partial++
			}
			r.compute(k, done[i], part)
			done[i] += part
		}
	}
	return r
}

// compute adds n tokens of a prompt after the first ones to step k.
func (r *replayed) compute(k, after, n int) {
	r.tokens[k] += float64(n)
	r.pairs[k] += float64(n) * (float64(after) + float64(n)/2)
}
