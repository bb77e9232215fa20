package calibrate

import (
	"cmp"
	"slices"
	"time"
)

// A Stream is what a client saw of one answered request. Times are since the start of its leg.
type Stream struct {
	Sent   time.Duration
	Head   time.Duration   // of the response; 0: not known
	Prompt int             // its tokens, at least one
	Cached int             // of them found in a prefix cache, at most all but one
	Output int             // tokens of its answer, 0: as many as chunks
	At     []time.Duration // arrivals of its chunks, ascending, at least one
	Tokens []int           // of each chunk; nil: not known

	known time.Duration // when the engine may have known of it at the earliest: at its head, or as it was sent
}

// behind is how many tokens are behind those of a chunk, if all but the first have as many.
func (s *Stream) behind(chunk int) float64 {
	each := 1.0
	if n := len(s.At) - 1; n > 0 && s.Output > len(s.At) {
		each = float64(s.Output-1) / float64(n)
	}
	return float64(s.Prompt) + 1 + each*float64(chunk-1)
}

// A Leg is a run of one load.
type Leg struct {
	Streams []Stream // in the order in which they were sent
	Limit   int      // requests that the client has in flight at most; 0: it sends them by schedule
}

type step struct {
	end, last time.Duration // first and last arrival of its tokens
	firsts    []int32       // streams with their first token in it
	decodes   int           // streams with a later one
	context   float64       // tokens behind those, together
	active    int           // streams that had begun before and were not over
	waiting   int           // requests that were sent and had no token yet when it ended
}

// running is how many streams had a token in it.
func (s *step) running() int { return s.decodes + len(s.firsts) }

// held is how many tokens the cache holds behind those that decode, with half a block of 16
// that each has begun.
func (s *step) held() float64 { return s.context + 9*float64(s.decodes) }

type steplog struct {
	Leg
	steps    []step
	first    []int // by stream: the step of its first token
	order    []int // streams as they were sent; of those sent together the first one served came first
	miss     float64
	tokens   float64 // that a stream gets of a step
	joined   float64 // by how many more its chunks have, relative
	mixed    int     // steps with first tokens, while more than two others were under way
	alone    int     // of those with no token of another one
	unslowed int     // of those: steps before and after which the others went on in their usual pace
}

// gaps are tried in turn: two tokens with a longer gap between them are of two steps.
var gaps = []time.Duration{
	100 * time.Microsecond, 150 * time.Microsecond, 200 * time.Microsecond, 300 * time.Microsecond, 450 * time.Microsecond, 700 * time.Microsecond,
	time.Millisecond, 1500 * time.Microsecond, 2200 * time.Microsecond, 3300 * time.Microsecond, 5 * time.Millisecond, 8 * time.Millisecond,
	13 * time.Millisecond, 20 * time.Millisecond, 35 * time.Millisecond,
}

type token struct {
	at      time.Duration
	stream  int32
	ordinal int32
}

// observeLeg finds the steps of a leg with the smallest gap that makes successive tokens of a
// stream those of successive steps. With between a step of first tokens alone may lie between
// those.
func observeLeg(leg Leg, between bool) *steplog {
	var all []token
	var paces []time.Duration
	for i, s := range leg.Streams {
		for j, at := range s.At {
			all = append(all, token{at, int32(i), int32(j)})
			if j > 0 {
				paces = append(paces, at-s.At[j-1])
			}
		}
	}
	slices.SortFunc(all, func(a, b token) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.stream, b.stream)) })
	slices.Sort(paces)
	most := gaps[len(gaps)-1]
	if n := len(paces); n > 0 {
		most = paces[n/4] * 35 / 100
	}
	best, least := gaps[0], 2.0
	for _, gap := range gaps {
		if gap > most && gap > gaps[0] {
			break
		}
		if miss := missed(all, gap, leg.Streams, between); miss < least-1e-4 {
			best, least = gap, miss
		}
	}
	if !between {
		most = 0
	}
	return newLog(leg, all, best, most, least)
}

