package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	service "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// exportTo runs `pitot runs export` against a collector, with headers for it, and returns what is
// printed.
func exportTo(t *testing.T, file string, collector http.HandlerFunc, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	server := httptest.NewServer(collector)
	defer server.Close()
	var out, errs bytes.Buffer
	code = Run(&session.Session{
		Args: append([]string{"runs", "export", "--store", file, "--otlp", server.URL}, args...), Stdout: &out, Stderr: &errs,
		Env: func(name string) (string, bool) {
			return "Authorization=Bearer%20hushhush1234", name == "OTEL_EXPORTER_OTLP_HEADERS"
		},
		Signals: make(chan os.Signal), Listen: net.Listen,
	})
	return code, out.String(), strings.ReplaceAll(errs.String(), server.URL, "URL")
}

func TestARunIsSentToACollector(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := trace.Run{ID: "run-1", Name: "nightly", Kind: trace.Measured, Started: time.Unix(1000, 0), Plan: trace.Load{Model: "m"}}
	w, err := s.Create(run, store.Owner{Progress: func() trace.Snapshot { return trace.Snapshot{At: 5, Released: 2, Done: 1} }})
	if err != nil {
		t.Fatal(err)
	}
	w.Sample(nil, []telemetry.Value{telemetry.Of("gpu", telemetry.DevicePower, nil, telemetry.Point{At: 7, Value: 300})})
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	var got []string
	code, stdout, stderr := exportTo(t, file, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/metrics" || r.Header.Get("Authorization") != "Bearer hushhush1234" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(z)
		request := new(service.ExportMetricsServiceRequest)
		if err := proto.Unmarshal(body, request); err != nil {
			t.Fatal(err)
		}
		for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			got = append(got, m.Name)
		}
	})
	if d := cmp.Diff([]string{"pitot.released", "pitot.done", "pitot.failed", "pitot.in_flight", "pitot.output_tokens", "device.power"}, got); d != "" || code != exitOK || stdout != "run run-1: 6 samples sent\n" || stderr != "" {
		t.Errorf("code %d: %s%s%s", code, stdout, stderr, d)
	}
	partly, _ := proto.Marshal(&service.ExportMetricsServiceResponse{PartialSuccess: &service.ExportMetricsPartialSuccess{RejectedDataPoints: 2, ErrorMessage: "too old"}})
	code, stdout, stderr = exportTo(t, file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(partly) })
	if code != exitFailed || stdout != "run run-1: 4 samples sent\n" || stderr != "pitot: collector URL/v1/metrics rejected 2 samples: too old\n" {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = exportTo(t, file, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	})
	if code != exitFailed || stdout != "" || stderr != "pitot: collector URL/v1/metrics: 401 Unauthorized: no such key: ***\n" {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
}

// otlpPoint is one data point that a collector got.
type otlpPoint struct {
	name, source string
	at           time.Duration
	value        float64
}

// collecting is a collector in memory, which keeps what it gets.
func collecting(t *testing.T, l net.Listener, answer http.HandlerFunc) (got func() []otlpPoint, end func()) {
	var mu sync.Mutex
	var all []otlpPoint
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, _ := io.ReadAll(z)
		request := new(service.ExportMetricsServiceRequest)
		if err := proto.Unmarshal(body, request); err != nil {
			t.Error(err)
		}
		mu.Lock()
		for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range append(m.GetGauge().GetDataPoints(), m.GetSum().GetDataPoints()...) {
				source := ""
				for _, a := range p.Attributes {
					if a.Key == "pitot.source" {
						source = a.Value.GetStringValue()
					}
				}
				all = append(all, otlpPoint{m.Name, source, time.Duration(p.TimeUnixNano), p.GetAsDouble()})
			}
		}
		mu.Unlock()
		if answer != nil {
			answer(w, r)
		}
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	got = func() []otlpPoint {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
	return got, func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
}

