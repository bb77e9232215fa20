package telemetry

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Source is one place that was asked again and again.
type Source struct {
	// Name is unique in a run, as short as that allows: server, client, nvidia-smi@gpu1.
	Name  string        `json:"name"`
	Via   string        `json:"via"`            // a URL, a command line or a folder such as /proc, without secrets
	Host  string        `json:"host,omitempty"` // the machine that the quantities are of; empty: the client's
	Every time.Duration `json:"every_ns"`       // between two samples, as it was asked for
	Clock Clock         `json:"clock"`
	Reads int           `json:"reads"`             // samples that were taken
	Lost  int           `json:"lost,omitempty"`    // times that it was asked and did not answer in full
	Busy  time.Duration `json:"busy_ns,omitempty"` // processor or waiting time that taking them cost the client at most
	// Means says that the power of its devices is a mean over a time that has passed: a run waits for those around it.
	Means bool `json:"-"`
	// Notes say why it never answered, or what was wrong with its answers; each kind once.
	Notes []plan.Message `json:"notes,omitempty"`
}

// A Clock says which clock stamped the points of a source, and how far they may be off on
// the clock of the run.
type Clock struct {
	// Own means that the source stamps its samples itself. Otherwise an instant is the middle
	// of the exchange that brought it.
	Own bool `json:"own,omitempty"`
	// Offset is what was added to the source's wall clock, less the client's: the middle of what
	// the exchanges allow.
	Offset time.Duration `json:"offset_ns,omitempty"`
	Bound  time.Duration `json:"bound_ns"` // instants are off by at most this
}

// A Kind says how values of a series follow each other.
type Kind string

// The kinds of a series.
const (
	Gauge   Kind = "gauge"   // each value stands for itself
	Counter Kind = "counter" // only grows, but for restarts; differences count
)

// Labels distinguish series of one name and source: device, reason, cpu, replica ...
type Labels map[string]string

// String is the labels in order, as name="value" with commas between; empty without labels.
func (l Labels) String() string { return string(l.appendTo(nil)) }

// appendTo appends what String is. It allocates nothing for a few labels.
func (l Labels) appendTo(b []byte) []byte {
	names := make([]string, 0, 8)
	for name := range l {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(append(append(b, name...), '='), l[name])
	}
	return b
}

// A Key identifies a series.
type Key struct {
	Source string `json:"source"`
	Name   string `json:"name"` // one of Names, or the source's own
	Labels Labels `json:"labels,omitempty"`
}

// String is source/name{labels}.
func (k Key) String() string { return string(k.appendTo(nil)) }

func (k Key) appendTo(b []byte) []byte {
	b = append(append(append(b, k.Source...), '/'), k.Name...)
	if len(k.Labels) == 0 {
		return b
	}
	return append(k.Labels.appendTo(append(b, '{')), '}')
}

// A Point is a value at an instant: the time since the start of the run, negative before it.
type Point struct {
	At    time.Duration
	Value float64
}

// A Series is one quantity of a source, its points in the order of their instants.
type Series struct {
	Key
	Unit   string  `json:"unit,omitempty"` // SI, or a counted noun: s, J, W, B, requests; empty: a ratio or unknown
	Kind   Kind    `json:"kind"`
	Points []Point `json:"-"`
}

// A Value is a new point of a series.
type Value struct {
	Key
	Unit string
	Kind Kind
	Point
}

// A Set is all telemetry of a run. The zero value is empty and ready to use.
type Set struct {
	Sources []Source  `json:"sources,omitempty"`
	Series  []*Series `json:"series,omitempty"` // by Key.String
	byKey   map[string]*Series
}

// Empty reports whether nothing was asked.
func (s *Set) Empty() bool { return s == nil || len(s.Sources) == 0 && len(s.Series) == 0 }

// Add appends a value to its series, and reports whether it did. A value no later than the last
// one of its series is dropped: a source that stamps its samples itself repeats one until it has
// the next.
func (s *Set) Add(v Value) bool {
	one := s.find(v.Key)
	if one == nil {
		one = &Series{Key: v.Key, Unit: v.Unit, Kind: v.Kind}
		s.Join(one)
	}
	if n := len(one.Points); n > 0 && v.At <= one.Points[n-1].At {
		return false
	}
	one.Points = append(one.Points, v.Point)
	return true
}

