// Package doctor judges whether a machine is fit to generate load: facts in,
// findings out.
//
// A finding has a fact, its verdict for the planned run, and advice if it is not
// ok. Look collects the facts, in less than a second; Examine uses only those.
// Facts that the system does not report are left out, and are neither good nor bad.
//
// Limits that would end a run, and wrong timestamps, are Bad. Conditions that a run
// detects by itself and reports, such as other busy programs, are at most a
// warning.
package doctor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// Facts are the known facts about a machine and about this process on it. Nil or
// empty means unknown.
type Facts struct {
	machine.Facts
	Others  *machine.Others `json:"others,omitempty"` // during the checks
	Clock   Clock           `json:"clock"`
	Timer   trace.Lag       `json:"timer"`         // lateness of the timer that sends requests
	Runtime trace.Lag       `json:"runtime_timer"` // lateness of Go's own timer
	Stamps  *trace.SelfTest `json:"self_test,omitempty"`
}

// A Clock is the system's clock.
type Clock struct {
	Source  string        `json:"source,omitempty"` // the kernel's name for it
	Reading time.Duration `json:"reading_ns"`       // cost of one reading
}

// A Plan is a planned run; zeros are unknown.
type Plan struct {
	Streams int     `json:"streams,omitempty"` // open at once
	Rate    float64 `json:"rate,omitempty"`    // requests per second
}

const mostStreams = math.MaxUint32 // more than the open files of any system

// Validate reports impossible plans.
func (p Plan) Validate() error {
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
	Bad     Verdict = "bad"  // a run would end early, or its timestamps be wrong
	Unknown Verdict = "-"
)

// A Finding is one fact about a machine, with a verdict.
type Finding struct {
	Item    string  `json:"item"`
	Value   string  `json:"value"`
	Verdict Verdict `json:"verdict"`
	Advice  string  `json:"advice,omitempty"` // the effect on a run and what to change, if Warn or Bad
}

// Examine judges a machine for a plan, limits first.
func Examine(f Facts, p Plan) []Finding {
	return []Finding{
		files(f, p), ports(f, p), memory(f, p),
		processors(f), quota(f), frequency(f), others(f),
		clockSource(f), timer(f), runtimeTimer(f),
		Stamps(f.OS, f.Stamps), reading(f),
	}
}

// Worst is the most severe verdict among findings.
func Worst(of []Finding) Verdict {
	for _, v := range []Verdict{Bad, Warn} {
		if slices.ContainsFunc(of, func(f Finding) bool { return f.Verdict == v }) {
			return v
		}
	}
	return OK
}

func unknown(item, system string) Finding {
	return Finding{Item: item, Value: "not known on " + system, Verdict: Unknown}
}

func (f Finding) but(v Verdict, format string, a ...any) Finding {
	f.Verdict, f.Advice = v, fmt.Sprintf(format, a...)
	return f
}
