package machine

import (
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Tick is the unit of processor time in /proc, on every Linux that Pitot runs on.
const Tick = time.Second / 100

// A LoadWatch tells what has run on this machine since it began.
type LoadWatch struct {
	began time.Time
	times cpuTimes
	own   time.Duration
}

// WatchLoad begins to watch.
func WatchLoad() LoadWatch {
	return LoadWatch{time.Now(), readCPUTimes(), OwnCPU()}
}

// Others are what else ran on the machine.
type Others struct {
	Busy  float64 `json:"busy"`  // share of the machine's processors, 0 to 1
	Steal float64 `json:"steal"` // share of their time that a hypervisor gave to other machines
}

// Others is what ran beside this process, nil where the system does not tell.
func (w LoadWatch) Others() *Others {
	return othersBetween(w.times, readCPUTimes(), OwnCPU()-w.own)
}

// othersBetween is what ran between two readings beside a process that used own.
func othersBetween(before, after cpuTimes, own time.Duration) *Others {
	all := float64(after.all - before.all)
	if all <= 0 {
		return nil
	}
	busy := float64(after.programs+after.interrupts-before.programs-before.interrupts) - float64(own)/float64(Tick)
	return &Others{Busy: max(0, busy) / all, Steal: float64(max(0, after.stolen-before.stolen)) / all}
}

// OtherProcessors is how many processors in the mean were used by other processes, or
// kept by a hypervisor, beside this process and those that are known to have used so
// much; -1 where the system does not tell. Interrupts do not count: those of the loopback
// belong to a run.
func (w LoadWatch) OtherProcessors(known time.Duration) float64 {
	now := readCPUTimes()
	if w.times.all == 0 || now.all == 0 {
		return -1
	}
	used := time.Duration(now.programs+now.stolen-w.times.programs-w.times.stolen) * Tick
	used -= OwnCPU() - w.own + known
	return max(0, used.Seconds()/time.Since(w.began).Seconds())
}

// OwnCPU is the processor time that this process has used.
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

// parseCPUTimes reads /proc/stat. Its first line sums up those of each processor:
// user, nice, system, idle, iowait, irq, softirq, steal, and then parts of the first
// two.
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
