package digest

import (
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// What is noted of figures of a digest.
const (
	soFar  plan.Code = "view.doubt.so-far" // read
	binned plan.Code = "view.doubt.approximate"
)

// Figures are those of what was added, by Pitot's definitions, in the order of other figures. Those
// that take all records at once are missing, and of a run that has ended and is not read to its end
// also counts and rates. doubt says why a statistic of a latency is less sure than it looks; zero:
// nothing does.
func (d *Digest) Figures() (all []trace.Figure, doubt func(metric, statistic string) plan.Message) {
	var l metrics.List
	partial := d.run.End.Happened() && !d.whole
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
			values, approximate := of.quantiles(shares, d.whole)
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
			return plan.Say(soFar, "read", d.Requests())
		case rough[figure.Metric(metric)] && statistic != "mean":
			return plan.Say(binned)
		}
		return plan.Message{}
	}
}

// counts adds what is counted, and its rates over the time of the run.
func (d *Digest) counts(l *metrics.List) {
	ok := d.Requests() - d.failed.n
	l.Add(figure.RequestsOK, float64(ok))
	l.Add(figure.RequestsFailed, float64(d.failed.n))
	if !d.undated {
		d.rates(l, ok)
	}
}

// rates adds what is counted over the time of the run.
func (d *Digest) rates(l *metrics.List, ok int) {
	seconds := d.seconds()
	if seconds <= 0 {
		return
	}
	l.Add(figure.Duration, seconds)
	l.Add(figure.InputTokens, float64(d.input))
	if !d.run.Plan.Silent() {
		l.Add(figure.OutputTokens, float64(d.output))
	}
	l.Add(figure.RequestThroughput, float64(ok)/seconds)
	l.Add(figure.InputThroughput, float64(d.input)/seconds)
	if !d.run.Plan.Silent() {
		l.Add(figure.OutputThroughput, float64(d.output)/seconds)
		l.Add(figure.TotalThroughput, float64(d.input+d.output)/seconds)
	}
}
