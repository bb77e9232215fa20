// Package machine tells what the operating system knows of this machine and of this
// process on it, and makes room for a measurement: a quiet Go runtime, and chosen
// processors.
//
// It reads and judges nothing: package doctor does. What the system does not tell is
// nil, zero or empty, and so is most of it outside of Linux.
package machine

import (
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// An Environment is where a run was made.
type Environment struct {
	Go        string // version
	OS        string // GOOS/GOARCH
	Host      string
	CPUs      int    // that this process uses at once
	FileLimit uint64 // open files at most
}

// Here is the environment of this process.
func Here() Environment {
	host, _ := os.Hostname()
	files, _ := fileLimit()
	return Environment{Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, Host: host, CPUs: runtime.GOMAXPROCS(0), FileLimit: files}
}

// Facts are what limits a load generator.
type Facts struct {
	OS        string   `json:"os"`                   // GOOS
	Files     uint64   `json:"files,omitempty"`      // open files at most
	FilesHard uint64   `json:"files_hard,omitempty"` // to which that can be raised
	Ports     *Ports   `json:"ports,omitempty"`
	Memory    int64    `json:"memory,omitempty"` // bytes that this process can still have
	CPUs      CPUs     `json:"cpus"`
	Quota     *Quota   `json:"quota,omitempty"`
	Governors []string `json:"governors,omitempty"` // of the processors, each once
}

// Look reads the facts.
func Look() Facts {
	f := Facts{OS: runtime.GOOS, Ports: localPorts(), CPUs: processors(), Quota: cpuQuota(), Governors: governors()}
	f.Files, f.FilesHard = fileLimit()
	if _, known := field("/proc/meminfo", "MemAvailable:"); known {
		f.Memory = freeMemory()
	}
	return f
}

// Ports are the local ports of outgoing connections, both ends included.
type Ports struct {
	Low  int `json:"low"`
	High int `json:"high"`
	// Reuse says that the port of a closed connection is free for another after a
	// second, and not after a minute.
	Reuse bool `json:"reuse"`
}

// ClockSource is the kernel's name for what it reads the time from.
func ClockSource() string {
	return text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// fileLimit is how many files this process may open, and to which that can be raised.
func fileLimit() (now, hard uint64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0, 0
	}
	return limit.Cur, limit.Max
}

// unknownMemory is taken to be free where the system does not tell.
const unknownMemory = 4 << 30

// freeMemory is what this process can still have: of the machine, and of its control
// group.
func freeMemory() int64 {
	free := int64(unknownMemory)
	if kB, ok := field("/proc/meminfo", "MemAvailable:"); ok {
		free = kB << 10
	}
	const group = "/sys/fs/cgroup"
	if limit, ok := number(path.Join(group, "memory.max")); ok {
		used, _ := number(path.Join(group, "memory.current"))
		free = min(free, max(0, limit-used))
	}
	return free
}

// text is what a file holds without the blanks around it, empty if it cannot be read.
func text(file string) string {
	b, _ := os.ReadFile(file)
	return strings.TrimSpace(string(b))
}

// number is the number that a file holds.
func number(file string) (int64, bool) {
	n, err := strconv.ParseInt(text(file), 10, 64)
	return n, err == nil
}

// field is the number behind a word in a file of words.
func field(file, word string) (int64, bool) {
	_, rest, found := strings.Cut(text(file), word)
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	return n, err == nil
}
