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

// CPUs counts processors.
type CPUs struct {
	Machine int `json:"machine,omitempty"` // online
	Usable  int `json:"usable"`            // by this process
}

func processors() CPUs {
	return CPUs{Machine: readCPUTimes().processors, Usable: runtime.NumCPU()}
}

// governors are the frequency governors of the processors.
func governors() (names []string) {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
	for _, file := range files {
		names = append(names, text(file))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A Quota is the CPU limit of the control group.
type Quota struct {
	CPUs      float64 `json:"cpus"`      // 0 = no limit
	Throttled int64   `json:"throttled"` // times that the group was paused for exceeding it
}

// cpuQuota is the tightest limit on the control groups of this process, nil if
// there are none.
func cpuQuota() *Quota {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return quotaOf(string(groups), "/sys/fs/cgroup")
}

// quotaOf reads the control groups listed in /proc/self/cgroup, below root.
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

// tighten applies the limits of a group and of its parents.
func (q *Quota) tighten(root, group string, read func(dir string) (cpus float64)) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := path.Join(root, at)
		if cpus := read(dir); cpus > 0 && (q.CPUs == 0 || cpus < q.CPUs) {
			q.CPUs = cpus
			q.Throttled, _ = Field(path.Join(dir, "cpu.stat"), "nr_throttled")
		}
		if at == "/" {
			return
		}
	}
}

// quotaV2 reads cpu.max: the allowed microseconds, or max, and the period.
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