// Has reports whether there is a series.
func (s *Set) Has(k Key) bool { return s.find(k) != nil }

// Last is the last point of a series, if it has one.
func (s *Set) Last(k Key) (Point, bool) {
	one := s.find(k)
	if one == nil || len(one.Points) == 0 {
		return Point{}, false
	}
	return one.Points[len(one.Points)-1], true
}

// Join adds a series that is not in the set.
func (s *Set) Join(one *Series) {
	name := one.String()
	s.index()
	at, _ := slices.BinarySearchFunc(s.Series, name,
		func(x *Series, name string) int { return cmp.Compare(x.String(), name) })
	s.Series = slices.Insert(s.Series, at, one)
	s.byKey[name] = one
}

// Extend adds the points of a series that come after the last one of the series of that key.
func (s *Set) Extend(by *Series) {
	one := s.find(by.Key)
	if one == nil {
		s.Join(by)
		return
	}
	one.Append(by.Points)
}

// Append adds the points that come after the last one.
func (s *Series) Append(points []Point) {
	if n := len(s.Points); n > 0 {
		at, _ := slices.BinarySearchFunc(points, s.Points[n-1].At, func(p Point, t time.Duration) int {
			return cmp.Or(cmp.Compare(p.At, t), -1)
		})
		points = points[at:]
	}
	s.Points = append(s.Points, points...)
}

// Trim drops the points before an instant, but for the last one of each series, and returns how
// many it dropped.
func (s *Set) Trim(before time.Duration) (dropped int) {
	for _, one := range s.Series {
		at, _ := slices.BinarySearchFunc(one.Points, before,
			func(p Point, t time.Duration) int { return cmp.Compare(p.At, t) })
		if at = min(at, len(one.Points)-1); at > 0 {
			one.Points = slices.Delete(one.Points, 0, at)
			dropped += at
		}
	}
	return dropped
}

// Values are all points of the series of a set, series by series.
func (s *Set) Values() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if s == nil {
			return
		}
		for _, one := range s.Series {
			for _, p := range one.Points {
				if !yield(Value{one.Key, one.Unit, one.Kind, p}) {
					return
				}
			}
		}
	}
}

// Points counts the points of all series.
func (s *Set) Points() (n int) {
	if s == nil {
		return 0
	}
	for _, one := range s.Series {
		n += len(one.Points)
	}
	return n
}

// find is the series of a key, nil if there is none. It allocates nothing for a key of ordinary length.
func (s *Set) find(k Key) *Series {
	s.index()
	name := make([]byte, 0, 256)
	return s.byKey[string(k.appendTo(name))]
}

func (s *Set) index() {
	if s.byKey != nil {
		return
	}
	s.byKey = map[string]*Series{}
	for _, one := range s.Series {
		s.byKey[one.String()] = one
	}
}

// Source finds a source by name.
func (s *Set) Source(name string) (Source, bool) {
	if s == nil {
		return Source{}, false
	}
	i := slices.IndexFunc(s.Sources, func(x Source) bool { return x.Name == name })
	if i < 0 {
		return Source{}, false
	}
	return s.Sources[i], true
}

// Named are the series of a name, of all sources.
func (s *Set) Named(name string) (found []*Series) {
	if s == nil {
		return nil
	}
	for _, one := range s.Series {
		if one.Name == name {
			found = append(found, one)
		}
	}
	return found
}

// Between are the points with from <= At <= to.
func (s *Series) Between(from, to time.Duration) []Point {
	at := func(t time.Duration) int {
		i, _ := slices.BinarySearchFunc(s.Points, t, func(p Point, t time.Duration) int { return cmp.Compare(p.At, t) })
		return i
	}
	return s.Points[at(from):max(at(from), at(to+1))]
}

// A Window is a part of a run, in time since its start; both ends may be before it.
type Window struct {
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// Length is its length.
func (w Window) Length() time.Duration { return w.To - w.From }

// Growth is by how much a counter grew over points. After a fall it began anew at 0, as
// Prometheus' increase has it; restarts counts the falls.
func Growth(points []Point) (grown float64, restarts int) {
	for i := 1; i < len(points); i++ {
		d := points[i].Value - points[i-1].Value
		if d < 0 {
			restarts++
			d = points[i].Value
		}
		grown += d
	}
	return grown, restarts
}
