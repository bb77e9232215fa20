package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	own "github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// A metricsExporter serves the figures of one run after the other. It is a sink.
//
//	run events ──> metricsExporter ──> GET /metrics
//
// Requests and tokens are counters, latencies histograms, by Pitot's own definitions; telemetry of the run is there
// too, with the prefix pitot_, so that one scrape has both sides. All series have the label run. Between runs there
// are those of the last one.
type metricsExporter struct {
	server http.Server
	done   chan struct{}

	mu      sync.Mutex
	current *figures // nil before the first run
}

// listenMetrics serves on an address, such as 127.0.0.1:9464, until Close.
func listenMetrics(address string, listen func(network, address string) (net.Listener, error)) (*metricsExporter, error) {
	l, err := listen("tcp", address)
	if err != nil {
		return nil, err
	}
	x := &metricsExporter{done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", x.serve)
	x.server = http.Server{Handler: mux, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	go func() {
		defer close(x.done)
		_ = x.server.Serve(&bounded{Listener: l})
	}()
	return x, nil
}

func (x *metricsExporter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := x.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = x.server.Close()
	}
	<-x.done
	return err
}

func (x *metricsExporter) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	x.mu.Lock()
	now := x.current
	x.mu.Unlock()
	if now != nil {
		now.set.WritePrometheus(w)
	}
}

func (x *metricsExporter) Handle(e run.Event) error {
	x.mu.Lock()
	now := x.current
	x.mu.Unlock()
	switch e := e.(type) {
	case run.Starting:
		x.mu.Lock()
		x.current = newFigures(*e.Run, e.Load, e.Progress)
		x.mu.Unlock()
	case run.Recorded:
		now.record(e.Record)
	case run.Sampled:
		now.sampled(e.Values)
	case run.Ended:
		now.end()
	}
	return nil
}

type figures struct {
	set    *metrics.Set
	label  string // run="..."
	stream bool

	prompt, output        *metrics.Counter
	ttft, tpot, itl, e2el *metrics.PrometheusHistogram
	lateness              *metrics.PrometheusHistogram

	mu      sync.Mutex // guards the fields below
	over    bool
	samples map[string]float64 // by name with labels
}

// bounds of the histograms of latencies, in seconds: 1, 2 and 5 times powers of ten.
var bounds = func() (all []float64) {
	for _, decade := range []float64{1e-3, 1e-2, 1e-1, 1, 10, 100} {
		all = append(all, decade, 2*decade, 5*decade)
	}
	return all
}()

func newFigures(r trace.Run, load run.PlannedWork, p *driver.Progress) *figures {
	f := &figures{
		set: metrics.NewSet(), label: label("run", r.ID), stream: r.Plan.Stream,
		samples: map[string]float64{},
	}
	histogram := func(name string) *metrics.PrometheusHistogram {
		return f.set.NewPrometheusHistogramExt(f.name(name), bounds)
	}
	f.ttft, f.tpot, f.itl, f.e2el = histogram("pitot_ttft_seconds"), histogram("pitot_tpot_seconds"), histogram("pitot_itl_seconds"), histogram("pitot_e2el_seconds")
	f.lateness = histogram("pitot_send_lateness_seconds")
	f.prompt, f.output = f.set.NewCounter(f.name("pitot_prompt_tokens_total")), f.set.NewCounter(f.name("pitot_output_tokens_total"))
	constant := func(name string, v float64, labels ...string) {
		f.set.NewGauge(f.name(name, labels...), func() float64 { return v })
	}
	constant("pitot_run_info", 1, label("name", r.Name), label("model", r.Plan.Model), label("kind", string(r.Kind)))
	constant("pitot_requests_planned", float64(load.Requests))
	f.set.NewGauge(f.name("pitot_up"), func() float64 {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.over {
			return 0
		}
		return 1
	})
	if p != nil {
		f.set.NewGauge(f.name("pitot_requests_in_flight"), func() float64 { return float64(p.Snapshot().InFlight()) })
		f.set.NewGauge(f.name("pitot_run_seconds"), func() float64 { return max(0, p.Snapshot().At.Seconds()) })
		f.set.NewGauge(f.name("pitot_received_tokens_total"), func() float64 { return float64(p.Snapshot().Tokens) })
	}
	return f
}

// label is name="value" as the format has it.
func label(name, value string) string {
	return fmt.Sprintf(`%s="%s"`, name, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(value, "\ufffd")))
}

func (f *figures) name(name string, labels ...string) string {
	return name + "{" + strings.Join(append([]string{f.label}, labels...), ",") + "}"
}

// record adds a request that is done.
func (f *figures) record(r *trace.Record) {
	f.finished(r.Class).Inc()
	if r.Sent.Happened() && r.Due.Happened() {
		f.lateness.Update(max(0, own.Between(max(r.Due, r.Free), r.Sent)))
	}
	if !r.OK() || !r.Sent.Happened() {
		return
	}
	f.prompt.Add(max(0, r.PromptTokens))
	f.output.Add(max(0, r.OutputTokens))
	ttft, tpot, e2el := own.PitotLatencies(r, f.stream)
	for histogram, v := range map[*metrics.PrometheusHistogram]float64{f.ttft: ttft, f.tpot: tpot, f.e2el: e2el} {
		if !math.IsNaN(v) {
			histogram.Update(v)
		}
	}
	if f.stream {
		for _, gap := range own.PitotGaps(r) {
			f.itl.Update(gap)
		}
	}
}

// finished counts requests of a class; that of those that succeeded is ok.
func (f *figures) finished(c trace.Class) *metrics.Counter {
	return f.set.GetOrCreateCounter(f.name("pitot_requests_done_total", label("class", string(cmp.Or(c, "ok")))))
}

// mostSamples bounds the series of telemetry.
const mostSamples = 4096

func (f *figures) sampled(values []telemetry.Value) {
	for _, name := range f.take(values) { // not under the lock that gauges take while the set is written
		f.set.GetOrCreateGauge(name, func() float64 {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.samples[name]
		})
	}
}

// take keeps values, and returns the names that are new.
func (f *figures) take(values []telemetry.Value) (fresh []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range values {
		if _, known := telemetry.Known(v.Name); !known {
			continue // its server exposes it
		}
		name := f.sampleName(v)
		if _, had := f.samples[name]; !had {
			if len(f.samples) >= mostSamples {
				continue
			}
			fresh = append(fresh, name)
		}
		f.samples[name] = v.Value
	}
	return fresh
}

// sampleName is pitot_server_kv_use{source="server"}, for instance; of a counter with _total.
func (f *figures) sampleName(v telemetry.Value) string {
	name := "pitot_" + strings.ReplaceAll(v.Name, ".", "_")
	if v.Kind == telemetry.Counter {
		name += "_total"
	}
	labels := []string{label("source", v.Source)}
	var keys []string
	for k := range v.Labels {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		labels = append(labels, label(plainMetric(k), v.Labels[k]))
	}
	return f.name(name, labels...)
}

// plainMetric replaces characters of a label's name that the format forbids.
func plainMetric(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, "x_"+name)[2:]
}

func (f *figures) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

// mostConnections are served at a time. Each takes a file descriptor that the run may need.
const mostConnections = 16

// A bounded listener closes connections beyond mostConnections at once.
type bounded struct {
	net.Listener
	open atomic.Int64
}

// Accept returns the next connection that there is room for.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= mostConnections {
			return &countedMetric{Conn: c, closed: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		_ = c.Close()
	}
}

// A countedMetric is a connection that makes room when it is closed.
type countedMetric struct {
	net.Conn
	closed func()
}

func (c *countedMetric) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
