package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// CPUs counts processors.
type CPUs struct {
	Machine int `json:"machine,omitempty"` // online
	Usable  int `json:"usable"`            // by this process
}

func processors() CPUs { return CPUs{Machine: readCPUTimes().processors, Usable: runtime.NumCPU()} }

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
	l := GroupsOf(string(groups)).Limits(text)
	return &Quota{l.CPUs, l.Times}
}
