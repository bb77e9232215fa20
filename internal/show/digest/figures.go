package digest

import (
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
	rough := map[string]bool{"itl": true}
	add := func(name string, of *latency) {
		l.Distribution(name, distribution(of.bins.n, of.total, percents, func(shares []float64) []float64 {
			values, approximate := of.quantiles(shares, d.whole)
			rough[name] = approximate
			return values
		}))
	}
	add("ttft", &d.ttft)
	add("tpot", &d.tpot)
	l.Distribution("itl", distribution(d.gaps.n, d.gapSum, percents, d.gaps.quantiles))
	add("e2el", &d.e2el)
	return l, func(metric, statistic string) plan.Message {
		switch {
		case partial:
			return plan.Say(soFar, "read", d.Requests())
		case rough[metric] && statistic != "mean":
			return plan.Say(binned)
		}
		return plan.Message{}
	}
}

// counts adds what is counted, and its rates over the time of the run.
func (d *Digest) counts(l *metrics.List) {
	ok := d.Requests() - d.failed.n
	l.Add("requests.ok", float64(ok))
	l.Add("requests.failed", float64(d.failed.n))
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
