package resources

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// Energy is what the devices drew in the window.
type Energy struct {
	Joules  float64 `json:"joules"`
	Devices int     `json:"devices"`
	Window  float64 `json:"window"` // s
	Method  Method  `json:"method"`
	Covered float64 `json:"covered"` // share of the window with samples close enough, the least of all devices
	// Error is by which share of them Joules may be off by the sampling, in 95 of 100 runs; nil: not known. How right the
	// sensors are is not in it.
	Error *float64 `json:"error,omitempty"`
	// Loaded means that a device drew about as much right before or after the run.
	Loaded bool `json:"loaded,omitempty"`
	// Dies says how the power of two dies of a card was counted, if both report one; empty: they do not.
	Dies Dies `json:"dies,omitempty"`
	// Idle is the power of the devices together with nothing to do, in W; nil: it was not measured.
	Idle *float64 `json:"idle,omitempty"`
	// PerToken and PerRequest are in J for each output token and each request that succeeded, 0
	// without any.
	PerToken   float64 `json:"per_token"`
	PerRequest float64 `json:"per_request"`
}

// Net is the energy above that of idling, and false where idling was not measured.
func (e Energy) Net() (joules float64, ok bool) {
	if e.Idle == nil {
		return 0, false
	}
	return e.Joules - *e.Idle*e.Window, true
}

// Dies is what was assumed of the power of cards with two dies, of which nobody has measured whether it is that of
// the die or of the card.
type Dies string

// The assumptions.
const (
	OfCard Dies = "card" // both report that of the card, which counts once
	OfDies Dies = "dies" // each reports its own: they differ
)

// A Method is how an energy was found, or why there is none.
type Method string

// The methods, from the best, and the reasons for none.
const (
	Counters Method = "counters" // energy counters of the devices
	Means    Method = "means"    // power of all devices as means of seconds, each for its second
	Sampled  Method = "sampled"  // power of all devices at instants or over spans that are not known, integrated
	Mixed    Method = "mixed"    // some of each

	Short   Method = "short"   // the window is too short for what was sampled
	Gaps    Method = "gaps"    // power is not known for more than a hundredth of the window
	Partial Method = "partial" // some devices report neither energy nor power
	Unknown Method = "unknown" // none does
)

// Known reports whether there is an energy.
func (m Method) Known() bool { return m == Counters || m == Means || m == Sampled || m == Mixed }

const (
	leastWindow = 30 * time.Second // where the error is not known
	mostError   = 0.1
	widestGap   = 3 * time.Second
	leastCover  = 0.99
	leastIdle   = 5 * time.Second
	atEdge      = 3 * time.Second / 2
)

// A reading is the energy of one device in a window, in J.
type reading struct {
	joules  float64
	covered float64 // share of the window that is known
	how     Method
	open    *float64 // by how much it may be off, in 95 of 100 cases; nil: not known
	loaded  bool     // the device drew as much outside
}

// energy is that of all devices in a window, less what they draw when idle.
func energy(devices []*device, w, idle telemetry.Window) Energy {
	e := Energy{Window: w.Length().Seconds(), Covered: 1, Method: Unknown}
	if w.Length() <= 0 {
		return e
	}
	by, open := map[Method]int{}, new(0.)
	rest, rested := 0.0, true
	for _, d := range devices {
		pair, same := d.repeats(devices, w)
		switch {
		case same:
			e.Dies = OfCard
			continue
		case pair:
			e.Dies = cmp.Or(e.Dies, OfDies)
		case d.metered(devices):
			continue
		}
		r := d.energy(w, idle)
		by[r.how]++
		e.Covered, e.Joules, e.Loaded = min(e.Covered, r.covered), e.Joules+r.joules, e.Loaded || r.loaded
		if r.how != Unknown {
			open = sumKnown(open, r.open) // in step: devices of a source are sampled at once
		}
		watts, ok := d.mean(idle)
		rest, rested = rest+watts, rested && ok
	}
	e.Devices = by[Counters] + by[Means] + by[Sampled]
	switch e.Method = method(by); {
	case e.Method.Known():
		e.bound(open)
	case e.Method == Gaps && w.Length() < leastOf(devices):
		e.Method = Short
	}
	if !e.Method.Known() {
		e.Joules, e.Loaded = 0, false
	} else if rested && e.Devices > 0 {
		e.Idle = &rest
	}
	return e
}

// leastOf is the shortest window in which gaps are worth a word.
func leastOf(devices []*device) time.Duration {
	if slices.ContainsFunc(devices, func(d *device) bool { return d.span() > 0 }) {
		return widestGap
	}
	return leastWindow
}

