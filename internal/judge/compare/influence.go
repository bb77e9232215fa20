package compare

import (
	"encoding/binary"
	"hash/fnv"
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
	pull      []float64
	index     []int   // of the requests; nil of windows
	effective float64 // how many independent ones they are worth
}

// Limits below which a run is too short to tell anything of its own chance.
const (
	leastRequests  = 20
	leastEffective = 10 // independent requests
	leastBeyond    = 20 // independent values on either side of a quantile but the median
	windows        = 64 // of a run, for rates
)

// observeInfluences gives the influences of samples on figures by a tool's rules, by name.
func observeInfluences(t *trace.Trace, samples []metrics.Sample, figures []trace.ReportedFigure) map[string]influence {
	out := map[string]influence{}
	if len(samples) < leastRequests {
		return out
	}
	index := make([]int, len(samples))
	for i, s := range samples {
		index[i] = s.Index
	}
	pools := map[figure.Metric]pool{}
	for _, f := range figures {
		metric, statistic := figure.Split(f.Name)
		values := valuesOf[metric]
		if values == nil {
			continue
		}
		if _, ok := pools[metric]; !ok {
			pools[metric] = newPool(samples, values)
		}
		p := pools[metric]
		if pull, ok := p.pull(statistic, f.Value); ok {
			if n := stats.EffectiveSize(pull); n >= leastEffective { // else it drifts more than it varies
				out[f.Name] = influence{pull, index, n}
			}
		}
	}
	if o := t.Run.Origin; o == nil || o.Detail == trace.Recorded {
		addRates(out, samples, figures)
	}
	return out
}

// valuesOf is what a request gives to a metric, NaN for nothing.
var valuesOf = map[figure.Metric]func(s metrics.Sample) []float64{
	figure.TTFT: func(s metrics.Sample) []float64 { return []float64{s.TTFT} },
	figure.TPOT: func(s metrics.Sample) []float64 { return []float64{s.TPOT} },
	figure.E2EL: func(s metrics.Sample) []float64 { return []float64{s.E2EL} },
	figure.ITL:  func(s metrics.Sample) []float64 { return s.ITL },
}

// A pool is the values of a metric, by request and all together.
type pool struct {
	byRequest [][]float64
	sorted    stats.Sorted
	each      float64 // values a request, in the mean
	// middle is how many independent requests tell whether values are above the median.
	// That is where dependence shows best: of requests that are served in batches, all with
	// the same pace but the first, few are beyond a high percentile, and they look as if
	// they had come there by themselves.
	middle float64
}

func newPool(samples []metrics.Sample, of func(s metrics.Sample) []float64) pool {
	p := pool{byRequest: make([][]float64, len(samples))}
	n := 0
	for i, s := range samples {
		p.byRequest[i] = slices.DeleteFunc(of(s), math.IsNaN)
		n += len(p.byRequest[i])
	}
	all := make([]float64, 0, n)
	for _, values := range p.byRequest {
		all = append(all, values...)
	}
	p.sorted, p.each = stats.SortInPlace(all), float64(len(all))/float64(len(samples))
	p.middle = stats.EffectiveSize(p.beyond(p.sorted.Median()))
	return p
}

// pull is the influence of each request on a statistic with a known value.
func (p pool) pull(statistic string, value float64) ([]float64, bool) {
	if len(p.sorted) == 0 || !(value > 0) {
		return nil, false
	}
	mean := stats.Mean(p.sorted)
	switch statistic {
	case "mean":
		return p.ratio(func(v float64) float64 { return v / mean }), near(mean, value)
	case "std":
		std := stats.Std(p.sorted)
		return p.ratio(func(v float64) float64 { return (v - mean) * (v - mean) / (2 * std * std) }), near(std, value)
	case "median":
		return p.quantile(50, value)
	}
	at, ok := figure.ParsePercentile(statistic)
	if !ok {
		return nil, false
	}
	return p.quantile(at, value)
}

// near tells whether a figure is what the samples give: a tool may count others in.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

// ratio is the pull of each request on the mean of what each value is worth.
func (p pool) ratio(worth func(v float64) float64) []float64 {
	sums, total := make([]float64, len(p.byRequest)), 0.0
	for i, values := range p.byRequest {
		for _, v := range values {
			sums[i] += worth(v)
		}
		total += sums[i]
	}
	mean := total / float64(len(p.sorted))
	for i, values := range p.byRequest {
		sums[i] = (sums[i] - mean*float64(len(values))) / p.each
	}
	return sums
}

// quantile is the pull on a percentile; false where too few independent values lie
// beyond it.
func (p pool) quantile(percent, value float64) ([]float64, bool) {
	q := p.sorted.Percentile(percent)
	if !near(q, value) || percent <= 0 || percent >= 100 {
		return nil, false
	}
	pull := p.beyond(q)
	share, least := percent/100, float64(leastBeyond)
	if percent == 50 {
		least = leastEffective
	}
	variance := stats.Mean(squares(pull)) / min(stats.EffectiveSize(pull), p.middle)
	if independent := share * (1 - share) / variance; !(independent*min(share, 1-share) >= least) {
		return nil, false
	}
	// Two standard errors of the share to either side.
	margin := 2 * math.Sqrt(variance)
	low, high := p.sorted.Percentile(100*max(0, share-margin)), p.sorted.Percentile(100*min(1, share+margin))
	if !(high > low) {
		return nil, false
	}
	for i := range pull {
		pull[i] *= (high - low) / (2 * margin) / q
	}
	return pull, true
}

// beyond is the pull of each request on the share of values above q.
func (p pool) beyond(q float64) []float64 {
	return p.ratio(func(v float64) float64 {
		if v <= q {
			return -1
		}
		return 0
	})
}

func squares(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * v
	}
	return out
}

// addRates adds the influences on rates. Those on the duration are those on the request rate,
// negated.
func addRates(out map[string]influence, samples []metrics.Sample, figures []trace.ReportedFigure) {
	i := slices.IndexFunc(figures, func(f trace.ReportedFigure) bool { return f.Name == figure.Duration })
	if i < 0 || !(figures[i].Value > 0) {
		return
	}
	var requests, input, output tally
	for _, s := range samples {
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
			out[f.Name] = influence{pull: pull, effective: stats.EffectiveSize(pull)}
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

// fingerprint tells one sequence of requests from another: their places and lengths.
func fingerprint(t *trace.Trace) uint64 {
	h := fnv.New64a()
	var b []byte
	for _, r := range metrics.InOrder(t.Records) {
		b = binary.AppendVarint(b[:0], int64(r.Index))
		b = binary.AppendVarint(b, int64(r.PromptTokens))
		b = binary.AppendVarint(b, int64(r.WantTokens))
		_, _ = h.Write(b)
	}
	return h.Sum64()
}
