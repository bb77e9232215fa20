package machine

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLook(t *testing.T) {
	f := Look()
	if f.Files == 0 || f.FilesHard < f.Files || f.Ports == nil || f.CPUs.Usable == 0 || f.OS != runtime.GOOS {
		t.Errorf("%+v", f)
	}
	if runtime.GOOS == "linux" && (f.Quota == nil || f.Memory == 0 || f.CPUs.Machine < f.CPUs.Usable ||
		ClockSource() == "") {
		t.Errorf("%+v", f)
	}
	if e := Here(); e.FileLimit != f.Files || e.CPUs == 0 || e.Go == "" || e.OS != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%+v", e)
	}
}

// The tightest limit of the group and its parents counts.
func TestQuotaOf(t *testing.T) {
	files := map[string]string{
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
	}
	read := func(file string) string { return files[strings.TrimPrefix(file, cgroups+"/")] }
	for _, c := range []struct {
		groups string
		want   Quota
	}{
		{"0::/pod/box\n", Quota{CPUs: 1.5, Throttled: 7}},
		{"0::/pod\n", Quota{CPUs: 1.5, Throttled: 7}},
		{"0::/free\n", Quota{}},
		{"0::/\n", Quota{}},
		{"0::/nowhere/at/all\n", Quota{}},
		{"4:memory:/old\n2:cpu,cpuacct:/old\n0::/free\n", Quota{CPUs: 0.5, Throttled: 2}},
		{"2:cpuacct:/old\nnonsense\n", Quota{}},
	} {
		l := GroupsOf(c.groups).Limits(read)
		if diff := cmp.Diff(c.want, Quota{l.CPUs, l.Times}); diff != "" {
			t.Errorf("%q: %s", c.groups, diff)
		}
	}
}
