// Package traffic has Pitot's own workloads: realistic traffic of a service's users,
// rather than the usual traffic of a benchmark.
//
//   - Lengths are drawn from distributions, or from a file of recorded lengths.
//   - A trace is a service's log of its requests: times, lengths of prompts and answers,
//     and in some formats the common prefixes of prompts. It has no texts, so texts of
//     exactly these lengths are made up: equal where the trace says so, and different
//     everywhere else.
//   - The next turn of a conversation waits for the answer before it, as a user does.
//     Conversations are drawn (chat) or read from recordings (replayedTalks).
//   - A mix deals arrivals to several workloads by weight, and tenants arrive each at
//     their own rate; both merge workloads into one.
//
// Everything is decided by a seed before the run. The draws for a row of a trace or for a
// conversation depend only on the seed and its place in its file, so a slice of a
// workload has the same requests as the full workload at that place.
package traffic

import (
	"math/rand/v2"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// dice is the generator of draw n for one purpose: the same three give the same draws,
// and others are independent of them.
func dice(seed uint64, purpose string, n uint64) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(arrival.Scramble(seed^h), arrival.Scramble(n)))
}
