package aliens

import (
	"cmp"
	"slices"
	"time"
)

// A batch is the work of a step.
type batch struct {
	decodes int     // sequences with a token that is not their first
	context int     // tokens behind those, together
	prompt  int     // tokens of prompts
	pairs   float64 // of these with each token before them in its prompt
	drafted int     // tokens that are verified beside those that decode
}

// plan admits what was known at an instant and makes the next step of it; ok is false if there
// is nothing to do.
func (a *Alien) plan(known time.Duration) (b batch, ok bool) {
	for len(a.coming) > 0 && a.coming[0].ready <= known {
		a.waiting = append(a.waiting, a.coming[0])
		a.coming = a.coming[1:]
	}
	var prompts []*job
	for _, j := range a.running {
		if j.decodes() {
			b.decodes++
			b.context += a.attended(j.PromptTokens + j.sent)
		} else {
			prompts = append(prompts, j)
		}
	}
	b.drafted = a.drafts * b.decodes
	budget := a.budget(b)
	if budget > 0 {
		prompts = append(prompts, a.admit(a.prompts-len(prompts))...)
		a.divide(budget, prompts, &b)
	}
	return b, b.decodes+b.prompt > 0
}

// attended is how many of n tokens another one attends to.
func (a *Alien) attended(n int) int {
	if a.window > 0 {
		return min(n, a.window)
	}
	return n
}

// leastChunk is how many tokens of prompts a step has though they take too long, and the unit in
// which more are added.
const leastChunk = 64

// budget is how many tokens of prompts go with those that decode.
func (a *Alien) budget(b batch) int {
	if a.within > 0 {
		b.prompt = leastChunk
		for b.prompt < a.chunk {
			if b.prompt += leastChunk; a.law(b) > a.within {
				return b.prompt - leastChunk
			}
		}
		return b.prompt
	}
	if a.shared {
		return a.chunk - b.decodes
	}
	return a.chunk
}

// admit gives the first of those that wait a place, n at most.
func (a *Alien) admit(n int) (admitted []*job) {
	if a.shortest {
		slices.SortStableFunc(a.waiting, func(i, j *job) int { return cmp.Compare(i.PromptTokens, j.PromptTokens) })
	}
	for len(a.waiting) > 0 && len(admitted) < n && len(a.running)+len(a.leaving) < a.sequences {
		j := a.waiting[0]
		alone := len(a.running)+len(a.leaving) == 0 // or it would wait forever
		if a.reserve > 0 && !alone && a.reserved()+j.PromptTokens+j.OutputTokens > a.reserve {
			break
		}
		if a.caching {
			j.cached = min(a.cache.find(j.Prompt), j.PromptTokens-1)
			j.done = j.cached
			a.counters.PrefixQueried += uint64(j.PromptTokens)
			a.counters.PrefixHit += uint64(j.cached)
		}
		a.waiting = a.waiting[1:]
		a.running = append(a.running, j)
		admitted = append(admitted, j)
	}
	return admitted
}

// reserved is how many tokens have been promised to those that have a place.
func (a *Alien) reserved() (n int) {
	for _, list := range [][]*job{a.running, a.leaving} {
		for _, j := range list {
			n += j.PromptTokens + j.OutputTokens
		}
	}
	return n
}

// divide gives each prompt its part of a step: as much as there is, in order, or equal parts, of
// which what the short ones leave goes to the long ones.
func (a *Alien) divide(budget int, prompts []*job, b *batch) {
	if a.even || a.shortest {
		slices.SortStableFunc(prompts, func(i, j *job) int { return cmp.Compare(i.PromptTokens-i.done, j.PromptTokens-j.done) })
	}
	for i, j := range prompts {
		j.part = min(budget, j.PromptTokens-j.done)
		if a.even {
			j.part = min(j.part, (budget+len(prompts)-i-1)/(len(prompts)-i))
		}
		budget -= j.part
		b.prompt += j.part
		b.pairs += float64(j.part) * (float64(j.done) + float64(j.part)/2)
	}
}
