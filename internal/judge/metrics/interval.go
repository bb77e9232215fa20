package metrics

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// An Interval is where a figure of the steady state lies if the load goes on for ever, in seconds: at the 95 %
// level, by the means of batches of neighbouring requests.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Limits of an interval. A turnover is the time in which as many requests are answered as are in flight: a
// shorter run does not reveal what the server remembers.
const (
	intervalLevel  = 0.95
	leastTurnovers = 20
	leastWorth     = 10 // independent values in all
	leastBeyond    = 20 // and requests beyond a percentile
)

// intervals adds those of the latencies of a steady state that is long enough, or says why there are none.
func (x *observed) intervals(s *Steady, w *window) {
	if turnovers := float64(s.Requests) / s.Level; turnovers < leastTurnovers {
		s.NoIntervals = plan.Msg("interval.too-short", "turnovers", turnovers, "needed", leastTurnovers)
		return
	}
	stream := x.run.Plan.Stream
	levels := x.heads.values(func(h *head) (float64, bool) { return float64(x.flight().at(h.released)), w.has(h) })
	x.flown = nil
	memory := stats.EffectiveSize(levels)
	latency := func(d *Distribution, of func(ttft, tpot, e2el float64) float64) {
		d.addIntervals(x.heads.values(func(h *head) (float64, bool) {
			v := of(h.latencies(stream))
			return v, w.has(h) && !math.IsNaN(v)
		}), memory)
	}
	latency(&s.Service.TTFT, func(ttft, _, _ float64) float64 { return ttft })
	latency(&s.Service.TPOT, func(_, tpot, _ float64) float64 { return tpot })
	latency(&s.Service.E2EL, func(_, _, e2el float64) float64 { return e2el })
}

// addIntervals adds intervals of the mean and of the percentiles, where the values, in the order of sending, can
// carry them. A series is worth no more than the server's memory is.
func (d *Distribution) addIntervals(x []float64, memory float64) {
	if len(x) != d.N || d.N == 0 || d.Invalid || d.Void {
		return
	}
	reach := func(pull []float64) float64 {
		worth := min(stats.EffectiveSize(pull), memory)
		if !(worth >= leastWorth) {
			return math.NaN()
		}
		i := stats.SeriesMean(pull, worth).Interval(intervalLevel)
		return (i.High - i.Low) / 2
	}
	pull := make([]float64, len(x))
	for i, v := range x {
		pull[i] = v - d.Mean
	}
	if h := reach(pull); h > 0 {
		d.MeanInterval = &Interval{max(0, d.Mean-h), d.Mean + h}
	}
	reached := make([]float64, len(d.Percentiles))
	for k, p := range d.Percentiles {
		share := p.P / 100
		if (1-share)*float64(len(x)) < leastBeyond {
			continue
		}
		for i, v := range x {
			pull[i] = -share
			if v <= p.Value {
				pull[i]++
			}
		}
		reached[k] = reach(pull)
	}
	sorted := stats.SortInPlace(x)
	for k, h := range reached {
		p := &d.Percentiles[k]
		if share := p.P / 100; h > 0 && share+h < 1 && share-h > 0 { // inverted through the sample (Woodruff 1952)
			p.Interval = &Interval{sorted.Percentile(100 * (share - h)), sorted.Percentile(100 * (share + h))}
		}
	}
}
