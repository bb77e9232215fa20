package cli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// memoryInterval is how often the memory of a client is looked at. Each process
// tells its peak, so that only what happens in its last moments can be missed.
const memoryInterval = 50 * time.Millisecond

// watchMemory looks at a process and its descendants until peak is called, which
// is the most that any one of them had, in bytes; 0 where /proc does not tell.
func watchMemory(pid int) (peak func() int64) {
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(memoryInterval)
		defer tick.Stop()
		most := int64(0)
		for {
			most = max(most, treePeak(pid))
			select {
			case <-tick.C:
			case <-done:
				result <- most
				return
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-result
	}
}

// treePeak is the highest of the peaks of a process and its descendants.
func treePeak(pid int) int64 {
	most := peakOf(pid)
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, word := range bytes.Fields(children) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				most = max(most, treePeak(child))
			}
		}
	}
	return most
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
