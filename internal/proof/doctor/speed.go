package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Thresholds for the loss of CPU time.
const (
	busyOthers = 0.2  // of the machine's processors
	muchSteal  = 0.01 // of their time
)

func processors(f Facts) Finding {
	r := Finding{Item: "processors", Value: fmt.Sprintf("%d usable", f.CPUs.Usable), Verdict: OK}
	if f.CPUs.Machine > f.CPUs.Usable {
		r.Value += fmt.Sprintf(", the machine has %d", f.CPUs.Machine)
	}
	if f.CPUs.Usable > 1 {
		return r
	}
	how := "use a machine with two"
	if f.CPUs.Machine > 1 {
		how = "allow it two (taskset, --cpuset-cpus)"
	}
	return r.but(Warn, "other programs share the client's only processor: %s", how)
}

func quota(f Facts) Finding {
	const item = "processor quota"
	if f.Quota == nil {
		return unknown(item, f.OS)
	}
	q := *f.Quota
	if q.CPUs == 0 {
		return Finding{Item: item, Value: "none", Verdict: OK}
	}
	r := Finding{Item: item, Value: fmt.Sprintf("%.3g processors, paused %d times so far", q.CPUs, q.Throttled), Verdict: OK}
	const how = "a client that has used up its quota stands still for up to 0.1 s: run without a quota (no --cpus or limits.cpu), and dedicate processors instead (--cpuset-cpus)"
	switch {
	case q.CPUs < 1:
		return r.but(Bad, "%s", how)
	case q.CPUs < float64(f.CPUs.Usable) || q.Throttled > 0:
		return r.but(Warn, "%s", how)
	}
	return r
}

func frequency(f Facts) Finding {
	const item = "frequency"
	if len(f.Governors) == 0 {
		r := unknown(item, f.OS)
		if f.OS == "linux" {
			r.Value = "not known here, as in most virtual machines"
		}
		return r
	}
	r := Finding{Item: item, Value: "governor " + strings.Join(f.Governors, ", "), Verdict: OK}
	if !slices.Equal(f.Governors, []string{"performance"}) {
		return r.but(Warn, "processors that slow down between tokens wake up late and send late: set the governor with `cpupower frequency-set -g performance`")
	}
	return r
}

func others(f Facts) Finding {
	const item = "other load"
	if f.Others == nil {
		return unknown(item, f.OS)
	}
	o := *f.Others
	r := Finding{Item: item, Value: fmt.Sprintf("%.0f %% of the machine, %.0f %% stolen", o.Busy*100, o.Steal*100), Verdict: OK}
	var advice []string
	if o.Busy > busyOthers {
		advice = append(advice, "other programs are busy here, and the client waits for its turn behind them: end them, or give each its own processors (taskset)")
	}
	if o.Steal > muchSteal {
		advice = append(advice, "the hypervisor gives this machine's processors to other machines: use one with dedicated processors")
	}
	if advice != nil {
		return r.but(Warn, "%s", strings.Join(advice, "; "))
	}
	return r
}

// Linux's names of clock sources: those that a process reads directly, and slow
// hardware that needs a system call.
var (
	goodSources = []string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}
	slowSources = []string{"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"}
)

const slowReading = 200 * time.Nanosecond

func clockSource(f Facts) Finding {
	source := f.Clock.Source
	if source == "" {
		source = "source not known"
	}
	r := Finding{Item: "clock", Value: fmt.Sprintf("%s, %s per reading", source, span(f.Clock.Reading)), Verdict: OK}
	slow := f.Clock.Reading > slowReading
	const how = "every read and write reads the clock: `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`, or kvm-clock if available_clocksource next to it lists that; the kernel's log says why it selected another"
	switch {
	case slices.Contains(slowSources, source):
		return r.but(Bad, "%s", how)
	case slow && slices.Contains(goodSources, source):
		return r.but(Warn, "every read and write reads the clock, and something makes that slow: a sandbox that intercepts system calls, a tracer, or an emulator")
	case slow && f.OS == "linux":
		return r.but(Warn, "%s", how)
	case slow:
		return r.but(Warn, "every read and write reads the clock: use another machine")
	}
	return r
}

// Allowed lateness of timers.
const (
	lateTypical = 200 * time.Microsecond // the median
	lateTail    = time.Millisecond       // P99
	lateRuntime = 3 * time.Millisecond   // Go's own: it sleeps in whole milliseconds
)

func timer(f Facts) Finding {
	const item = "timer"
	if f.Timer.Reads == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Timer), Verdict: OK}
	if f.Timer.P50 <= lateTypical && f.Timer.P99 <= lateTail {
		return r
	}
	if f.OS != "linux" {
		return r.but(Warn, "requests leave that late: measure from Linux, which has a precise timer")
	}
	return r.but(Warn, "requests leave that late: check for other busy programs, and for deep idle states (`cpupower idle-set -D 10`)")
}

func runtimeTimer(f Facts) Finding {
	const item = "Go's timer"
	if f.Runtime.Reads == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Runtime), Verdict: OK}
	if f.Runtime.P99 > lateRuntime {
		return r.but(Warn, "timeouts and waits between retries are that late; requests are not, they use the timer above: check for other busy programs")
	}
	return r
}

func late(l trace.Lag) string {
	return fmt.Sprintf("%s late, P99 %s", span(l.P50), span(l.P99))
}

// span formats a duration with its significant digits.
func span(d time.Duration) string {
	switch v := float64(d); {
	case d.Abs() < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d.Abs() < time.Millisecond:
		return fmt.Sprintf("%.3g µs", v/1e3)
	case d.Abs() < time.Second:
		return fmt.Sprintf("%.3g ms", v/1e6)
	default:
		return fmt.Sprintf("%.3g s", v/1e9)
	}
}
