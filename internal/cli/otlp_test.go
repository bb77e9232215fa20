package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	service "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// exportTo runs `pitot runs export` against a collector, with headers for it, and returns what is
// printed.
func exportTo(t *testing.T, file string, collector http.HandlerFunc, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	server := httptest.NewServer(collector)
	defer server.Close()
	var out, errs bytes.Buffer
	code = Run(&Process{
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
	run := trace.Run{ID: "run-1", Name: "nightly", Kind: trace.Measured, Started: time.Unix(1000, 0), Plan: trace.Plan{Model: "m"}}
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
