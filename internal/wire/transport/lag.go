package transport

import (
	"math"
	"math/bits"
	"time"
)

// lagCounts is a histogram of delays: eight buckets per doubling, from a
// microsecond up. Every connection has its own, so counting needs no sharing.
type lagCounts struct {
	count [lagBuckets]uint32
	max   int64
}

const (
	lagUnit    = 10 // log2 of the smallest delay distinguished, in ns
	lagSub     = 3  // log2 of the buckets per doubling
	lagBuckets = 1 + (36-lagUnit)<<lagSub
)

func (l *lagCounts) add(ns int64) {
	ns = max(ns, 0)
	l.count[lagBucket(ns)]++
	l.max = max(l.max, ns)
}

// lagBucket returns a delay's bucket; the first one takes everything shorter than a
// microsecond, the last one everything longer than a minute.
func lagBucket(ns int64) int {
	units := uint64(max(ns>>(lagUnit-lagSub), 1))
	octave := bits.Len64(units) - 1 - lagSub
	if octave < 0 {
		return 0
	}
	sub := int(units>>octave) & (1<<lagSub - 1)
	return min(1+(octave<<lagSub|sub), lagBuckets-1)
}

// lagUpper is the end of a bucket, in ns.
func lagUpper(bucket int) int64 {
	if bucket == 0 {
		return 1 << lagUnit
	}
	bucket--
	octave, sub := bucket>>lagSub, bucket&(1<<lagSub-1)
	return int64(1<<lagSub+sub+1) << (octave + lagUnit - lagSub)
}

func (l *lagCounts) merge(other *lagCounts) {
	if other.max == 0 && other.count[0] == 0 {
		return
	}
	for i, n := range other.count {
		l.count[i] += n
	}
	l.max = max(l.max, other.max)
}

// total is the number of delays.
func (l *lagCounts) total() (n int) {
	for _, c := range l.count {
		n += int(c)
	}
	return n
}

// quantile returns the delay that a share q of all did not exceed, to an eighth of
// its value.
func (l *lagCounts) quantile(q float64) time.Duration {
	rank := int(math.Ceil(q * float64(l.total())))
	for i, n := range l.count {
		if rank -= int(n); rank <= 0 && n > 0 {
			return time.Duration(min(lagUpper(i), l.max))
		}
	}
	return 0
}
