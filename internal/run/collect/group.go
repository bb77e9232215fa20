package collect

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// A Collector samples one source.
type Collector interface {
	// Describe is the source, as far as it is known before the first reading.
	Describe() telemetry.Source
	// Collect reads about every period until ctx ends, and calls give with each reading, from
	// this goroutine. It returns soon after ctx ends. An error says why it ended before that.
	Collect(ctx context.Context, every time.Duration, give func(Reading)) error
}

// Optional is a collector of a source that may not exist: one that never gave a value is not mentioned, unless it
// exists and fails.
type Optional struct{ Collector }

// A Reading holds the values of a source at one instant.
type Reading struct {
	Values  []Value
	Clock   telemetry.Clock // of these values
	Busy    time.Duration   // that the reading cost this process
	Trouble plan.Message    // why it has not all that it should; zero: it has
	Absent  bool            // the trouble is that there is no such source
}

// A Value is one quantity of a reading. Units and kinds of telemetry.Names may be left out.
type Value struct {
	Name   string
	Labels telemetry.Labels
	Unit   string
	Kind   telemetry.Kind
	At     time.Time // with a monotonic reading
	Value  float64
}

// MostSeries bounds the stored series of one source.
const MostSeries = 4096

// Limits of one source in a run.
const (
	mostPoints = 1 << 22 // of a source
	mostNotes  = 8       // of a source, each kind once
	mostValue  = 1e30    // the magnitude of a value: sums and rates of such values stay finite
)

// Codes of messages about sources.
const (
	Ended    plan.Code = "telemetry.ended"     // why
	TooMany  plan.Code = "telemetry.too-many"  // series, most
	TooLong  plan.Code = "telemetry.too-long"  // points
	Stuck    plan.Code = "telemetry.stuck"     // it did not end when asked
	Restarts plan.Code = "telemetry.restarted" // series: a counter fell
	Nothing  plan.Code = "telemetry.nothing"   // after, in seconds: neither a value nor a trouble
	// NotANumber is for values that are NaN, infinite or absurd: series.
	NotANumber plan.Code = "telemetry.not-a-number"
	// NoDevice is for series of devices without a label that names the device: series.
	NoDevice plan.Code = "telemetry.no-device"
)

// A Group runs collectors. Its methods may be called from any goroutine.
type Group struct {
	epoch time.Time
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu      sync.Mutex
	members []*member
	ended   bool
}

// A member is a collector and its values. The mutex of the group guards it.
type member struct {
	source telemetry.Source
	known  bool          // it is no Optional, or is there
	set    telemetry.Set // instants since the epoch of the group
	fresh  []telemetry.Value
	points int
	full   bool
	over   bool // its goroutine has returned
}

// Start starts a goroutine for each collector. The names of their sources differ.
func Start(ctx context.Context, every time.Duration, collectors []Collector) *Group {
	g := &Group{epoch: time.Now()}
	ctx, g.stop = context.WithCancel(ctx)
	for _, c := range collectors {
		m := &member{source: c.Describe()}
		_, optional := c.(Optional)
		m.known = !optional
		m.source.Every = every
		g.members = append(g.members, m)
		g.done.Go(func() { g.collect(ctx, c, m, every) })
	}
	return g
}

func (g *Group) collect(ctx context.Context, c Collector, m *member, every time.Duration) {
	err := c.Collect(ctx, every, func(r Reading) { g.addReading(m, r) })
	g.mu.Lock()
	defer g.mu.Unlock()
	m.over = true
	if err != nil && ctx.Err() == nil {
		m.known = true
		m.note(Ended, "why", err)
	}
}

// perValue is the garbage of a value on its way from a source to all listeners, in bytes.
const perValue = 1 << 10

func (g *Group) addReading(m *member, r Reading) {
	machine.Discard(perValue * len(r.Values))
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	m.source.Busy += r.Busy
	m.known = m.known || len(r.Values) > 0 || !r.Trouble.IsZero() && !r.Absent
	if m.source.Clock.Own = r.Clock.Own; r.Clock.Bound != 0 {
		m.source.Clock.Offset = r.Clock.Offset
		m.source.Clock.Bound = max(m.source.Clock.Bound, r.Clock.Bound)
	}
	if !r.Trouble.IsZero() {
		m.source.Lost++
		m.addNote(r.Trouble)
	}
	if len(r.Values) > 0 {
		m.source.Reads++
	}
	for _, v := range r.Values {
		g.add(m, v)
	}
}

