package metrics

import (
	"cmp"
	"iter"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// lone finds the times in which nothing came for any request though a stream had begun.
func (f *StallFinder) lone(streams iter.Seq[Stream], least float64) (out []Stall) {
	silences := f.arrivals.silences(least)
	for i, gap := range silences {
		silences[i] = [2]trace.Instant{f.rounded(gap[0]), f.rounded(gap[1])}
	}
	flight := through(silences, streams, func(s Stream) trace.Instant { return s.Released })
	begun := through(silences, streams, func(s Stream) trace.Instant {
		if !s.Released.Happened() {
			return trace.Never
		}
		return s.First
	})
	for i, gap := range silences {
		if begun[i] > 0 {
			out = append(out, Stall{From: gap[0].Seconds(), To: gap[1].Seconds(), Streams: begun[i], Of: begun[i], InFlight: flight[i]})
		}
	}
	return out
}

// through counts, for each of some ordered and disjoint spans, the streams that lasted all through
// it, from the instant that from gives until they were done.
func through(spans [][2]trace.Instant, streams iter.Seq[Stream], from func(Stream) trace.Instant) []int {
	counts := make([]int, len(spans))
	if len(spans) == 0 {
		return counts
	}
	for s := range streams {
		begin := from(s)
		if !begin.Happened() {
			continue
		}
		i, _ := slices.BinarySearchFunc(spans, begin, func(span [2]trace.Instant, at trace.Instant) int { return cmp.Compare(span[0], at) })
		for ; i < len(spans) && spans[i][1] <= s.Done; i++ {
			counts[i]++
		}
	}
	return counts
}

// Windows of looking for a time in which nothing came.
const (
	stallWindow = loneLength / 10
	mostWindows = 1 << 20
)

// arrivals are the first and the last instant in each window of time at which something came; 0
// for none.
type arrivals struct {
	width   trace.Instant // 0: stallWindow
	windows []arrived
	latest  int // the window of the last one: the next one is mostly in it
}

type arrived struct{ first, last trace.Instant }

// join adds arrivals to those of a window.
func (a *arrived) join(b arrived) {
	if b.first > 0 && (a.first == 0 || b.first < a.first) {
		a.first = b.first
	}
	a.last = max(a.last, b.last)
}

// add takes what came for a request.
func (a *arrivals) add(r *trace.Record) {
	a.at(r.Done)
	within := func(at trace.Instant) bool { return at <= r.Done || !r.Done.Happened() }
	if within(r.FirstByte) {
		a.at(r.FirstByte)
	}
	for i := range r.Chunks {
		if at := r.Chunks[i].At; within(at) {
			a.at(at)
		}
	}
}

func (a *arrivals) at(at trace.Instant) {
	if at <= 0 {
		return
	}
	if w := trace.Instant(a.latest) * a.width; at >= w && at < w+a.width && a.latest < len(a.windows) {
		a.windows[a.latest].join(arrived{at, at})
		return
	}
	if a.width == 0 {
		a.width = trace.Instant(stallWindow)
	}
	for at/a.width >= mostWindows {
		a.halve()
	}
	if more := int(at/a.width) + 1 - len(a.windows); more > 0 {
		a.windows = append(a.windows, make([]arrived, more)...)
	}
	a.latest = int(at / a.width)
	a.windows[a.latest].join(arrived{at, at})
}

// halve makes windows twice as wide.
func (a *arrivals) halve() {
	half := a.windows[:(len(a.windows)+1)/2]
	for i := range half {
		one := a.windows[2*i]
		if 2*i+1 < len(a.windows) {
			one.join(a.windows[2*i+1])
		}
		half[i] = one
	}
	a.windows, a.width = half, 2*a.width
}

// silences are the times of at least so many seconds between two windows with arrivals that have
// a window without any between them, from the last arrival of the one to the first of the other.
func (a *arrivals) silences(least float64) (gaps [][2]trace.Instant) {
	prev := -1
	for i, w := range a.windows {
		if w.first == 0 {
			continue
		}
		if prev >= 0 && i > prev+1 && Between(a.windows[prev].last, w.first) >= least {
			gaps = append(gaps, [2]trace.Instant{a.windows[prev].last, w.first})
		}
		prev = i
	}
	return gaps
}
