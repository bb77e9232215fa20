package doctor

import (
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Requirements for timestamps to be trusted.
const (
	stampTypical = 100 * time.Microsecond // off, the median
	stampTail    = 100 * time.Microsecond // P99
	insideShare  = 0.9                    // between the instants before and after the write
	lateReading  = 10 * time.Millisecond  // P99
)

// Stamps judges the kernel's receive timestamps by a self-test; nil means none.
func Stamps(system string, t *trace.SelfTest) Finding {
	const item = "kernel stamps"
	if t == nil {
		return unknown(item, system)
	}
	r := Finding{Item: item, Value: fmt.Sprintf("none on %d reads", t.Writes), Verdict: OK}
	if t.Stamped == 0 {
		if system != "linux" {
			r.Value = "none on " + system
			return r.but(Warn, "every timestamp includes the delay of the client's read: measure from Linux to avoid that")
		}
		return r.but(Bad, "every timestamp includes the delay of the client's read: run directly on the kernel, outside of a sandbox without SO_TIMESTAMPNS (such as gVisor)")
	}
	r.Value = fmt.Sprintf("on %d of %d reads, off by at most %s, P99 %s", t.Stamped, t.Writes, span(t.Error.P50), span(t.Error.P99))
	switch {
	case t.Error.P50.Abs() > stampTypical:
		return r.but(Bad, "the kernel's timestamps are long before or after the bytes were sent: check whether something sets the wall clock (`timedatectl`; run only one time service)")
	case t.Stamped < t.Writes:
		return r.but(Warn, "reads without a kernel timestamp have the client's own: check whether another program turns timestamping on and off")
	case float64(t.Inside) < insideShare*float64(t.Stamped):
		return r.but(Warn, "%d of %d timestamps lie outside their writes: check whether something sets the wall clock, or whether network processing is busy (%%soft in `mpstat`)", t.Stamped-t.Inside, t.Stamped)
	case t.Error.P99 > stampTail:
		return r.but(Warn, "one in a hundred timestamps may be off by more than %s: check for other busy programs", span(stampTail))
	}
	return r
}

// reading judges how late the client reads: harmless to kernel timestamps, until
// data of two moments meets in one read.
func reading(f Facts) Finding {
	const item = "reading"
	if f.Stamps == nil || f.Stamps.Stamped == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Stamps.Lag), Verdict: OK}
	if f.Stamps.Lag.P99 > lateReading {
		return r.but(Warn, "tokens this close together merge in one read, and their timestamps are then only bounds: check for other busy programs")
	}
	return r
}
