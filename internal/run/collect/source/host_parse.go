package source

import (
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

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
	groups machine.Groups
	labels map[string]telemetry.Labels
}

// values are all quantities that the files tell; none if this is no Linux host.
func (s *sampler) values(read machine.Reader, at time.Time) (all []collect.Value) {
	add := func(name string, labels telemetry.Labels, v float64) {
		all = append(all, collect.Value{Name: name, Labels: labels, At: at, Value: v})
	}
	s.processors(read(stat), add)
	if len(all) == 0 {
		return nil
	}
	text := read(memory)
	total, known := machine.FieldIn(text, "MemTotal:")
	if free, also := machine.FieldIn(text, "MemAvailable:"); known && also {
		add(telemetry.HostMemoryTotal, nil, float64(total<<10))
		add(telemetry.HostMemoryUsed, nil, float64((total-free)<<10))
	}
	s.interfaces(read(network), add)
	for _, r := range resources {
		if waited := machine.Pressed(read(pressure + r)); waited >= 0 {
			add(telemetry.HostPressure, s.label("resource", r), waited.Seconds())
		}
	}
	l := s.groups.Limits(read)
	if l.CPUs > 0 {
		add(telemetry.HostCPULimit, nil, l.CPUs)
		if l.Throttled >= 0 {
			add(telemetry.HostCPUThrottled, nil, l.Throttled.Seconds())
		}
	}
	if l.Memory > 0 && (!known || l.Memory < total<<10) {
		add(telemetry.HostMemoryLimit, nil, float64(l.Memory))
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

// processors reads /proc/stat: of each cpuN user, nice, system, idle, iowait, irq, softirq and steal, in ticks; and
// ctxt, the context switches. Neither time spent idle or waiting for disks counts, nor time that a hypervisor took.
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

// interfaces reads /proc/net/dev: after the name of an interface 8 figures of receiving and 8 of sending, bytes
// first. One that never carried anything is left out.
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
