package digest

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// A latency is a value for each request, in seconds; NaN: it has none.
type latency struct {
	column column[float32]
	bins   histogram
	total  float64
	sorted []float32 // of those that are numbers; nil: not sorted since one was added
}

func (l *latency) add(v float64) {
	l.column.add(float32(v))
	l.bins.add(float32(v))
	if !math.IsNaN(v) {
		l.total += v
	}
	l.sorted = nil
}

// quick is how many values are sorted for every question, while more come.
const quick = 50_000

// quantiles are the values at shares of the sample, which ascend. They are those of bins of a large
// sample that grows.
func (l *latency) quantiles(shares []float64, whole bool) (values []float64, approximate bool) {
	if !whole && l.bins.n > quick {
		return l.bins.quantiles(shares), true
	}
	if l.sorted == nil {
		l.sorted = l.ascending()
	}
	return quantiles(l.sorted, shares), false
}

// ascending are the values that are numbers, sorted.
func (l *latency) ascending() []float32 {
	all := make([]float32, 0, l.bins.n)
	for _, b := range l.column.blocks {
		for _, v := range b {
			if v == v {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	return all
}

// quantiles are interpolated, as those of package stats.
func quantiles(sorted []float32, shares []float64) (values []float64) {
	for _, share := range shares {
		at := share * float64(len(sorted)-1)
		i := int(at)
		v := float64(sorted[i])
		if i+1 < len(sorted) {
			v += (at - float64(i)) * (float64(sorted[i+1]) - v)
		}
		values = append(values, v)
	}
	return values
}

// distribution is the sample in figures, as far as they are shown.
func distribution(n int, total float64, percents []float64, quantiles func(shares []float64) []float64) metrics.Distribution {
	if n == 0 {
		return metrics.Distribution{}
	}
	d := metrics.Distribution{N: n, Mean: total / float64(n), Median: quantiles([]float64{0.5})[0]}
	for _, p := range percents {
		d.Percentiles = append(d.Percentiles, metrics.Percentile{P: p, Value: quantiles([]float64{p / 100})[0]})
	}
	return d
}
