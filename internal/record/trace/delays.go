package trace

import (
	"math"
	"math/bits"
	"time"
)

// Delays is a histogram of delays: eight buckets per doubling, from a
// microsecond up. It is not safe for concurrent use.
type Delays struct {
	count [delayBuckets]uint32
	max   int64
}

const (
	delayUnit    = 10 // log2 of the smallest delay distinguished, in ns
	delaySub     = 3  // log2 of the buckets per doubling
	delayBuckets = 1 + (36-delayUnit)<<delaySub
)

// Lag sums them up, to an eighth of each figure; the longest is exact.
func (l *Delays) Lag() Lag {
	return Lag{Reads: l.total(), P50: l.quantile(0.5), P99: l.quantile(0.99), Max: time.Duration(l.max)}
}

// Add counts a delay; one below 0 is 0.
func (l *Delays) Add(ns int64) {
	ns = max(ns, 0)
	l.count[delayBucket(ns)]++
	l.max = max(l.max, ns)
}

// delayBucket returns a delay's bucket; the first one takes everything shorter than a
// microsecond, the last one everything longer than a minute.
func delayBucket(ns int64) int {
	units := uint64(max(ns>>(delayUnit-delaySub), 1))
	octave := bits.Len64(units) - 1 - delaySub
	if octave < 0 {
		return 0
	}
	sub := int(units>>octave) & (1<<delaySub - 1)
	return min(1+(octave<<delaySub|sub), delayBuckets-1)
}

// delayUpper is the end of a bucket, in ns.
func delayUpper(bucket int) int64 {
	if bucket == 0 {
		return 1 << delayUnit
	}
	bucket--
	octave, sub := bucket>>delaySub, bucket&(1<<delaySub-1)
	return int64(1<<delaySub+sub+1) << (octave + delayUnit - delaySub)
}

// Merge adds those of another.
func (l *Delays) Merge(other *Delays) {
	if other.max == 0 && other.count[0] == 0 {
		return
	}
	for i, n := range other.count {
		l.count[i] += n
	}
	l.max = max(l.max, other.max)
}

// total is the number of delays.
func (l *Delays) total() (n int) {
	for _, c := range l.count {
		n += int(c)
	}
	return n
}

// quantile returns the delay that a share q of all did not exceed, to an eighth of
// its value.
func (l *Delays) quantile(q float64) time.Duration {
	rank := int(math.Ceil(q * float64(l.total())))
	for i, n := range l.count {
		if rank -= int(n); rank <= 0 && n > 0 {
			return time.Duration(min(delayUpper(i), l.max))
		}
	}
	return 0
}
