package otlp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	service "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// A collector is a fake one: it reads requests by the generated types, and answers in turn, then
// with an empty success.
type collector struct {
	got     []*service.ExportMetricsServiceRequest
	bytes   []int
	at      []time.Time
	header  http.Header
	path    string
	answers []answer
}

// An answer is what a collector says: a status, Retry-After, and a message or text.
type answer struct {
	status  int
	after   string
	message proto.Message
	text    string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.header, c.path = r.Header, r.URL.Path
	c.at = append(c.at, time.Now())
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(z)
	request := new(service.ExportMetricsServiceRequest)
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	if err != nil || len(request.ProtoReflect().GetUnknown()) > 0 {
		http.Error(w, fmt.Sprint("cannot read: ", err), http.StatusBadRequest)
		return
	}
	a := answer{status: http.StatusOK, message: &service.ExportMetricsServiceResponse{}}
	if len(c.answers) > 0 {
		a, c.answers = c.answers[0], c.answers[1:]
	}
	if a.status == http.StatusOK {
		c.got, c.bytes = append(c.got, request), append(c.bytes, len(body))
	}
	if a.after != "" {
		w.Header().Set("Retry-After", a.after)
	}
	text := []byte(a.text)
	if a.message != nil {
		w.Header().Set("Content-Type", "application/x-protobuf")
		text, _ = proto.Marshal(a.message)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(text)
}

func (c *collector) points() (n int) {
	for _, r := range c.got {
		for _, m := range r.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			n += len(m.GetGauge().GetDataPoints()) + len(m.GetSum().GetDataPoints())
		}
	}
	return n
}

var run = trace.Run{ID: "run-1", Name: "nightly", Started: time.Unix(1000, 0), Plan: trace.Load{Model: "m/x"}, Env: trace.Environment{Pitot: "1.2"}}

// with lets do have an exporter to a collector, in virtual time.
func with(t *testing.T, c http.Handler, do func(t *testing.T, e *Exporter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		server := http.Server{Handler: c}
		go func() { _ = server.Serve(l) }()
		defer server.Close()
		to, err := Endpoint("http://user:hidden@collector")
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(to, run, Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx, "", "") }, Header: http.Header{"X-Tenant": {"a"}}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		do(t, e)
	})
}

func second(s int, v float64) telemetry.Point {
	return telemetry.Point{At: time.Duration(s) * time.Second, Value: v}
}

// attributes are those of a point or a resource.
func attributes(all []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		out[a.Key] = a.Value.GetStringValue()
	}
	return out
}

func nano(s int) uint64 { return uint64(1000+s) * 1e9 }

