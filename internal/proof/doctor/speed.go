package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// When what takes processor time away is worth a word.
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
	return r.but(Warn, "whatever else runs takes turns with the client on its only processor: %s", how)
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
	const how = "once its quota is used up a client stands still for up to 0.1 s: run without one (no --cpus or limits.cpu), and give processors of its own instead (--cpuset-cpus)"
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
		return r.but(Warn, "processors that slow down between tokens wake up late and send late: `cpupower frequency-set -g performance`")
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
		advice = append(advice, "the hypervisor gives this machine's processors to others meanwhile: use one with processors of its own")
	}
	if advice != nil {
		return r.but(Warn, "%s", strings.Join(advice, "; "))
	}
	return r
}

// Clock sources by what Linux calls them: those that a process reads by itself, and
// those for which it must ask slow hardware.
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
	r := Finding{Item: "clock", Value: fmt.Sprintf("%s, %s a reading", source, span(f.Clock.Reading)), Verdict: OK}
	slow := f.Clock.Reading > slowReading
	const how = "every read and write looks at the clock: `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`, or kvm-clock where available_clocksource beside it has that; the kernel's log says why it took another"
	switch {
	case slices.Contains(slowSources, source):
		return r.but(Bad, "%s", how)
	case slow && slices.Contains(goodSources, source):
		return r.but(Warn, "every read and write looks at the clock, and something makes that slow: a sandbox that catches system calls, a tracer, or an emulator")
	case slow && f.OS == "linux":
		return r.but(Warn, "%s", how)
	case slow:
		return r.but(Warn, "every read and write looks at the clock: use another machine")
	}
	return r
}

// How late timers may be.
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
		return r.but(Warn, "requests leave that late: measure from Linux, which has a timer that is on time")
	}
	return r.but(Warn, "requests leave that late: look for what else is busy here, and for deep idle states (`cpupower idle-set -D 10`)")
}

func runtimeTimer(f Facts) Finding {
	const item = "Go's timer"
	if f.Runtime.Reads == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Runtime), Verdict: OK}
	if f.Runtime.P99 > lateRuntime {
		return r.but(Warn, "time limits and waits between attempts are that late; requests are not, they have the timer above: look for what else is busy here")
	}
	return r
}

func late(l trace.Lag) string {
	return fmt.Sprintf("%s late, P99 %s", span(l.P50), span(l.P99))
}

// span is a duration for people, with as many digits as it is worth.
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
