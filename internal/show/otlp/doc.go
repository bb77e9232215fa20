// Package otlp sends samples to a collector of OpenTelemetry: OTLP metrics over HTTP, as protobuf.
//
// Names are those of package telemetry, units as UCUM writes them. A gauge is a gauge, a counter
// a monotonic cumulative sum whose start is its first sample, or after a restart the last
// one before it. The labels of a series are attributes of its data points, with the source as
// pitot.source; the run is the resource.
//
// The few messages are written field by field (google.golang.org/protobuf/encoding/protowire): the
// generated types would add 120 kB to the binary, those with the service of gRPC 2 MB. Tests read the
// messages with the generated types.
package otlp
