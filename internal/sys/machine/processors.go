package machine

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// CPUs are processors.
type CPUs struct {
	Machine int `json:"machine,omitempty"` // that are on
	Usable  int `json:"usable"`            // by this process
}

func processors() CPUs {
	return CPUs{Machine: readCPUTimes().processors, Usable: runtime.NumCPU()}
}

// governors are what sets the frequency of the processors.
func governors() (names []string) {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
	for _, file := range files {
		names = append(names, text(file))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A Quota is the share of the processors that the control group may use.
type Quota struct {
	CPUs      float64 `json:"cpus"`      // 0 = no limit
	Throttled int64   `json:"throttled"` // times that it was paused for having used it up
}

// cpuQuota is the tightest limit on the control groups that this process is in, nil
// if there are none.
func cpuQuota() *Quota {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return quotaOf(string(groups), "/sys/fs/cgroup")
}

// quotaOf finds the control groups of a /proc/self/cgroup below root.
func quotaOf(groups, root string) *Quota {
	q := &Quota{}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		if len(parts) != 3 {
			continue
		}
		switch controllers := strings.Split(parts[1], ","); {
		case parts[1] == "":
			q.tighten(root, parts[2], quotaV2)
		case slices.Contains(controllers, "cpu"):
			q.tighten(path.Join(root, "cpu"), parts[2], quotaV1)
		}
	}
	return q
}

// tighten takes the limits of a group and of those it is in.
func (q *Quota) tighten(root, group string, read func(dir string) (cpus float64)) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := path.Join(root, at)
		if cpus := read(dir); cpus > 0 && (q.CPUs == 0 || cpus < q.CPUs) {
			q.CPUs = cpus
			q.Throttled, _ = field(path.Join(dir, "cpu.stat"), "nr_throttled")
		}
		if at == "/" {
			return
		}
	}
}

// quotaV2 reads cpu.max: microseconds that may be used, or max, in a period of so
// many.
func quotaV2(dir string) float64 {
	var used, period float64
	if _, err := fmt.Sscan(text(path.Join(dir, "cpu.max")), &used, &period); err != nil || period <= 0 {
		return 0
	}
	return used / period
}

func quotaV1(dir string) float64 {
	used, ok := number(path.Join(dir, "cpu.cfs_quota_us"))
	period, also := number(path.Join(dir, "cpu.cfs_period_us"))
	if !ok || !also || used <= 0 || period <= 0 {
		return 0
	}
	return float64(used) / float64(period)
}
