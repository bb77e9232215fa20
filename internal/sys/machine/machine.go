// Package machine reports the operating system's facts about this machine and this
// process, and prepares it for a measurement: a quiet Go runtime, and pinned
// processors.
//
// It reads and judges nothing: package doctor judges. Unknown facts are nil, zero
// or empty, which is most of them outside of Linux.
package machine

import (
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// An Environment describes where a run was made.
type Environment struct {
	Go        string // version
	OS        string // GOOS/GOARCH
	Host      string
	CPUs      int    // processors used at once by this process
	FileLimit uint64 // maximum number of open files
}

// Here returns the environment of this process.
func Here() Environment {
	host, _ := os.Hostname()
	files, _ := fileLimit()
	return Environment{
		Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, Host: host, CPUs: runtime.GOMAXPROCS(0),
		FileLimit: files,
	}
}

// Facts are the limits of a load generator.
type Facts struct {
	OS        string   `json:"os"`                   // GOOS
	Files     uint64   `json:"files,omitempty"`      // maximum number of open files
	FilesHard uint64   `json:"files_hard,omitempty"` // the limit to which that can be raised
	Ports     *Ports   `json:"ports,omitempty"`
	Memory    int64    `json:"memory,omitempty"` // bytes still available to this process
	CPUs      CPUs     `json:"cpus"`
	Quota     *Quota   `json:"quota,omitempty"`
	Governors []string `json:"governors,omitempty"` // of the processors, each once
}

// Look collects the facts.
func Look() Facts {
	f := Facts{OS: runtime.GOOS, Ports: localPorts(), CPUs: processors(), Quota: cpuQuota(), Governors: governors()}
	f.Files, f.FilesHard = fileLimit()
	if _, known := Field("/proc/meminfo", "MemAvailable:"); known {
		f.Memory = freeMemory()
	}
	return f
}

// Ports is the range of local ports of outgoing connections, inclusive.
type Ports struct {
	Low  int `json:"low"`
	High int `json:"high"`
	// Reuse means that the port of a closed connection is available after a second
	// instead of a minute.
	Reuse bool `json:"reuse"`
}

// ClockSource is the kernel's name of its clock.
func ClockSource() string {
	return text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// fileLimit is the number of files this process may open, and the limit to which
// that can be raised.
func fileLimit() (now, hard uint64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0, 0
	}
	return limit.Cur, limit.Max
}

// unknownMemory is the assumed free memory if the system does not report it.
const unknownMemory = 4 << 30

// freeMemory is the memory still available to this process, on the machine and in
// its control group.
func freeMemory() int64 {
	free := int64(unknownMemory)
	if kB, ok := Field("/proc/meminfo", "MemAvailable:"); ok {
		free = kB << 10
	}
	const group = "/sys/fs/cgroup"
	if limit, ok := number(path.Join(group, "memory.max")); ok {
		used, _ := number(path.Join(group, "memory.current"))
		free = min(free, max(0, limit-used))
	}
	return free
}

// text is the content of a file without surrounding space, empty if it cannot be
// read.
func text(file string) string {
	b, _ := os.ReadFile(file)
	return strings.TrimSpace(string(b))
}

func number(file string) (int64, bool) {
	n, err := strconv.ParseInt(text(file), 10, 64)
	return n, err == nil
}

// Field is FieldIn of a file.
func Field(file, word string) (int64, bool) { return FieldIn(text(file), word) }

// Text is the content of a file of the system, such as one in /proc, without surrounding space;
// empty if it cannot be read.
func Text(file string) string { return text(file) }
