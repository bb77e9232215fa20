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

// Facts are what is known of a machine and of this process on it. What is nil or
// empty is not known.
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

// A Plan is a run to come; zeros are not known.
type Plan struct {
	Streams int     `json:"streams,omitempty"` // open at once
	Rate    float64 `json:"rate,omitempty"`    // requests per second
}

const mostStreams = math.MaxUint32 // more than any system has files

// Validate reports what cannot be planned.
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
	Bad     Verdict = "bad"  // a run would end early, or its instants be wrong
	Unknown Verdict = "-"
)

// A Finding is one thing about a machine.
type Finding struct {
	Item    plan.Code    `json:"item"`
	Value   plan.Message `json:"value"`
	Verdict Verdict      `json:"verdict"`
	Advice  plan.Message `json:"advice,omitzero"` // what it does to a run and what to change, where it is Warn or Bad
}

// found is a finding that is good enough.
func found(item, value plan.Code, args ...any) Finding {
	return Finding{Item: item, Value: plan.Say(value, args...), Verdict: OK}
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
	return Finding{Item: item, Value: plan.Say("doctor.unknown", "system", system), Verdict: Unknown}
}

func (f Finding) but(v Verdict, advice plan.Code, args ...any) Finding {
	f.Verdict, f.Advice = v, plan.Say(advice, args...)
	return f
}
