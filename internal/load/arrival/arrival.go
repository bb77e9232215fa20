// Package arrival decides when requests are due.
//
// A Schedule is a pure sequence of offsets from the start of a run. It never sleeps
// and never reads a clock: the driver does both. The same seed gives the same
// offsets on every machine, so one schedule can be dealt to many agents by taking
// every n-th offset.
//
// Every schedule except a replay combines two choices:
//
//   - a Process, arrivals at a mean rate of one per unit of operational time:
//     regular, Poisson, or with gamma gaps;
//   - a Rate, the relation of operational time to the clock: Λ(t), the number of
//     requests expected by t.
//
// An arrival at operational time k is due when Λ(t) = k:
//
//	operational time k
//	  4 ┤- - - - - - - - - - - ●
//	  3 ┤- - - - - - - - - ● ╱ ╎    Λ(t) of a rising rate: regular
//	  2 ┤- - - - - - - ●╱  ╎   ╎    arrivals in k come ever closer
//	  1 ┤- - - - ● ╱   ╎   ╎   ╎    together in t
//	  0 ●──╱─────┴─────┴───┴───┴──> t
//
// so a Poisson process under a ramp is a true inhomogeneous Poisson process, and
// changing the rate stretches the same pattern instead of drawing another.
//
// Offsets are integer microseconds, so that differences in the last bits of two machines' math
// libraries do not affect them.
//
// # Distributions
//
// A Duration and a Count are distributions written like lognormal(20ms,0.3). The package
// also has generators for the draws. Draws depend only on the source of randomness, so the
// same seed gives the same draws on every machine.
package arrival

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Schedule yields due times as offsets from the start of a run, in order.
// Unless stated otherwise it has no end: the driver stops with the workload.
type Schedule = iter.Seq[time.Duration]

// A Process yields the operational times of its arrivals: non-decreasing, one
// per unit on average.
type Process = iter.Seq[float64]

// A Rate is the rate at which requests are due.
type Rate interface {
	// Due is the time in seconds by which k requests are expected.
	Due(k float64) float64
	// Validate reports an impossible rate.
	Validate() error
}

// New is the schedule of p run at rate r.
func New(p Process, r Rate) Schedule {
	return func(yield func(time.Duration) bool) {
		for k := range p {
			if !yield(micros(r.Due(k))) {
				return
			}
		}
	}
}

// micros rounds seconds to microseconds and saturates at the largest
// Duration, as for a time that is no number.
func micros(seconds float64) time.Duration {
	if us := math.Round(seconds * 1e6); us < math.MaxInt64/1e3 {
		return time.Duration(us) * time.Microsecond
	}
	return math.MaxInt64
}

// Nanoseconds rounds seconds to nanoseconds and saturates at the largest Duration,
// as for a time that is no number.
func Nanoseconds(seconds float64) time.Duration {
	if ns := math.Round(seconds * 1e9); ns < math.MaxInt64 {
		return time.Duration(max(ns, 0))
	}
	return math.MaxInt64
}

// Burst makes everything due at once, at 0. With a concurrency gate this is a
// closed loop.
func Burst() Schedule {
	return func(yield func(time.Duration) bool) {
		for yield(0) {
		}
	}
}

// Replay yields the given offsets divided by speed, shifted so that the earliest is
// due at 0, and ends with them. It reports offsets that are out of order, and a
// speed that is not positive.
func Replay(at []time.Duration, speed float64) (Schedule, error) {
	if !(speed > 0) || math.IsInf(speed, 1) {
		return nil, fmt.Errorf("speed %v: must be a positive number", speed)
	}
	for i := 1; i < len(at); i++ {
		if at[i] < at[i-1] {
			return nil, fmt.Errorf("timestamp %d (%v) is before the one ahead of it (%v)", i+1, at[i], at[i-1])
		}
	}
	return func(yield func(time.Duration) bool) {
		for _, t := range at {
			if !yield(micros((t - at[0]).Seconds() / speed)) {
				return
			}
		}
	}, nil
}