func TestWhatACollectorReads(t *testing.T) {
	c := new(collector)
	gpu := telemetry.Labels{"device": "0", "bad": "\xff"}
	values := append([]telemetry.Value{
		telemetry.Of("gpu", telemetry.DevicePower, gpu, second(-1, 300.5)),
		telemetry.Of("gpu", telemetry.DeviceEnergy, gpu, second(-1, 50)),
		telemetry.Of("gpu", telemetry.DeviceEnergy, gpu, second(0, 80)),
		telemetry.Of("gpu", telemetry.DeviceEnergy, gpu, second(1, 7)), // restarted after 0 s
		telemetry.Of("gpu", telemetry.DeviceEnergy, gpu, second(2, 9)),
		telemetry.Of("gpu", telemetry.DevicePower, gpu, second(0, math.NaN())),
		telemetry.Of("server", telemetry.ServerKVUse, nil, second(0, 0.5)),
		{Key: telemetry.Key{Source: "server", Name: "own:x"}, Kind: telemetry.Gauge, Point: second(0, 1)},
	}, Progress(trace.Snapshot{At: 2e9, Released: 5, Done: 3, Failed: 1, Tokens: 100})...)
	with(t, c, func(t *testing.T, e *Exporter) {
		for _, some := range [][]telemetry.Value{values[:4], values[4:], nil} { // a restart is known in the next request
			out, err := e.Send(t.Context(), some)
			if err != nil || out != (Outcome{Sent: len(some)}) {
				t.Errorf("%+v, %v", out, err)
			}
		}
	})
	if c.path != "/v1/metrics" || c.header.Get("Content-Type") != "application/x-protobuf" || c.header.Get("X-Tenant") != "a" || c.header.Get("User-Agent") != "pitot/1.2" || c.header.Get("Authorization") == "" {
		t.Errorf("%s %v", c.path, c.header)
	}
	if len(c.got) != 2 || c.points() != len(values) {
		t.Fatalf("%d requests, %d points", len(c.got), c.points())
	}
	first := c.got[0].ResourceMetrics[0]
	want := map[string]string{"service.name": "pitot", "service.version": "1.2", "service.instance.id": "run-1", "pitot.run.id": "run-1", "pitot.run.name": "nightly", "pitot.model": "m/x"}
	if d := cmp.Diff(want, attributes(first.Resource.Attributes)); d != "" || first.ScopeMetrics[0].Scope.Name != "pitot" {
		t.Error(d)
	}
	power, energy := first.ScopeMetrics[0].Metrics[0], first.ScopeMetrics[0].Metrics[1]
	if p := power.GetGauge().DataPoints[0]; power.Name != "device.power" || power.Unit != "W" || power.Description == "" || p.GetAsDouble() != 300.5 || p.TimeUnixNano != nano(-1) || p.StartTimeUnixNano != 0 {
		t.Errorf("%v", power)
	}
	if d := cmp.Diff(map[string]string{"device": "0", "bad": "�", "pitot.source": "gpu"}, attributes(power.GetGauge().DataPoints[0].Attributes)); d != "" {
		t.Error(d)
	}
	sum := energy.GetSum()
	if energy.Unit != "J" || !sum.IsMonotonic || sum.AggregationTemporality != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
		t.Errorf("%v", energy)
	}
	var starts []uint64
	for _, p := range append(sum.DataPoints, c.got[1].ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetSum().DataPoints...) {
		starts = append(starts, p.StartTimeUnixNano)
	}
	if d := cmp.Diff([]uint64{nano(-1), nano(-1), nano(0), nano(0)}, starts); d != "" {
		t.Error(d)
	}
	checkSecond(t, c.got[1].ResourceMetrics[0].ScopeMetrics[0].Metrics)
}

// checkSecond looks at the metrics of the second request.
func checkSecond(t *testing.T, all []*metrics.Metric) {
	t.Helper()
	var told []string
	for _, m := range all {
		told = append(told, m.Name+" "+m.Unit)
	}
	if d := cmp.Diff([]string{"device.energy J", "device.power W", "server.kv_use 1", "own:x ", "pitot.released {requests}", "pitot.done {requests}", "pitot.failed {requests}", "pitot.in_flight {requests}", "pitot.output_tokens {tokens}"}, told); d != "" {
		t.Error(d)
	}
	if p := all[1].GetGauge().DataPoints[0]; !math.IsNaN(p.GetAsDouble()) {
		t.Errorf("%v", p)
	}
	if p := all[8].GetSum().DataPoints[0]; p.StartTimeUnixNano != nano(0) || p.TimeUnixNano != nano(2) || p.GetAsDouble() != 100 {
		t.Errorf("%v", p)
	}
	if p := all[7].GetGauge().DataPoints[0]; p.GetAsDouble() != 2 {
		t.Errorf("%v", p)
	}
}

// Many values are several requests, each bounded by points and by bytes.
func TestRequestsAreBounded(t *testing.T) {
	long := telemetry.Labels{"text": strings.Repeat("x", 100_000)}
	for name, tt := range map[string]struct {
		labels   telemetry.Labels
		values   int
		requests int
	}{"points": {nil, 2*mostPoints + 1, 3}, "bytes": {long, 30, 3}} {
		t.Run(name, func(t *testing.T) {
			c := new(collector)
			var values []telemetry.Value
			for i := range tt.values {
				values = append(values, telemetry.Of("s", telemetry.ServerRunning, tt.labels, second(i, 1)))
			}
			with(t, c, func(t *testing.T, e *Exporter) {
				if out, err := e.Send(t.Context(), values); err != nil || out.Sent != tt.values {
					t.Errorf("%+v, %v", out, err)
				}
			})
			if len(c.got) != tt.requests || c.points() != tt.values {
				t.Errorf("%d requests, %d points", len(c.got), c.points())
			}
			for _, n := range c.bytes {
				if n > mostBytes+200_000 {
					t.Errorf("%d bytes", n)
				}
			}
		})
	}
}

