package digest

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// failures counts in which ways requests failed. A server can answer with more statuses than a
// number in a column tells apart: the last one stands for all further ways.
type failures struct {
	known []metrics.Class
	index map[way]uint8
	n     int
}

type way struct {
	class  trace.Class
	status int // of class http
}

const mostWays = 200

// add counts a record, and returns the number of its way of failing in known, from 1; 0 is a
// success.
func (f *failures) add(r *trace.Record) uint8 {
	if r.OK() {
		return 0
	}
	f.n++
	w := way{class: r.Class}
	if r.Class == trace.HTTP {
		w.status = r.Status
	}
	i, known := f.index[w]
	if !known {
		if len(f.known) < mostWays {
			f.known = append(f.known, metrics.Class{Class: w.class, Status: w.status, Example: r.Error})
		}
		if f.index == nil {
			f.index = map[way]uint8{}
		}
		i = uint8(len(f.known))
		f.index[w] = i
	}
	f.known[i-1].Count++
	return i
}

// Failures are the ways in which requests failed, the most frequent first.
func (d *Digest) Failures() []metrics.Class {
	return slices.SortedStableFunc(slices.Values(d.failed.known), func(a, b metrics.Class) int { return cmp.Compare(b.Count, a.Count) })
}
