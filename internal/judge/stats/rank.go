package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactRanks is the number of values up to which the distribution of a rank sum is
// enumerated.
const exactRanks = 100

// MannWhitney tests whether values of b tend to be larger, or smaller, than those
// of a. The statistic is U: the number of all pairs with the larger value in b,
// ties counting half. P is the share of all arrangements with a rank sum as far
// from its expectation, counted exactly, including ties, up to 100 values; beyond,
// it is normal with the corrections for ties and continuity.
func MannWhitney(a, b []float64) Test {
	na, nb := len(a), len(b)
	if na == 0 || nb == 0 || !finite(a, b) {
		return noTest
	}
	ranks := doubledRanks(slices.Concat(b, a))
	seen := sum(ranks[:nb])
	t := Test{Statistic: float64(seen-nb*(nb+1)) / 2}
	n := na + nb
	if n > exactRanks {
		squares := 0.0
		for _, r := range ranks {
			squares += math.Pow(float64(r-(n+1)), 2)
		}
		variance := squares * float64(na) / float64(n) * float64(nb) / float64(n-1)
		t.P = normalP(float64(seen-nb*(n+1)), variance)
		return t
	}
	fewer := nb
	if na < nb {
		fewer, seen = na, n*(n+1)-seen
	}
	t.P = shareBeyond(subsetSums(ranks, fewer), seen, 2*fewer*(n+1))
	t.Exact, t.Arrangements = true, whole(choices(n, nb))
	return t
}

// WilcoxonSignedRank tests whether the differences of pairs tend to be positive, or
// negative. The statistic is the sum of the ranks of the positive ones; zeros are
// left out. P is the share of all signs with a sum as far from its expectation,
// counted exactly, including ties, up to 100 pairs; beyond, it is normal with the
// corrections for ties and continuity.
func WilcoxonSignedRank(d []float64) Test {
	if len(d) == 0 || !finite(d) {
		return noTest
	}
	var sizes []float64
	var positive []bool
	for _, v := range d {
		if v != 0 {
			sizes, positive = append(sizes, math.Abs(v)), append(positive, v > 0)
		}
	}
	ranks := doubledRanks(sizes)
	seen, squares := 0, 0.0
	for i, r := range ranks {
		squares += float64(r) * float64(r)
		if positive[i] {
			seen += r
		}
	}
	t, total := Test{Statistic: float64(seen) / 2}, sum(ranks)
	if len(ranks) > exactRanks {
		t.P = normalP(float64(seen)-float64(total)/2, squares/4)
		return t
	}
	t.P, t.Exact, t.Arrangements = shareBeyond(signSums(ranks), seen, total), true, whole(math.Ldexp(1, len(ranks)))
	return t
}

// HodgesLehmann is the median of all differences between a value of b and one of a:
// the shift of b, if its distribution is that of a, shifted. Its interval contains
// the shifts that MannWhitney does not reject; the level is the one reached, and
// the interval NaN if there are too few values for it, as for 3 and 3 at 0.95.
func HodgesLehmann(a, b []float64, level float64) Estimate {
	if len(a) == 0 || len(b) == 0 || !finite(a, b) || !proper(level) {
		return noEstimate
	}
	differences := make([]float64, 0, len(a)*len(b))
	for _, v := range b {
		for _, u := range a {
			differences = append(differences, v-u)
		}
	}
	n := len(a) + len(b)
	if n > exactRanks {
		m := float64(len(differences))
		return shiftEstimate(differences, normalCut(m/2, m*float64(n+1)/12, level), level)
	}
	fewer := min(len(a), len(b))
	k, reached := cut(subsetSums(upTo(n), fewer)[fewer*(fewer+1)/2:], level)
	return shiftEstimate(differences, k, reached)
}

