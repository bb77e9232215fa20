package metrics

import (
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Answers are the requests of a run that succeeded by Pitot's rules, in the order of the workload: some fifty bytes of
// each.
type Answers struct{ x *observed }

// Measure gives the figures of a run by Pitot's definitions and its answers, from records that are read some at a time in
// place of those of t.
func Measure(t *trace.Trace, records Records) ([]trace.ReportedFigure, Answers, error) {
	s, x, err := summarize(t, records, Options{brief: true})
	return s.Figures(), Answers{x}, err
}

// N is how many there are.
func (a Answers) N() int { return a.x.heads.answered }

// All yields them without the gaps between their chunks.
func (a Answers) All(yield func(Sample) bool) {
	i := -1
	for h := range a.x.heads.all {
		if i++; !h.ok || !h.sent.Happened() {
			continue
		}
		s := Sample{Index: i, Prompt: h.prompt, Tokens: h.tokens, Start: h.sent.Seconds(), End: h.done.Seconds()}
		s.TTFT, s.TPOT, s.E2EL = h.latencies(a.x.run.Plan.Stream)
		if !yield(s) {
			return
		}
	}
}

// Gaps are all gaps between chunks, in ns, of which the percentiles of the figures are known; nil without a stream.
func (a Answers) Gaps() *stats.Selection {
	if a.x.gaps == nil {
		return nil
	}
	return a.x.gaps.of[asMeasured]
}

// Percentiles finds more percentiles of the gaps, which may take further passes over the records.
func (a Answers) Percentiles(percents []float64) error {
	g := a.x.gaps
	if g.percentiles = percents; !g.of[asMeasured].Next(percents) {
		return nil
	}
	g.reading = []reading{asMeasured}
	return a.x.records.read(g)
}

// EachGaps reads the gaps of each answer, in seconds, valid until the next one.
func (a Answers) EachGaps(do func(i int, gaps []float64)) error {
	return a.x.records.read(&eachGaps{do: do})
}

type eachGaps struct {
	i    int
	gaps []float64
	do   func(i int, gaps []float64)
}

func (g *eachGaps) add(r *trace.Record) {
	if !Owns(r) {
		return
	}
	g.gaps = g.gaps[:0]
	for _, gap := range EachPitotGap(r) {
		g.gaps = append(g.gaps, gap)
	}
	g.do(g.i, g.gaps)
	g.i++
}

// next: one pass is all.
func (g *eachGaps) next() bool { return false }
