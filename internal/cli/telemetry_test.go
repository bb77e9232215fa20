package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/devices"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// wantEach looks for patterns, each of which must stand in the text once.
func wantEach(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if n := len(regexp.MustCompile("(?m)"+pattern).FindAllString(text, -1)); n != 1 {
			t.Errorf("%q is there %d times", pattern, n)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// The programs of the makers are found in PATH; what their devices did stands in the report, and
// again in that of the stored run, and each sample can be exported.
func TestDevicesBesideARun(t *testing.T) {
	race.Skip(t)
	devices.Install(t, devices.Fake{Programs: []string{"nvidia-smi", "npu-smi"}, Fails: []string{"amd-smi"}, Devices: 2, Busy: 75, Others: 3, Old: true, Power: devices.Curve{Corners: []devices.Corner{{W: 300}}}})
	url := loopback(t)
	for program, want := range map[string][]string{
		"nvidia-smi": {
			`^devices +2 devices · busy 75 % · 600 W · 1980 MHz · at most 41 °C · memory at most [0-9.]+ GiB \(\d+ %\) · device nvidia-smi \d held down for \d s \(hw_\w+\)$`,
			`^client +(DOUBTFUL|INVALID).*the clocks of device nvidia-smi \d were held down for \d s \(hw_\w+\): the server was slower than it is`,
			`3 processes computed on one device during the run`,
		},
		"npu-smi": {`^devices +2 devices · busy 75 % · 300 W · at most 45 °C( · memory at most [0-9.]+ GiB \(\d+ %\))?$`},
	} {
		sess, stdout, stderr := process(t, nil, strings.Fields("bench --all -q --tokenizer none -n 15 --rate 10 --collect-every 100ms --url "+url+" --collect "+program)...)
		if code := Run(sess); code != exitOK {
			t.Fatal(code, stderr)
		}
		report := stdout.String()
		wantEach(t, report, want...)
		if strings.Contains(report, "energy") {
			t.Errorf("the run is too short for an energy:\n%s", report)
		}
		stdout.Reset()
		sess.Args = strings.Fields("runs report last")
		if code := Run(sess); code != exitOK || stdout.String() != report {
			t.Errorf("%d, the report of the stored run is\n%s", code, stdout)
		}
		stdout.Reset()
		sess.Args = strings.Fields("runs export last --telemetry -f csv")
		if code := Run(sess); code != exitOK || !strings.Contains(stdout.String(), ","+program+`,device.power,"device=""0`) || strings.Contains(stdout.String(), ",server,") {
			t.Errorf("%d, %s", code, stdout)
		}
	}
}

// metricsOf serves an engine whose /metrics is another one.
func metricsOf(t *testing.T, v *virtual, page http.HandlerFunc) (stop func()) {
	t.Helper()
	l, err := v.Listen("", "")
	if err != nil {
		t.Fatal(err)
	}
	inner, err := apiserver.New(apiserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", inner.Handler())
	mux.HandleFunc("/metrics", page)
	server := &http.Server{Handler: mux}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	return func() {
		_ = server.Close()
		<-done
	}
}

// A server whose /metrics is no good costs a line of the report, and the run nothing.
func TestMetricsThatAreNoGood(t *testing.T) {
	race.Skip(t)
	print := func(text string) func(io.Writer, int) {
		return func(w io.Writer, _ int) { _, _ = io.WriteString(w, text) }
	}
	running := "vllm:num_requests_running 1\n"
	for name, x := range map[string]struct {
		page func(w io.Writer, n int) // nil: it hangs
		says []string
	}{
		"hangs": {nil, []string{`^note: telemetry from server: no answer within 1s`}},
		"large": {func(w io.Writer, _ int) {
			for range 50 << 10 {
				if _, err := io.WriteString(w, strings.Repeat("a_metric_of_no_use 1\n", 1<<10/20)); err != nil {
					return
				}
			}
		}, []string{`^note: telemetry from server: more than 4 MiB of metrics, which are not read$`}},
		"html":       {print("<!DOCTYPE html>\n<html><body>Log in</body></html>\n"), []string{`^note: telemetry from server: the answer is a page of HTML, not metrics$`}},
		"nan":        {print(running + "vllm:num_requests_waiting NaN\n"), []string{`^note: telemetry from server: vllm:num_requests_waiting is NaN, infinite or beyond 1e30: unknown for as long as it is$`}},
		"duplicates": {print(running + running), []string{`^note: telemetry from server: vllm:num_requests_running appears more than once with the same labels: the first value counts$`}},
		"restart": {func(w io.Writer, n int) {
			fmt.Fprintf(w, "vllm:generation_tokens_total %d\nvllm:num_preemptions_total %d\n", n%5, n%5)
		}, []string{
			`^note: telemetry from server: counter server.\w+ fell: the process began anew$`, `^client +DOUBTFUL.*a counter of the server fell during the run, as after a restart`,
		}},
		"preempted": {func(w io.Writer, n int) { fmt.Fprintf(w, "vllm:num_preemptions_total %d\n", 2*n) }, []string{
			`^client +DOUBTFUL.*the server preempted \d+ requests in a run that looks steady: their latencies contain work that was done twice`, `^server +\d+ preemptions`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t, "bench", "--all", "-q", "--url", "http://engine", "-n", "100", "--rate", "10", "--arrival", "constant", "--output-len", "8")
				var scrapes atomic.Int64
				stop := metricsOf(t, v, func(w http.ResponseWriter, r *http.Request) {
					if x.page == nil {
						<-r.Context().Done()
						return
					}
					x.page(w, int(scrapes.Add(1)))
				})
				defer stop()
				if code := Run(v.Session); code != exitOK {
					t.Fatal(code, v.stderr.String())
				}
				report := v.stdout.String()
				wantEach(t, report, append(x.says, `^requests +100 ok, 0 failed`)...)
				if n := strings.Count(report, "note: telemetry from"); n > 1 {
					t.Errorf("%d notes", n)
				}
				v.stdout.Reset()
				v.Args = []string{"runs", "report", "last", "--store", v.store}
				if code := Run(v.Session); code != exitOK || v.stdout.String() != report {
					t.Errorf("%d, the report of the stored run is\n%s", code, v.stdout.String())
				}
			})
		})
	}
}

