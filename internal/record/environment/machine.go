package environment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// MachineAsks are what ReadMachine reads; all of it is in files.
var MachineAsks = []probe.Ask{
	{Name: "host", Dir: "/proc/sys/kernel/hostname"},
	{Name: "kernel-type", Dir: "/proc/sys/kernel/ostype"},
	{Name: "kernel", Dir: "/proc/sys/kernel/osrelease"},
	{Name: "arch", Dir: "/proc/sys/kernel/arch"},
	{Name: "system", Dir: "/etc/os-release"},
	{
		Name: "cpu", Kind: probe.Lines, Dir: "/proc/cpuinfo",
		Match: "^(model name|physical id|core id|CPU implementer|CPU part)", Most: 1 << 14, Limit: 256 << 10,
	},
	{Name: "online", Dir: "/sys/devices/system/cpu/online"},
	{Name: "governor", Dir: "/sys/devices/system/cpu", Glob: "cpu[0-9]*/cpufreq/scaling_governor", Limit: 64},
	{Name: "numa", Dir: "/sys/devices/system/node", Glob: "node[0-9]*/cpulist", Limit: 4 << 10},
	{Name: "swappiness", Dir: "/proc/sys/vm/swappiness", Limit: 64},
	{Name: "numa-balancing", Dir: "/proc/sys/kernel/numa_balancing", Limit: 64},
	{Name: "memory", Dir: "/proc/meminfo", Limit: 4 << 10},
	{Name: "cpu-limit", Dir: "/sys/fs/cgroup/cpu.max", Limit: 256},
	{Name: "memory-limit", Dir: "/sys/fs/cgroup/memory.max", Limit: 256},
}

// ReadMachine reads the answers to MachineAsks.
func ReadMachine(a probe.Answers) Machine {
	m := Machine{
		Host: clean(a.Text("host")), System: clean(assigned(a.Text("system"), "PRETTY_NAME")),
		Kernel:   clean(strings.Join(strings.Fields(a.Text("kernel-type")+" "+a.Text("kernel")+" "+a.Text("arch")), " ")),
		Governor: each(a.All("governor")), Swappiness: clean(a.Text("swappiness")), NUMABalancing: clean(a.Text("numa-balancing")),
	}
	m.processors(a.Text("cpu"))
	m.Threads = cmp.Or(countList(a.Text("online")), m.Threads)
	for _, node := range a.All("numa") {
		if list := clean(node.Text); list != "" { // one of memory alone has no processors
			m.NUMA = append(m.NUMA, list)
		}
	}
	for line := range strings.Lines(a.Text("memory")) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "MemTotal:" {
			m.Memory = bytesOf(words[1], "kB")
		}
	}
	if words := strings.Fields(a.Text("cpu-limit")); len(words) == 2 {
		quota, err := strconv.ParseFloat(words[0], 64)
		period, errPeriod := strconv.ParseFloat(words[1], 64)
		if err == nil && errPeriod == nil && period > 0 && quota > 0 && !math.IsInf(quota/period, 0) {
			m.CPULimit = quota / period
		}
	}
	m.MemoryLimit = bytesOf(clean(a.Text("memory-limit")), "")
	return m
}

// processors reads lines of /proc/cpuinfo: one block for each logical processor. Those of ARM
// have numbers in place of a name.
func (m *Machine) processors(text string) {
	socket, implementer := "0", ""
	sockets, cores := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(text) {
		_, line, _ = strings.Cut(line, ":") // the name of the file
		name, value, _ := strings.Cut(line, ":")
		value = clean(value)
		switch strings.TrimSpace(name) {
		case "model name":
			m.Threads++
			m.CPU = cmp.Or(m.CPU, value)
		case "physical id":
			socket, sockets[value] = value, true
		case "core id":
			cores[socket+"/"+value] = true
		case "CPU implementer":
			m.Threads++
			implementer = value
		case "CPU part":
			m.CPU = cmp.Or(m.CPU, arm[implementer+" "+value], fmt.Sprintf("ARM implementer %s part %s", implementer, value))
		}
	}
	m.Sockets, m.Cores = len(sockets), len(cores)
}

// arm are names of cores by implementer and part (Arm's MIDR_EL1, HiSilicon's Kunpeng).
var arm = map[string]string{
	"0x48 0xd01": "Kunpeng-920", "0x48 0xd02": "Kunpeng-920B", "0x41 0xd0c": "Neoverse-N1", "0x41 0xd40": "Neoverse-V1",
	"0x41 0xd49": "Neoverse-N2", "0x41 0xd4f": "Neoverse-V2", "0x41 0xd84": "Neoverse-V3",
}

// each are the values of answers, each once, with how often where there are several.
func each(all []probe.Answer) string {
	by := map[string]int{}
	var names []string
	for _, a := range all {
		if text := clean(a.Text); text != "" {
			if by[text]++; by[text] == 1 {
				names = append(names, text)
			}
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s ×%d", name, by[name])
	}
	return strings.Join(names, ", ")
}

// countList is how many numbers a list such as 0-63,128-191 has.
func countList(text string) (n int) {
	for part := range strings.SplitSeq(clean(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(first)
		high := low
		if isRange && err == nil {
			high, err = strconv.Atoi(last)
		}
		if err != nil || low < 0 || high < low || high > 1<<20 {
			return 0
		}
		n += high - low + 1
	}
	return n
}

// assigned is the value of NAME=VALUE in a file of the shell's form.
func assigned(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

// bytesOf is a number with a unit, 0 for none.
func bytesOf(number, unit string) int64 {
	shift := map[string]int{"": 0, "B": 0, "kB": 10, "KB": 10, "KiB": 10, "MB": 20, "MiB": 20, "GB": 30, "GiB": 30}
	by, known := shift[unit]
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !known || n < 0 || n > math.MaxInt64>>by {
		return 0
	}
	return n << by
}

// version is the first number with dots in a text.
var version = lazy.Regexp(`\d+(?:\.\w+)+`)
