package view

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Windows of time: there are at most mostWindows of them, from the start of the run on; where
// one more would be needed, each two become one.
const (
	mostWindows = 600
	firstWindow = trace.Instant(1e9 / 512) // ns, the width at first
)

// A timeline counts what happened in windows of time.
type timeline struct {
	width   trace.Instant
	windows []window
}

// A window counts events in it. The numbers of requests in flight and of waiting ones are
// areas, requests × ns: part from requests that began or ended within, and whole as the change
// of the number of requests that last all of a window.
//
//	           a ├──────────────────┤ b
//	     │       │       │       │       │
//	part:  ├─────┤               ├──┤
//	whole:       │+1             │-1
type window struct {
	tokens        float64
	ok, failed    uint32
	ttft, itl, e2 histogram
	flight, wait  area
}

type area struct {
	part  int64
	whole int32
}

func newTimeline() timeline { return timeline{width: firstWindow} }

// at is the window of an instant, nil before the start of the run.
func (t *timeline) at(i trace.Instant) *window {
	if i < 0 {
		return nil
	}
	for i/t.width >= mostWindows {
		t.windows, t.width = joined(t.windows, t.width, 2), t.width*2
	}
	n := int(i / t.width)
	for len(t.windows) <= n {
		t.windows = append(t.windows, newWindow())
	}
	return &t.windows[n]
}

func newWindow() window {
	return window{ttft: histogram{shift: 1}, itl: histogram{shift: 1}, e2: histogram{shift: 1}}
}

func joined(windows []window, width trace.Instant, n int) (out []window) {
	flight, wait := areas(windows, width, flightOf), areas(windows, width, waitOf)
	for i := range windows {
		if i%n == 0 {
			out = append(out, newWindow())
		}
		w, o := &out[len(out)-1], &windows[i]
		w.tokens, w.ok, w.failed = w.tokens+o.tokens, w.ok+o.ok, w.failed+o.failed
		w.ttft.join(&o.ttft)
		w.itl.join(&o.itl)
		w.e2.join(&o.e2)
		w.flight.part += flight[i]
		w.wait.part += wait[i]
	}
	return out
}

func flightOf(w *window) *area { return &w.flight }
func waitOf(w *window) *area   { return &w.wait }

// areas are the complete areas of one kind in each window.
func areas(windows []window, width trace.Instant, of func(*window) *area) []int64 {
	out, through := make([]int64, len(windows)), int64(0)
	for i := range windows {
		a := of(&windows[i])
		through += int64(a.whole)
		out[i] = a.part + through*int64(width)
	}
	return out
}

// between adds one request to an area from an instant to another.
func (t *timeline) between(from, to trace.Instant, of func(*window) *area) {
	if from = max(0, from); to <= from {
		return
	}
	t.at(to) // so that the width does not change below
	a, b := int(from/t.width), int(to/t.width)
	if a == b {
		of(&t.windows[a]).part += int64(to - from)
		return
	}
	of(&t.windows[a]).part += int64(trace.Instant(a+1)*t.width - from)
	of(&t.windows[a+1]).whole++
	of(&t.windows[b]).whole--
	of(&t.windows[b]).part += int64(to - trace.Instant(b)*t.width)
}

// add counts a request.
func (t *timeline) add(r *trace.Record, ttft, e2el float64) {
	if w := t.at(r.Done); w != nil && r.OK() {
		w.ok++
	} else if w != nil {
		w.failed++
	}
	if r.Released.Happened() && r.Done.Happened() {
		t.between(r.Released, r.Done, flightOf)
	}
	if r.Due.Happened() && r.Released.Happened() {
		t.between(r.Due, r.Released, waitOf)
	}
	if w := t.at(r.Sent); w != nil {
		w.ttft.add(float32(ttft))
		w.e2.add(float32(e2el))
	}
	for at, n := range metrics.TokensByChunk(r) {
		if w := t.at(at); w != nil {
			w.tokens += n
		}
	}
}

// gap counts a gap that ended then.
func (t *timeline) gap(at trace.Instant, gap float32) {
	if w := t.at(at); w != nil {
		w.itl.add(gap)
	}
}

// shown are the windows that a page shows: joined until there are no more than n, and the
// width of one. They are a copy.
func (t *timeline) shown(n int) ([]window, trace.Instant) {
	each := 1
	for len(t.windows) > n*each {
		each *= 2
	}
	return joined(t.windows, t.width, each), t.width * trace.Instant(each)
}

// rounded is v to four significant digits: a page shows no more, and they are short on the wire.
func rounded(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

func micro(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
