package view

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// failures counts in which ways requests failed. A server can answer with more statuses than a
// number in a column can distinguish: the last one stands for all further ways.
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

// mostGaps are remembered by the finder of stalls: 16 MB.
const mostGaps = 1 << 20

// stalls are those of a run that were found when it had so many requests.
type stalls struct {
	finder   metrics.StallFinder
	found    [][2]float64
	at       int  // requests
	complete bool // all of them
}

// standstills are when all streams stood still, as of now or, of a run that grows, a little before:
// looking for them takes as long as there are requests.
func (d *Digest) standstills() [][2]float64 {
	s, n := &d.stalls, d.Requests()
	if d.complete && d.missing > 0 { // it is not known which streams there were
		return nil
	}
	if s.complete && d.complete || n == s.at || s.at > quick && n < s.at+s.at/8 && !d.complete {
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
	s.found, s.at, s.complete = [][2]float64{}, n, d.complete
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

// snapshots are the progress of a run, in order.
type snapshots []trace.Snapshot

// after is the place of the first one after an instant.
func (s snapshots) after(seconds float64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].At.Seconds() > seconds })
}

// tokens are those that had come by an instant: between two snapshots as many as lie between theirs.
func (s snapshots) tokens(seconds float64) float64 {
	i := s.after(seconds)
	if i == len(s) {
		return float64(s[i-1].Tokens)
	}
	before := trace.Snapshot{} // the run began without any
	if i > 0 {
		before = s[i-1]
	}
	share := (seconds - before.At.Seconds()) / s[i].At.Sub(before.At).Seconds()
	return float64(before.Tokens) + share*float64(s[i].Tokens-before.Tokens)
}

// flight is the number of requests in flight in a span: the mean of its snapshots, or as many as
// there were at the last one before.
func (s snapshots) flight(from, to float64) (level float64, known bool) {
	i, end := s.after(from), s.after(to)
	switch {
	case i < end:
		for _, one := range s[i:end] {
			level += float64(one.InFlight()) / float64(end-i)
		}
		return level, true
	case i > 0:
		return float64(s[i-1].InFlight()), true
	}
	return 0, false
}

func (a *axis) passed(s snapshots) (output, flight line) {
	output = func(i int) (float64, bool) {
		from, long := a.from(i), a.long(i)
		return math.Max(0, s.tokens(from+long)-s.tokens(from)) / long, long > 0
	}
	flight = func(i int) (float64, bool) {
		from, long := a.from(i), a.long(i)
		level, known := s.flight(from, from+long)
		return level, known && long > 0
	}
	return output, flight
}
