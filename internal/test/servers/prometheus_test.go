package servers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/test/devices"
)

// A dashboard is docs/grafana.json, as far as it asks something.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

const scraping = `global: {scrape_interval: 1s}
scrape_configs:
- job_name: pitot
  static_configs: [{targets: ["TARGET"]}]
`

// prometheus scrapes an address once a second.
func prometheus(t *testing.T, target string) (base string) {
	t.Helper()
	p, program, dir := port(t), part(t, "debian/usr/bin/prometheus"), t.TempDir()
	out := start(t, program, "--config.file="+config(t, scraping, map[string]string{"TARGET": target}),
		"--storage.tsdb.path="+dir, fmt.Sprintf("--web.listen-address=127.0.0.1:%d", p))
	answers(t, local(p)+"/-/ready", out)
	return local(p)
}

// ask asks Prometheus' API.
func ask(t *testing.T, base, path string, params url.Values, into any) {
	t.Helper()
	res, err := http.Get(base + path + "?" + params.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s?%s: %v %s", path, params.Encode(), err, answer.Error)
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		t.Fatal(err)
	}
}

// Each query of the dashboard returns a series from a real Prometheus that scraped a run while it
// went on, of a server with failures, a prefix cache and preemptions and of devices that are held down.
func TestEachQueryOfTheDashboard(t *testing.T) {
	var board dashboard
	b, err := os.ReadFile("../../../docs/grafana.json")
	if err == nil {
		err = json.Unmarshal(b, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	exposed := fmt.Sprintf("127.0.0.1:%d", port(t))
	base := prometheus(t, exposed) // skips without
	devices.Install(t, devices.Fake{Programs: []string{"nvidia-smi"}, Devices: 2, Busy: 80, Old: true, Power: devices.Curve{Corners: []devices.Corner{{W: 250}}}})
	p := port(t)
	answers(t, local(p)+"/health", start(t, pitot, "serve", "--addr", fmt.Sprintf("127.0.0.1:%d", p), "--profile", "small-chat", "--fault", "reset=0.1@3"))
	began := time.Now()
	run := exec.CommandContext(t.Context(), pitot, "bench", "-q", "--url", local(p), "--tokenizer", "none", "--rate", "20", "--duration", "15s",
		"--prefix-len", "64", "--metrics-addr", exposed, "--store", filepath.Join(t.TempDir(), "runs.db"))
	if out, err := run.CombinedOutput(); err != nil && run.ProcessState.ExitCode() != 1 { // of which some requests failed
		t.Fatalf("%v: %s", err, out)
	}
	ended := time.Now()

	var runs []string
	if v := board.Templating.List[1]; v.Name != "run" || v.Definition != "label_values(pitot_run_info, run)" || board.Templating.List[0].Type != "datasource" {
		t.Fatalf("variables %+v", board.Templating.List)
	}
	ask(t, base, "/api/v1/label/run/values", url.Values{"match[]": {"pitot_run_info"}}, &runs)
	if len(runs) != 1 {
		t.Fatalf("runs %q", runs)
	}
	queries := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			queries++
			for _, run := range []string{".+", runs[0]} { // All, and one
				expr := strings.NewReplacer("$__rate_interval", "5s", "$run", run).Replace(target.Expr)
				if strings.Contains(expr, "$") {
					t.Errorf("%s: a variable that this test does not know: %s", panel.Title, expr)
				}
				if n := values(t, base, expr, began, ended); n == 0 {
					t.Errorf("%s: no value of %s", panel.Title, expr)
				}
			}
		}
	}
	if queries < 40 {
		t.Errorf("%d queries", queries)
	}
	t.Logf("%d queries", queries)
}

// values counts the values of a query over a time that are numbers.
func values(t *testing.T, base, expr string, from, to time.Time) (n int) {
	t.Helper()
	var data struct {
		Result []struct{ Values [][2]any }
	}
	at := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
	ask(t, base, "/api/v1/query_range", url.Values{"query": {expr}, "start": {at(from)}, "end": {at(to)}, "step": {"1s"}}, &data)
	for _, series := range data.Result {
		for _, v := range series.Values {
			if v[1] != "NaN" {
				n++
			}
		}
	}
	return n
}