// add adds one value, within the bounds.
func (g *Group) add(m *member, v Value) {
	if !(math.Abs(v.Value) <= mostValue) { // NaN too
		m.note(NotANumber, "series", v.Name)
		return
	}
	key := telemetry.Key{Source: m.source.Name, Name: v.Name, Labels: v.Labels}
	if known, ok := telemetry.Known(v.Name); ok {
		v.Unit, v.Kind = known.Unit, known.Kind
	}
	value := telemetry.Value{
		Key: key, Unit: v.Unit, Kind: v.Kind, Point: telemetry.Point{At: v.At.Sub(g.epoch), Value: v.Value},
	}
	switch {
	case m.full:
		return
	case m.points >= mostPoints:
		m.full = true
		m.note(TooLong, "points", mostPoints)
		return
	case len(m.set.Series) >= MostSeries && !m.set.Has(key):
		m.note(TooMany, "most", MostSeries)
		return
	}
	if last, ok := m.set.Last(key); ok && v.Kind == telemetry.Counter && v.Value < last.Value && value.At > last.At {
		m.note(Restarts, "series", v.Name)
	}
	if m.set.Add(value) {
		m.points++
		m.fresh = append(m.fresh, value)
	}
}

// note stores a note, each code once. One that is stored already costs nothing: there may be thousands
// at once.
func (m *member) note(code plan.Code, args ...any) {
	if !m.noted(code) {
		m.addNote(plan.Msg(code, args...))
	}
}

func (m *member) noted(code plan.Code) bool {
	return slices.ContainsFunc(m.source.Notes, func(had plan.Message) bool { return had.Code == code })
}

// addNote is note for a message. Texts like secrets are hidden: the message may quote a server or a program.
func (m *member) addNote(n plan.Message) {
	if !m.noted(n.Code) && len(m.source.Notes) < mostNotes {
		m.source.Notes = append(m.source.Notes, n.Map(secret.Mask))
	}
}

// Fresh are the values that came since the last call, by instants since zero, with the sources
// as they are so far.
func (g *Group) Fresh(zero time.Time) (sources []telemetry.Source, values []telemetry.Value) {
	g.mu.Lock()
	defer g.mu.Unlock()
	shift := zero.Sub(g.epoch)
	for _, m := range g.members {
		if !m.known {
			continue
		}
		sources = append(sources, m.source)
		for _, v := range m.fresh {
			v.At -= shift
			values = append(values, v)
		}
		m.fresh = nil
	}
	return sources, values
}

// DropBefore drops points before an instant, except the last of each series, so that sampling can go on for as long
// as a caller watches. End no longer returns it.
func (g *Group) DropBefore(before time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.members {
		m.points -= m.set.Trim(before.Sub(g.epoch))
	}
}

// Limits of a wait for means: of the span and the lateness of one, and in all.
const (
	MeanSpan = 1050 * time.Millisecond
	meanStep = 10 * time.Millisecond
)

// AwaitMeans waits until each source of mean power has a sample whose span began after an instant, and each energy
// counter one after it; a source in trouble is not waited for, nor any after a limit.
func (g *Group) AwaitMeans(ctx context.Context, after time.Time, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !g.hasMeans(after.Sub(g.epoch)) {
		select {
		case <-time.After(meanStep):
		case <-ctx.Done():
			return
		}
	}
}

func (g *Group) hasMeans(after time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !slices.ContainsFunc(g.members, func(m *member) bool { return !m.over && m.lacksMeans(after) })
}

// lacksMeans reports whether samples for AwaitMeans are yet to come.
func (m *member) lacksMeans(after time.Duration) bool {
	known := !m.source.Means || m.source.Lost > 0
	for _, s := range m.set.Series {
		last := s.Points[len(s.Points)-1].At
		switch s.Name {
		case telemetry.DevicePower: // of an instant, unless there is its span
			known = true
		case telemetry.DevicePowerSpan:
			if last < after+MeanSpan {
				return true
			}
		case telemetry.DeviceEnergy:
			if last < after {
				return true
			}
		}
	}
	return !known
}

// patience is how long a collector may take to end.
const patience = 2 * time.Second

// End ends the collectors, and returns all that they gave, by instants since zero. One that does not end within 2 s
// is left behind; its later values are dropped.
func (g *Group) End(zero time.Time) *telemetry.Set {
	sampled := time.Since(g.epoch).Round(time.Second / 10)
	g.stop()
	all := make(chan struct{})
	go func() {
		g.done.Wait()
		close(all)
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-all:
	case <-limit.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	out, shift := &telemetry.Set{}, zero.Sub(g.epoch)
	for _, m := range g.members {
		if !m.known {
			continue
		}
		switch {
		case !m.over:
			m.note(Stuck)
		case m.source.Reads == 0 && len(m.source.Notes) == 0: // it was named, or it would not be known
			m.note(Nothing, "after", sampled)
		}
		out.Sources = append(out.Sources, m.source)
		for _, one := range m.set.Series {
			for i := range one.Points {
				one.Points[i].At -= shift
			}
			out.Join(one)
		}
	}
	return out
}

// A Target is the server that is measured, and how to reach it.
type Target struct {
	URL      string      // without a route
	Header   http.Header // of questions to it, the key among them
	TLS      *tls.Config
	Dial     func(ctx context.Context, network, address string) (net.Conn, error) // nil: net's
	Proxy    func(*url.URL) (*url.URL, error)                                     // nil: none
	HTTP2    bool
	Secrets  *secret.Set // hidden in messages about sources
	Embedded bool        // it is the engine of this process
	// Live means that values are shown and not kept: none waits until the clock of its source is known well.
	Live bool
}
