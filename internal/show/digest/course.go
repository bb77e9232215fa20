package digest

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Sizes of a course.
const (
	fewWindows  = 60   // shown of a run with few requests
	perWindow   = 5    // requests in each of more of them
	mostFailed  = 2000 // instants
	heatWindows = 120
	heatShift   = 5 // a row of a heat map is 2^5 bins of a window's histogram: a factor of 1.19 to 1.25
)

// Course is what the requests say together. Records and Running are the caller's.
func (d *Digest) Course(l *words.Language) view.Course {
	c := view.Course{Read: d.Requests(), Undated: d.undated, Failed: []float64{}, Stalls: [][2]float64{}}
	c.Distributions = d.distributions(l)
	if d.undated {
		return c
	}
	windows, width := d.over.shown(max(fewWindows, min(mostWindows, d.Requests()/perWindow)))
	c.Seconds, c.Step = rounded(d.seconds()), float64(width)/1e9
	c.Series = d.series(l, windows, width)
	c.Failed = d.failedAt()
	c.Heat = d.heat(l)
	return c
}

// seconds is the end of the run, or of what is known of it.
func (d *Digest) seconds() float64 {
	if d.run.End.Happened() {
		return d.run.End.Seconds()
	}
	return d.end.Seconds()
}

// distributions are those of the requests that succeeded, without empty ones.
func (d *Digest) distributions(l *words.Language) (all []view.Distribution) {
	percents := plot.QuantilePercents()
	shares := make([]float64, len(percents))
	for i, p := range percents {
		shares[i] = p / 100
	}
	add := func(name string, n int, values []float64, approximate bool) {
		for i := range values {
			values[i] = rounded(values[i])
		}
		if n > 0 {
			all = append(all, view.Distribution{
				Name: name, Title: l.Word(plan.Code("latency." + name)), N: n, Share: shares, Value: values, Approximate: approximate,
			})
		}
	}
	exact := func(name string, c *column[float32]) {
		sorted := ascending(c)
		add(name, len(sorted), quantiles(sorted, shares), false)
	}
	exact("ttft", &d.columns.ttft)
	exact("tpot", &d.columns.tpot)
	if d.gaps.n > 0 {
		add("itl", d.gaps.n, d.gaps.quantiles(shares), true)
	}
	exact("e2el", &d.columns.e2el)
	return all
}

// ascending are the values of a column that are numbers, sorted.
func ascending(c *column[float32]) []float32 {
	all := make([]float32, 0, c.n)
	for _, b := range c.blocks {
		for _, v := range b {
			if v == v {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	return all
}

// quantiles are interpolated as those of package stats.
func quantiles(sorted []float32, shares []float64) (values []float64) {
	if len(sorted) == 0 {
		return nil
	}
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

// series are quantities over time. A window that the run has not filled has no rates.
func (d *Digest) series(l *words.Language, windows []window, width trace.Instant) (all []view.Series) {
	seconds := float64(width) / 1e9
	flight, wait := areas(windows, width, flightOf), areas(windows, width, waitOf)
	add := func(name, unit string, of func(i int, w *window) (float64, bool)) {
		values, any := make([]*float64, len(windows)), false
		for i := range windows {
			if v, ok := of(i, &windows[i]); ok {
				v = rounded(v)
				values[i], any = &v, any || v != 0
			}
		}
		if any {
			all = append(all, view.Series{Name: name, Title: l.Word(plan.Code("series." + name)), Unit: unit, Values: values})
		}
	}
	long := func(i int) float64 { // how much of a window the run lasted
		return math.Max(1e-9, math.Min(seconds, d.seconds()-float64(i)*seconds))
	}
	rate := func(of func(w *window) float64) func(i int, w *window) (float64, bool) {
		return func(i int, w *window) (float64, bool) { return of(w) / long(i), true }
	}
	at := func(share float64, of func(w *window) *histogram) func(i int, w *window) (float64, bool) {
		return func(_ int, w *window) (float64, bool) {
			h := of(w)
			if h.n == 0 {
				return 0, false
			}
			return h.quantiles([]float64{share})[0], true
		}
	}
	ttft, itl := func(w *window) *histogram { return &w.ttft }, func(w *window) *histogram { return &w.itl }
	add("output", "tok/s", rate(func(w *window) float64 { return w.tokens }))
	add("requests", "/s", rate(func(w *window) float64 { return float64(w.ok) }))
	add("inflight", "", func(i int, _ *window) (float64, bool) { return float64(flight[i]) / 1e9 / long(i), true })
	if d.scheduled {
		add("waiting", "", func(i int, _ *window) (float64, bool) { return float64(wait[i]) / 1e9 / long(i), true })
	}
	add("ttft.p50", "s", at(0.5, ttft))
	add("ttft.p99", "s", at(0.99, ttft))
	add("itl.p50", "s", at(0.5, itl))
	add("itl.p99", "s", at(0.99, itl))
	add("failed", "/s", rate(func(w *window) float64 { return float64(w.failed) }))
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
				at = append(at, rounded(float64(done)*d.second()))
			}
			n++
		}
	}
	slices.Sort(at)
	return at
}

// heat counts latencies by time and size.
func (d *Digest) heat(l *words.Language) (all []view.Heat) {
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
		one := view.Heat{Name: of.name, Title: l.Word(plan.Code("latency." + of.name)), Step: float64(width) / 1e9}
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
