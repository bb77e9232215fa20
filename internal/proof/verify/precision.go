package verify

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// precision compares chunk by chunk; nil if not one answer can be.
func precision(records []*trace.Record, requests []*truth.Request) *conform.Precision {
	byID := map[string]*trace.Record{}
	for _, r := range records {
		byID[r.ID] = r
	}
	var p conform.Precision
	var gaps, firsts []float64
	held, all := 0, 0
	for _, q := range requests {
		r := byID[q.ID]
		writes := tokenWrites(q)
		if r == nil || !r.OK() || len(writes) == 0 {
			continue
		}
		chunks := outputs(r)
		if len(chunks) != len(writes) {
			continue
		}
		p.Answers++
		for i, c := range chunks {
			p.Chunks++
			if c.Slack == 0 {
				p.Exact++
			}
			if i == 0 {
				continue
			}
			before := chunks[i-1]
			all++
			if holds(before, c, writes[i-1], writes[i]) {
				held++
			}
			if before.Slack == 0 && c.Slack == 0 {
				gaps = append(gaps, math.Abs(seconds(writes[i].Before-writes[i-1].Before, int64(c.At-before.At))))
			}
		}
		if chunks[0].Slack == 0 {
			firsts = append(firsts, math.Abs(seconds(writes[0].Before-q.Received, int64(chunks[0].At-r.Sent))))
		}
	}
	if p.Answers == 0 {
		return nil
	}
	p.Gap, p.TTFT = errorsOf(gaps), errorsOf(firsts)
	p.InBounds = 1
	if all > 0 {
		p.InBounds = float64(held) / float64(all)
	}
	return &p
}

// tokenWrites are the writes of a request that brought tokens; none if one of them
// brought several events.
func tokenWrites(q *truth.Request) (out []truth.Write) {
	for _, w := range q.Writes {
		if w.Tokens == 0 {
			continue
		}
		if w.Events != 1 {
			return nil
		}
		out = append(out, w)
	}
	return out
}

// outputs are the chunks of a record that carry output.
func outputs(r *trace.Record) (out []trace.Chunk) {
	for _, c := range r.Chunks {
		if c.Kind.Output() {
			out = append(out, c)
		}
	}
	return out
}

// holds reports whether the bounds of a gap have room for one that the server can
// have made: its writes took effect at some moment of the call.
func holds(a, b trace.Chunk, wa, wb truth.Write) bool {
	low, high := seconds(int64(a.At), int64(b.Lo())), seconds(int64(a.Lo()), int64(b.At))
	least, most := seconds(wa.After, wb.Before), seconds(wa.Before, wb.After)
	return most >= low-gapNoise && least <= high+gapNoise
}

// gapNoise is by how much a gap between two exact stamps may miss the instants
// around its writes: one is on the kernel's clock, and converted.
const gapNoise = 2e-6

func errorsOf(x []float64) conform.Errors {
	s := stats.Sort(x)
	return conform.Errors{N: len(x), Median: s.Median(), P99: s.Percentile(99), P999: s.Percentile(99.9), Max: s.Max()}
}
