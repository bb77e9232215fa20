package cli

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// facts looks at this machine for less than a second.
func (p *Process) facts(ctx context.Context) (doctor.Facts, error) {
	f := doctor.Facts{OS: runtime.GOOS, Ports: localPorts(), CPUs: processors(), Quota: cpuQuota(), Governors: governors()}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		f.Files, f.FilesHard = limit.Cur, limit.Max
	}
	if _, known := field("/proc/meminfo", "MemAvailable:"); known {
		f.Memory = freeMemory()
	}
	watch := startWatch()
	f.Clock = doctor.Clock{Source: clockSource(), Reading: readingCost()}
	precise, plain := clock.NewPrecise(), clock.NewTimer()
	defer precise.Close()
	defer plain.Close()
	f.Timer, f.Runtime = lateness(ctx, precise), lateness(ctx, plain)
	var err error
	f.Stamps, _, err = selfTest(ctx, clock.New())
	f.Others = watch.others()
	return f, err
}

// processors counts those of the machine that are on, and those that this process
// may use.
func processors() doctor.CPUs {
	return doctor.CPUs{Machine: parseCPUTimes(word("/proc/stat")).processors, Usable: runtime.NumCPU()}
}

// governors are what sets the frequency of the processors.
func governors() (names []string) {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
	for _, file := range files {
		names = append(names, word(file))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func clockSource() string {
	return word("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// word is what a file holds without the blanks around it, empty if it cannot be read.
func word(file string) string {
	text, _ := os.ReadFile(file)
	return strings.TrimSpace(string(text))
}

// readingCost is what looking at the clock takes when nothing interferes: the
// fastest of many batches.
func readingCost() time.Duration {
	const batches, readings = 20, 1000
	c := clock.New()
	best := time.Hour
	for range batches {
		start := c.Now()
		for range readings {
			c.Now()
		}
		best = min(best, time.Duration(c.Now()-start)/readings)
	}
	return best
}

// lateness is how late a timer fires in a process that otherwise waits.
func lateness(ctx context.Context, t *clock.Timer) trace.Lag {
	const firings, wait = 100, 700 * time.Microsecond
	var late []float64
	for len(late) < firings && ctx.Err() == nil {
		due := time.Now().Add(wait)
		t.Reset(wait)
		<-t.C
		late = append(late, float64(time.Since(due)))
	}
	s := stats.Sort(late)
	return trace.Lag{
		Reads: len(late), P50: time.Duration(s.Median()), P99: time.Duration(s.Percentile(99)), Max: time.Duration(s.Max()),
	}
}

// A cpuWatch remembers what the processors had done when it started.
type cpuWatch struct {
	times cpuTimes
	own   time.Duration
}

// cpuTimes are ticks of all processors since the machine started.
type cpuTimes struct {
	processors        int
	busy, stolen, all float64
}

const tick = time.Second / 100 // of /proc/stat, on every Linux that Pitot runs on

func startWatch() cpuWatch { return cpuWatch{parseCPUTimes(word("/proc/stat")), ownCPU()} }

// others is what else ran since the watch started, nil where the system does not
// tell.
func (w cpuWatch) others() *doctor.Others {
	return othersBetween(w.times, parseCPUTimes(word("/proc/stat")), ownCPU()-w.own)
}

// othersBetween is what ran between two readings beside a process that used own.
func othersBetween(before, after cpuTimes, own time.Duration) *doctor.Others {
	all := after.all - before.all
	if all <= 0 {
		return nil
	}
	busy := after.busy - before.busy - float64(own)/float64(tick)
	return &doctor.Others{Busy: max(0, busy) / all, Steal: max(0, after.stolen-before.stolen) / all}
}

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
			n, _ := strconv.ParseFloat(word, 64)
			t.all += n
			switch i {
			case 3, 4: // idle
			case 7:
				t.stolen = n
			default:
				t.busy += n
			}
		}
	}
	return t
}

func ownCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// cpuQuota is the tightest limit on the control groups that this process is in, nil
// if there are none.
func cpuQuota() *doctor.Quota {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return quotaOf(string(text), "/sys/fs/cgroup")
}

// quotaOf finds the control groups of a /proc/self/cgroup below root.
func quotaOf(groups, root string) *doctor.Quota {
	q := &doctor.Quota{}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		if len(parts) != 3 {
			continue
		}
		switch controllers := strings.Split(parts[1], ","); {
		case parts[1] == "":
			tighten(q, root, parts[2], quotaV2)
		case slices.Contains(controllers, "cpu"):
			tighten(q, path.Join(root, "cpu"), parts[2], quotaV1)
		}
	}
	return q
}

// tighten takes the limits of a group and of those it is in.
func tighten(q *doctor.Quota, root, group string, read func(dir string) (cpus float64)) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := path.Join(root, at)
		if cpus := read(dir); cpus > 0 && (q.CPUs == 0 || cpus < q.CPUs) {
			q.CPUs = cpus
			q.Throttled, _ = field(path.Join(dir, "cpu.stat"), "nr_throttled")
		}
		if at == "/" {
			return
		}
	}
}

// quotaV2 reads cpu.max: microseconds that may be used, or max, in a period of so
// many.
func quotaV2(dir string) float64 {
	var used, period float64
	if _, err := fmt.Sscan(word(path.Join(dir, "cpu.max")), &used, &period); err != nil || period <= 0 {
		return 0
	}
	return used / period
}

func quotaV1(dir string) float64 {
	used, ok := number(path.Join(dir, "cpu.cfs_quota_us"))
	period, also := number(path.Join(dir, "cpu.cfs_period_us"))
	if !ok || !also || used <= 0 || period <= 0 {
		return 0
	}
	return float64(used) / float64(period)
}
