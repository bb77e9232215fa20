package source

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// A reader is the content of a file by its path; empty if there is no such file.
type reader func(file string) string

// Files that are read of each host.
const (
	stat     = "/proc/stat"
	memory   = "/proc/meminfo"
	network  = "/proc/net/dev"
	pressure = "/proc/pressure/" // and the resource
)

var resources = []string{"cpu", "memory", "io"}

// fixed are the files that a host has in the same place as any other.
func fixed() []string {
	files := []string{stat, memory, network}
	for _, r := range resources {
		files = append(files, pressure+r)
	}
	return files
}

// A sampler makes values of files. It stores the parts that are the same in each sample.
type sampler struct {
	groups groups
	labels map[string]telemetry.Labels
}

// values are all quantities that the files tell; none if this is no Linux host.
func (s *sampler) values(read reader, at time.Time) (all []collect.Value) {
	add := func(name string, labels telemetry.Labels, v float64) {
		all = append(all, collect.Value{Name: name, Labels: labels, At: at, Value: v})
	}
	s.processors(read(stat), add)
	if len(all) == 0 {
		return nil
	}
	text := read(memory)
	total, known := field(text, "MemTotal:")
	if free, also := field(text, "MemAvailable:"); known && also {
		add(telemetry.HostMemoryTotal, nil, float64(total<<10))
		add(telemetry.HostMemoryUsed, nil, float64((total-free)<<10))
	}
	s.interfaces(read(network), add)
	for _, r := range resources {
		if us, ok := pressed(read(pressure + r)); ok {
			add(telemetry.HostPressure, s.label("resource", r), us)
		}
	}
	l := s.groups.limits(read)
	if l.cpus > 0 {
		add(telemetry.HostCPULimit, nil, l.cpus)
		if l.throttledKnown {
			add(telemetry.HostCPUThrottled, nil, l.throttled)
		}
	}
	if l.memory > 0 && (!known || l.memory < total<<10) {
		add(telemetry.HostMemoryLimit, nil, float64(l.memory))
	}
	return all
}

// label is a set of one label, made once.
func (s *sampler) label(name, value string) telemetry.Labels {
	if s.labels == nil {
		s.labels = map[string]telemetry.Labels{}
	}
	l, had := s.labels[name+"="+value]
	if !had {
		l = telemetry.Labels{name: value}
		s.labels[name+"="+value] = l
	}
	return l
}

// processors reads /proc/stat: of each cpuN user, nice, system, idle, iowait, irq, softirq and
// steal, in ticks; and ctxt, the context switches. Neither time spent idle or waiting for disks
// counts, nor what a hypervisor took.
func (s *sampler) processors(text string, add func(string, telemetry.Labels, float64)) {
	for line := range strings.Lines(text) {
		if switches, ok := strings.CutPrefix(line, "ctxt "); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(switches), 10, 64); err == nil {
				add(telemetry.HostSwitches, nil, float64(n))
			}
			continue
		}
		cpu, ok := strings.CutPrefix(line, "cpu")
		words := strings.Fields(cpu)
		if !ok || cpu == "" || cpu[0] < '0' || cpu[0] > '9' || len(words) < 8 {
			continue
		}
		ticks, whole := uint64(0), true
		for _, i := range []int{1, 2, 3, 6, 7} {
			n, err := strconv.ParseUint(words[i], 10, 64)
			ticks, whole = ticks+n, whole && err == nil
		}
		if whole {
			add(telemetry.HostCPUTime, s.label("cpu", words[0]), float64(ticks)*machine.Tick.Seconds())
		}
	}
}

// interfaces reads /proc/net/dev: behind the name of an interface 8 figures of what it
// received and 8 of what it sent, bytes first. One that never carried anything is left out.
func (s *sampler) interfaces(text string, add func(string, telemetry.Labels, float64)) {
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		words := strings.Fields(rest)
		if !ok || name == "lo" || len(words) < 16 {
			continue
		}
		received, err := strconv.ParseUint(words[0], 10, 64)
		sent, err2 := strconv.ParseUint(words[8], 10, 64)
		if err != nil || err2 != nil || received+sent == 0 {
			continue
		}
		add(telemetry.HostReceived, s.label("interface", name), float64(received))
		add(telemetry.HostSent, s.label("interface", name), float64(sent))
	}
}

