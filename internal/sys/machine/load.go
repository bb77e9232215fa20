package machine

import (
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Tick is the unit of CPU time in /proc, on every Linux that Pitot runs on.
const Tick = time.Second / 100

// A LoadWatch measures the CPU time used on this machine since it began.
type LoadWatch struct {
	began time.Time
	times cpuTimes
	own   time.Duration
}

// WatchLoad starts a LoadWatch.
func WatchLoad() LoadWatch { return LoadWatch{time.Now(), readCPUTimes(), OwnCPU()} }

// Others is the load of other programs on the machine.
type Others struct {
	Busy  float64 `json:"busy"`  // share of the machine's processors, 0 to 1
	Steal float64 `json:"steal"` // share of their time that a hypervisor gave to other machines
}

// Others returns the load of other processes, nil if the system does not report it.
func (w LoadWatch) Others() *Others {
	return othersBetween(w.times, readCPUTimes(), OwnCPU()-w.own)
}

// Seen is the time of all processors, busy or idle, since it began; 0 if the system does not report it.
func (w LoadWatch) Seen() time.Duration { return time.Duration(readCPUTimes().all-w.times.all) * Tick }

// othersBetween is the load between two readings without that of a process that used own.
func othersBetween(before, after cpuTimes, own time.Duration) *Others {
	all := float64(after.all - before.all)
	if all <= 0 {
		return nil
	}
	busy := float64(after.programs+after.interrupts-before.programs-before.interrupts) - float64(own)/float64(Tick)
	return &Others{Busy: max(0, busy) / all, Steal: float64(max(0, after.stolen-before.stolen)) / all}
}

// OtherProcessors is the mean number of processors used by other processes, or
// stolen by a hypervisor, excluding this process and those known to have used that
// much; -1 if the system does not report it. Interrupts do not count: those of the
// loopback belong to a run.
func (w LoadWatch) OtherProcessors(known time.Duration) float64 {
	now := readCPUTimes()
	if w.times.all == 0 || now.all == 0 {
		return -1
	}
	used := time.Duration(now.programs+now.stolen-w.times.programs-w.times.stolen) * Tick
	used -= OwnCPU() - w.own + known
	return max(0, used.Seconds()/time.Since(w.began).Seconds())
}

// OwnCPU is the CPU time that this process has used.
func OwnCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// cpuTimes are ticks of all processors since the machine started.
type cpuTimes struct {
	processors                        int
	programs, interrupts, stolen, all int64
}

func readCPUTimes() cpuTimes { return parseCPUTimes(text("/proc/stat")) }

// parseCPUTimes reads /proc/stat. Its first line is the sum over all processors:
// user, nice, system, idle, iowait, irq, softirq, steal, and then parts of the
// first two.
func parseCPUTimes(text string) (t cpuTimes) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 9 || !strings.HasPrefix(words[0], "cpu") {
			continue
		}
		if words[0] != "cpu" {
			t.processors++
			continue
		}
		for i, word := range words[1:9] {
			n, _ := strconv.ParseInt(word, 10, 64)
			t.all += n
			switch i {
			case 0, 1, 2:
				t.programs += n
			case 5, 6:
				t.interrupts += n
			case 7:
				t.stolen = n
			}
		}
	}
	return t
}
