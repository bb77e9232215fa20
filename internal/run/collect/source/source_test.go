package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run/collect"

	"github.com/pitot-bench/pitot/internal/test/devices"
)

func TestMain(m *testing.M) {
	devices.Main()
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	noURL := errors.New("a URL")
	for text, want := range map[string]string{
		"host":                "host /proc ",
		"host@box":            "host@box ssh box: /proc box",
		"nvidia-smi":          "nvidia-smi nvidia-smi ",
		"nvidia-smi@me@gpu1":  "nvidia-smi@me@gpu1 ssh me@gpu1: nvidia-smi me@gpu1",
		"npu-smi@10.0.0.2":    "npu-smi@10.0.0.2 ssh 10.0.0.2: npu-smi 10.0.0.2",
		"amd-smi":             "amd-smi amd-smi ",
		"http://a:9400":       "error: a URL",
		"HTTPS://a/metrics@x": "error: a URL",
		"ftp://a":             `error: source "ftp://a": a URL begins with http:// or https://`,
		"rocm-smi":            `error: unknown source "rocm-smi": write a URL, host[@HOST], nvidia-smi[@HOST], npu-smi[@HOST] or amd-smi[@HOST]`,
		"":                    `error: unknown source "": write a URL, host[@HOST], nvidia-smi[@HOST], npu-smi[@HOST] or amd-smi[@HOST]`,
		"host@":               `error: source "host@": no host after @: write HOST or USER@HOST`,
		"host@-oProxyCommand": `error: source "host@-oProxyCommand": host "-oProxyCommand" begins with a dash: write HOST or USER@HOST`,
		"amd-smi@a b":         `error: source "amd-smi@a b": host "a b" has a space or a control character: write HOST or USER@HOST`,
	} {
		c, err := Parse(text, func(string) (collect.Collector, error) { return nil, noURL })
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			s := c.Describe()
			got = strings.Join([]string{s.Name, s.Via, s.Host}, " ")
		}
		if got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// Of the programs that are installed, the one that has no devices and the one that hangs say
// nothing. None of them is waited for.
func TestHere(t *testing.T) {
	devices.Install(t, devices.Fake{Programs: []string{"nvidia-smi", "npu-smi"}, Fails: []string{"npu-smi"}, Power: devices.Curve{Corners: []devices.Corner{{W: 250}}}})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "amd-smi"), []byte("#!/bin/sh\nexec sleep 3600\n"), 0o700); err != nil { // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	group := collect.Start(t.Context(), 10*time.Millisecond, For(plan.Telemetry{Sources: []string{Auto}}, collect.Target{URL: "http://127.0.0.1:1"}))
	for known := ""; !strings.Contains(known, "nvidia-smi"); time.Sleep(time.Millisecond) {
		known = ""
		sources, _ := group.Fresh(time.Now())
		for _, s := range sources {
			known += s.Name + " "
		}
	}
	var names []string
	for _, s := range group.End(time.Now()).Sources {
		names = append(names, s.Name)
		if len(s.Notes) > 0 {
			t.Error(s)
		}
	}
	want := "nvidia-smi"
	if Known() {
		want = "host nvidia-smi"
	}
	if got := strings.Join(names, " "); got != want {
		t.Error(got)
	}
}

// A source that is there twice counts once, as one that was named; two pages of one server are two
// sources.
func TestDistinct(t *testing.T) {
	target := collect.Target{URL: "http://10.0.0.1:30000"}
	for sources, want := range map[string]string{
		"auto host": "?server host",
		"auto http://10.0.0.1:30000/engine_metrics http://10.0.0.1:30000": "server server-2",
		"http://10.0.0.2/metrics http://10.0.0.2 http://10.0.0.2/x":       "10.0.0.2 10.0.0.2/x",
		"http://10.0.0.2 https://10.0.0.2 http://10.0.0.2/metrics?part=1": "10.0.0.2 10.0.0.2-2 10.0.0.2-3",
	} {
		var names []string
		for _, c := range For(plan.Telemetry{Sources: strings.Fields(sources)}, target) {
			name := c.Describe().Name
			if _, optional := c.(collect.Optional); optional {
				name = "?" + name
			}
			if name != "?host" { // of this machine, where it is one that tells
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", sources, got)
		}
	}
}