// grouped calls each with the tokens and the number of their steps, and returns how many steps
// there are, and how many of them ended since a stream would have been in it twice. A first
// token begins a step only after a gap of its own, if that is larger: one that lags behind the
// others of its step would else be a step by itself.
func grouped(all []token, gap, first time.Duration, streams int, each func(t token, step int)) (n, forced int) {
	in := make([]int, streams)
	step := 0
	var last time.Duration
	for i, t := range all {
		begins := i == 0 || t.at-last > gap && (t.ordinal > 0 || t.at-last > first)
		twice := in[t.stream] == step && !begins
		if twice {
			forced++
		}
		if begins || twice {
			step++
		}
		in[t.stream], last = step, t.at
		each(t, step-1)
	}
	return step, forced
}

// missed is the share of successive tokens of a stream that are not in successive steps, and
// of steps that had to be cut. With between, steps of first tokens alone are not counted.
func missed(all []token, gap time.Duration, streams []Stream, between bool) float64 {
	in := make([]int, len(streams)) // by stream: steps that were counted until its last token
	pairs, unslowed, step, counted, began := 0, 0, -1, 0, false
	n, forced := grouped(all, gap, 0, len(streams), func(t token, k int) {
		if k != step {
			step, began = k, false
		}
		if !began && (t.ordinal > 0 || !between) {
			counted, began = counted+1, true
		}
		if t.ordinal > 0 {
			if pairs++; counted > in[t.stream]+1 {
				unslowed++
			}
		}
		in[t.stream] = counted
	})
	return float64(unslowed)/float64(max(1, pairs)) + float64(forced)/float64(max(1, n))
}

func newLog(leg Leg, all []token, gap, first time.Duration, miss float64) *steplog {
	l := &steplog{Leg: leg, first: make([]int, len(leg.Streams)), miss: miss}
	last := make([]int, len(leg.Streams))
	grouped(all, gap, first, len(leg.Streams), func(t token, k int) {
		if k == len(l.steps) {
			l.steps = append(l.steps, step{end: t.at})
		}
		s := &l.steps[k]
		s.last = t.at
		if last[t.stream] = k; t.ordinal == 0 {
			l.first[t.stream], s.firsts = k, append(s.firsts, t.stream)
			return
		}
		s.decodes++
		s.context += leg.Streams[t.stream].behind(int(t.ordinal))
	})
	l.order = make([]int, len(leg.Streams))
	for i := range l.order {
		l.order[i] = i
	}
	slices.SortStableFunc(l.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.Streams[a].known, l.Streams[b].known), cmp.Compare(l.first[a], l.first[b]))
	})
	l.count(last)
	l.judge()
	return l
}

// count finds how many streams were active, and how many requests waited, in each step. last
// is the step of the last token of each stream.
func (l *steplog) count(last []int) {
	active, waiting := make([]int, len(l.steps)+2), make([]int, len(l.steps)+2)
	for i, s := range l.Streams {
		active[l.first[i]+1]++
		active[last[i]+1]--
		sent, _ := slices.BinarySearchFunc(l.steps, s.Sent, func(s step, at time.Duration) int { return cmp.Compare(s.end, at) })
		if sent < l.first[i] {
			waiting[sent]++
			waiting[l.first[i]]--
		}
	}
	nowActive, nowWaiting := 0, 0
	for k := range l.steps {
		nowActive, nowWaiting = nowActive+active[k], nowWaiting+waiting[k]
		l.steps[k].active, l.steps[k].waiting = nowActive, nowWaiting
	}
}

// judge counts how steps with first tokens lie among the others.
func (l *steplog) judge() {
	var usual []float64 // s between steps of later tokens
	for k := 1; k < len(l.steps); k++ {
		if l.steps[k].decodes > 2 && l.steps[k-1].decodes > 2 && len(l.steps[k].firsts) == 0 {
			usual = append(usual, (l.steps[k].end - l.steps[k-1].end).Seconds())
		}
	}
	pace := median(usual)
	for k := range l.steps {
		s := &l.steps[k]
		if len(s.firsts) == 0 || s.active <= 2 {
			continue
		}
		l.mixed++
		if s.decodes > 0 {
			continue
		}
		l.alone++
		if k > 0 && k+1 < len(l.steps) && l.steps[k-1].decodes > 2 && l.steps[k+1].decodes > 2 && (l.steps[k+1].end-l.steps[k-1].end).Seconds() < 1.1*pace {
			l.unslowed++
		}
	}
}
