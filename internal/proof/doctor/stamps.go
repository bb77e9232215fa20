package doctor

import (
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// What stamps must keep to be believed.
const (
	stampTypical = 100 * time.Microsecond // off, the median
	stampTail    = 100 * time.Microsecond // P99
	insideShare  = 0.9                    // between the instants before and after the write
	lateReading  = 10 * time.Millisecond  // P99
)

// Stamps judges the kernel's receive stamps by a self-test; nil is none.
func Stamps(system string, t *trace.SelfTest) Finding {
	const item = "kernel stamps"
	if t == nil {
		return unknown(item, system)
	}
	r := Finding{Item: item, Value: fmt.Sprintf("none on %d reads", t.Writes), Verdict: OK}
	if t.Stamped == 0 {
		if system != "linux" {
			r.Value = "none on " + system
			return r.but(Warn, "every instant includes how late the client got round to reading: measure from Linux for figures that do not")
		}
		return r.but(Bad, "every instant includes how late the client got round to reading: run on the kernel itself, outside of a sandbox that leaves SO_TIMESTAMPNS out (gVisor does)")
	}
	r.Value = fmt.Sprintf("on %d of %d reads, off by at most %s, P99 %s", t.Stamped, t.Writes, span(t.Error.P50), span(t.Error.P99))
	switch {
	case t.Error.P50.Abs() > stampTypical:
		return r.but(Bad, "the kernel says that bytes came long before or after they were sent: is something setting the wall clock? (`timedatectl`, and one time service, not two)")
	case t.Stamped < t.Writes:
		return r.but(Warn, "reads without a stamp have the client's own instant: is stamping being turned on and off by another program?")
	case float64(t.Inside) < insideShare*float64(t.Stamped):
		return r.but(Warn, "%d of %d stamps lie outside of the writes that made them: is something setting the wall clock, or is the network's share of the processors busy (%%soft in `mpstat`)?", t.Stamped-t.Inside, t.Stamped)
	case t.Error.P99 > stampTail:
		return r.but(Warn, "one in a hundred instants may be off by more than %s: look for what else is busy here", span(stampTail))
	}
	return r
}

// reading is how late the client reads: harmless to instants that the kernel
// stamps, until bytes of two moments meet in one read.
func reading(f Facts) Finding {
	const item = "reading"
	if f.Stamps == nil || f.Stamps.Stamped == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Stamps.Lag), Verdict: OK}
	if f.Stamps.Lag.P99 > lateReading {
		return r.but(Warn, "tokens that come this close together merge in one read, and their instants are then only bounds: look for what else is busy here")
	}
	return r
}
