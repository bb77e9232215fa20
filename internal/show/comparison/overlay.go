package comparison

import (
	"math"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostCurves is how many lines of an overlay can be told apart. Of more runs, each variant is one
// line.
const mostCurves = 24

// Overlays are the distributions of latencies of all variants of a workload, of runs whose
// latencies are known, by id.
func Overlays(load compare.Workload, latencies map[string]plot.Latencies, l *words.Language) []view.Overlay {
	runs := 0
	for _, v := range load.Variants {
		runs += len(v.Runs)
	}
	apart := load.Layout == nil && runs <= mostCurves
	out := []view.Overlay{}
	for _, kind := range []struct {
		name string
		of   func(plot.Latencies) plot.Quantiles
	}{
		{"ttft", func(l plot.Latencies) plot.Quantiles { return l.TTFT }},
		{"itl", func(l plot.Latencies) plot.Quantiles { return l.ITL }},
		{"tpot", func(l plot.Latencies) plot.Quantiles { return l.TPOT }},
		{"e2el", func(l plot.Latencies) plot.Quantiles { return l.E2EL }},
	} {
		o := view.Overlay{Name: kind.name, Title: l.Word(plan.Code("latency." + kind.name))}
		for i, v := range load.Variants {
			var own []plot.Latencies
			for _, r := range v.Runs {
				known, ok := latencies[r.ID]
				if !ok {
					continue
				}
				if own = append(own, known); apart {
					o.Curves = addCurve(o.Curves, i, r.ID, kind.of(known))
				}
			}
			if !apart {
				o.Curves = addCurve(o.Curves, i, "", kind.of(plot.MeanLatencies(own)))
			}
		}
		if len(o.Curves) > 0 {
			o.Share = quantileShares()
			out = append(out, o)
		}
	}
	return out
}

// addCurve adds that of a sample, unless it is empty.
func addCurve(all []view.Curve, variant int, run string, q plot.Quantiles) []view.Curve {
	if len(q) == 0 {
		return all
	}
	c := view.Curve{Variant: variant, Run: run, Value: make([]float64, len(q))}
	for i, v := range q {
		c.Value[i] = fourDigits(v)
	}
	return append(all, c)
}

// quantileShares are where quantiles are taken, from 0 to 1.
func quantileShares() []float64 {
	p := plot.QuantilePercents()
	for i := range p {
		p[i] = math.Round(p[i]*100) / 1e4
	}
	return p
}

// fourDigits is a number with the four digits that a plot can show.
func fourDigits(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return short
}
