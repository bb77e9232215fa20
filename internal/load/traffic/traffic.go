// Package traffic is Pitot's own workloads: what users of a service do, rather than
// what a benchmark is used to send.
//
//   - Lengths are drawn from distributions, or from a file of what was seen.
//   - A Trace is what a service wrote down of its requests: when, how long the prompt,
//     how long the answer, and in some which beginnings of prompts were the same. It
//     has no texts, so texts of exactly these lengths are made up: equal where the
//     trace says so, and different everywhere else.
//   - A conversation's next turn waits for the answer before it, as its user does.
//     Conversations are drawn (Chat) or read from recordings (Talks).
//   - A mix deals arrivals to several workloads by weight, and tenants arrive each at
//     a rate of their own; both put workloads together into one.
//
// Everything is decided by a seed before the run. What is drawn for a row of a trace or
// for a conversation depends on the seed and its place in its file alone, so that a
// slice of a workload sends what the whole of it would have sent there.
package traffic

import "math/rand/v2"

// dice is the generator of draw n for one purpose: the same three give the same draws,
// and others have nothing to do with them.
func dice(seed uint64, purpose string, n uint64) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(scatter(seed^h), scatter(n)))
}

// scatter spreads neighbouring numbers over all of them: the last step of SplitMix64.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
