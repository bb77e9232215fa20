package otlp

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Bounds of one request to a collector.
const (
	mostPoints = 4096
	mostBytes  = 1 << 20 // before compression; the last point may pass it
)

// Own is the source of what Pitot knows of the run itself.
const Own = "pitot"

// Progress is what a snapshot says of a run, as values of the source Own.
func Progress(s trace.Snapshot) []telemetry.Value {
	value := func(name, unit string, kind telemetry.Kind, v int) telemetry.Value {
		return telemetry.Value{Key: telemetry.Key{Source: Own, Name: name}, Unit: unit, Kind: kind, Point: telemetry.Point{At: time.Duration(s.At), Value: float64(v)}}
	}
	return []telemetry.Value{
		value("pitot.released", "requests", telemetry.Counter, s.Released),
		value("pitot.done", "requests", telemetry.Counter, s.Done),
		value("pitot.failed", "requests", telemetry.Counter, s.Failed),
		value("pitot.in_flight", "requests", telemetry.Gauge, s.InFlight()),
		value("pitot.output_tokens", "tokens", telemetry.Counter, s.Tokens),
	}
}

// An encoder makes requests of values of one run.
type encoder struct {
	zero     time.Time // the start of the run
	resource []byte    // a Resource
	scope    []byte    // an InstrumentationScope
	counters map[string]*counter
}

// A counter is where the sum of a series began, and its last point.
type counter struct {
	start, at time.Duration
	value     float64
}

func newEncoder(run trace.Run) *encoder {
	resource := []byte{}
	for _, a := range [][2]string{
		{"service.name", "pitot"},
		{"service.version", run.Env.Pitot},
		{"service.instance.id", run.ID},
		{"pitot.run.id", run.ID},
		{"pitot.run.name", run.Name},
		{"pitot.model", run.Plan.Model},
	} {
		if a[1] != "" {
			resource = appendMessage(resource, 1, keyValue(a[0], a[1]))
		}
	}
	scope := appendText(appendText(nil, 1, "pitot"), 2, run.Env.Pitot)
	return &encoder{run.Started, resource, scope, map[string]*counter{}}
}

// A metric is data points of one name.
type metric struct {
	name, unit string
	kind       telemetry.Kind
	points     []byte // NumberDataPoints, field 1 of a Gauge or a Sum
}

// request is an ExportMetricsServiceRequest of the first values, and of how many.
func (e *encoder) request(values []telemetry.Value) (body []byte, n int) {
	var all []*metric
	size := 0
	for size < mostBytes && n < min(mostPoints, len(values)) {
		v := values[n]
		n++
		i := slices.IndexFunc(all, func(m *metric) bool { return m.name == v.Name && m.unit == v.Unit && m.kind == v.Kind })
		if i < 0 {
			i = len(all)
			all = append(all, &metric{name: v.Name, unit: v.Unit, kind: v.Kind})
		}
		before := len(all[i].points)
		all[i].points = appendMessage(all[i].points, 1, e.point(v))
		size += len(all[i].points) - before
	}
	scoped := appendMessage(nil, 1, e.scope)
	for _, m := range all {
		scoped = appendMessage(scoped, 2, m.message())
	}
	of := appendMessage(appendMessage(nil, 1, e.resource), 2, scoped)
	return appendMessage(nil, 1, of), n
}

// Of AggregationTemporality.
const cumulative = 2

// message is a Metric.
func (m *metric) message() []byte {
	known, ok := telemetry.Known(m.name)
	b := appendText(appendText(nil, 1, m.name), 2, known.Doc)
	b = appendText(b, 3, unit(m.unit, ok))
	if m.kind != telemetry.Counter {
		return appendMessage(b, 5, m.points)
	}
	sum := protowire.AppendVarint(protowire.AppendTag(m.points, 2, protowire.VarintType), cumulative)
	return appendMessage(b, 7, protowire.AppendVarint(protowire.AppendTag(sum, 3, protowire.VarintType), 1))
}

// unit is a unit of Pitot's as UCUM writes it: what is counted stands in braces. known says that
// no unit is a ratio, and not unknown.
func unit(u string, known bool) string {
	switch u {
	case "s", "J", "W", "Hz":
		return u
	case "B":
		return "By"
	case "°C":
		return "Cel"
	case "":
		if known {
			return "1"
		}
		return ""
	}
	return "{" + strings.Map(func(r rune) rune {
		if r < '!' || r > '~' || r == '{' || r == '}' {
			return '_' // UCUM is printable ASCII
		}
		return r
	}, u) + "}"
}

// point is a NumberDataPoint.
func (e *encoder) point(v telemetry.Value) (b []byte) {
	for _, name := range slices.Sorted(maps.Keys(v.Labels)) {
		b = appendMessage(b, 7, keyValue(name, v.Labels[name]))
	}
	b = appendMessage(b, 7, keyValue("pitot.source", v.Source))
	if v.Kind == telemetry.Counter {
		b = e.appendInstant(b, 2, e.start(v))
	}
	b = e.appendInstant(b, 3, v.At)
	return protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), math.Float64bits(v.Value))
}

// start is since when the value of a counter adds up.
func (e *encoder) start(v telemetry.Value) time.Duration {
	key := v.String()
	c := e.counters[key]
	switch {
	case c == nil:
		c = &counter{start: v.At}
		if v.Source == Own {
			c.start = 0
		}
		e.counters[key] = c
	case v.Value < c.value:
		c.start = c.at
	}
	c.at, c.value = v.At, v.Value
	return c.start
}

func (e *encoder) appendInstant(b []byte, field protowire.Number, at time.Duration) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), uint64(e.zero.Add(at).UnixNano()))
}

// keyValue is a KeyValue whose value is a string.
func keyValue(name, value string) []byte {
	return appendMessage(appendText(nil, 1, name), 2, appendText(nil, 1, value))
}

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}

// appendText appends a string, in UTF-8 as protobuf wants it; nothing if it is empty.
func appendText(b []byte, field protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), strings.ToValidUTF8(text, "�"))
}

// fields calls see with each field of a message whose value is a number or bytes, as far as it
// can be read.
func fields(b []byte, see func(field protowire.Number, number uint64, text []byte)) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		var number uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return
		}
		b = b[n:]
		see(field, number, text)
	}
}
