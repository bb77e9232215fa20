package trace

import (
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Fleet is the machines that sent the requests of a run.
//
// The instants of a request are those of its worker's clock, counted from an instant that all
// have agreed on: latencies never compare two clocks. Figures that do, such as the peak of
// concurrency, are accurate to Apart.
type Fleet struct {
	Workers []FleetWorker `json:"workers"` // by share
	// MaxOffset is the largest difference between two workers' stamps of one instant; 0 for a single
	// worker, negative: unknown.
	MaxOffset time.Duration `json:"apart_ns"`
	// Tolerate: the run was to be judged without the requests of lost workers.
	Tolerate bool `json:"tolerate,omitempty"`
	// Resumed: the controller died, and another one collected the records.
	Resumed bool `json:"resumed,omitempty"`
}

// A FleetWorker is one machine of a Fleet, and what became of it.
type FleetWorker struct {
	Name      string    `json:"name"`
	Zone      string    `json:"zone,omitempty"`
	Host      string    `json:"host"`
	OS        string    `json:"os"`
	Pitot     string    `json:"pitot"`
	CPUs      int       `json:"cpus"`
	FileLimit uint64    `json:"file_limit"`
	Capacity  float64   `json:"capacity,omitempty"` // chunks a second, as pitot doctor measures; 0: not measured
	Requests  int       `json:"requests"`           // its share
	Records   int       `json:"records"`            // of these, as many came
	Places    int       `json:"places,omitempty"`   // of the gate, at the beginning
	Lost      time.Time `json:"lost,omitzero"`      // when it had last been heard of, if it was lost
	// LostWhy says how it was lost: gone from the network, silent, failed with an error.
	LostWhy plan.Message `json:"lost_why,omitzero"`
	// Late is how late its requests were sent, P99.
	Late     time.Duration `json:"late_ns,omitempty"`
	Clock    FleetClock    `json:"clock"`
	Client   Client        `json:"client"`
	SelfTest *SelfTest     `json:"self_test,omitempty"`
	// Verdict is whether the worker was fit, by its own requests; nil of one that delivered no end.
	Verdict *Verdict `json:"verdict,omitempty"`
}

// IsLost reports whether the worker did not come to the end of its share.
func (w FleetWorker) IsLost() bool { return !w.LostWhy.IsZero() }

// Missing is the number of its requests that have no record of its own.
func (w FleetWorker) Missing() int { return w.Requests - w.Records }

// A FleetClock is how a worker's clock stood to the controller's.
type FleetClock struct {
	// Bound is how far the worker's instants can be from the controller's at any time of the run:
	// the uncertainty of the start and the drift between the clocks; negative: unknown.
	Bound     time.Duration `json:"bound_ns"`
	Drift     float64       `json:"drift"`                // against the controller's clock, seconds per second
	RoundTrip time.Duration `json:"round_trip_ns"`        // the least
	Exchanges int           `json:"exchanges"`            // that the bound rests on
	Wall      time.Duration `json:"wall_ns"`              // how far its wall clock is ahead of the controller's
	Steps     int           `json:"steps,omitempty"`      // sudden changes, as after a suspend: no Bound holds
	WallSteps int           `json:"wall_steps,omitempty"` // changes of its wall clock against its own monotonic one
}

// WasCompared reports whether the clock was compared at all, so that Drift says something.
func (c FleetClock) WasCompared() bool { return c.Exchanges > 0 }

// Bounded reports whether Bound holds.
func (c FleetClock) Bounded() bool { return c.WasCompared() && c.Steps == 0 && c.Bound >= 0 }

// Lost counts the workers that were lost, and the requests that have no record because of it.
func (f *Fleet) Lost() (workers, requests int) {
	if f == nil {
		return 0, 0
	}
	for _, w := range f.Workers {
		if w.IsLost() {
			workers++
			requests += w.Missing()
		}
	}
	return workers, requests
}