// pressed is the time in which some task waited, in s: microseconds behind total= of the line
// some (Documentation/accounting/psi.rst of Linux).
func pressed(text string) (float64, bool) {
	for line := range strings.Lines(text) {
		if _, total, ok := strings.Cut(line, " total="); ok && strings.HasPrefix(line, "some ") {
			n, err := strconv.ParseUint(strings.TrimSpace(total), 10, 64)
			return float64(n) / 1e6, err == nil
		}
	}
	return 0, false
}

// field is the number behind a word at the beginning of a line.
func field(text, word string) (int64, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, word); ok {
			words := strings.Fields(rest)
			if len(words) == 0 {
				return 0, false
			}
			n, err := strconv.ParseInt(words[0], 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// groups are the folders of the control groups with limits that apply, innermost first.
type groups struct{ unified, cpu, memory []string }

// cgroups is where control groups are mounted.
const cgroups = "/sys/fs/cgroup"

// groupsOf are the groups that /proc/self/cgroup lists, with their parents. What a container
// may not see of them is not there, and tells nothing.
func groupsOf(text string) (g groups) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		if len(parts) != 3 {
			continue
		}
		controllers := strings.Split(parts[1], ",")
		switch {
		case parts[1] == "":
			g.unified = chain(cgroups, parts[2])
		case slices.Contains(controllers, "cpu"):
			g.cpu = chain(cgroups+"/cpu", parts[2])
		case slices.Contains(controllers, "memory"):
			g.memory = chain(cgroups+"/memory", parts[2])
		}
	}
	return g
}

// outermost are the groups that a container sees as the outermost ones; a host has no limits there.
func outermost() groups {
	return groups{[]string{cgroups}, []string{cgroups + "/cpu"}, []string{cgroups + "/memory"}}
}

// chain is the folder of a group and those of its parents.
func chain(root, group string) (dirs []string) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dirs = append(dirs, path.Join(root, at))
		if at == "/" {
			return dirs
		}
	}
}

// Files of control groups.
const (
	maxV2, statFile, memoryV2 = "/cpu.max", "/cpu.stat", "/memory.max"
	quotaV1, periodV1         = "/cpu.cfs_quota_us", "/cpu.cfs_period_us"
	memoryV1                  = "/memory.limit_in_bytes"
)

// files are all that limits reads.
func (g groups) files() (all []string) {
	for _, dir := range g.unified {
		all = append(all, dir+maxV2, dir+statFile, dir+memoryV2)
	}
	for _, dir := range g.cpu {
		all = append(all, dir+quotaV1, dir+periodV1, dir+statFile)
	}
	for _, dir := range g.memory {
		all = append(all, dir+memoryV1)
	}
	return all
}

// limits are those of the tightest group; 0: none.
type limits struct {
	cpus           float64
	throttled      float64 // s, of the group with that limit
	throttledKnown bool
	memory         int64 // bytes
}

func (g groups) limits(read reader) (l limits) {
	for _, dir := range g.unified {
		quota, period, _ := strings.Cut(read(dir+maxV2), " ") // or: max 100000
		l.tighten(quota, period, read(dir+statFile), "throttled_usec ", 1e6)
		l.bound(read(dir + memoryV2))
	}
	for _, dir := range g.cpu {
		l.tighten(read(dir+quotaV1), read(dir+periodV1), read(dir+statFile), "throttled_time ", 1e9)
	}
	for _, dir := range g.memory {
		l.bound(read(dir + memoryV1))
	}
	return l
}

// tighten takes a limit if it is tighter, with the time that the group was held down by it.
func (l *limits) tighten(quota, period, stat, word string, perSecond float64) {
	used, err := strconv.ParseFloat(strings.TrimSpace(quota), 64)
	of, err2 := strconv.ParseFloat(strings.TrimSpace(period), 64)
	if err != nil || err2 != nil || used <= 0 || of <= 0 || l.cpus > 0 && used/of >= l.cpus {
		return
	}
	n, known := field(stat, word)
	l.cpus, l.throttled, l.throttledKnown = used/of, float64(n)/perSecond, known
}

// unlimited is about what version 1 says where there is no limit.
const unlimited = 1 << 62

func (l *limits) bound(text string) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err == nil && n > 0 && n < unlimited && (l.memory == 0 || n < l.memory) {
		l.memory = n
	}
}
