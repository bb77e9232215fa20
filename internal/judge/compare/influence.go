package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An influence is how much each request of a run, or each window of it, pulls a figure
// away from where it is, as a share of the figure, in the order of sending. Its mean is
// 0, and the figure's chance within the run is that of this mean:
//
//	mean      (sum of the request's values - their number × mean)           / mean
//	std       (their squared deviations - their number × variance)          / 2 variance
//	quantile  (their number × p - how many of them are not above it) / f    / quantile
//	rate      (what the window brought - what windows bring in the mean)    / that mean
//
// all over the mean number of values a request. Figures of gaps pool those of all
// requests, which have neighbours within a request; taking all gaps of a request as
// one value lets them depend on each other in any way. f, the density at the quantile,
// is the probability over the length of Woodruff's (1952) interval, which inverts that
// of the share of values not above.
type influence struct {
	pull      series
	index     []int32        // of the requests; nil of windows
	effective float64        // how many independent ones they are worth; 0: nothing is known
	mean      stats.Estimate // of the pull, by batches
}

// newInfluence is that of a pull.
func newInfluence(pull []float64, index []int32) influence {
	n := stats.EffectiveSize(pull)
	return influence{pull: newSeries(pull), index: index, effective: n, mean: stats.SeriesMean(pull, n)}
}

// times is an influence with a pull that is so many times as strong.
func (w influence) times(factor float64) influence {
	w.pull.factor *= factor
	w.mean.Value *= factor
	w.mean.Error *= math.Abs(factor)
	return w
}

// Limits below which a run is too short to tell anything of its own chance.
const (
	leastRequests  = 20
	leastEffective = 10 // independent requests
	leastBeyond    = 20 // independent values on either side of a quantile but the median
	windows        = 64 // of a run, for rates
)

// pools are the values of metrics, as far as a run has some.
type pools map[figure.Metric]*pool

// influences are those on figures by a tool's rules, by name.
func (r *requests) influences(t *trace.Trace, all pools, figures []trace.ReportedFigure) (map[string]influence, error) {
	out := map[string]influence{}
	if r.n < leastRequests {
		return out, nil
	}
	for _, p := range all {
		of := slices.DeleteFunc(slices.Clone(figures), func(f trace.ReportedFigure) bool { return figure.MetricOf(f.Name) != p.metric })
		some, err := p.influences(of)
		if err != nil {
			return nil, err
		}
		for name, w := range some {
			if w.effective >= leastEffective { // else it drifts more than it varies
				out[name] = w
			}
		}
	}
	if o := t.Run.Origin; o == nil || o.Detail == trace.Recorded {
		r.addRates(out, figures)
	}
	return out, nil
}

// valuesOf is what a request gives to a metric, NaN for nothing; nil: several values.
var valuesOf = map[figure.Metric]func(s metrics.Sample) float64{
	figure.TTFT: func(s metrics.Sample) float64 { return s.TTFT },
	figure.TPOT: func(s metrics.Sample) float64 { return s.TPOT },
	figure.E2EL: func(s metrics.Sample) float64 { return s.E2EL },
	figure.ITL:  nil,
}

// A pool is the values of a metric, by request and all together.
type pool struct {
	metric    figure.Metric
	requests  int
	index     []int32
	n         int // values
	mean, std float64
	// percentiles are those of all values.
	percentiles func(p ...float64) ([]float64, error)
	// walk gives the values of each request by its place in the order of sending, in any order.
	walk func(do func(place int, values []float64)) error
	// middle is how many independent requests tell whether values are above the median.
	// That is where dependence shows best: of requests that are served in batches, all with
	// the same pace but the first, few are beyond a high percentile, and they look as if
	// they had come there by themselves.
	middle float64
}

// poolOf is the pool of values that are in memory, by request; NaN is none.
func poolOf(values [][]float64) *pool {
	var all []float64
	for i := range values {
		values[i] = slices.DeleteFunc(values[i], math.IsNaN)
		all = append(all, values[i]...)
	}
	p := newPool(len(values), all)
	p.walk = func(do func(place int, values []float64)) error {
		for i, v := range values {
			do(i, v)
		}
		return nil
	}
	return p
}

