package verify

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// shareOf is the share of one processor that a client used while requests were open. Work before,
// such as making prompts, and after does not count.
func shareOf(samples []proc.Sample, requests []*truth.Request) float64 {
	from, to := stretch(requests)
	if len(samples) < 2 || to <= from {
		return 0
	}
	return (usedBy(samples, to) - usedBy(samples, from)) / seconds(from, to)
}

// stretch is from the first request to the last write.
func stretch(requests []*truth.Request) (from, to int64) {
	for i, r := range requests {
		if i == 0 {
			from, to = r.Received, r.Received
		}
		from = min(from, r.Received)
		if n := len(r.Writes); n > 0 {
			to = max(to, r.Writes[n-1].After)
		}
	}
	return from, to
}

// usedBy is the CPU time that was used by an instant, in seconds: between two samples
// in proportion.
func usedBy(samples []proc.Sample, at int64) float64 {
	i, _ := slices.BinarySearchFunc(samples, at, func(s proc.Sample, at int64) int { return cmp.Compare(s.At, at) })
	switch i {
	case 0:
		return samples[0].CPU.Seconds()
	case len(samples):
		return samples[i-1].CPU.Seconds()
	}
	a, b := samples[i-1], samples[i]
	return a.CPU.Seconds() + (b.CPU-a.CPU).Seconds()*float64(at-a.At)/float64(b.At-a.At)
}
