// Package search makes runs of one target until a question is answered: which load it carries, and
// how its figures change with its settings.
//
// # Capacity
//
// RunCapacity finds the highest load under which a server meets its objectives.
//
// An objective such as ttft.p99=500ms is a goal of attainment: 99 % of the requests are within the limit. The share
// beyond it rises with the load, and the capacity is the load at which it equals the share that the goal allows.
// Near it a share of 1 % comes in clusters: a minute of measuring leaves the capacity open by 10 %, and two legs of
// the same load contradict each other. So the search does not believe single legs:
//
//	legs ─> light, ×4, ×2 ... until one fails ─> estimate ± sd ─> legs at both sides, in turn,
//	                                                ^               with fresh seeds ─┐
//	                                                └───────────────── until sd is small ┘
//
// Without a model the estimate is a dose-response curve through all legs (curve.go). With one, the model replays
// the requests of each leg, so that their luck cancels, and the legs only say how much slower the server is than
// its model (twin.go).
//
// Only the legs made decide the next one, so a search that was killed goes on from them.
//
// # Sweep
//
// RunSweep measures one target under many loads: every combination of lists of settings,
// in an order in which a drift does not look like a load.
//
//	Axis ─ Combine ─> points ─ Run ─> runs, each stored as a leg ─> judge/curve
//
// It is no Experiment of package experiment, which compares variants: a leg there has all workloads in one order,
// and fails if one of them fails. Here a point that fails is a row, and the points are shuffled. The legs in the
// store are its memory: a stored run is not made again.
package search

import (
	"context"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// LoadUnit is the unit of a load.
type LoadUnit string

// The values of By.
const (
	Rate        LoadUnit = "rate"        // requests per second, an open loop
	Concurrency LoadUnit = "concurrency" // requests in flight, a closed loop
)

// A Leg is a load that is sent for a while. Only the requests that are due, or of a closed loop
// sent, from Ramp until Ramp+Count are counted; load goes on for Rest after that.
type Leg struct {
	Number int // from 1, in the order in which they are made
	Load   float64
	By     LoadUnit // of the first leg always Concurrency
	Seed   uint64
	Why    LegPurpose

	Ramp, Count, Rest time.Duration
}

// Length is how long requests are sent.
func (l Leg) Length() time.Duration { return l.Ramp + l.Count + l.Rest }

// LegPurpose is the purpose of a leg.
type LegPurpose string

// The values of Why.
const (
	Light  LegPurpose = "light"  // one request at a time: is there any load that meets the objectives?
	Seek   LegPurpose = "seek"   // up or down, until one passes and one fails
	Passes LegPurpose = "passes" // the lower side of the answer
	Fails  LegPurpose = "fails"  // the upper side
)

// A MeasuredLeg is a leg with its outcome.
type MeasuredLeg struct {
	Leg
	Outcome
}

// Settings are those of a search.
type Settings struct {
	Objectives []metrics.Objective // of percentiles
	By         LoadUnit
	Budget     time.Duration // of measuring
	Precision  float64       // of the load: 0.05 is 5 %
	Seed       uint64
	// Twin is a model of the server; nil: none.
	Twin Model
	// Learn makes one of the legs made so far. It is asked where there is no Twin, once a leg
	// comes near the limits; nil, or an error, goes on without.
	Learn func(context.Context, []MeasuredLeg) (Model, error)
	// Begins, if not nil, is called before each leg, with the result so far.
	Begins func(Leg, *Result)
}

// A Model is a model of the server.
type Model interface {
	// Replay simulates the requests of a leg; draw seeds the model's own dice.
	Replay(ctx context.Context, l Leg, draw uint64) (Outcome, error)
}

// mostFailed is the share of requests that may fail, or be answered with nothing, in a leg that
// passes.
const mostFailed = 0.01

// allowed is the share of requests that may be beyond a limit.
func allowed(o metrics.Objective) float64 { return 1 - o.Goal() }
