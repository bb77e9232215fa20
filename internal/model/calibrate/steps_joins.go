package calibrate

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A chunk with several tokens is of a step that made several, by speculative decoding, or of several steps, by a
// frontend that falls behind and joins what a stream has. The first does so under any load: the run with the fewest
// requests at once has leastDrafted tokens a chunk. The second grows with the load; joinedMore is how many more
// tokens a chunk say so, and manyJoined from how many on the flushes are those of a full frontend.
const (
	leastDrafted = 1.1
	joinedMore   = 0.02
	manyJoined   = 0.15
)

// perChunk is the mean number of tokens in the chunks of a leg behind the first; 1 where there are no counts.
func (l *steplog) perChunk() float64 {
	tokens, chunks := 0, 0
	for i := range l.Streams {
		s := &l.Streams[i]
		if s.Output >= len(s.At) {
			tokens, chunks = tokens+s.Output-1, chunks+len(s.At)-1
		}
	}
	if chunks == 0 {
		return 1
	}
	return float64(tokens) / float64(chunks)
}

// atOnce is how many streams ran at once at most.
func (l *steplog) atOnce() (n int) {
	for k := range l.steps {
		n = max(n, l.steps[k].running())
	}
	return n
}

// tokensPerStep is how many tokens a stream gets of a step: those of a chunk in the leg with the fewest at once, and in
// legs with as many. It notes by how much the others have more.
func tokensPerStep(logs []*steplog) (base float64) {
	fewest := math.MaxInt
	for _, l := range logs {
		if n := l.atOnce(); n < fewest {
			base, fewest = l.perChunk(), n
		}
	}
	tokens, chunks := 0.0, 0.0
	for _, l := range logs {
		if l.joined = l.perChunk()/base - 1; l.joined <= joinedMore {
			for i := range l.Streams {
				if n := len(l.Streams[i].At) - 1; n > 0 && l.Streams[i].Output > n {
					tokens += float64(l.Streams[i].Output - 1)
					chunks += float64(n) - (1-1/base)/2 // the last is cut by the end of the answer
				}
			}
		}
	}
	if base = tokens / chunks; !(base >= leastDrafted) { // a few tokens have no character of their own
		base = 1
	}
	for _, l := range logs {
		l.tokens = base
	}
	return base
}

// drafted is speculative decoding with base tokens a step: the acceptance by position where chunks have counts of
// their tokens, and whether that is so; nil without it.
func drafted(logs []*steplog, base float64) (s *engine.Speculative, counted bool) {
	if base < leastDrafted {
		return nil, false
	}
	var n [engine.MaxDrafts + 2]int // chunks by their tokens; of those that are neither the first nor the last
	for _, l := range logs {
		if l.joined > joinedMore {
			continue
		}
		for i := range l.Streams {
			if t := l.Streams[i].Tokens; len(t) > 2 {
				for _, tokens := range t[1 : len(t)-1] {
					n[min(tokens, len(n)-1)]++
				}
			}
		}
	}
	s = &engine.Speculative{}
	more := 0
	for j := len(n) - 1; j > 0; j-- { // with j tokens or more
		if more >= leastDrafts {
			s.Drafts = max(s.Drafts, j)
			s.Acceptance = append(s.Acceptance, math.Round(1e4*float64(more)/float64(more+n[j]))/1e4)
		}
		more += n[j]
	}
	if s.Drafts > 0 {
		slices.Reverse(s.Acceptance)
		return s, true
	}
	return assumed(base, max(usualDrafts, int(math.Ceil(base)))), false
}

// leastDrafts is the number of chunks that show a position in a draft; usualDrafts are assumed where nothing does.
const (
	leastDrafts = 10
	usualDrafts = 3
)

// assumed has so many drafts, with the same acceptance at each position, that a step gives mean tokens.
func assumed(mean float64, drafts int) *engine.Speculative {
	gives := func(a float64) float64 {
		sum, p := 1.0, 1.0
		for range drafts {
			p *= a
			sum += p
		}
		return sum - mean
	}
	return &engine.Speculative{Drafts: drafts, Acceptance: engine.Acceptance{math.Round(1e4*bisect(gives, 0, 1)) / 1e4}}
}

// streamLength is the least number of tokens of a stream that shows the pace of the steps.
const streamLength = 16

// streamRows are the mean steps of each stream of a leg, without its launches: where tokens are joined the flushes
// are those of the frontend, but the tokens of a stream are as many as steps of the engine. With ahead the launches are
// in the steps before those with prompts.
func (l *steplog) streamRows(rows []row, ahead bool) (out []row) {
	at := make([]*row, len(l.steps)) // by step
	k := 0
	for i := range rows {
		for l.steps[k].end != rows[i].end {
			k++
		}
		at[k] = &rows[i]
	}
	for i := range l.Streams {
		s := &l.Streams[i]
		steps := float64(s.Output-1) / l.tokens
		if s.Output < streamLength {
			continue
		}
		one, n := row{y: (s.At[len(s.At)-1] - s.At[0]).Seconds(), block: -1, mean: true}, 0.0
		for k := l.first[i] + 1; k < len(l.steps) && l.steps[k].end <= s.At[len(s.At)-1]; k++ {
			r := at[k]
			switch {
			case r == nil:
			case r.prefills() && (r.next > 0 || !ahead):
				one.y -= r.y
				steps--
			default:
				one.block = r.block
				if r.pace > 0 || !ahead {
					one.pace, one.decodes, one.context, n = one.pace+r.pace, one.decodes+r.decodes, one.context+r.context, n+1
				}
			}
		}
		if n < streamLength/2 || steps < streamLength/2 || one.y <= 0 {
			continue
		}
		one.y /= steps
		one.pace, one.decodes, one.context = one.pace/n, one.decodes/n, one.context/n
		out = append(out, one)
	}
	return out
}
