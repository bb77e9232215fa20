package machine

import (
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// Contention is how much of the processors this process could not have, over some time. Shares and times that the
// system does not report are negative; only Linux reports any.
type Contention struct {
	Waited   time.Duration // that threads of this process stood in the run queue, together
	Others   float64       // share of the machine's processors that other programs used
	Steal    float64       // share that a hypervisor gave to other machines
	Pressure float64       // share of the time in which some task of the machine waited (PSI)
}

// A ContentionWatch measures contention since it began.
type ContentionWatch struct {
	load     LoadWatch
	waited   map[string]time.Duration // by thread
	pressure time.Duration
}

// WatchContention starts a ContentionWatch.
func WatchContention() ContentionWatch {
	return ContentionWatch{WatchLoad(), queued("/proc/self/task"), Pressed(text("/proc/pressure/cpu"))}
}

// Contention is that since the watch began.
func (w ContentionWatch) Contention() Contention {
	c := Contention{Waited: waitedBetween(w.waited, queued("/proc/self/task")), Others: -1, Steal: -1, Pressure: -1}
	if o := w.load.Others(); o != nil {
		c.Others, c.Steal = o.Busy, o.Steal
	}
	now := Pressed(text("/proc/pressure/cpu"))
	if took := time.Since(w.load.began); w.pressure >= 0 && now >= w.pressure && took > 0 {
		c.Pressure = min(1, (now-w.pressure).Seconds()/took.Seconds())
	}
	return c
}

// waitedBetween adds up the waits of threads between two readings; those of threads that have ended are unknown. It
// is negative if the system does not tell.
func waitedBetween(before, after map[string]time.Duration) (sum time.Duration) {
	if len(after) == 0 {
		return -1
	}
	for thread, waited := range after {
		sum += max(0, waited-before[thread])
	}
	return sum
}

// queued is how long each thread of a process was runnable without a processor.
func queued(tasks string) map[string]time.Duration {
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil
	}
	all := map[string]time.Duration{}
	for _, t := range threads {
		if waited, ok := parseSchedstat(text(tasks + "/" + t.Name() + "/schedstat")); ok {
			all[t.Name()] = waited
		}
	}
	return all
}

// parseSchedstat reads a thread's schedstat: nanoseconds on a processor, nanoseconds in the
// run queue, and turns (Documentation/scheduler/sched-stats.rst of Linux).
func parseSchedstat(text string) (waited time.Duration, ok bool) {
	words := strings.Fields(text)
	if len(words) != 3 {
		return 0, false
	}
	n, err := strconv.ParseInt(words[1], 10, 64)
	return time.Duration(n), err == nil && n >= 0
}

// Pressed is the time in which some task waited for a resource, by /proc/pressure/cpu and its like
// (Documentation/accounting/psi.rst): microseconds since the machine started, behind total=
// of the line some. It is negative if the text has none.
func Pressed(text string) time.Duration {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "some" {
			continue
		}
		for _, word := range words {
			total, ok := strings.CutPrefix(word, "total=")
			if n, err := strconv.ParseInt(total, 10, 64); ok && err == nil && n >= 0 && n <= math.MaxInt64/1000 {
				return time.Duration(n) * time.Microsecond
			}
		}
	}
	return -1
}
