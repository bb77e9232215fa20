package calibrate

import (
	"math"
)

// A frontend that falls behind joins the tokens of a stream in one chunk, and flushes then show fewer tokens than
// steps had. This much more tokens a chunk than in the run with the least says so.
const joinedMore = 0.02

// perChunk is the mean number of tokens in the chunks of a leg; 1 where its answers have no counts.
func (l *steplog) perChunk() float64 {
	tokens, chunks := 0, 0
	for i := range l.Streams {
		s := &l.Streams[i]
		if s.Output >= len(s.At) {
			tokens, chunks = tokens+s.Output, chunks+len(s.At)
		}
	}
	if chunks == 0 {
		return 1
	}
	return float64(tokens) / float64(chunks)
}

// leastPerChunk is that of the leg with the least.
func leastPerChunk(logs []*steplog) float64 {
	least := math.Inf(1)
	for _, l := range logs {
		least = min(least, l.perChunk())
	}
	return least
}

// streamLength is the least number of tokens of a stream that shows the pace of the steps.
const streamLength = 16

// streamRows are the mean steps of each stream of a leg, without its launches: where tokens are joined the flushes
// are those of the frontend, but the tokens of a stream are as many as steps of the engine.
func (l *steplog) streamRows(rows []row) (out []row) {
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
		steps := float64(s.Output - 1)
		if s.Output < streamLength {
			continue
		}
		one, n := row{y: (s.At[len(s.At)-1] - s.At[0]).Seconds(), block: -1, mean: true}, 0.0
		for k := l.first[i] + 1; k < len(l.steps) && l.steps[k].end <= s.At[len(s.At)-1]; k++ {
			r := at[k]
			switch {
			case r == nil:
			case r.next > 0:
				one.y -= r.y
				steps--
			default:
				one.block = r.block
				if r.pace > 0 {
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
