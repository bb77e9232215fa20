package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// estimateFromRequests rests the change on the chance within two single runs, if both have the
// requests for it. Where both sent the same requests, differences of influences by request
// remove the variance between requests.
//
// It takes for granted that the runs are in a steady state. Where everything is due at
// once, each request waits for those before it, so that a delay of one delays all that
// follow: one run is then worth a few requests, and nothing is said of it (see
// leastEffective). A tail that few independent requests make is passed over too, but
// near that limit (leastBeyond) intervals of it hold less often than they say.
func (f *finding) estimateFromRequests(a, b sample, decides bool) {
	wa, wb := a.figures[0].influence, b.figures[0].influence
	if wa.effective == 0 || wb.effective == 0 || f.plain {
		return
	}
	d, paired := []float64(nil), false
	if a.runs[0].requests == b.runs[0].requests {
		d, paired = jointInfluence(wa, wb)
	}
	effective := stats.EffectiveSize(d)
	paired = paired && effective >= leastEffective
	var e stats.Estimate
	if paired {
		e = stats.SeriesMean(d, effective)
	} else {
		e = quantileDifference(wa, wb)
	}
	if !(e.Error > 0) {
		return
	}
	e.Value = f.effect
	f.basis, f.decides, f.estimate = Within, decides, e
	if wa.index != nil {
		f.effective = min(wa.effective, wb.effective)
	}
	f.interval = plan.Msg("method.batches", "paired", paired, "worth", math.Round(f.effective))
}

// jointInfluence are the differences of two influences of the same requests, in the order in which
// the first run sent them; false if the requests differ, or the influences are of windows: one
// window makes up for another, so that their differences say next to nothing about the difference
// between two runs.
func jointInfluence(wa, wb influence) (d []float64, ok bool) {
	if wa.index == nil || wa.pull.n != wb.pull.n {
		return nil, false
	}
	a, okA := wa.pull.values()
	b, okB := wb.pull.values()
	if !okA || !okB {
		return nil, false
	}
	places := make([]int32, 1+max(slices.Max(wa.index), slices.Max(wb.index))) // in b, from 1
	for i, index := range wb.index {
		places[index] = int32(i) + 1
	}
	for i, index := range wa.index {
		at := places[index]
		if at == 0 {
			return nil, false
		}
		a[i] = b[at-1] - a[i]
	}
	return a, true
}

// quantileDifference is the error of the difference of two influences that have nothing to do with each
// other, with the degrees of freedom of Satterthwaite (1946).
func quantileDifference(a, b influence) stats.Estimate {
	ea, eb := a.mean, b.mean
	va, vb := ea.Error*ea.Error, eb.Error*eb.Error
	return stats.Estimate{Error: math.Sqrt(va + vb), DF: (va + vb) * (va + vb) / (va*va/ea.DF + vb*vb/eb.DF)}
}

// interval is that of a figure of one run by the chance within it; nil where nothing
// is known of that.
func (w influence) interval(value, level float64) *Interval {
	e := w.mean
	if w.effective == 0 || !(e.Error > 0) {
		return nil
	}
	worth := 0.0
	if w.index != nil {
		worth = math.Round(w.effective)
	}
	e.Value = 0
	i := e.Interval(level)
	return &Interval{Low: value * math.Exp(i.Low), High: value * math.Exp(i.High), Level: level, Method: plan.Msg("method.batches-one", "worth", worth)}
}
