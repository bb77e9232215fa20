package experiment

import (
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
)

// An Event is something that happened; it is one of the types below.
type Event any

// LegBegins says that a leg begins, by its number in the order without repetitions; there
// will be Of of them, 0: unknown.
type LegBegins struct {
	Leg        *Leg
	Number, Of int
	Gone, Left time.Duration // of the whole experiment; Left is by the legs made so far, 0: unknown
	AtMost     bool          // it may end earlier
}

// ServerStarts says that the server of a leg was started, and is waited for.
type ServerStarts struct{ Leg *Leg }

// Waiting has the present wait of the start or the end of a leg's server, if it is long.
type Waiting struct {
	Leg  *Leg
	What plan.Message
}

// ServerReady says that it answers.
type ServerReady struct {
	Leg  *Leg
	Took time.Duration
}

// RunMade is a stored run of a leg.
type RunMade struct {
	Leg      *Leg
	Workload string
	Result   *run.Result
}

// LegEnded says how a leg ended; with Again it is repeated at once.
type LegEnded struct {
	Leg   *Leg
	Again bool
}

// ServerUnstopped says that the end of a server could not be verified: Err that it may still run, Unverified what
// differs from the state before it.
type ServerUnstopped struct {
	Leg        *Leg
	Err        error
	Unverified []plan.Message
}

// LogShortened says that a server wrote so much to its log that the middle was left out.
type LogShortened struct {
	Leg              *Leg
	Written, LeftOut int64
}

// Judged is the comparison so far.
type Judged struct {
	Looks      compare.Looks
	Comparison compare.Comparison
}

// Confirming says that the best variant is measured against the baseline on fresh legs.
type Confirming struct {
	Variant string
	Blocks  int
}