// A server that has no /metrics is not mentioned: not every one has.
func TestServersWithoutMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, "bench", "-q", "--url", "http://engine", "-n", "40", "--rate", "20", "--output-len", "8")
		defer metricsOf(t, v, http.NotFound)()
		if code := Run(v.Session); code != exitOK || strings.Contains(v.stdout.String(), "telemetry") {
			t.Error(code, v.stdout.String(), v.stderr.String())
		}
	})
}

// Energy per token and KV use are rows of a comparison, less energy is better, and the note has the
// course of both on one axis of time.
func TestEnergyIsCompared(t *testing.T) {
	race.Skip(t)
	var base *trace.Trace
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, "bench", "-q", "-n", "200", "--rate", "5", "--profile", "small-chat")
		if code := Run(v.Session); code != exitOK {
			t.Fatal(code, v.stderr.String())
		}
		base = v.last(t)
	})
	dir := t.TempDir()
	sess, stdout, stderr := process(t, nil)
	run := func(line string) string {
		t.Helper()
		stdout.Reset()
		sess.Args = strings.Fields(line)
		if code := Run(sess); code != exitOK {
			t.Fatal(line, code, stderr)
		}
		return stdout.String()
	}
	for i, watts := range []float64{300, 301, 299, 360, 361, 359, 300, 300.1, 299.9, 302.4, 302.5, 302.3} {
		tr := *base
		tr.Run.ID, tr.Run.Name = fmt.Sprintf("20260101-0000%02d-watt", i), []string{"before", "after", "means", "more"}[i/3]
		tr.Telemetry = &telemetry.Set{Sources: append([]telemetry.Source{{Name: "nvidia-smi", Reads: 1}}, base.Telemetry.Sources...), Series: append([]*telemetry.Series{}, base.Telemetry.Series...)}
		for s := -2; s < 60; s++ {
			tr.Telemetry.Add(telemetry.NewValue("nvidia-smi", telemetry.DevicePower, telemetry.Labels{"device": "0"}, telemetry.Point{At: time.Duration(s) * time.Second, Value: watts}))
			if i >= 6 {
				tr.Telemetry.Add(telemetry.NewValue("nvidia-smi", telemetry.DevicePowerSpan, telemetry.Labels{"device": "0"}, telemetry.Point{At: time.Duration(s) * time.Second, Value: 1}))
			}
		}
		file := filepath.Join(dir, tr.Run.ID+".json")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.WriteJSON(f, &tr); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		run("import " + file)
	}
	wantEach(t, run("runs report before"), `^energy +[\d.]+ kJ in \d\d s, by integrated power; its error is not known · [\d.]+ J per output token · [\d.]+ J per request$`)
	wantEach(t, run("runs report means"), `^energy +12 kJ ± 0\.5 % in 40 s, by power averaged over each second · the devices drew as much right before or after it · 0\.93\d J per output token · `)
	wantEach(t, run("compare before after"), `^ *energy per output token \(J\) .*\+20\.0 % .*worse$`, `KV cache in use, at most`)
	// 0.8 % more, which noise does not explain, and the error of the sampling does.
	wantEach(t, run("compare means more --margin 0.1%"), `^ *energy per output token \(mJ\) .*\+0\.8 % +\[-0\.\d, \+\d\.\d\] +\?$`)
	note := filepath.Join(dir, "note.md")
	run("note before after -o " + note)
	plots, err := filepath.Glob(filepath.Join(dir, "note", "*meanwhile*.svg"))
	if err != nil || len(plots) == 0 {
		t.Error("no plot:", err)
	}
	for _, plot := range plots {
		b, err := os.ReadFile(plot)
		if err != nil || !strings.Contains(string(b), "KV") || !strings.Contains(string(b), "W") {
			t.Errorf("%s: %v", plot, err)
		}
	}
}
