package answers

import (
	"math"

	"gonum.org/v1/gonum/stat"

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
	// Few: so few answers changed that their number alone limits what can be known.
	Few bool
}

// few is the number of events of which chance shows none in 2.5 % of samples, -ln 0.025: a
// difference that no question showed can still be few/Questions.
const few = 3.689

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
	d := differences(legs, &c)
	starts, freedom := ofStarts(legs)
	if len(d) < 2 || freedom == 0 {
		return c, false
	}
	mean, variance := stat.MeanVariance(d, nil)
	q := float64(len(d))
	questions := variance / q
	v := questions + starts
	c.Estimate = stats.Estimate{Value: mean, Error: math.Sqrt(v), DF: v * v / (questions*questions/(q-1) + starts*starts/freedom)}
	if v == 0 {
		c.DF = q - 1
	}
	c.Few = few/q > c.Estimate.Interval(level).High-mean
	return c, true
}

const level = 0.95

// Interval is that of the difference at 95 %.
func (c Accuracy) Interval() stats.Interval {
	in := c.Estimate.Interval(level)
	if c.Few {
		reach := few / float64(c.Questions)
		in.Low, in.High = c.Value-reach, c.Value+reach
	}
	return in
}

// differences are those of the questions that both variants were asked; c gets their counts.
func differences(legs []Scores, c *Accuracy) (d []float64) {
	most := 0
	for _, l := range legs {
		most = max(most, len(l.Of))
	}
	for q := range most {
		var sum, n [2]float64
		for _, l := range legs {
			if q < len(l.Of) && !math.IsNaN(l.Of[q]) {
				side := sideOf(l)
				sum[side] += l.Of[q]
				n[side]++
			}
		}
		if n[0] == 0 || n[1] == 0 {
			continue
		}
		before, after := sum[0]/n[0], sum[1]/n[1]
		c.Before += before
		c.After += after
		switch {
		case after < before:
			c.ToWrong++
		case after > before:
			c.ToRight++
		}
		d = append(d, after-before)
	}
	c.Questions = len(d)
	c.Before /= float64(len(d))
	c.After /= float64(len(d))
	return d
}

func sideOf(l Scores) int {
	if l.After {
		return 1
	}
	return 0
}

// ofStarts is the variance that starts give to the difference of two means over legs, with its
// degrees of freedom; both 0 where no variant has two legs in a block.
func ofStarts(legs []Scores) (variance, freedom float64) {
	type cell struct{ side, block int }
	cells, count := map[cell][]float64{}, [2]float64{}
	for _, l := range legs {
		if accuracy := l.accuracy(); !math.IsNaN(accuracy) {
			at := cell{sideOf(l), l.Block}
			cells[at] = append(cells[at], accuracy)
			count[at.side]++
		}
	}
	var squares, df [2]float64
	for at, accuracies := range cells {
		if n := len(accuracies); n > 1 {
			_, v := stat.MeanVariance(accuracies, nil)
			squares[at.side] += v * float64(n-1)
			df[at.side] += float64(n - 1)
		}
	}
	if df[0] == 0 || df[1] == 0 {
		return 0, 0
	}
	for side := range squares {
		variance += squares[side] / df[side] / count[side]
	}
	return variance, df[0] + df[1]
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