// startMemEngine starts an engine in memory that answers 6 tokens in 100 ms.
func startMemEngine(t *testing.T) (l *memnet.Listener, stop func()) {
	server, err := apiserver.New(apiserver.Config{Latency: engine.Latency{TTFT: arrival.FixedDuration(50 * time.Millisecond), ITL: arrival.FixedDuration(10 * time.Millisecond)}})
	if err != nil {
		t.Fatal(err)
	}
	l = memnet.Listen()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, nil) }()
	return l, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// sentLive makes a run of 5 s whose collector is at to, and returns what it took.
func sentLive(t *testing.T, to *memnet.Listener, more ...string) (v *virtual, code int, took time.Duration) {
	v = newVirtual(t, append([]string{"bench", "-q", "--url", "http://engine:80", "--collect", "http://engine:80", "-n", "50", "-c", "1", "--output-len", "6", "--otlp", "http://collector:4318", "--warmup", "0", "--ready-timeout", "0"}, more...)...)
	engine, stop := startMemEngine(t)
	defer stop()
	v.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "collector:") {
			return to.Dial(ctx, network, address)
		}
		return engine.Dial(ctx, network, address)
	}
	began := time.Now()
	code = Run(v.Session)
	return v, code, time.Since(began)
}

// While a run goes on its collector gets the samples and the progress, and at its end the rest: all
// that the store has.
func TestARunIsSentWhileItGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := memnet.Listen()
		got, end := collecting(t, to, nil)
		defer end()
		var midway atomic.Int64
		time.AfterFunc(3500*time.Millisecond, func() { midway.Store(int64(len(got()))) })
		v, code, _ := sentLive(t, to)
		if code != exitOK || v.stderr.String() != "" {
			t.Fatalf("code %d: %s", code, v.stderr.String())
		}
		kept, sampled, last := v.last(t), 0, otlpPoint{}
		for _, p := range got() {
			if p.source == "server" {
				sampled++
			}
			if p.name == "pitot.done" && p.at >= last.at {
				last = p
			}
		}
		if n := kept.Telemetry.Points(); n == 0 || sampled != n || last.value != 50 || midway.Load() == 0 || int(midway.Load()) >= len(got()) {
			t.Errorf("%d samples sent of %d, %v done; %d points midway of %d", sampled, n, last.value, midway.Load(), len(got()))
		}
	})
}

// A collector that hangs, that refuses or that is not there holds up nothing that is measured, and is
// one line, and one that tells what it lacks; the run is whole and succeeds.
func TestACollectorNeverFailsARun(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		said   string
		within time.Duration
	}{
		"refuses": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no room", http.StatusBadRequest) }, "400 Bad Request: no room", 6 * time.Second},
		"hangs":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "context deadline exceeded", 17 * time.Second},
		"gone":    {nil, "connection refused", 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := memnet.Listen()
				if c.answer != nil {
					_, end := collecting(t, to, c.answer)
					defer end()
				} else if err := to.Close(); err != nil {
					t.Fatal(err)
				}
				v, code, took := sentLive(t, to)
				said := strings.Split(strings.TrimSpace(v.stderr.String()), "\n")
				if code != exitOK || len(said) != 2 || !strings.HasPrefix(said[0], "pitot: collector http://collector:4318/v1/metrics: ") || !strings.Contains(said[0], c.said) {
					t.Errorf("code %d: %q", code, said)
				}
				run := v.last(t)
				if !strings.Contains(said[len(said)-1], " samples not sent; `pitot runs export "+run.Run.ID+" --otlp http://collector:4318/v1/metrics` sends all that was kept") {
					t.Errorf("%q", said)
				}
				if len(run.Records) != 50 || run.Run.End > trace.Instant(5100*time.Millisecond) || took > c.within {
					t.Errorf("%d requests in %v, all in %v", len(run.Records), run.Run.End, took)
				}
			})
		})
	}
}
