package verify

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
)

var contributions = map[plan.Code]contribution{
	metrics.ToFirstToken: each(func(a answer) (float64, bool) { return seconds(a.received, a.first), true }),
	metrics.ToLastToken:  each(func(a answer) (float64, bool) { return seconds(a.received, a.last), true }),
	metrics.ToEnd:        each(func(a answer) (float64, bool) { return seconds(a.received, a.end), true }),
	metrics.BetweenTokens: each(func(a answer) (float64, bool) {
		return seconds(a.first, a.last) / float64(max(1, a.tokens-1)), a.tokens > 1
	}),
	metrics.UntilEnd: each(func(a answer) (float64, bool) {
		return seconds(a.first, a.end) / float64(max(1, a.tokens-1)), a.tokens > 1
	}),
	metrics.Gaps: addGaps,
	metrics.WeighedGaps: weighed(func(a answer) (v, weight float64) {
		weight = float64(a.tokens - 1)
		return seconds(a.first, a.last) / max(1, weight), weight
	}),
	metrics.WholeTokens: weighed(func(a answer) (v, weight float64) {
		return seconds(a.received, a.last) / float64(a.tokens), float64(a.tokens)
	}),
}

// each is of one value an answer; an answer without one adds nothing.
func each(value func(answer) (v float64, ok bool)) contribution {
	return func(s *sample, r *truth.Request) {
		if a, ok := look(r); ok {
			if v, ok := value(a); ok {
				s.add(v)
			}
		}
	}
}

// addGaps adds the gaps between chunks. Chunks of one write have none between
// them.
func addGaps(s *sample, r *truth.Request) {
	last := int64(-1)
	for _, w := range r.Writes {
		if w.Tokens == 0 {
			continue
		}
		if last >= 0 {
			s.add(seconds(last, w.Before))
		}
		for range min(int(w.Events), int(w.Tokens)) - 1 {
			s.add(0)
		}
		last = w.Before
	}
}

func seconds(t, u int64) float64 { return float64(u-t) / 1e9 }

// weighed is each, with a weight for the value.
func weighed(value func(answer) (v, weight float64)) contribution {
	return func(s *sample, r *truth.Request) {
		if a, ok := look(r); ok {
			s.weigh(value(a))
		}
	}
}

// A contribution is what an answer of the server's adds to the sample of a metric.
type contribution func(*sample, *truth.Request)

// look is false for an answer without output.
func look(r *truth.Request) (a answer, ok bool) {
	a = answer{received: r.Received, tokens: r.Tokens}
	for _, w := range r.Writes {
		if w.Tokens > 0 {
			if !ok {
				a.first, ok = w.Before, true
			}
			a.last = w.Before
		}
		a.end = w.Before
	}
	return a, ok
}

// An answer is what a client can see of the writes of a request: the instants of
// its output, in nanoseconds.
type answer struct {
	received    int64
	first, last int64 // first and last output
	end         int64 // last write
	tokens      int
}

// linear is numpy's rule: percentiles interpolate between neighbours. It knows
// no weights.
func linear(s sample) map[conform.Statistic]float64 {
	sorted := stats.Sort(s.values)
	return map[conform.Statistic]float64{
		conform.Mean: stats.Mean(s.values), conform.Median: sorted.Median(), conform.P90: sorted.Percentile(90), conform.P99: sorted.Percentile(99),
	}
}

// stepped is GuideLLM's rule: a percentile is the smallest value that at least
// such a share of the weight does not exceed.
func stepped(s sample) map[conform.Statistic]float64 {
	order := make([]int, len(s.values))
	total, sum := 0.0, 0.0
	for i, v := range s.values {
		order[i] = i
		total += s.weight(i)
		sum += v * s.weight(i)
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case s.values[a] < s.values[b]:
			return -1
		case s.values[a] > s.values[b]:
			return 1
		}
		return 0
	})
	at := func(share float64) float64 {
		passed := 0.0
		for _, i := range order {
			if passed += s.weight(i); passed >= share*total {
				return s.values[i]
			}
		}
		return s.values[order[len(order)-1]]
	}
	return map[conform.Statistic]float64{conform.Mean: sum / total, conform.Median: at(0.50), conform.P90: at(0.90), conform.P99: at(0.99)}
}

// A sample holds values, and for some tools how much each of them weighs.
type sample struct{ values, weights []float64 }

func (s sample) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}

func (s *sample) add(value float64) { s.values = append(s.values, value) }

func (s *sample) weigh(value, weight float64) {
	s.values, s.weights = append(s.values, value), append(s.weights, weight)
}
