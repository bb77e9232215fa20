package doctor

import (
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// reading is how late the client reads: harmless to instants that the kernel
// stamps, until bytes of two moments meet in one read.
func reading(f Facts) Finding {
	const item plan.Code = "doctor.reading"
	if f.Stamps == nil || f.Stamps.Stamped == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: late(f.Stamps.Lag), Verdict: OK}
	if f.Stamps.Lag.P99 > lateReading {
		return r.but(Warn, "doctor.reading-late")
	}
	return r
}

// Stamps judges the kernel's receive stamps by a self-test; nil is none.
func Stamps(system string, t *trace.SelfTest) Finding {
	const item plan.Code = "doctor.kernel-stamps"
	if t == nil {
		return unknown(item, system)
	}
	if t.Stamped == 0 {
		if system != "linux" {
			return found(item, "doctor.no-stamps-on", "system", system).but(Warn, "doctor.stamps-other")
		}
		return found(item, "doctor.no-stamps", "reads", t.Writes).but(Bad, "doctor.stamps-sandbox")
	}
	r := found(item, "doctor.stamps", "stamped", t.Stamped, "reads", t.Writes, "typical", span(t.Error.P50), "p99", span(t.Error.P99))
	switch {
	case t.Error.P50.Abs() > stampTypical:
		return r.but(Bad, "doctor.stamps-off")
	case t.Stamped < t.Writes:
		return r.but(Warn, "doctor.stamps-missing")
	case float64(t.Inside) < insideShare*float64(t.Stamped):
		return r.but(Warn, "doctor.stamps-outside", "outside", t.Stamped-t.Inside, "stamped", t.Stamped)
	case t.Error.P99 > stampTail:
		return r.but(Warn, "doctor.stamps-tail", "limit", span(stampTail))
	}
	return r
}

// What stamps must keep to be believed.
const (
	stampTypical = 100 * time.Microsecond // off, the median
	stampTail    = 100 * time.Microsecond // P99
	insideShare  = 0.9                    // between the instants before and after the write
	lateReading  = 10 * time.Millisecond  // P99
)
