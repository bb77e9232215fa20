package cli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/proof/verify"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// watchInterval is how often a client is looked at. Each process tells its peak of
// memory, so that only what happens in its last moments can be missed.
const watchInterval = 50 * time.Millisecond

// A watched client is what was seen of a process and its descendants; nothing where
// /proc does not tell.
type watched struct {
	peak    int64           // the most memory that any one of them had, in bytes
	samples []verify.Sample // what all of them had used of the processors
}

// watchClient looks at a process and its descendants until end is called.
func watchClient(pid int, clk *clock.Clock) (end func() watched) {
	done, result := make(chan struct{}), make(chan watched)
	go func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		var w watched
		for {
			w.look(pid, clk)
			select {
			case <-tick.C:
			case <-done:
				result <- w
				return
			}
		}
	}()
	return func() watched {
		close(done)
		return <-result
	}
}

func (w *watched) look(pid int, clk *clock.Clock) {
	at, used := clk.Now(), time.Duration(0)
	for _, p := range family(pid) {
		w.peak = max(w.peak, peakOf(p))
		used += timeOf(p)
	}
	if used > 0 { // else it has ended
		w.samples = append(w.samples, verify.Sample{At: at, CPU: used})
	}
}

// family are a process and its descendants.
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

// peakOf is the most memory that a process has had since it became the program
// that it is.
func peakOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	fields := bytes.Fields(line) // 1234 kB
	if len(fields) != 2 {
		return 0
	}
	kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib << 10
}

// timeOf is the processor time of a process, and of the children it has waited for.
func timeOf(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // after the name, which may have blanks
	const user, end = 11, 15                                        // user, system, and both of the children
	if len(fields) < end {
		return 0
	}
	ticks := 0
	for _, f := range fields[user:end] {
		n, _ := strconv.Atoi(string(f))
		ticks += n
	}
	return time.Duration(ticks) * tick
}
