package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Ten idle ticks and two of waiting for a disk, four busy ones of which we used one,
// and four that went to another machine.
func TestOthersBetween(t *testing.T) {
	const head = "cpu  100 10 50 1000 20 5 5 7 3 0\ncpu0 50 5 25 500 10 2 2 3 1 0\ncpu1 50 5 25 500 10 3 3 4 2 0\nintr 12345 0 9\nctxt 99\n"
	before, after := parseCPUTimes(head), parseCPUTimes("cpu  101 11 51 1010 22 5 6 11 3 0\n")
	if before.processors != 2 {
		t.Errorf("%d processors", before.processors)
	}
	want := &doctor.Others{Busy: 3. / 20, Steal: 4. / 20}
	if diff := cmp.Diff(want, othersBetween(before, after, 10*time.Millisecond)); diff != "" {
		t.Error(diff)
	}
	if got := othersBetween(before, after, time.Hour); got.Busy != 0 {
		t.Errorf("%+v, although all was our own", got)
	}
	for _, text := range []string{"", "cpu", "cpu 1 2 3\n"} {
		if got := othersBetween(parseCPUTimes(text), parseCPUTimes(text), 0); got != nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// The tightest limit counts, of the group and of those it is in.
func TestQuotaOf(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"cpu.max":               "max 100000\n",
		"pod/cpu.max":           "150000 100000\n",
		"pod/cpu.stat":          "usage_usec 9\nnr_periods 20\nnr_throttled 7\n",
		"pod/box/cpu.max":       "200000 100000\n",
		"pod/box/cpu.stat":      "nr_throttled 1\n",
		"cpu/old/cpu.stat":      "nr_periods 3\nnr_throttled 2\n",
		"free/cpu.max":          "max 100000\n",
		"cpu/cpu.cfs_quota_us":  "-1\n",
		"cpu/cpu.cfs_period_us": "100000\n",

		"cpu/old/cpu.cfs_quota_us": "50000\n", "cpu/old/cpu.cfs_period_us": "100000\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		groups string
		want   doctor.Quota
	}{
		{"0::/pod/box\n", doctor.Quota{CPUs: 1.5, Throttled: 7}},
		{"0::/pod\n", doctor.Quota{CPUs: 1.5, Throttled: 7}},
		{"0::/free\n", doctor.Quota{}},
		{"0::/\n", doctor.Quota{}},
		{"0::/nowhere/at/all\n", doctor.Quota{}},
		{"4:memory:/old\n2:cpu,cpuacct:/old\n0::/free\n", doctor.Quota{CPUs: 0.5, Throttled: 2}},
		{"2:cpuacct:/old\nnonsense\n", doctor.Quota{}},
	} {
		if diff := cmp.Diff(&c.want, quotaOf(c.groups, root)); diff != "" {
			t.Errorf("%q: %s", c.groups, diff)
		}
	}
}

func TestFacts(t *testing.T) {
	p := &Process{}
	f, err := p.facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]trace.Lag{"timer": f.Timer, "Go's timer": f.Runtime, "error": f.Stamps.Error, "reading": f.Stamps.Lag} {
		if f.Stamps.Stamped == 0 && (name == "error" || name == "reading") {
			continue
		}
		if l.Reads < 100 || l.P50 < 0 || l.P50 > l.P99 || l.P99 > l.Max {
			t.Errorf("%s: %+v is not in order", name, l)
		}
	}
	if f.Clock.Reading <= 0 || f.Files == 0 || f.Ports == nil || f.CPUs.Usable == 0 {
		t.Errorf("%+v", f)
	}
	if runtime.GOOS == "linux" && (f.Others == nil || f.Quota == nil || f.Memory == 0 || f.CPUs.Machine < f.CPUs.Usable) {
		t.Errorf("%+v", f)
	}
}
