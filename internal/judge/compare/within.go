package compare

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// within rests the change on the chance within two single runs, if both have the
// requests for it. Where both sent the same requests, the differences of what each
// pulls take out what the requests themselves are.
//
// It takes for granted that the runs are in a steady state. Where everything is due at
// once, each request waits for those before it, so that what delays one delays all that
// follow: one run is then worth a few requests, and nothing is said of it (see
// leastEffective). A tail that few independent requests make is passed over too, but
// near that limit (leastBeyond) intervals of it hold less often than they say.
func (f *finding) within(key rowKey, a, b *Run, decides bool) {
	wa, okA := a.influences[key]
	wb, okB := b.influences[key]
	if !okA || !okB || f.plain {
		return
	}
	var se, df float64
	paired := false
	d, ok := together(a, b, wa, wb)
	effective := stats.EffectiveSize(d)
	if ok && effective >= leastEffective {
		e := batchMeans(d, effective, DefaultLevel)
		se, df = e.Error, e.DF
		paired = true
	} else {
		se, df = apart(wa, wb)
	}
	if !(se > 0) {
		return
	}
	f.basis, f.decides = Within, decides
	if wa.index != nil {
		f.effective = min(wa.effective, wb.effective)
	}
	f.interval = plan.Say("method.batches", "paired", paired, "worth", math.Round(f.effective))
	f.test = f.interval
	f.estimate = func(level float64) (stats.Estimate, stats.Test) {
		return stats.StudentKnown(f.effect, se/math.Sqrt2, df, 1, 1, level)
	}
}

// together are the differences of two influences of the same requests, in the order in
// which a sent them; false if they are not the same, or the influences are of windows: what
// one window lacks the next one has, so that the differences of windows tell next to
// nothing of how far apart the ends of two runs can be.
func together(a, b *Run, wa, wb influence) ([]float64, bool) {
	if a.requests != b.requests || wa.index == nil || len(wa.pull) != len(wb.pull) {
		return nil, false
	}
	at := map[int]int{}
	for i, index := range wb.index {
		at[index] = i
	}
	d := make([]float64, len(wa.pull))
	for i, index := range wa.index {
		j, ok := at[index]
		if !ok {
			return nil, false
		}
		d[i] = wb.pull[j] - wa.pull[i]
	}
	return d, true
}

// apart is the error of the difference of two influences that have nothing to do with each
// other, with the degrees of freedom of Satterthwaite (1946).
func apart(a, b influence) (se, df float64) {
	ea, eb := batchMeans(a.pull, a.effective, DefaultLevel), batchMeans(b.pull, b.effective, DefaultLevel)
	va, vb := ea.Error*ea.Error, eb.Error*eb.Error
	return math.Sqrt(va + vb), (va + vb) * (va + vb) / (va*va/ea.DF + vb*vb/eb.DF)
}

// interval is that of a figure of one run by the chance within it; nil where nothing
// is known of that.
func (w influence) interval(value, level float64) *Interval {
	e := batchMeans(w.pull, w.effective, level)
	if !(e.Error > 0) {
		return nil
	}
	worth := 0.0
	if w.index != nil {
		worth = math.Round(w.effective)
	}
	reach := (e.Interval.High - e.Interval.Low) / 2
	return &Interval{Low: value * math.Exp(-reach), High: value * math.Exp(reach), Level: level, Method: plan.Say("method.batches-one", "worth", worth)}
}

// batchMeans is the mean of a series worth that many independent values. The variance
// of means of k independent values each falls short of the series' by up to 1/2k where
// its memory is exponential (2φ/(1+φ)² of 1/k for an autoregression); that is made up
// for.
func batchMeans(x []float64, effective, level float64) stats.Estimate {
	batches := max(leastBatches, min(30, int(effective/batchLength)))
	e := stats.BatchMeans(x, batches, level)
	k := max(1, effective/float64(batches))
	widen := 1 / math.Sqrt(1-1/(2*k))
	e.Error *= widen
	e.Interval.Low, e.Interval.High = e.Value+widen*(e.Interval.Low-e.Value), e.Value+widen*(e.Interval.High-e.Value)
	return e
}

// Batches are so many independent values long that what neighbours of two batches have
// in common hardly counts, and there are at least so many of them.
const (
	batchLength  = 20
	leastBatches = 5
)
