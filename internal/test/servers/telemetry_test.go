package servers

import (
	"encoding/csv"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sampled makes a run and returns how many samples were kept, by source and name, and the report.
func sampled(t *testing.T, url string, more ...string) (counts map[string]int, report string) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "runs.db")
	args := append([]string{"bench", "-q", "--url", url, "-c", "4", "--input-len", "20", "--output-len", "16", "-n", "100", "--collect-every", "200ms", "--store", store}, more...)
	out, err := exec.CommandContext(t.Context(), pitot, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	report = string(out)
	rows, err := exec.CommandContext(t.Context(), pitot, "runs", "export", "last", "--telemetry", "-f", "csv", "--store", store).Output()
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(rows))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	counts = map[string]int{}
	for _, row := range table[1:] {
		counts[row[1]+" "+row[2]]++
	}
	return counts, report
}

// wantSamples wants at least two of each.
func wantSamples(t *testing.T, counts map[string]int, report string, source string, names ...string) {
	t.Helper()
	for _, name := range names {
		if counts[source+" "+name] < 2 {
			t.Errorf("%d samples of %s of %s", counts[source+" "+name], name, source)
		}
	}
	if strings.Contains(report, "telemetry from") {
		t.Error("something is wrong with a source")
	}
	if t.Failed() {
		t.Logf("%v\n%s", counts, report)
	}
}

func TestTelemetryOfNodeExporter(t *testing.T) {
	p, program := port(t), part(t, "debian/usr/bin/prometheus-node-exporter")
	answers(t, local(p)+"/metrics", start(t, program, fmt.Sprintf("--web.listen-address=127.0.0.1:%d", p)))
	counts, report := sampled(t, engine(t), "--collect", local(p))
	wantSamples(t, counts, report, strings.TrimPrefix(local(p), "http://"), "host.cpu_time", "host.memory_used", "host.memory_total", "host.context_switches")
}

func TestTelemetryOfLlamaCpp(t *testing.T) {
	counts, report := sampled(t, llama(t))
	wantSamples(t, counts, report, "server", "server.running", "server.waiting", "server.prompt_tokens", "server.output_tokens", "server.steps")
}

// The router's own port of metrics has requests over HTTP, which have no name of Pitot's; the series
// of its workers, which it passes on, have, and are those of the target.
func TestTelemetryOfSGLangRouter(t *testing.T) {
	program, p, metrics := part(t, "venv/bin/sglang-router"), port(t), port(t)
	out := start(t, program, "launch", "--host", "127.0.0.1", "--port", fmt.Sprint(p), "--prometheus-port", fmt.Sprint(metrics),
		"--policy", "round_robin", "--worker-urls", engine(t), engine(t))
	answers(t, local(p)+"/v1/models", out)
	counts, report := sampled(t, local(p), "--tokenizer", "none", "--protocol", "generate", "--collect", local(metrics), "--collect-keep", "smg_*", "--collect", local(p)+"/engine_metrics")
	wantSamples(t, counts, report, strings.TrimPrefix(local(metrics), "http://"), "smg_http_requests_total", "smg_worker_health")
	wantSamples(t, counts, report, "server", "server.running", "server.output_tokens")
}
