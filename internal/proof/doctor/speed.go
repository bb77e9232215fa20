package doctor

import (
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// When what takes processor time away is worth a word.
const (
	busyOthers = 0.2  // of the machine's processors
	muchSteal  = 0.01 // of their time
)

func processors(f Facts) Finding {
	r := found("doctor.processors", "doctor.usable", "usable", f.CPUs.Usable, "more", f.CPUs.Machine > f.CPUs.Usable, "machine", f.CPUs.Machine)
	if f.CPUs.Usable > 1 {
		return r
	}
	return r.but(Warn, "doctor.one-processor", "more", f.CPUs.Machine > 1)
}

func quota(f Facts) Finding {
	const item plan.Code = "doctor.processor-quota"
	switch q := f.Quota; {
	case q == nil:
		return unknown(item, f.OS)
	case q.CPUs == 0:
		return found(item, "doctor.no-quota")
	}
	q := *f.Quota
	r := found(item, "doctor.quota", "processors", q.CPUs, "throttled", q.Throttled)
	switch {
	case q.CPUs < 1:
		return r.but(Bad, "doctor.quota-stands")
	case q.CPUs < float64(f.CPUs.Usable) || q.Throttled > 0:
		return r.but(Warn, "doctor.quota-stands")
	}
	return r
}

func frequency(f Facts) Finding {
	const item plan.Code = "doctor.frequency"
	if len(f.Governors) == 0 {
		r := unknown(item, f.OS)
		if f.OS == "linux" {
			r.Value = plan.Msg("doctor.no-governor")
		}
		return r
	}
	r := found(item, "doctor.governor", "governors", f.Governors)
	if !slices.Equal(f.Governors, []string{"performance"}) {
		return r.but(Warn, "doctor.governor-slow")
	}
	return r
}

func others(f Facts) Finding {
	const item plan.Code = "doctor.other-load"
	if f.Others == nil {
		return unknown(item, f.OS)
	}
	o := *f.Others
	r := found(item, "doctor.others", "busy", o.Busy, "stolen", o.Steal)
	var advice []plan.Message
	if o.Busy > busyOthers {
		advice = append(advice, plan.Msg("doctor.others-busy"))
	}
	if o.Steal > muchSteal {
		advice = append(advice, plan.Msg("doctor.stolen"))
	}
	if advice != nil {
		return r.but(Warn, "doctor.all", "all", advice)
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
	r := found("doctor.clock", "doctor.clock-source", "source", source, "reading", span(f.Clock.Reading))
	if source == "" {
		r.Value = plan.Msg("doctor.clock-any", "reading", span(f.Clock.Reading))
	}
	slow := f.Clock.Reading > slowReading
	switch {
	case slices.Contains(slowSources, source):
		return r.but(Bad, "doctor.clock-slow")
	case slow && slices.Contains(goodSources, source):
		return r.but(Warn, "doctor.clock-sandbox")
	case slow && f.OS == "linux":
		return r.but(Warn, "doctor.clock-slow")
	case slow:
		return r.but(Warn, "doctor.clock-other")
	}
	return r
}

// How late timers may be.
const (
	lateTypical = 200 * time.Microsecond // the median
	lateTail    = time.Millisecond       // P99
	lateRuntime = 3 * time.Millisecond   // Go's own: it sleeps in milliseconds
)

func timer(f Facts) Finding {
	const item plan.Code = "doctor.timer"
	if f.Timer.Reads == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Timer), Verdict: OK}
	if f.Timer.P50 <= lateTypical && f.Timer.P99 <= lateTail {
		return r
	}
	return r.but(Warn, "doctor.timer-late", "linux", f.OS == "linux")
}

func runtimeTimer(f Facts) Finding {
	const item plan.Code = "doctor.go-timer"
	if f.Runtime.Reads == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Runtime), Verdict: OK}
	if f.Runtime.P99 > lateRuntime {
		return r.but(Warn, "doctor.go-timer-late")
	}
	return r
}

func late(l trace.Lag) plan.Message {
	return plan.Msg("doctor.late", "typical", span(l.P50), "p99", span(l.P99))
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
