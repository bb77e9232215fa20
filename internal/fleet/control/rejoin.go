package control

import (
	"context"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// Orphans are the runs with records in the server of a fleet: those under way, and those that lost their
// controller.
func Orphans(ctx context.Context, b *bus.Bus) (left []fleet.Heading, err error) {
	ids, err := delivery.Runs(ctx, b.Stream())
	if err != nil {
		return nil, err
	}
	var damaged error
	for _, id := range ids {
		h, err := delivery.HeadingOf(ctx, b.Stream(), id)
		if err != nil {
			continue // it is being made, or was removed
		}
		if err := h.Check(id); err != nil {
			damaged = fmt.Errorf("the heading of run %s is damaged: %w", id, err)
			continue
		}
		left = append(left, h)
	}
	if len(left) == 0 {
		return nil, damaged
	}
	return left, nil
}

// Resume completes a run after its controller died: it collects the records, follows workers that still send, and
// reports losses. The requests are prepared anew with d, to know which are missing. If that fails everything stays
// as it is.
func Resume(ctx context.Context, o Options, h fleet.Heading, d run.Deps, sinks ...run.Sink) (*run.Result, error) {
	if err := h.Check(h.Fleet); err != nil {
		return nil, fmt.Errorf("the heading of the run is damaged: %w", err)
	}
	if err := Abandoned(ctx, o.Bus, h); err != nil {
		return nil, err
	}
	spec, err := keyless(fleet.ForWorkers(*h.Run.Plan.Spec), &d)
	if err != nil {
		return nil, err
	}
	d.Fleet = rejoin(o, h)
	p, err := run.Prepare(ctx, spec, d)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Continue(ctx, nil, h.Run, sinks...)
}

// keyless takes the secrets out of a Spec that is prepared and not sent. The keys of the run may not have been
// stored, and the Spec in the stream may come from anybody. Only where the server counts tokens it is asked as the
// run asked it.
func keyless(s plan.Spec, d *run.Deps) (plan.Spec, error) {
	if s.Tokens.Where == "server" {
		return s, nil
	}
	const nothing = "PITOT_RESUMED"
	env := d.Env
	d.Env = func(name string) (string, bool) {
		if name == nothing {
			return "not-needed", true
		}
		return env(name)
	}
	return inputs.WithSources(s, func(from *plan.Source) { *from = plan.Source{Env: nothing} })
}

// dead is how long a controller says nothing that is gone for good; one that lives says something
// four times a second.
const dead = 3 * time.Second

// Abandoned refuses a run if its controller still sends messages to its workers.
func Abandoned(ctx context.Context, b *bus.Bus, h fleet.Heading) error {
	for begin := time.Now(); ; {
		alive := ""
		for _, w := range h.Workers {
			call, cancel := context.WithTimeout(ctx, beatLimit)
			r, err := bus.Request[fleet.Readiness](call, b, bus.SubjectOf(w.ID, bus.Poll), fleet.Poll{Run: h.Fleet, Observer: true})
			cancel()
			if err == nil && r.State != fleet.Failed && r.Silent < dead {
				alive = w.Name
			}
		}
		switch {
		case alive == "":
			return nil
		case time.Since(begin) > 2*dead:
			return fmt.Errorf("run %s has a controller: worker %s hears from it; stop that one first", h.Run.ID, alive)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollEvery):
		}
	}
}

// Discard lets the workers of a run go, and removes its streams.
func Discard(o Options, h fleet.Heading) {
	r := rejoin(o, h)
	r.gathered = true
	r.Close()
}

// A rejoined is the Fleet of a run that another controller began.
type rejoined struct {
	Fleet
	heading fleet.Heading
}

func rejoin(o Options, h fleet.Heading) *rejoined {
	r := &rejoined{Fleet: *New(o), heading: h}
	r.run, r.stored, r.resumes = h.Fleet, true, true
	for _, w := range h.Workers {
		r.crew = append(r.crew, join(o.Bus, w, h.Fleet))
	}
	return r
}

// Assemble checks that the requests are those that the workers send.
func (r *rejoined) Assemble(_ context.Context, j run.Job) error {
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
func (r *rejoined) Start(context.Context, *trace.Run) error {
	h := r.heading
	r.begun = &beginning{heading: h, owners: fleet.Owners(r.job.Requests, len(h.Workers)), zeroWall: h.Zero, resumed: true}
	r.begun.zero = now() - int64(time.Since(h.Zero)) // shown only; no figure rests on it
	return nil
}