// newPool is the pool of all the values of requests, which it sorts.
func newPool(requests int, all []float64) *pool {
	sorted := stats.SortInPlace(all)
	p := &pool{requests: requests, n: len(sorted), mean: stats.Mean(sorted), std: stats.Std(sorted)}
	p.percentiles = func(percents ...float64) (out []float64, err error) {
		for _, percent := range percents {
			out = append(out, sorted.Percentile(percent))
		}
		return out, nil
	}
	return p
}

// A wanted influence is that on one statistic, of what each value is worth to it.
type wanted struct {
	name    string
	percent float64 // 0: no quantile
	at      float64 // the quantile
	worth   func(v float64) float64
}

// influences are those on statistics of the pool that are what its values give: a tool may count others in.
func (p *pool) influences(figures []trace.ReportedFigure) (map[string]influence, error) {
	all, err := p.wanted(figures)
	if err != nil || all == nil {
		return nil, err
	}
	var quantiles []quantile
	out := map[string]influence{}
	for some := range slices.Chunk(all, max(1, mostSums/p.requests)) {
		sums, err := p.ratios(some)
		if err != nil {
			return nil, err
		}
		for i, w := range some {
			own := newInfluence(sums[i], p.index)
			switch {
			case w.name == "":
				p.middle = own.effective
			case w.percent == 0:
				out[w.name] = own
			default:
				if margin, ok := p.margin(w.percent/100, sums[i], own.effective); ok {
					quantiles = append(quantiles, quantile{w, own, margin})
				}
			}
		}
	}
	return out, p.densities(quantiles, out)
}

// mostSums is how many values of all requests are held at once while influences are made.
const mostSums = 1 << 25

// wanted are the median, which tells the middle, and the statistics among the figures.
func (p *pool) wanted(figures []trace.ReportedFigure) ([]wanted, error) {
	if p.n == 0 {
		return nil, nil
	}
	percents := []float64{50}
	for _, f := range figures {
		_, statistic := figure.Split(f.Name)
		if percent, ok := percentOf(statistic); ok {
			percents = append(percents, percent)
		}
	}
	at, err := p.percentiles(percents...)
	if err != nil {
		return nil, err
	}
	all := []wanted{{percent: 50, worth: beyond(at[0])}}
	for _, f := range figures {
		_, statistic := figure.Split(f.Name)
		percent, isQuantile := percentOf(statistic)
		switch {
		case !(f.Value > 0):
		case statistic == "mean" && near(p.mean, f.Value):
			all = append(all, wanted{name: f.Name, worth: func(v float64) float64 { return v / p.mean }})
		case statistic == "std" && near(p.std, f.Value):
			all = append(all, wanted{name: f.Name, worth: func(v float64) float64 { return (v - p.mean) * (v - p.mean) / (2 * p.std * p.std) }})
		case isQuantile:
			q := at[slices.Index(percents, percent)]
			if near(q, f.Value) && percent > 0 && percent < 100 {
				all = append(all, wanted{f.Name, percent, q, beyond(q)})
			}
		}
	}
	return all, nil
}