// A set is sent whole, also beyond one request, and up to the first error.
func TestASetIsSent(t *testing.T) {
	set := new(telemetry.Set)
	for i := range mostPoints {
		for _, source := range []string{"a", "b"} {
			set.Add(telemetry.Of(source, telemetry.HostSwitches, nil, second(i, float64(i))))
		}
	}
	set.Add(telemetry.Of("c", telemetry.HostSwitches, nil, second(0, 1)))
	c := new(collector)
	with(t, c, func(t *testing.T, e *Exporter) {
		if out, err := e.SendAll(t.Context(), set.Values()); err != nil || out.Sent != 2*mostPoints+1 || c.points() != out.Sent {
			t.Errorf("%+v, %v", out, err)
		}
	})
	c = &collector{answers: []answer{{status: 200}, {status: 500}}}
	with(t, c, func(t *testing.T, e *Exporter) {
		if out, err := e.SendAll(t.Context(), set.Values()); err == nil || out.Sent != mostPoints || len(c.at) != 2 {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

// What a collector answers: a wait that is kept, and ends; what it took in part; an error in one
// line, in its own words.
func TestAnswers(t *testing.T) {
	busy := func(after string) answer {
		return answer{status: http.StatusServiceUnavailable, after: after, text: "full"}
	}
	partly := &service.ExportMetricsServiceResponse{PartialSuccess: &service.ExportMetricsPartialSuccess{RejectedDataPoints: 1, ErrorMessage: "too\nold"}}
	for name, tt := range map[string]struct {
		answers  []answer
		out      Outcome
		fault    string
		took     time.Duration
		requests int
	}{
		"partial success":   {[]answer{{status: 200, message: partly}}, Outcome{2, 1, "too old"}, "", 0, 1},
		"a warning":         {[]answer{{status: 200, message: &service.ExportMetricsServiceResponse{PartialSuccess: &service.ExportMetricsPartialSuccess{ErrorMessage: "use gRPC"}}}}, Outcome{2, 0, "use gRPC"}, "", 0, 1},
		"not protobuf":      {[]answer{{status: 200, text: "<html>"}}, Outcome{Sent: 2}, "", 0, 1},
		"busy":              {[]answer{busy("7"), {status: 429, after: "0"}}, Outcome{Sent: 2}, "", 7 * time.Second, 3},
		"busy until":        {[]answer{busy("Sat, 01 Jan 2000 00:00:05 GMT")}, Outcome{Sent: 2}, "", 5 * time.Second, 2},
		"busy without time": {[]answer{busy(""), busy("soon")}, Outcome{Sent: 2}, "", 3 * time.Second, 3},
		"always busy":       {[]answer{busy("1"), busy("1"), busy("1"), busy("1")}, Outcome{}, "503 Service Unavailable: full", 3 * time.Second, 4},
		"busy for long":     {[]answer{busy("9999999999")}, Outcome{}, "503 Service Unavailable: full", 0, 1},
		"wrong":             {[]answer{{status: 400, message: &common.KeyValueList{}}}, Outcome{}, "400 Bad Request", 0, 1},
		"wrong, and why":    {[]answer{{status: 400, message: &common.InstrumentationScope{Version: "bad\x1b[2J name\n\n" + strings.Repeat("y", 300)}}}, Outcome{}, "400 Bad Request: bad [2J name y", 0, 1},
		"not there":         {[]answer{{status: 404, text: "no\n" + strings.Repeat("x ", 40_000)}}, Outcome{}, "404 Not Found: no x x", 0, 1},
		"elsewhere":         {[]answer{{status: 302}}, Outcome{}, "302 Found", 0, 1},
		"its own fault":     {[]answer{{status: 500}}, Outcome{}, "500 Internal Server Error", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := &collector{answers: tt.answers}
			with(t, c, func(t *testing.T, e *Exporter) {
				begin := time.Now()
				out, err := e.Send(t.Context(), []telemetry.Value{telemetry.Of("s", telemetry.ServerRunning, nil, second(0, 1)), telemetry.Of("s", telemetry.ServerWaiting, nil, second(0, 1))})
				said := fmt.Sprint(err)
				if (err == nil) != (tt.fault == "") || !strings.Contains(said, tt.fault) || strings.Contains(said, "hidden") || strings.ContainsAny(said, "\n\x1b") || len(said) > 400 {
					t.Errorf("error %q", said)
				}
				if out != tt.out || time.Since(begin) != tt.took || len(c.at) != tt.requests {
					t.Errorf("%+v after %v, %d requests", out, time.Since(begin), len(c.at))
				}
			})
		})
	}
}

// A collector that does not answer is given up, and an end of the run is not waited for.
func TestACollectorThatHangs(t *testing.T) {
	one := []telemetry.Value{telemetry.Of("s", telemetry.ServerRunning, nil, second(0, 1))}
	hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // from then on the server sees that the client leaves
		<-r.Context().Done()
	})
	with(t, hang, func(t *testing.T, e *Exporter) {
		begin := time.Now()
		if _, err := e.Send(t.Context(), one); err == nil || !strings.HasPrefix(err.Error(), "collector http://user:xxxxx@collector/v1/metrics: ") || time.Since(begin) != patience {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
	})
	with(t, &collector{answers: []answer{{status: 503, after: "30"}}}, func(t *testing.T, e *Exporter) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := e.Send(ctx, one); err == nil || strings.Contains(err.Error(), "\n") || time.Since(begin) != 2*time.Second {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
	})
}

func TestEndpoint(t *testing.T) {
	for text, want := range map[string]string{
		"http://h:4318": "http://h:4318/v1/metrics", "https://h/": "https://h/v1/metrics", "http://h/api/v1/otlp/v1/metrics?x=1": "http://h/api/v1/otlp/v1/metrics?x=1",
		"h:4318": "", "": "", "grpc://h": "", "http://": "", "http://a b": "",
	} {
		u, err := Endpoint(text)
		if (err == nil) != (want != "") || err == nil && u.String() != want {
			t.Errorf("%q: %v, %v", text, u, err)
		}
	}
	if _, err := New(nil, trace.Run{ID: "a"}, Options{}); err == nil || !strings.Contains(err.Error(), "run a: when it began is not known") {
		t.Error(err)
	}
}

func TestHeaders(t *testing.T) {
	h, err := Headers(" api-key = a%20b,, x=1=2")
	if d := cmp.Diff(http.Header{"Api-Key": {"a b"}, "X": {"1=2"}}, h); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, text := range []string{"a", "a=%zz"} {
		if _, err := Headers(text); err == nil || strings.Contains(err.Error(), "zz") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestUnits(t *testing.T) {
	for u, want := range map[string]string{"B": "By", "°C": "Cel", "requests": "{requests}", "s": "s", "a b{": "{a_b_}"} {
		if got := unit(u, false); got != want {
			t.Errorf("%s is %s", u, got)
		}
	}
}

// Whatever a collector answers is read to its end or to its first mistake.
func FuzzPartial(f *testing.F) {
	b, _ := proto.Marshal(&service.ExportMetricsServiceResponse{PartialSuccess: &service.ExportMetricsPartialSuccess{RejectedDataPoints: -5, ErrorMessage: "x"}})
	f.Add(b)
	f.Fuzz(func(t *testing.T, body []byte) {
		rejected, message := partial(body)
		if rejected < 0 || rejected > mostPoints || len(message) > 1000 || strings.ContainsAny(message, "\n\x1b") {
			t.Errorf("%d %q", rejected, message)
		}
	})
}