// sumKnown is a sum, nil if one of both is.
func sumKnown(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// method is how the energy of devices was found that were sampled in these ways.
func method(by map[Method]int) Method {
	switch {
	case by[Gaps] > 0:
		return Gaps
	case by[Counters]+by[Means]+by[Sampled] == 0:
		return Unknown
	case by[Unknown] > 0:
		return Partial
	case len(by) > 1:
		return Mixed
	}
	for how := range by {
		return how
	}
	return Unknown
}

// bound states the error of an energy, in J; one that is too large, or not known in a short window, leaves none.
func (e *Energy) bound(open *float64) {
	short := e.Window < leastWindow.Seconds()
	if open != nil {
		off := *open / e.Joules
		if short = !(e.Joules > 0 && off <= mostError); !short {
			e.Error = &off
		}
	}
	if short {
		e.Method = Short
	}
}

type device struct {
	source string
	label  string                         // the source and the device
	card   string                         // likewise, but without the part of a device behind the dot
	second bool                           // it is the second die of a card
	series map[string][]*telemetry.Series // by name
}

// reports reports whether a device tells its energy or its power.
func (d *device) reports() bool {
	return len(d.one(telemetry.DeviceEnergy))+len(d.one(telemetry.DevicePower)) > 0
}

// metered reports whether another part of the same card reports the power of all of it: a card of
// two dies has one sensor, and so has a partitioned device.
func (d *device) metered(all []*device) bool {
	return !d.reports() && slices.ContainsFunc(all, func(o *device) bool { return o.card == d.card && o.reports() })
}

// sameDies is how far the mean powers of two dies may be apart that are that of their card, read one after the other.
const sameDies = 0.1

// repeats reports whether the first die of the card of a device reports its power too (pair), and whether it seems
// to be the same one: that of the card.
func (d *device) repeats(all []*device, w telemetry.Window) (pair, same bool) {
	mean := func(d *device) *float64 { return greatest(d.series[telemetry.DevicePower], w, average) }
	watts := mean(d)
	if !d.second || watts == nil {
		return false, false
	}
	for _, o := range all {
		if first := mean(o); o != d && o.card == d.card && first != nil {
			return true, math.Abs(*first-*watts) <= sameDies*max(*first, *watts)
		}
	}
	return false, false
}

func (d *device) one(name string) []telemetry.Point {
	if all := d.series[name]; len(all) > 0 {
		return all[0].Points
	}
	return nil
}

// energy is that of a device in a window, which follows an idle one.
func (d *device) energy(w, idle telemetry.Window) reading {
	if counter := rises(d.one(telemetry.DeviceEnergy)); len(counter) > 1 {
		if joules, ok := counted(counter, w); ok {
			open := joules / w.Length().Seconds()
			if rest, ok := counted(counter, idle); ok && idle.Length() >= leastIdle && every(counter) <= often {
				open -= min(open, rest/idle.Length().Seconds())
			}
			return reading{joules: joules, covered: 1, how: Counters, open: new(open * every(counter).Seconds())}
		}
	}
	power := d.one(telemetry.DevicePower)
	if len(power) == 0 {
		return reading{how: Unknown}
	}
	if span := d.span(); span > 0 {
		return heldBack(meansOf(power, span), w, idle)
	}
	joules, known := integral(power, w)
	covered := known.Seconds() / w.Length().Seconds()
	if covered < leastCover {
		return reading{covered: covered, how: Gaps}
	}
	return reading{joules: joules / covered, covered: covered, how: Sampled}
}

// span is the time over which the power of a device is a mean; 0: not known.
func (d *device) span() time.Duration {
	points := d.one(telemetry.DevicePowerSpan)
	if len(points) == 0 {
		return 0
	}
	return time.Duration(points[len(points)-1].Value * float64(time.Second))
}

// rises are the points at which a counter has another value than before: an exporter repeats one until it has the
// next. Of the first one it is not known when it was new.
func rises(points []telemetry.Point) []telemetry.Point {
	var fresh []telemetry.Point
	for i := 1; i < len(points); i++ {
		if points[i].Value != points[i-1].Value {
			fresh = append(fresh, points[i])
		}
	}
	if len(points) > 0 && len(fresh) == len(points)-1 {
		return points
	}
	return fresh
}

// every is the median time between points, of which there are at least two: how old the value of a counter may be.
func every(points []telemetry.Point) time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(points); i++ {
		gaps = append(gaps, points[i].At-points[i-1].At)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// counted is by how much an energy counter grew in a window: between the values that lie on
// the line through the samples at each edge. ok is false where a sample lies more than 3 s from an
// edge on its outer side, and none beyond it, or where the counter fell. As with power, samples
// beyond an edge do not count where there is one close to it inside.
func counted(points []telemetry.Point, w telemetry.Window) (joules float64, ok bool) {
	if from, to := indexRange(points, w); to-from > 1 {
		if w.To-points[to-1].At <= atEdge {
			points = points[:to]
		}
		if points[from].At-w.From <= atEdge {
			points = points[from:]
		}
	}
	from, ok1 := valueAt(points, w.From)
	to, ok2 := valueAt(points, w.To)
	inside := slices.DeleteFunc(slices.Clone(points), func(p telemetry.Point) bool { return p.At <= w.From || p.At >= w.To })
	path := append(append([]telemetry.Point{{At: w.From, Value: from}}, inside...), telemetry.Point{At: w.To, Value: to})
	grown, restarts := telemetry.Growth(path)
	return grown, ok1 && ok2 && restarts == 0
}

// valueAt is the value at an instant, between the samples around it. At most 3 s beyond the
// first or the last sample it goes on as between the two samples there.
func valueAt(points []telemetry.Point, at time.Duration) (v float64, ok bool) {
	if len(points) < 2 {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(points, at, func(p telemetry.Point, at time.Duration) int { return cmp.Compare(p.At, at) })
	i = min(max(i, 1), len(points)-1)
	a, b := points[i-1], points[i]
	if at < a.At-widestGap || at > b.At+widestGap {
		return 0, false
	}
	return a.Value + (b.Value-a.Value)*float64(at-a.At)/float64(b.At-a.At), true
}

// integral is the area under points in a window, and known how much of it has gaps of at most 3 s
// between samples.
func integral(points []telemetry.Point, w telemetry.Window) (area float64, known time.Duration) {
	return areaOf(withEdges(points, w), w)
}

// areaOf is integral without care for the edges.
func areaOf(points []telemetry.Point, w telemetry.Window) (area float64, known time.Duration) {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		from, to := max(a.At, w.From), min(b.At, w.To)
		if to <= from || b.At-a.At > widestGap {
			continue
		}
		at := func(t time.Duration) float64 {
			return a.Value + (b.Value-a.Value)*float64(t-a.At)/float64(b.At-a.At)
		}
		area += (at(from) + at(to)) / 2 * (to - from).Seconds()
		known += to - from
	}
	return area, known
}

// withEdges returns the points in a window and one at each of its edges. Power jumps where a load begins
// or ends, so a sample that is close to an edge holds up to it, and the one beyond does not count. One
// further away, at most 3 s, holds if there is none beyond.
func withEdges(points []telemetry.Point, w telemetry.Window) []telemetry.Point {
	from, to := indexRange(points, w)
	if from >= to {
		return points
	}
	all := slices.Clone(points[from:to])
	first, last := all[0], all[len(all)-1]
	if early := first.At - w.From; early <= atEdge || from == 0 && early <= widestGap {
		all = slices.Insert(all, 0, telemetry.Point{At: w.From, Value: first.Value})
	} else if from > 0 {
		all = slices.Insert(all, 0, points[from-1])
	}
	if late := w.To - last.At; late <= atEdge || to == len(points) && late <= widestGap {
		all = append(all, telemetry.Point{At: w.To, Value: last.Value})
	} else if to < len(points) {
		all = append(all, points[to])
	}
	return all
}

// indexRange are the bounds of the points in a window; one at its start is of what was before.
func indexRange(points []telemetry.Point, w telemetry.Window) (from, to int) {
	order := func(p telemetry.Point, at time.Duration) int { return cmp.Compare(p.At, at) }
	from, _ = slices.BinarySearchFunc(points, w.From+1, order)
	to, _ = slices.BinarySearchFunc(points, w.To+1, order)
	return from, to
}

// mean is the mean power of a device from its first sample in a window to the end of that, if
// it is at least 5 s and all known: a program that samples takes a moment to start.
func (d *device) mean(w telemetry.Window) (watts float64, ok bool) {
	for _, name := range []string{telemetry.DeviceEnergy, telemetry.DevicePower} {
		if points := d.one(name); len(points) > 0 {
			w.From = max(w.From, points[0].At)
			break
		}
	}
	if w.Length() < leastIdle {
		return 0, false
	}
	if span := d.span(); span > 0 { // of load that went before, a mean has less from then on
		w.From += span + late
	}
	r := d.energy(w, telemetry.Window{})
	if !r.how.Known() || r.covered < leastCover {
		return 0, false
	}
	return r.joules / w.Length().Seconds(), true
}
