package view

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Sizes of a course.
const (
	fewWindows  = 60   // shown of a run with few requests
	perWindow   = 5    // requests in each of more of them
	mostFailed  = 2000 // instants
	heatWindows = 240
	heatShift   = 4 // a row of a heat map is 2^4 bins of a window's histogram: a factor of 1.09 to 1.125
)

// Course is what the requests say together. Records and Running are the caller's.
func (d *Digest) Course(l *words.Language) Course {
	c := Course{Read: d.Requests(), Undated: d.undated, Series: []Series{}, Strips: []Strip{}, Stalls: [][2]float64{}, Failed: []float64{}, Heat: []Heat{}}
	c.Distributions = d.distributions(l)
	if d.undated {
		return c
	}
	d.over.at(d.end) // of a run with requests in flight, time goes on without records
	windows, width := d.over.shown(max(fewWindows, min(mostWindows, d.Requests()/perWindow)))
	c.Seconds, c.Step = micro(d.seconds()), float64(width)/1e9
	c.Series = d.series(l, windows, width)
	c.Strips = stripsOf(d.strips, d.seconds(), l)
	c.Stalls = d.standstills()
	c.Failed = d.failedAt()
	c.Heat = d.heat(l)
	return c
}

// seconds is the end of the run, or of its known part.
func (d *Digest) seconds() float64 {
	if d.run.End.Happened() {
		return d.run.End.Seconds()
	}
	return d.end.Seconds()
}

// distributions are those of the requests that succeeded, without empty ones.
func (d *Digest) distributions(l *words.Language) []Distribution {
	all := []Distribution{}
	percents := plot.QuantilePercents()
	shares := make([]float64, len(percents))
	for i, p := range percents {
		shares[i] = p / 100
	}
	add := func(name string, n int, quantiles func([]float64) ([]float64, bool)) {
		if n == 0 {
			return
		}
		one := Distribution{Name: name, Title: l.Word(plan.Code("latency." + name)), N: n, Share: shares}
		one.Value, one.Approximate = quantiles(shares)
		for i, v := range one.Value {
			one.Value[i] = rounded(v)
		}
		all = append(all, one)
	}
	of := func(x *latency) func([]float64) ([]float64, bool) {
		return func(shares []float64) ([]float64, bool) { return x.quantiles(shares, d.complete) }
	}
	add("ttft", d.ttft.bins.n, of(&d.ttft))
	add("tpot", d.tpot.bins.n, of(&d.tpot))
	add("itl", d.gaps.n, func(shares []float64) ([]float64, bool) { return d.gaps.quantiles(shares), true })
	add("e2el", d.e2el.bins.n, of(&d.e2el))
	return all
}

// failedAt is when requests failed; of many each second, fourth ...
func (d *Digest) failedAt() []float64 {
	at := []float64{}
	every := 1
	for d.failed.n/every > mostFailed {
		every *= 2
	}
	n := 0
	for i := range d.columns.class.n {
		if done := d.columns.done.at(i); d.columns.class.at(i) > 0 && done != never {
			if n%every == 0 {
				at = append(at, micro(float64(done)*d.second()))
			}
			n++
		}
	}
	slices.Sort(at)
	return at
}

// heat counts latencies by time and size.
func (d *Digest) heat(l *words.Language) (all []Heat) {
	windows, width := d.over.shown(heatWindows)
	for _, of := range []struct {
		name string
		h    func(w *window) *histogram
	}{
		{"ttft", func(w *window) *histogram { return &w.ttft }},
		{"itl", func(w *window) *histogram { return &w.itl }},
		{"e2el", func(w *window) *histogram { return &w.e2 }},
	} {
		low, high := math.MaxInt, -1 // rows
		counts := map[[2]int]int{}
		for i := range windows {
			h := of.h(&windows[i])
			for j, n := range h.counts {
				if row := (h.low + j) >> heatShift; n > 0 {
					low, high = min(low, row), max(high, row)
					counts[[2]int{i, row}] += int(n)
				}
			}
		}
		if high < 0 {
			continue
		}
		one := Heat{Name: of.name, Title: l.Word(plan.Code("latency." + of.name)), Step: float64(width) / 1e9}
		edges := histogram{shift: 1 + heatShift}
		for row := low; row <= high+1; row++ {
			one.Edges = append(one.Edges, rounded(edges.edge(row)))
		}
		for i := range windows {
			for row := low; row <= high; row++ {
				if n := counts[[2]int{i, row}]; n > 0 {
					one.Cells = append(one.Cells, i, row-low, n)
				}
			}
		}
		all = append(all, one)
	}
	return all
}
