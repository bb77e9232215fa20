package trace

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A quantile equals that of the delays themselves, to an eighth of its value.
func TestLagQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delays := rapid.SliceOfN(rapid.Int64Range(0, 1<<rapid.IntRange(1, 35).Draw(t, "size")), 1, 200).Draw(t, "delays")
		var l, half Delays
		for i, d := range delays {
			if i%2 == 0 {
				l.Add(d)
			} else {
				half.Add(d)
			}
		}
		l.Merge(&half)
		slices.Sort(delays)
		for _, q := range []float64{0.01, 0.5, 0.99, 1} {
			want := delays[min(len(delays)-1, max(0, int(q*float64(len(delays))+0.9999999)-1))]
			got := int64(l.quantile(q))
			if got < min(want, 1<<delayUnit) && got < want || float64(got) > float64(want)*9/8+1<<delayUnit {
				t.Fatalf("quantile %v of %v is %d, want %d", q, delays, got, want)
			}
		}
		if l.total() != len(delays) || l.max != delays[len(delays)-1] {
			t.Fatalf("%d delays up to %d", l.total(), l.max)
		}
	})
}

func TestLagBuckets(t *testing.T) {
	for b := range delayBuckets - 1 {
		if up := delayUpper(b); delayBucket(up-1) != b || delayBucket(up) != b+1 {
			t.Fatalf("bucket %d ends at %d, but %d is in %d and %d in %d", b, up, up-1, delayBucket(up-1), up, delayBucket(up))
		}
	}
	if delayBucket(int64(time.Hour)) != delayBuckets-1 || (&Delays{}).quantile(0.5) != 0 {
		t.Error("an hour is not in the last bucket, or nothing has a median")
	}
}