// HodgesLehmannPaired is the median of the means of all two differences, and of
// each itself: the center of their distribution, if it is symmetric. Its interval
// contains the values that WilcoxonSignedRank does not reject, with the level
// reached; NaN if there are too few, as for 5 at 0.95.
func HodgesLehmannPaired(d []float64, level float64) Estimate {
	n := len(d)
	if n == 0 || !finite(d) || !proper(level) {
		return noEstimate
	}
	means := make([]float64, 0, n*(n+1)/2)
	for i, v := range d {
		for _, u := range d[i:] {
			means = append(means, v/2+u/2)
		}
	}
	if n > exactRanks {
		m := float64(len(means))
		return shiftEstimate(means, normalCut(m/2, m*float64(2*n+1)/12, level), level)
	}
	k, reached := cut(signSums(upTo(n)), level)
	return shiftEstimate(means, k, reached)
}

// shiftEstimate is the median of x with the interval between its k-th smallest and
// k-th largest; no interval if k is 0.
func shiftEstimate(x []float64, k int, reached float64) Estimate {
	sortInPlace(x)
	e := Estimate{Sorted(x).Median(), math.NaN(), math.NaN(), noInterval}
	if k > 0 {
		e.Interval = Interval{x[k-1], x[len(x)-k], reached}
	}
	return e
}

// cut is the largest k for which the statistic with these counts is below k with a
// probability of at most (1-level)/2, and the resulting level.
func cut(counts []float64, level float64) (k int, reached float64) {
	total := Sum(counts)
	below := 0.0
	for ; 2*(below+counts[k]) <= (1-level+1e-12)*total; k++ {
		below += counts[k]
	}
	return k, 1 - 2*below/total
}

// normalCut is cut for a normal statistic.
func normalCut(mean, variance, level float64) int {
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	return max(0, int(mean-z*math.Sqrt(variance)+0.5))
}

// shareBeyond is the share of the counts, indexed by sum, with a sum as far from
// the middle as the observed one; twice the middle is an integer.
func shareBeyond(counts []float64, seen, twiceMiddle int) float64 {
	off := max(2*seen-twiceMiddle, twiceMiddle-2*seen)
	beyond := 0.0
	for s, n := range counts {
		if max(2*s-twiceMiddle, twiceMiddle-2*s) >= off {
			beyond += n
		}
	}
	return min(1, beyond/Sum(counts))
}

// normalP is the two-sided P of a deviation of doubled ranks, which have steps of
// 2.
func normalP(deviation, variance float64) float64 {
	if variance == 0 {
		return 1
	}
	z := max(0, math.Abs(deviation)-1) / math.Sqrt(variance)
	return min(1, 2*distuv.UnitNormal.Survival(z))
}

// subsetSums counts, by sum, the subsets of k ranks.
func subsetSums(ranks []int, k int) []float64 {
	total := sum(ranks)
	counts := make([][]float64, k+1)
	for i := range counts {
		counts[i] = make([]float64, total+1)
	}
	counts[0][0] = 1
	reach := 0
	for n, r := range ranks {
		reach += r
		for i := min(k, n+1); i > 0; i-- {
			for s := r; s <= reach; s++ {
				counts[i][s] += counts[i-1][s-r]
			}
		}
	}
	return counts[k]
}

// signSums counts, by sum, all subsets of the ranks.
func signSums(ranks []int) []float64 {
	counts := make([]float64, sum(ranks)+1)
	counts[0] = 1
	reach := 0
	for _, r := range ranks {
		reach += r
		for s := reach; s >= r; s-- {
			counts[s] += counts[s-r]
		}
	}
	return counts
}

func sum(x []int) int {
	s := 0
	for _, v := range x {
		s += v
	}
	return s
}

// doubledRanks are twice the ranks of x, from 1; ties share the mean of their
// ranks, which is an integer when doubled.
func doubledRanks(x []float64) []int {
	s := Sort(x)
	ranks := make([]int, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(s, v)
		last := first
		for last+1 < len(s) && s[last+1] == v {
			last++
		}
		ranks[i] = first + last + 2
	}
	return ranks
}

// upTo are the ranks of n distinct values.
func upTo(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return ranks
}

// whole is a count as an int, saturated.
func whole(n float64) int {
	if n >= math.MaxInt {
		return math.MaxInt
	}
	return int(n)
}
