package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/stats"
)

// within rests the change on the chance within two single runs, if both have the
// requests for it. Where both sent the same requests, the differences of what each
// pulls take out what the requests themselves are.
func (f *finding) within(key rowKey, a, b *Run, decides bool) {
	wa, okA := a.waves[key]
	wb, okB := b.waves[key]
	if !okA || !okB || f.plain {
		return
	}
	se, df := apart(wa, wb)
	words := "batch means within one run each"
	if d, ok := together(a, b, wa, wb); ok {
		e := stats.BatchMeans(d, 0, DefaultLevel)
		se, df = e.Error, e.DF
		words += ", request by request"
	}
	if !(se > 0) {
		return
	}
	f.basis, f.decides, f.effective = Within, decides, min(wa.effective, wb.effective)
	if f.interval = words; f.effective > 0 {
		f.interval = fmt.Sprintf("%s, worth %.0f independent requests", words, f.effective)
	}
	f.test = f.interval
	f.estimate = func(level float64) (stats.Estimate, stats.Test) {
		return stats.StudentKnown(f.effect, se/math.Sqrt2, df, 1, 1, level)
	}
}

// apart is the error of the difference of two waves that have nothing to do with each
// other, with the degrees of freedom of Satterthwaite (1946).
func apart(a, b wave) (se, df float64) {
	ea, eb := stats.BatchMeans(a.pull, 0, DefaultLevel), stats.BatchMeans(b.pull, 0, DefaultLevel)
	va, vb := ea.Error*ea.Error, eb.Error*eb.Error
	return math.Sqrt(va + vb), (va + vb) * (va + vb) / (va*va/ea.DF + vb*vb/eb.DF)
}

// together are the differences of two waves of the same requests, in the order in
// which a sent them; false if they are not the same.
func together(a, b *Run, wa, wb wave) ([]float64, bool) {
	if a.requests != b.requests || len(wa.pull) != len(wb.pull) {
		return nil, false
	}
	d := slices.Clone(wb.pull)
	if wa.index != nil {
		at := map[int]int{}
		for i, index := range wb.index {
			at[index] = i
		}
		for i, index := range wa.index {
			j, ok := at[index]
			if !ok {
				return nil, false
			}
			d[i] = wb.pull[j]
		}
	}
	for i := range d {
		d[i] -= wa.pull[i]
	}
	return d, true
}

// interval is that of a figure of one run by the chance within it; nil where nothing
// is known of that.
func (w wave) interval(value, level float64) *Interval {
	e := stats.BatchMeans(w.pull, 0, level)
	if !(e.Error > 0) {
		return nil
	}
	words := "batch means within the run"
	if w.effective > 0 {
		words = fmt.Sprintf("%s, worth %.0f independent requests", words, w.effective)
	}
	reach := (e.Interval.High - e.Interval.Low) / 2
	return &Interval{Low: value * math.Exp(-reach), High: value * math.Exp(reach), Level: level, Method: words}
}
