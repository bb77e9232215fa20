package machine

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Reader gives the content of a file by its path; empty if there is no such file.
type Reader func(file string) string

// Groups are the folders of the control groups that apply, innermost first.
type Groups struct{ unified, cpu, memory []string }

// cgroups is where control groups are mounted.
const cgroups = "/sys/fs/cgroup"

// GroupsOf are the groups that /proc/self/cgroup lists, with their parents. Those that a container
// may not see have no files.
func GroupsOf(text string) (g Groups) {
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

// Outermost are the groups that a container sees as the outermost ones; a host has no limits there.
func Outermost() Groups {
	return Groups{[]string{cgroups}, []string{cgroups + "/cpu"}, []string{cgroups + "/memory"}}
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

// Files are all that Limits reads.
func (g Groups) Files() (all []string) {
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

// Limits are those of the tightest group; 0: none.
type Limits struct {
	CPUs      float64
	Times     int64         // that the group with that limit was paused
	Throttled time.Duration // for how long; negative if unknown
	Memory    int64         // bytes
}

// Limits reads the files.
func (g Groups) Limits(read Reader) (l Limits) {
	for _, dir := range g.unified {
		quota, period, _ := strings.Cut(read(dir+maxV2), " ") // or: max 100000
		l.tighten(quota, period, read(dir+statFile), "throttled_usec ", time.Microsecond)
		l.bound(read(dir + memoryV2))
	}
	for _, dir := range g.cpu {
		l.tighten(read(dir+quotaV1), read(dir+periodV1), read(dir+statFile), "throttled_time ", time.Nanosecond)
	}
	for _, dir := range g.memory {
		l.bound(read(dir + memoryV1))
	}
	return l
}

// tighten takes a limit if it is tighter, with the time that the group was throttled.
func (l *Limits) tighten(quota, period, stat, word string, unit time.Duration) {
	used, err := strconv.ParseFloat(strings.TrimSpace(quota), 64)
	of, err2 := strconv.ParseFloat(strings.TrimSpace(period), 64)
	if err != nil || err2 != nil || used <= 0 || of <= 0 || l.CPUs > 0 && used/of >= l.CPUs {
		return
	}
	l.CPUs, l.Throttled = used/of, -1
	if n, known := FieldIn(stat, word); known {
		l.Throttled = time.Duration(n) * unit
	}
	l.Times, _ = FieldIn(stat, "nr_throttled ")
}

// unlimited is about the value of version 1 without a limit.
const unlimited = 1 << 62

func (l *Limits) bound(text string) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err == nil && n > 0 && n < unlimited && (l.Memory == 0 || n < l.Memory) {
		l.Memory = n
	}
}

// FieldIn is the number after a word at the beginning of a line.
func FieldIn(text, word string) (int64, bool) {
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
