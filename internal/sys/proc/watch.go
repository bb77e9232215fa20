package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// A Sample is the CPU time that a process and its descendants had used at an
// instant.
type Sample struct {
	At  int64 // of Command.Now
	CPU time.Duration
}

// watchInterval is the sampling interval. A process reports its peak memory, so
// only the last moments can be missed.
const watchInterval = 50 * time.Millisecond

// A watch samples a process and its descendants. It reports nothing without /proc.
type watch struct {
	done, ended chan struct{}
	now         func() int64
	peak        int64 // the largest memory of any one of them, in bytes
	samples     []Sample
}

func startWatch(pid int, now func() int64) *watch {
	w := &watch{done: make(chan struct{}), ended: make(chan struct{}), now: now}
	go func() {
		defer close(w.ended)
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			w.look(pid)
			select {
			case <-tick.C:
			case <-w.done:
				return
			}
		}
	}()
	return w
}

func (w *watch) stop() *watch {
	close(w.done)
	<-w.ended
	return w
}

func (w *watch) look(pid int) {
	s := Sample{}
	if w.now != nil {
		s.At = w.now()
	}
	for _, p := range family(pid) {
		w.peak = max(w.peak, peakOf(p))
		s.CPU += timeOf(p)
	}
	if w.now != nil && s.CPU > 0 { // otherwise it has ended
		w.samples = append(w.samples, s)
	}
}

func family(pid int) []int {
	all := []int{pid}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, word := range bytes.Fields(children) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				all = append(all, family(child)...)
			}
		}
	}
	return all
}

// peakOf is the peak memory of a process since its exec.
func peakOf(pid int) int64 {
	kB, _ := machine.Field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:")
	return kB << 10
}

// timeOf is the CPU time of a process, and of the children it has waited for.
func timeOf(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // after the name, which may contain spaces
	const user, end = 11, 15                                        // user, system, and both of the children
	if len(fields) < end {
		return 0
	}
	ticks := 0
	for _, f := range fields[user:end] {
		n, _ := strconv.Atoi(string(f))
		ticks += n
	}
	return time.Duration(ticks) * machine.Tick
}
