package view

import (
	"math"

	"github.com/pitot-bench/pitot/internal/record/store"
)

// SparklineValues is how many values a sparkline has at most.
const SparklineValues = 40

// NewSparkline makes the throughput of a run of how many tokens it had received when. Between two
// milestones tokens are taken to have come evenly.
func NewSparkline(id string, all []store.Milestone) Sparkline {
	s := Sparkline{ID: id, Values: []float64{}}
	if len(all) < 2 {
		return s
	}
	first, last := all[0].At.Seconds(), all[len(all)-1].At.Seconds()
	n := min(SparklineValues, len(all)-1)
	step := (last - first) / float64(n)
	if step <= 0 {
		return s
	}
	at := func(when float64) float64 { // tokens by then
		i := 1
		for i < len(all)-1 && all[i].At.Seconds() < when {
			i++
		}
		a, b := all[i-1], all[i]
		share := (when - a.At.Seconds()) / (b.At.Seconds() - a.At.Seconds())
		return float64(a.Tokens) + share*float64(b.Tokens-a.Tokens)
	}
	for i := range n {
		s.Values = append(s.Values, math.Max(0, at(first+float64(i+1)*step)-at(first+float64(i)*step))/step)
	}
	return s
}

// SketchSparkline makes the throughput of a run of some of its requests: each is taken to have got
// its tokens evenly, from the first byte of its answer on. all is how many requests there are.
func SketchSparkline(id string, some []store.Outline, all int) Sparkline {
	s := Sparkline{ID: id, Values: []float64{}}
	end, n := 0.0, 0
	for _, o := range some {
		if o.First.Happened() && o.Done >= o.First {
			end, n = max(end, o.Done.Seconds()), n+1
		}
	}
	if end <= 0 || n == 0 {
		return s
	}
	values := make([]float64, min(SparklineValues, max(n, 1)))
	step := end / float64(len(values))
	for _, o := range some {
		if o.First.Happened() && o.Done >= o.First {
			spread(values, o.First.Seconds()/step, o.Done.Seconds()/step, float64(o.Tokens))
		}
	}
	for i := range values {
		values[i] *= float64(all) / float64(len(some)) / step
	}
	s.Values = values
	return s
}

// spread adds an amount to the windows between two places, evenly.
func spread(windows []float64, from, to, amount float64) {
	last := len(windows) - 1
	if to <= from { // all at once
		windows[min(int(from), last)] += amount
		return
	}
	for i := int(from); i <= min(int(to), last); i++ {
		part := math.Min(to, float64(i+1)) - math.Max(from, float64(i))
		windows[i] += amount * part / (to - from)
	}
}
