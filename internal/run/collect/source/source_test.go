package source

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/run/collect/host"
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

// One program is there and answers, one is there and fails, one is not there.
func TestHere(t *testing.T) {
	devices.Install(t, devices.Fake{Programs: []string{"nvidia-smi", "npu-smi"}, Fails: []string{"npu-smi"}})
	began := time.Now()
	var names []string
	for _, c := range Here(t.Context()) {
		names = append(names, c.Describe().Name)
	}
	want := "nvidia-smi"
	if host.Known() {
		want = "host nvidia-smi"
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s after %v", got, time.Since(began))
	}
}
