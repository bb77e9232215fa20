package cli

import (
	"bytes"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// answered is a request of 100 ms to the first of five tokens, 20 ms apart.
func answered(index int) *trace.Record {
	r := trace.NewRecord(index)
	const ms = 1_000_000
	r.Due, r.Released, r.Sent = trace.Instant(index*ms), trace.Instant(index*ms), trace.Instant(index*ms+ms/2)
	r.PromptTokens, r.OutputTokens = 7, 5
	for i := range 5 {
		r.Chunks = append(r.Chunks, trace.Chunk{At: r.Sent + trace.Instant((100+20*i)*ms), Kind: trace.Text, Tokens: 1})
	}
	r.Done = r.Chunks[4].At
	return r
}

// The page is what the reference parser reads, has the figures of the run, and no label breaks
// out of its quotes.
func TestARunIsExposed(t *testing.T) {
	x, err := listenMetrics("127.0.0.1:0", net.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	hostile := "m\"} 9\nevil 1\n# \\"
	made := &trace.Run{ID: "r1", Name: hostile, Kind: trace.Measured, Plan: trace.Load{Model: hostile, Stream: true}}
	_ = x.Handle(run.Starting{Run: made, Load: run.PlannedWork{Requests: 12}})
	for i := range 10 {
		_ = x.Handle(run.Recorded{Record: answered(i)})
	}
	failed := trace.NewRecord(10)
	failed.Class, failed.Due, failed.Sent = trace.Timeout, 0, 1
	_ = x.Handle(run.Recorded{Record: failed})
	gauge := telemetry.NewValue("server", telemetry.ServerKVUse, telemetry.Labels{"a b\"": hostile}, telemetry.Point{At: time.Second, Value: 0.25})
	_ = x.Handle(run.Sampled{Values: []telemetry.Value{gauge, {Key: telemetry.Key{Source: "server", Name: "vllm:unknown"}}}})
	parser := expfmt.NewTextParser(model.LegacyValidation)
	page := x.page(t)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatalf("%v\n%s", err, page)
	}
	for name, want := range map[string]float64{"pitot_prompt_tokens_total": 70, "pitot_output_tokens_total": 50, "pitot_up": 1, "pitot_run_info": 1, "pitot_requests_planned": 12, "pitot_server_kv_use": 0.25} {
		m := families[name].GetMetric()
		if len(m) != 1 || m[0].GetUntyped().GetValue()+m[0].GetGauge().GetValue()+m[0].GetCounter().GetValue() != want {
			t.Errorf("%s: %v, want %v", name, m, want)
		}
	}
	byClass := map[string]float64{}
	for _, m := range families["pitot_requests_done_total"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "class" {
				byClass[l.GetValue()] = m.GetUntyped().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	if byClass["ok"] != 10 || byClass[string(trace.Timeout)] != 1 {
		t.Error(byClass)
	}
	for name, want := range map[string]struct {
		n, sum float64
	}{"pitot_ttft_seconds": {10, 1}, "pitot_itl_seconds": {40, 0.8}, "pitot_e2el_seconds": {10, 1.8}, "pitot_tpot_seconds": {10, 0.2}} {
		n, sum := families[name+"_count"].GetMetric()[0].GetUntyped().GetValue(), families[name+"_sum"].GetMetric()[0].GetUntyped().GetValue()
		if n != want.n || math.Abs(sum-want.sum) > 1e-9 {
			t.Errorf("%s: %v, %v", name, n, sum)
		}
	}
	for name := range families {
		if !strings.HasPrefix(name, "pitot_") {
			t.Errorf("series %s", name)
		}
	}
	_ = x.Handle(run.Ended{Run: made})
	if !strings.Contains(x.page(t), `pitot_up{run="r1"} 0`) {
		t.Error("it is up after its end")
	}
}

func (x *metricsExporter) page(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	x.serve(writer{&out}, nil)
	return out.String()
}

type writer struct{ *bytes.Buffer }

func (writer) Header() http.Header { return http.Header{} }
func (writer) WriteHeader(int)     {}

// Scrapes while records and samples come do not wait for each other.
func TestScrapesInTheMiddle(t *testing.T) {
	x, err := listenMetrics("127.0.0.1:0", net.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	if page := x.page(t); page != "" {
		t.Error("before the first run", page)
	}
	_ = x.Handle(run.Starting{Run: &trace.Run{ID: "r1", Plan: trace.Load{Stream: true}}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			_ = x.Handle(run.Recorded{Record: answered(i)})
			_ = x.Handle(run.Sampled{Values: []telemetry.Value{telemetry.NewValue("s", telemetry.DevicePower, telemetry.Labels{"device": time.Duration(i % 40).String()}, telemetry.Point{Value: 1})}})
		}
	}()
	for range 100 {
		x.page(t)
	}
	<-done
	if n := strings.Count(x.page(t), "pitot_device_power{"); n != 40 {
		t.Errorf("%d devices", n)
	}
}
