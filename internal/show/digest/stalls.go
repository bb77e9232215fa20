package digest

import (
	"iter"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// mostGaps are remembered by the finder of stalls: 16 MB.
const mostGaps = 1 << 20

// stalls are those of a run that were found when it had so many requests.
type stalls struct {
	finder metrics.StallFinder
	found  [][2]float64
	at     int  // requests
	whole  bool // all of them
}

// standstills are when all streams stood still, as of now or, of a run that grows, a little before:
// looking for them takes as long as there are requests.
func (d *Digest) standstills() [][2]float64 {
	s, n := &d.stalls, d.Requests()
	if s.whole && d.whole || n == s.at || s.at > quick && n < s.at+s.at/8 && !d.whole {
		return s.found
	}
	s.finder.Grid = trace.Instant(1000) << d.unit
	var all []metrics.Stall
	if d.heldBack() {
		all = s.finder.Bursts(d.streams())
	} else {
		median := 0.0
		if d.gaps.n > 0 {
			median = d.gaps.quantiles([]float64{0.5})[0]
		}
		all = s.finder.Stalls(d.streams(), median)
	}
	s.found, s.at, s.whole = [][2]float64{}, n, d.whole
	for _, one := range all {
		s.found = append(s.found, [2]float64{micro(one.From), micro(one.To)})
	}
	return s.found
}

// heldBack reports whether the verdict says that somebody held answers back.
func (d *Digest) heldBack() bool {
	v := d.run.Verdict
	return v != nil && slices.ContainsFunc(v.Reasons, func(m plan.Message) bool { return m.Code == metrics.HeldBack })
}

// streams are the requests as columns have them.
func (d *Digest) streams() iter.Seq[metrics.Stream] {
	c, unit := &d.columns, trace.Instant(1000)<<d.unit
	at := func(v uint32) trace.Instant {
		if v == never {
			return trace.Never
		}
		return trace.Instant(v) * unit
	}
	return func(yield func(metrics.Stream) bool) {
		for i := range c.index.n {
			if !yield(metrics.Stream{Released: at(c.released.at(i)), First: at(c.first.at(i)), Done: at(c.done.at(i))}) {
				return
			}
		}
	}
}
