package resources

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// late is by how much a mean of the last second is late: 0 to 0.1 s at the ends of four runs on an H200 (driver 580).
const late = 50 * time.Millisecond

// open is what sampling leaves open, in 95 of 100 cases: energy worth this much time at the mean power of the run. The
// tests of replay_test.go repeat a log of an H200 at every phase of sampling; docs/telemetry.md has the figures.
const open = 200 * time.Millisecond

// asInRun is the share of the mean power of a run above which the power outside it is no rest.
const asInRun = 0.8

// A mean is the mean power of a device over a span of time.
type mean struct {
	begin, end time.Duration // that span
	from, to   time.Duration // for which it stands: half-way to its neighbours where they are close
	watts      float64
}

// meansOf are the means that points are, each of a span that ended shortly before its point.
func meansOf(points []telemetry.Point, span time.Duration) []mean {
	all := make([]mean, len(points))
	for i, p := range points {
		m := mean{begin: p.At - late - span, end: p.At - late, watts: p.Value}
		m.from, m.to = m.begin, m.end
		if i > 0 && p.At-points[i-1].At <= widestGap {
			half := (m.begin + all[i-1].end) / 2
			all[i-1].to, m.from = half, half
		}
		all[i] = m
	}
	return all
}

// heldBack is the energy of a window of a device whose power is known as means. Those that touch the window, less the
// power outside for the time that they stand for outside it; where there was load outside, trapezoids between the
// middles of the spans.
func heldBack(all []mean, w, idle telemetry.Window) (r reading) {
	touching := func(m mean) bool { return m.end > w.From && m.begin < w.To }
	first := slices.IndexFunc(all, touching)
	if first < 0 {
		return reading{how: Gaps}
	}
	last := first
	for last+1 < len(all) && touching(all[last+1]) {
		last++
	}
	inside, sum, known, covered := all[first:last+1], 0.0, time.Duration(0), time.Duration(0)
	for _, m := range inside {
		sum += m.watts * (m.to - m.from).Seconds()
		covered += m.to - m.from
		known += max(0, min(m.to, w.To)-max(m.from, w.From))
	}
	missing := w.Length() - known
	r = reading{how: Means, covered: known.Seconds() / w.Length().Seconds()}
	if r.covered < leastCover && missing > atEdge {
		return reading{how: Gaps, covered: r.covered}
	}
	power := sum / covered.Seconds()
	before, after := restBefore(all[:first], idle), restAfter(all[last+1:])
	every, span := covered/time.Duration(len(inside)), inside[0].end-inside[0].begin
	jump := max(0, power-min(cmp.Or(before, after), cmp.Or(after, before)))
	r.loaded = max(before, after) > asInRun*power
	off := math.Hypot(power*(open+missing).Seconds(), unseen(inside, every, jump))
	if r.loaded || before == 0 || after == 0 || every > span+time.Second/4 {
		r.joules = between(all, w)
		off = math.Hypot(off, jump*span.Seconds()/2) // the lines begin to rise before the jump: an eighth at each edge
	} else {
		r.joules = sum - before*(w.From-inside[0].from).Seconds() - after*(inside[len(inside)-1].to-w.To).Seconds()
	}
	r.open = &off
	return r
}

// restBefore is the power that a device drew with nothing to do right before a window, in a pause that the run made
// or, without one, if two means agree; 0: not known.
func restBefore(earlier []mean, idle telemetry.Window) float64 {
	n := len(earlier)
	switch {
	case n > 0 && idle.Length() > 0 && earlier[n-1].begin >= idle.From:
		return earlier[n-1].watts
	case n > 1 && math.Abs(earlier[n-1].watts-earlier[n-2].watts) <= 0.05*earlier[n-2].watts:
		return earlier[n-1].watts
	}
	return 0
}

// restAfter is the power that a device drew right after a window, in which a run sends nothing; 0: not known.
func restAfter(later []mean) float64 {
	if len(later) == 0 {
		return 0
	}
	return later[0].watts
}

// between is the area in a window under the lines between the middles of the spans of means, in J. What is missing
// counts with the mean.
func between(all []mean, w telemetry.Window) float64 {
	points := make([]telemetry.Point, len(all), len(all)+2)
	for i, m := range all {
		points[i] = telemetry.Point{At: (m.begin + m.end) / 2, Value: m.watts}
	}
	if first := points[0]; first.At > w.From {
		points = slices.Insert(points, 0, telemetry.Point{At: w.From, Value: first.Value})
	}
	if last := points[len(points)-1]; last.At < w.To {
		points = append(points, telemetry.Point{At: w.To, Value: last.Value})
	}
	joules, known := areaOf(points, w)
	return joules * w.Length().Seconds() / known.Seconds()
}

// unseen is what means leave open that cover only a part of the time, in J: what they may have missed within the run,
// from how much they differ, and the jumps at its edges.
func unseen(inside []mean, every time.Duration, jump float64) float64 {
	span := inside[0].end - inside[0].begin
	missed := max(0, 1-span.Seconds()/every.Seconds())
	if missed < 0.1 { // what a program takes longer than its period
		return 0
	}
	var watts []float64
	for _, m := range inside {
		watts = append(watts, m.watts)
	}
	within := 2 * stats.Std(watts) * math.Sqrt(missed/float64(len(inside))) * every.Seconds() * float64(len(inside))
	return math.Hypot(within, 2*math.Sqrt(2./12)*(every-span).Seconds()*jump)
}
