package view

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A line has a value for each window; false: it has none.
type line func(i int) (float64, bool)

// series are quantities over time.
func (d *Digest) series(l *words.Language, windows []window, width trace.Instant) []Series {
	s := axis{windows: windows, width: width, end: d.seconds()}
	output := s.rate(func(w *window) float64 { return w.tokens })
	flight := s.level(flightOf)
	if len(d.snapshots) > 0 && !d.run.End.Happened() { // requests in flight are in no record
		output, flight = s.passed(d.snapshots)
	}
	all := []Series{}
	add := func(name, unit string, of line) {
		values, any := make([]*float64, len(windows)), false
		for i := range windows {
			if v, ok := of(i); ok {
				v = rounded(v)
				values[i], any = &v, any || v != 0
			}
		}
		if any {
			all = append(all, Series{Name: name, Title: l.Word(plan.Code("series." + name)), Unit: unit, Values: values})
		}
	}
	add("output", "tok/s", output)
	add("requests", "/s", s.rate(func(w *window) float64 { return float64(w.ok) }))
	add("inflight", "", flight)
	if d.scheduled {
		add("waiting", "", s.level(waitOf))
	}
	ttft, itl := func(w *window) *histogram { return &w.ttft }, func(w *window) *histogram { return &w.itl }
	add(figure.TTFT.P(50), "s", s.quantile(0.5, ttft))
	add(figure.TTFT.P(99), "s", s.quantile(0.99, ttft))
	add(figure.ITL.P(50), "s", s.quantile(0.5, itl))
	add(figure.ITL.P(99), "s", s.quantile(0.99, itl))
	add("failed", "/s", s.rate(func(w *window) float64 { return float64(w.failed) }))
	return all
}

// An axis is windows of time up to the end of the run, in seconds.
type axis struct {
	windows []window
	width   trace.Instant
	end     float64
}

// from is where a window begins.
func (a *axis) from(i int) float64 { return float64(trace.Instant(i)*a.width) / 1e9 }

// long is how much of a window the run lasted, in seconds; 0: it was over.
func (a *axis) long(i int) float64 {
	return math.Max(0, math.Min(float64(a.width)/1e9, a.end-a.from(i)))
}

// rate is a count per second.
func (a *axis) rate(of func(*window) float64) line {
	return func(i int) (float64, bool) { return of(&a.windows[i]) / a.long(i), a.long(i) > 0 }
}

// level is a mean number of requests.
func (a *axis) level(of func(*window) *area) line {
	all := areas(a.windows, a.width, of)
	return func(i int) (float64, bool) { return float64(all[i]) / 1e9 / a.long(i), a.long(i) > 0 }
}

func (a *axis) quantile(share float64, of func(*window) *histogram) line {
	return func(i int) (float64, bool) {
		h := of(&a.windows[i])
		if h.n == 0 {
			return 0, false
		}
		return h.quantiles([]float64{share})[0], true
	}
}

// stripsOf are strips as a page draws them, up to an instant: lines are broken where nothing is known.
func stripsOf(strips []plot.Strip, end float64, l *words.Language) []Strip {
	all := []Strip{}
	for _, s := range strips {
		one := Strip{Title: l.Word(s.Name), Unit: s.Unit, Steps: s.Steps, Top: s.Top, Lines: []Line{}}
		for _, k := range s.Lines {
			to := Line{Name: k.Name, X: []float64{}, Y: []*float64{}}
			for i, x := range k.X {
				if x > end {
					break
				}
				if i > 0 && k.Gap > 0 && x-k.X[i-1] > k.Gap {
					to.X, to.Y = append(to.X, micro((x+k.X[i-1])/2)), append(to.Y, nil)
				}
				y := rounded(k.Y[i])
				to.X, to.Y = append(to.X, micro(x)), append(to.Y, &y)
			}
			if len(to.X) > 0 {
				one.Lines = append(one.Lines, to)
			}
		}
		if len(one.Lines) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// The notes on figures of a digest.
const (
	soFar  plan.Code = "view.doubt.so-far" // read
	binned plan.Code = "view.doubt.approximate"
)

// Figures are those of what was added, by Pitot's definitions, in the order of other figures. Those
// that take all records at once are missing, and of a run that has ended and is not read to its end
// also counts and rates. doubt says why a statistic of a latency is less sure than it looks; zero:
// nothing does.
func (d *Digest) Figures() (all []trace.ReportedFigure, doubt func(metric, statistic string) plan.Message) {
	var l metrics.List
	partial := d.run.End.Happened() && !d.complete
	if !partial {
		d.counts(&l)
	}
	percents := d.run.Plan.Percentiles
	if percents == nil {
		percents = metrics.DefaultPercentiles()
	}
	rough := map[figure.Metric]bool{figure.ITL: true}
	add := func(m figure.Metric, of *latency) {
		l.Distribution(m, distribution(of.bins.n, of.total, percents, func(shares []float64) []float64 {
			values, approximate := of.quantiles(shares, d.complete)
			rough[m] = approximate
			return values
		}))
	}
	add(figure.TTFT, &d.ttft)
	add(figure.TPOT, &d.tpot)
	l.Distribution(figure.ITL, distribution(d.gaps.n, d.gapSum, percents, d.gaps.quantiles))
	add(figure.E2EL, &d.e2el)
	return l, func(metric, statistic string) plan.Message {
		switch {
		case partial:
			return plan.Msg(soFar, "read", d.Requests())
		case rough[figure.Metric(metric)] && statistic != "mean":
			return plan.Msg(binned)
		}
		return plan.Message{}
	}
}

// counts adds the counts, and their rates over the time of the run.
func (d *Digest) counts(l *metrics.List) {
	ok := d.Requests() - d.failed.n
	l.Add("requests.ok", float64(ok))
	l.Add("requests.failed", float64(d.failed.n))
	if !d.undated && (d.missing == 0 || !d.complete) {
		d.rates(l, ok)
	}
}

// rates adds the rates over the time of the run.
func (d *Digest) rates(l *metrics.List, ok int) {
	seconds := d.seconds()
	if seconds <= 0 {
		return
	}
	l.Add("duration", seconds)
	l.Add("tokens.input", float64(d.input))
	if !d.run.Plan.Silent() {
		l.Add("tokens.output", float64(d.output))
	}
	l.Add("throughput.requests", float64(ok)/seconds)
	l.Add("throughput.input", float64(d.input)/seconds)
	if !d.run.Plan.Silent() {
		l.Add("throughput.output", float64(d.output)/seconds)
		l.Add("throughput.total", float64(d.input+d.output)/seconds)
	}
}
