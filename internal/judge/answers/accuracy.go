package answers

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/pitot-bench/pitot/internal/judge/stats"
)

// Scores are the grades of one server start, or of one run.
type Scores struct {
	After bool // of the change, else before it
	Block int
	// Of has for each question the share of its answers that are right, 0 or 1 unless
	// it was asked several times; NaN where it was not asked or its request failed.
	Of []float64
}

// An Accuracy is the difference of accuracy between two variants, as shares of 1.
type Accuracy struct {
	Before, After float64 // mean accuracy
	stats.Estimate
	Questions int // that both variants were asked
	// ToWrong and ToRight are the questions that were answered worse, and better, after it.
	ToWrong, ToRight int
	starts           float64 // the variance that they have from server starts
}

// JudgeAccuracy is the difference of accuracy, with both sources of its noise: other questions would
// have changed otherwise, and other starts of the same server answer otherwise.
//
//	V_questions = var(d) / Q                  d: mean score after less that before, of each of Q questions
//	V_starts    = s_before²/L + s_after²/L    s²: variance of the accuracy of legs of one variant and block,
//	                                          over the L legs of the variant
//
// Degrees of freedom by Satterthwaite (1946). Without two legs of a variant in any block ok is
// false: how much a start does is not known. A test over blocks, as for speed, has up to 93 %
// false alarms here, since an engine without noise repeats its chance flips in each.
func JudgeAccuracy(legs []Scores) (c Accuracy, ok bool) {
	before, after := means(legs, false), means(legs, true)
	var d []float64
	for q := range min(len(before), len(after)) {
		if math.IsNaN(before[q]) || math.IsNaN(after[q]) {
			continue
		}
		d = append(d, after[q]-before[q])
		c.Before += before[q]
		c.After += after[q]
		switch {
		case after[q] < before[q]:
			c.ToWrong++
		case after[q] > before[q]:
			c.ToRight++
		}
	}
	c.Questions = len(d)
	c.Before /= float64(len(d))
	c.After /= float64(len(d))
	varied, f := ofStarts(legs, false)
	more, g := ofStarts(legs, true)
	if len(d) < 2 || f == 0 || g == 0 {
		return c, false
	}
	c.starts = varied + more
	c.Estimate = estimate(d, c.starts, f+g)
	return c, true
}

// estimate is the mean of values of questions, with the variance of starts and its degrees of freedom.
func estimate(d []float64, starts, freedom float64) stats.Estimate {
	mean, variance := stat.MeanVariance(d, nil)
	q := float64(len(d))
	questions := variance / q
	v := questions + starts
	e := stats.Estimate{Value: mean, Error: math.Sqrt(v), DF: v * v / (questions*questions/(q-1) + starts*starts/freedom)}
	if v == 0 {
		e.DF = q - 1
	}
	return e
}

const level = 0.95

// Interval is that of the difference. So many events as -ln((1-level)/2) chance hides from a sample in half of what is
// beyond the level: a difference that no question showed can still be that share, and no interval is narrower.
func (c Accuracy) Interval(level float64) stats.Interval {
	in := c.Estimate.Interval(level)
	if reach := -math.Log((1-level)/2) / float64(c.Questions); in.High-c.Value < reach {
		in.Low, in.High = c.Value-reach, c.Value+reach
	}
	return in
}

// more is how many further questions would show in four of five experiments that a change without effect is not worse by
// margin; 0 where there are enough, or where starts differ by so much that questions do not help.
func (c Accuracy) more(level, margin float64) int {
	z := distuv.UnitNormal.Quantile((1+level)/2) + distuv.UnitNormal.Quantile(0.8)
	left := margin*margin/(z*z) - c.starts
	if left <= 0 {
		return 0
	}
	q := float64(c.Questions)
	need := (c.Error*c.Error-c.starts)*q/left - math.Log((1-level)/2)/margin
	return int(math.Ceil(max(0, need-q)))
}

// ShareOf is the accuracy of one variant, with the noise of questions and of starts; at least as wide as Wilson's interval.
func ShareOf(legs []Scores, after bool, level float64) (value float64, in stats.Interval, ok bool) {
	of := slices.DeleteFunc(means(legs, after), math.IsNaN)
	if len(of) == 0 {
		return 0, in, false
	}
	wilson := Wilson(int(math.Round(stat.Mean(of, nil)*float64(len(of)))), len(of))
	starts, freedom := ofStarts(legs, after)
	if len(of) < 2 || freedom == 0 {
		return stat.Mean(of, nil), wilson, false
	}
	in = estimate(of, starts, freedom).Interval(level)
	in.Low, in.High = max(0, min(in.Low, wilson.Low)), min(1, max(in.High, wilson.High))
	return stat.Mean(of, nil), in, true
}

// means are the mean scores of the questions over the legs of a variant, NaN for those that it was not asked.
func means(legs []Scores, after bool) (of []float64) {
	var n []float64
	for _, l := range legs {
		for q, score := range l.Of {
			if q == len(of) {
				of, n = append(of, 0), append(n, 0)
			}
			if l.After == after && !math.IsNaN(score) {
				of[q] += score
				n[q]++
			}
		}
	}
	for q := range of {
		of[q] /= n[q]
	}
	return of
}

// ofStarts is the variance that starts give to the mean over the legs of a variant, with its degrees of freedom; both 0
// where no block has two of its legs.
func ofStarts(legs []Scores, after bool) (variance, freedom float64) {
	blocks, count := map[int][]float64{}, 0.0
	for _, l := range legs {
		if accuracy := l.accuracy(); l.After == after && !math.IsNaN(accuracy) {
			blocks[l.Block] = append(blocks[l.Block], accuracy)
			count++
		}
	}
	for _, b := range slices.Sorted(maps.Keys(blocks)) {
		if n := len(blocks[b]); n > 1 {
			_, v := stat.MeanVariance(blocks[b], nil)
			variance += v * float64(n-1)
			freedom += float64(n - 1)
		}
	}
	if freedom == 0 {
		return 0, 0
	}
	return variance / freedom / count, freedom
}

// accuracy is the mean score of a leg.
func (l Scores) accuracy() float64 {
	var sum, n float64
	for _, s := range l.Of {
		if !math.IsNaN(s) {
			sum += s
			n++
		}
	}
	return sum / n // NaN without a grade
}

// McNemar is the exact p-value, two-sided, of that many questions answered worse and better by two runs (McNemar, 1947):
// it is about these server starts alone.
func McNemar(worse, better int) float64 {
	n := worse + better
	if n == 0 {
		return 1
	}
	return min(1, 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(min(worse, better))))
}

// Wilson is the interval of Wilson (1927) at 95 % for right answers of n.
func Wilson(right, n int) stats.Interval {
	const z = 1.959964
	p, m := float64(right)/float64(n), float64(n)
	middle, reach := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	all := 1 + z*z/m
	return stats.Interval{Low: max(0, (middle-reach)/all), High: min(1, (middle+reach)/all), Level: level}
}

// Questions is how many show in four of five experiments that a change without effect is not
// worse by margin, where a share flips of the answers changes; both as shares of 1.
func Questions(flips, margin float64) int {
	const z = 1.959964 + 0.841621
	return int(math.Ceil(z * z * flips / (margin * margin)))
}