// Regular arrives at 0, 1, 2, ...
func Regular() Process {
	return func(yield func(float64) bool) {
		for k := 0.0; yield(k); k++ {
		}
	}
}

// A Source draws random gaps. Its draws must be the same on every machine.
type Source interface {
	Exponential(scale float64) float64
	Gamma(shape, scale float64) float64
}

// Poisson has independent exponential gaps; the first arrival is after one gap.
func Poisson(src Source) Process { return gaps(func() float64 { return src.Exponential(1) }) }

// Gamma has independent gamma gaps of mean 1 and the given shape, which the serving
// benchmarks call burstiness: 1 is Poisson, below it the arrivals cluster, above it
// they even out.
func Gamma(shape float64, src Source) (Process, error) {
	if !(shape > 0) || math.IsInf(shape, 1) {
		return nil, fmt.Errorf("burstiness %v: must be a positive number (1 is Poisson; for even gaps use the regular "+
			"process)", shape)
	}
	return gaps(func() float64 { return src.Gamma(shape, 1/shape) }), nil
}

func gaps(draw func() float64) Process {
	return func(yield func(float64) bool) {
		for k := draw(); yield(k); k += draw() {
		}
	}
}

// Constant is a fixed rate in requests per second.
type Constant float64

// Due is k/rate.
func (r Constant) Due(k float64) float64 { return k / float64(r) }

// Validate requires a positive, finite rate.
func (r Constant) Validate() error { return positive("rate", float64(r)) }

// Linear changes the rate linearly in time from From to To, in requests per second,
// so that Requests are due when it reaches To; after that it stays at To.
type Linear struct {
	From, To float64
	Requests int
}

// Due solves Λ(t) = From·t + (To-From)·t²/2T = k, with T = 2·Requests/(From+To).
func (r Linear) Due(k float64) float64 {
	n := float64(r.Requests)
	span := 2 * n / (r.From + r.To)
	if k > n {
		return span + (k-n)/r.To
	}
	if k == 0 {
		return 0
	}
	slope := (r.To - r.From) / span
	return 2 * k / (r.From + math.Sqrt(float64(r.From*r.From)+float64(2*slope*k)))
}

// Validate requires rates that are not negative and not both zero; a ramp down to
// zero would never reach its last request.
func (r Linear) Validate() error {
	if r.From < 0 || math.IsNaN(r.From) || math.IsInf(r.From, 0) {
		return fmt.Errorf("ramp start %v: must be 0 or a positive number of requests per second", r.From)
	}
	return errors.Join(positive("ramp end", r.To), someRequests(r.Requests))
}

// Exponential changes the rate exponentially in time from From to To, in requests
// per second, so that Requests are due when it reaches To; after that it stays at
// To.
type Exponential struct {
	From, To float64
	Requests int
}

// Due solves Λ(t) = From·(e^(gt)-1)/g = k, with g = (To-From)/Requests.
func (r Exponential) Due(k float64) float64 {
	n := float64(r.Requests)
	g := (r.To - r.From) / n
	if g == 0 {
		return k / r.From
	}
	if k > n {
		return math.Log(r.To/r.From)/g + (k-n)/r.To
	}
	return math.Log1p(float64(g*k)/r.From) / g
}

// Validate requires both rates to be positive.
func (r Exponential) Validate() error {
	return errors.Join(positive("ramp start", r.From), positive("ramp end", r.To), someRequests(r.Requests))
}

func positive(what string, v float64) error {
	switch {
	case !(v > 0) || math.IsInf(v, 1):
		return fmt.Errorf("%s %v: must be a positive number of requests per second", what, v)
	case v < plan.MinRate:
		return fmt.Errorf("%s %v: must be at least %v requests per second", what, v, plan.MinRate)
	}
	return nil
}

func someRequests(n int) error {
	if n <= 0 {
		return fmt.Errorf("ramp over %d requests: must be at least 1", n)
	}
	return nil
}
