// Package doctor judges a machine as a load generator: facts in, findings out.
//
// A finding is what was found, whether that is good enough for the run that is
// planned, and what to change where it is not. Look collects the facts, in less than a
// second; Examine looks at nothing but them. What the system does not tell is left out,
// and is neither good nor bad.
//
// Limits that would end a run, and instants that would be wrong, are Bad. What a
// run notices by itself and says in its report, a busy neighbour for example, is
// at most worth a warning.
package doctor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// Facts are the known facts about a machine and this process; nil or empty is unknown.
type Facts struct {
	machine.Facts
	Others  *machine.Others `json:"others,omitempty"` // while the machine was looked at
	Clock   Clock           `json:"clock"`
	Timer   trace.Lag       `json:"timer"`         // lateness of the timer that sends requests
	Runtime trace.Lag       `json:"runtime_timer"` // and of Go's own
	Stamps  *trace.SelfTest `json:"self_test,omitempty"`
}

// A Clock is how the system tells the time.
type Clock struct {
	Source  string        `json:"source,omitempty"` // the kernel's name for it
	Reading time.Duration `json:"reading_ns"`       // cost of looking at it
}

// A PlannedLoad is a run to come; zeros are not known.
type PlannedLoad struct {
	Streams int     `json:"streams,omitempty"` // open at once
	Rate    float64 `json:"rate,omitempty"`    // requests per second
}

const mostStreams = math.MaxUint32 // more than any system has files

// Validate reports what cannot be planned.
func (p PlannedLoad) Validate() error {
	var errs []error
	if p.Streams < 0 || p.Streams > mostStreams {
		errs = append(errs, fmt.Errorf("--streams %d: must be from 0 to %d", p.Streams, mostStreams))
	}
	if !(p.Rate >= 0) || math.IsInf(p.Rate, 0) {
		errs = append(errs, fmt.Errorf("--rate %v: must be a number of requests per second", p.Rate))
	}
	return errors.Join(errs...)
}

// A Verdict is how good something is.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warn    Verdict = "warn" // figures may suffer
	Bad     Verdict = "bad"  // a run would end early, or its instants be wrong
	Unknown Verdict = "-"
)

// A Finding is one thing about a machine.
type Finding struct {
	Item    plan.Code    `json:"item"`
	Value   plan.Message `json:"value"`
	Verdict Verdict      `json:"verdict"`
	Advice  plan.Message `json:"advice,omitzero"` // its effect on a run and the remedy, if it is Warn or Bad
}

// found is a finding that is good enough.
func found(item, value plan.Code, args ...any) Finding {
	return Finding{Item: item, Value: plan.Msg(value, args...), Verdict: OK}
}

// Examine judges a machine for a plan, limits first.
func Examine(f Facts, p PlannedLoad) []Finding {
	return []Finding{
		files(f, p), ports(f, p), memory(f, p),
		processors(f), quota(f), frequency(f), others(f),
		clockSource(f), timer(f), runtimeTimer(f),
		Stamps(f.OS, f.Stamps), reading(f),
	}
}

// Worst is the gravest verdict among findings.
func Worst(of []Finding) Verdict {
	for _, v := range []Verdict{Bad, Warn} {
		if slices.ContainsFunc(of, func(f Finding) bool { return f.Verdict == v }) {
			return v
		}
	}
	return OK
}

func unknown(item plan.Code, system string) Finding {
	return Finding{Item: item, Value: plan.Msg("doctor.unknown", "system", system), Verdict: Unknown}
}

func (f Finding) but(v Verdict, advice plan.Code, args ...any) Finding {
	f.Verdict, f.Advice = v, plan.Msg(advice, args...)
	return f
}

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

func files(f Facts, p PlannedLoad) Finding {
	const item plan.Code = "doctor.open-files"
	if f.Files == 0 {
		return unknown(item, f.OS)
	}
	carries := f.Files - min(f.Files, otherFiles)
	r := found(item, "doctor.files", "files", f.Files, "streams", carries)
	need := uint64(max(p.Streams, manyStreams) + otherFiles)
	raise := plan.Msg("doctor.files-raise", "need", need)
	if f.FilesHard < need {
		raise = plan.Msg("doctor.files-hard", "hard", f.FilesHard, "need", need)
	}
	switch {
	case uint64(p.Streams) > carries:
		return r.but(Bad, "doctor.files-few", "streams", p.Streams, "need", need, "raise", raise)
	case p.Streams == 0 && carries < manyStreams:
		return r.but(Warn, "doctor.files-any", "raise", raise)
	}
	return r
}

func ports(f Facts, p PlannedLoad) Finding {
	const item plan.Code = "doctor.local-ports"
	if f.Ports == nil {
		return unknown(item, f.OS)
	}
	n := f.Ports.High - f.Ports.Low + 1
	r := found(item, "doctor.ports", "ports", n, "low", f.Ports.Low, "high", f.Ports.High)
	widen := `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`
	if f.OS == "darwin" {
		widen = "sysctl -w net.inet.ip.portrange.first=1024"
	}
	switch held := p.Rate * portHeld; {
	case p.Streams > n:
		return r.but(Bad, "doctor.ports-few", "streams", p.Streams, "widen", widen)
	case held > float64(n) && !f.Ports.Reuse:
		return r.but(Warn, "doctor.ports-held", "rate", p.Rate, "ports", held, "widen", widen, "linux", f.OS == "linux")
	case p.Streams == 0 && n < fewPorts:
		return r.but(Warn, "doctor.ports-any", "widen", widen)
	}
	return r
}

func memory(f Facts, p PlannedLoad) Finding {
	const item plan.Code = "doctor.memory"
	if f.Memory == 0 {
		return unknown(item, f.OS)
	}
	r := found(item, "doctor.memory-free", "size", size(f.Memory))
	streams := int64(p.Streams) * streamBytes
	switch {
	case f.Memory < leastMemory+streams:
		return r.but(Bad, "doctor.memory-little", "size", size(leastMemory+streams))
	case f.Memory < comfortMemory+streams:
		return r.but(Warn, "doctor.memory-some", "size", size(comfortMemory+streams))
	}
	return r
}

// size is a number of bytes for people.
func size(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// The needs of a run, in all and per stream.
const (
	otherFiles    = 64       // open files
	manyStreams   = 1024     // that a machine should carry when no plan says how many
	fewPorts      = 10_000   // fewer are a narrowed range
	portHeld      = 60       // seconds that a closed connection keeps its port
	streamBytes   = 50 << 10 // of a stream over net/http, the costlier of the two engines
	leastMemory   = 256 << 20
	comfortMemory = 2 << 30 // half of it is the garbage that may pile up in a run
)
