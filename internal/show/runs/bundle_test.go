package runs

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestMask(t *testing.T) {
	m := new(mask)
	m.learn([]byte(`{"host": "gpu-node-17", "url": "https://user@vllm.corp.example:8000/v1", "site": ["prefill=ssh:me@node1:8100"], "host": "vm"}`))
	for _, c := range []struct{ name, in, want string }{
		{"", "lookup vllm.corp.example: no such host", "lookup host-2: no such host"},
		{"", "x509: a certificate for vllm.corp.example, not gpu-node-17", "x509: a certificate for host-2, not host-1"},
		{"", "gpu-node-171 and agpu-node-17 are others", "gpu-node-171 and agpu-node-17 are others"},
		{"dialect", "vllm", "vllm"},
		{"url", "http://vllm:8000", "http://host-2:8000"},
		{"url", "http://127.0.0.1:8000, http://localhost:1, http://[::1]:2", "http://127.0.0.1:8000, http://localhost:1, http://[::1]:2"},
		{"host", "vm", "host-4"},
		{"", "a vm", "a vm"},
		{"", "dial tcp 10.0.0.5:8000: connect: connection refused", "dial tcp address-1:8000: connect: connection refused"},
		{"", "read tcp 10.0.0.5:4->10.0.0.6:5.", "read tcp address-1:4->address-2:5."},
		{"", "http://[fd00::1]:8000 and fe80::1", "http://address-3:8000 and address-4"},
		{"", "02:42:ac:11:00:02", "address-5"},
		{"version", "9.1.0.70", "9.1.0.70"},
		{"", "VLLM::EngineCore at 09:45:01, 0000:3b:00.0, 1.2.3, 570.86.10.1, std::string", "VLLM::EngineCore at 09:45:01, 0000:3b:00.0, 1.2.3, 570.86.10.1, std::string"},
		{"", "/home/jane/models/x, /Users/jane", "/home/***/models/x, /Users/***"},
		{"", "DCGM@x, nvidia-smi@node1", "DCGM@x, nvidia-smi@host-3"},
		{"why", `HTTP status 400: {"input": "a prompt"}`, "HTTP status 400: ***"},
		{"why", "http://localhost:8000/tokenize answered HTTP 422 (Unprocessable Entity): a prompt\nand more", "http://localhost:8000/tokenize answered HTTP 422 (Unprocessable Entity): ***"},
		{"why", "malformed answer: a text", "malformed answer: ***"},
		{"lines", "prompt: 'a'", "***"},
		{"file", "workloads:\n- a", "***"},
		{"file", "result.json", "result.json"},
		{"invocation", `{"messages": []}`, "***"},
		{"invocation", "--rate", "--rate"},
	} {
		if got := m.text(c.name, c.in); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.name, c.in, got, c.want)
		}
	}
	again := new(mask)
	again.texts = true
	if got := again.text("why", "HTTP status 400: words"); got != "HTTP status 400: words" {
		t.Error(got)
	}
}

// stored is a store with a run.
func stored(t *testing.T, n int) *store.Store {
	t.Helper()
	s, err := store.OpenWrite(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	run := trace.Run{
		ID: "20260101-000000-abcd", Name: "n", Kind: trace.Measured, Status: trace.Complete, Started: time.Unix(5, 0).UTC(), End: trace.Instant(time.Second),
		Plan: trace.Load{
			Stream: true, URL: "http://gpu-9:8000", Requests: n, Protocol: "completions",
			Spec: &plan.Spec{Request: plan.Request{Body: json.RawMessage(`{"system": "SECRET words", "mode": "fast"}`)}},
		},
		Env: trace.Environment{Host: "client-3", Invocation: []string{"pitot", "bench", "--url", "http://gpu-9:8000", "--body", `{"system": "SECRET words"}`}},
	}
	records := func(yield func(*trace.Record, error) bool) {
		for i := range n {
			r := sample()
			r.Index, r.Text = i, "SECRET answer"
			if i%2 == 1 {
				r.Class, r.Status, r.Error, r.FinishReason = trace.HTTP, 400, "SECRET prompt", "SECRET reason"
			}
			if !yield(r, nil) {
				return
			}
		}
	}
	set := &telemetry.Set{Sources: []telemetry.Source{{Name: "server", Via: "http://gpu-9:8000/metrics", Host: "gpu-9"}}}
	set.Add(telemetry.Value{Key: telemetry.Key{Source: "server", Name: "x", Labels: telemetry.Labels{"instance": "10.0.0.7:8000"}}, Kind: telemetry.Gauge, Point: telemetry.Point{At: 5, Value: 1}})
	if _, err := s.Import(run, records, set); err != nil {
		t.Fatal(err)
	}
	return s
}

// unzipped are the files of a bundle.
func unzipped(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(b)
	}
	return all
}

func TestBundle(t *testing.T) {
	const folder = "20260101-000000-abcd/"
	s := stored(t, 6)
	var out bytes.Buffer
	b := Bundle{Runs: []string{"20260101-000000-abcd"}, Facts: map[string]any{"version.json": map[string]string{"version": "1", "host": "client-3"}}}
	remarks, err := b.Write(&out, s)
	if err != nil {
		t.Fatal(err)
	}
	all := unzipped(t, out.Bytes())
	for name, text := range all {
		for _, bad := range []string{"SECRET", "gpu-9", "client-3", "10.0.0.7"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s:\n%s", name, bad, text)
			}
		}
	}
	var back struct{ Run trace.Run }
	if err := json.Unmarshal([]byte(all[folder+"run.json"]), &back); err != nil || back.Run.Plan.URL != "http://host-1:8000" || string(back.Run.Plan.Spec.Request.Body) == "" {
		t.Errorf("%v: %+v", err, back.Run)
	}
	for name, want := range map[string]string{
		folder + "report.txt": "http://host-1:8000", "version.json": `"host": "host-2"`, "about.txt": "Left out: answers", folder + "run.json": `"mode": "fast"`,
	} {
		if !strings.Contains(all[name], want) {
			t.Errorf("%s has no %s:\n%s", name, want, all[name])
		}
	}
	if !slices.Contains(remarks, "host-1     stands for gpu-9") || len(all) != 4 {
		t.Errorf("%d files, %q", len(all), remarks)
	}
}

// A run that is too large has no records in a bundle, and says so; one that cannot be read has its damage.
func TestBundleIsBounded(t *testing.T) {
	s := stored(t, 8000)
	var out bytes.Buffer
	b := Bundle{Runs: []string{"20260101-000000-abcd", "../gone"}, Facts: map[string]any{}, most: 25_000}
	remarks, err := b.Write(&out, s)
	if err != nil || out.Len() > b.most {
		t.Fatal(err, out.Len())
	}
	all := unzipped(t, out.Bytes())
	if all["20260101-000000-abcd/run-without-records.json"] == "" || all["20260101-000000-abcd/run.json"] != "" || !strings.Contains(all["20260101-000000-abcd/report.txt"], "4000 ok") {
		t.Errorf("%q", all)
	}
	if !strings.Contains(all["about.txt"], "Without the records of run 20260101-000000-abcd") || !slices.Contains(remarks, "Look through it before you send it.") {
		t.Error(remarks)
	}
	if !strings.Contains(all["___gone/damage.txt"], "no such run") {
		t.Errorf("%q", all)
	}
	small := Bundle{Runs: b.Runs, Facts: map[string]any{}, most: 500}
	if _, err := small.Write(io.Discard, s); err == nil || !strings.Contains(err.Error(), "name fewer runs") {
		t.Error(err)
	}
}
