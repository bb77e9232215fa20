package runs

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// sampled are runs with two series, with nothing, and with a series of a run whose start nobody
// knows.
func sampled() Streams {
	set := new(telemetry.Set)
	set.Add(telemetry.NewValue("gpu", telemetry.DevicePower, telemetry.Labels{"device": "0", "reason": `a,"b"`}, telemetry.Point{At: -1500 * time.Millisecond, Value: 300.25}))
	set.Add(telemetry.NewValue("gpu", telemetry.DevicePower, telemetry.Labels{"device": "0", "reason": `a,"b"`}, telemetry.Point{At: 1, Value: math.NaN()}))
	set.Add(telemetry.Value{Key: telemetry.Key{Source: "server", Name: "own"}, Kind: telemetry.Counter, Point: telemetry.Point{Value: 1e21}})
	other := new(telemetry.Set)
	other.Add(telemetry.Value{Key: telemetry.Key{Source: "s", Name: "n"}, Kind: telemetry.Gauge, Point: telemetry.Point{Value: math.Inf(-1)}})
	return streams(&trace.Trace{Run: trace.Run{ID: "a", Started: time.Unix(5, 0)}, Telemetry: set}, &trace.Trace{Run: trace.Run{ID: "b"}}, &trace.Trace{Run: trace.Run{ID: "c"}, Telemetry: other})
}

func TestExportTelemetry(t *testing.T) {
	const lines = `{"run":"a","source":"gpu","name":"device.power","labels":{"device":"0","reason":"a,\"b\""},"unit":"W","kind":"gauge","at_s":-1.5,"time":"1970-01-01T00:00:03.5Z","value":300.25}
{"run":"a","source":"gpu","name":"device.power","labels":{"device":"0","reason":"a,\"b\""},"unit":"W","kind":"gauge","at_s":1e-9,"time":"1970-01-01T00:00:05.000000001Z","value":"NaN"}
{"run":"a","source":"server","name":"own","labels":{},"unit":"","kind":"counter","at_s":0,"time":"1970-01-01T00:00:05Z","value":1e+21}
{"run":"c","source":"s","name":"n","labels":{},"unit":"","kind":"gauge","at_s":0,"time":null,"value":"-Inf"}
`
	const table = `run,source,name,labels,unit,kind,at_s,time,value
a,gpu,device.power,"device=""0"",reason=""a,\""b\""""",W,gauge,-1.5,1970-01-01T00:00:03.5Z,300.25
a,gpu,device.power,"device=""0"",reason=""a,\""b\""""",W,gauge,0.000000001,1970-01-01T00:00:05.000000001Z,NaN
a,server,own,,,counter,0,1970-01-01T00:00:05Z,1e+21
c,s,n,,,gauge,0,,-Inf
`
	array := "[\n" + string(bytes.ReplaceAll([]byte(lines[:len(lines)-1]), []byte("\n"), []byte(",\n"))) + "\n]\n"
	for f, want := range map[Format]string{JSONL: lines, CSV: table, JSON: array} {
		var b bytes.Buffer
		if err := ExportTelemetry(&b, sampled(), f); err != nil {
			t.Fatal(f, err)
		}
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("%s: %s", f, d)
		}
	}
	var none bytes.Buffer
	if err := ExportTelemetry(&none, streams(), JSON); err != nil || none.String() != "[]\n" {
		t.Errorf("%v: %q", err, none.String())
	}
	broken := func(yield func(Stream, error) bool) { yield(Stream{}, io.ErrUnexpectedEOF) }
	for _, f := range []Format{JSON, JSONL, CSV, Parquet} {
		if err := ExportTelemetry(io.Discard, broken, f); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", f, err)
		}
	}
	if ExportTelemetry(io.Discard, streams(), "xml") == nil {
		t.Error("xml was written")
	}
}

func TestTelemetryInParquet(t *testing.T) {
	var b bytes.Buffer
	if err := ExportTelemetry(&b, sampled(), Parquet); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[sampleRow](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(rows) != 4 {
		t.Fatal(err, rows)
	}
	if !math.IsNaN(rows[1].Value) || rows[1].Time != 5e9+1 || rows[3].Time != 0 {
		t.Errorf("%+v", rows)
	}
	want := sampleRow{"a", "gpu", "device.power", map[string]string{"device": "0", "reason": `a,"b"`}, "W", "gauge", -1.5, 35e8, 300.25}
	if d := cmp.Diff(want, rows[0]); d != "" {
		t.Error(d)
	}
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if text := file.Schema().String(); !bytes.Contains([]byte(text), []byte("optional int64 time (TIMESTAMP(isAdjustedToUTC=true,unit=NANOS))")) {
		t.Error(text)
	}
}
