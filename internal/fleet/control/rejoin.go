package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/deal"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// Left are the runs whose records wait with the server of a fleet: those under way, and those
// whose controller died.
func Left(ctx context.Context, b *bus.Bus) (left []fleet.Heading, err error) {
	ids, err := delivery.Runs(ctx, b.Stream())
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		h, err := delivery.HeadingOf(ctx, b.Stream(), id)
		if err != nil {
			continue // it is being made, or was removed
		}
		left = append(left, h)
	}
	return left, nil
}

// A Rejoined is the Fleet of a run that another controller began. It starts nothing: it collects
// what there is, follows what still goes on, and says what was lost.
type Rejoined struct {
	Fleet
	heading fleet.Heading
}

// Rejoin takes over a run.
func Rejoin(o Options, h fleet.Heading) *Rejoined {
	r := &Rejoined{Fleet: *New(o), heading: h}
	r.run, r.stored = h.Fleet, true
	for _, w := range h.Workers {
		r.crew = append(r.crew, join(o.Bus, w, h.Fleet))
	}
	return r
}

// Spec is what has to be prepared to know the requests of the run again.
func (r *Rejoined) Spec() (plan.Spec, error) {
	if r.heading.Run.Plan.Spec == nil {
		return plan.Spec{}, errors.New("the run has no plan")
	}
	return sent(*r.heading.Run.Plan.Spec), nil
}

// Begun is the run as it was before its first request.
func (r *Rejoined) Begun() trace.Run { return r.heading.Run }

// Assemble checks that the requests are those that the workers send.
func (r *Rejoined) Assemble(_ context.Context, j run.Job) error {
	digest, err := inputs.Digest(j.Requests, j.Due)
	if err != nil {
		return err
	}
	if digest != r.heading.Digest {
		return fmt.Errorf("the plan of run %s gives other requests here (digest %.12s…) than it gave its controller (%.12s…): resume it where its data and its tokenizer are", r.heading.Run.ID, digest, r.heading.Digest)
	}
	r.job, r.digest = j, digest
	return nil
}

// Start knows when the run began.
func (r *Rejoined) Start(context.Context, *trace.Run) error {
	h := r.heading
	r.begun = &beginning{heading: h, owners: deal.Owners(r.job.Requests, len(h.Workers)), zeroWall: h.Zero, resumed: true}
	r.begun.zero = now() - int64(time.Since(h.Zero)) // for what is shown; no figure rests on it
	return nil
}