// percentOf is the percentile that a statistic is.
func percentOf(statistic string) (percent float64, ok bool) {
	if statistic == "median" {
		return 50, true
	}
	return figure.ParsePercentile(statistic)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

// beyond is what a value is worth to the share of values above q.
func beyond(q float64) func(v float64) float64 {
	return func(v float64) float64 {
		if v <= q {
			return -1
		}
		return 0
	}
}

// ratios are the pulls of each request on the means of what each value is worth.
func (p *pool) ratios(of []wanted) ([][]float64, error) {
	sums, counts := make([][]float64, len(of)), make([]int32, p.requests)
	for k := range of {
		sums[k] = make([]float64, p.requests)
	}
	err := p.walk(func(place int, values []float64) {
		counts[place] = int32(len(values))
		for k, w := range of {
			for _, v := range values {
				sums[k][place] += w.worth(v)
			}
		}
	})
	each := float64(p.n) / float64(p.requests) // values a request, in the mean
	for _, x := range sums {
		total := 0.0
		for _, v := range x {
			total += v
		}
		mean := total / float64(p.n)
		for i, n := range counts {
			x[i] = (x[i] - mean*float64(n)) / each
		}
	}
	return sums, err
}

// A quantile is the influence on the share of values above one, and two standard errors of that share.
type quantile struct {
	wanted
	influence
	margin float64
}

// margin is that of the pull on a share; false where too few independent values lie beyond it.
func (p *pool) margin(share float64, pull []float64, effective float64) (margin float64, ok bool) {
	least := float64(leastBeyond)
	if share == 0.5 {
		least = leastEffective
	}
	squares := 0.0
	for _, v := range pull {
		squares += v * v
	}
	variance := squares / float64(len(pull)) / min(effective, p.middle)
	independent := share * (1 - share) / variance
	return 2 * math.Sqrt(variance), independent*min(share, 1-share) >= least
}

// densities makes influences on quantiles of those on shares, by the density there.
func (p *pool) densities(all []quantile, out map[string]influence) error {
	var ends []float64
	for _, q := range all {
		share := q.percent / 100
		ends = append(ends, 100*max(0, share-q.margin), 100*min(1, share+q.margin))
	}
	at, err := p.percentiles(ends...)
	if err != nil {
		return err
	}
	for i, q := range all {
		if low, high := at[2*i], at[2*i+1]; high > low {
			out[q.name] = q.times((high - low) / (2 * q.margin) / q.at)
		}
	}
	return nil
}

// addRates adds the influences on rates. Those on the duration are those on the request rate,
// negated.
func (r *requests) addRates(out map[string]influence, figures []trace.ReportedFigure) {
	i := slices.IndexFunc(figures, func(f trace.ReportedFigure) bool { return f.Name == figure.Duration })
	if i < 0 || !(figures[i].Value > 0) {
		return
	}
	var requests, input, output tally
	for s := range r.all {
		first := s.Start
		if !math.IsNaN(s.TTFT) {
			first += s.TTFT
		}
		end := s.End / figures[i].Value
		requests.add(end, end, 1)
		input.add(end, end, float64(s.Prompt))
		output.add(first/figures[i].Value, end, float64(s.Tokens))
	}
	total := input
	for w := range total {
		total[w] += output[w]
	}
	for _, f := range figures {
		of, ok := map[string]*tally{
			figure.Duration: &requests, figure.RequestThroughput: &requests, figure.InputThroughput: &input, figure.OutputThroughput: &output, figure.TotalThroughput: &total,
		}[f.Name]
		if pull := of.pull(); ok && pull != nil {
			if f.Name == figure.Duration {
				for w := range pull {
					pull[w] = -pull[w]
				}
			}
			out[f.Name] = newInfluence(pull, nil)
		}
	}
}

// A tally counts by window.
type tally [windows]float64

// add spreads an amount evenly from one place of the run to another; the run goes
// from 0 to 1.
func (t *tally) add(from, to, amount float64) {
	window := func(at float64) int { return max(0, min(windows-1, int(at*windows))) }
	first, last := window(from), window(to)
	if first >= last {
		t[last] += amount
		return
	}
	for w := first; w <= last; w++ {
		share := min(to, float64(w+1)/windows) - max(from, float64(w)/windows)
		t[w] += amount * max(0, share) / (to - from)
	}
}

func (t *tally) pull() []float64 {
	if t == nil {
		return nil
	}
	mean := stats.Mean(t[:])
	if !(mean > 0) {
		return nil
	}
	out := make([]float64, windows)
	for w := range out {
		out[w] = t[w]/mean - 1
	}
	return out
}
