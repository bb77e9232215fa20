package verify

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/proof/conform"
)

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
