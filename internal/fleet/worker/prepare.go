package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
)

// prepare makes the run of the order ready: its inputs, its requests, the connection to the server.
func (t *task) prepare() error {
	supply := inputs.NewSupply(inputs.SupplyOptions{Order: &t.order, Deps: t.deps(), Folder: t.w.o.Folder, Fetch: t.fetch})
	needs, differs := supply.Check(t.ctx)
	if len(differs) > 0 {
		return t.refuse(supply, differs)
	}
	t.mu.Lock()
	t.told.Needs = needs
	t.mu.Unlock()
	deps := supply.Deps()
	var err error
	if t.prepared, err = run.Prepare(t.ctx, t.order.Spec, deps); err != nil {
		return inWords(err)
	}
	t.job = t.prepared.Job()
	digest, err := inputs.Digest(t.job.Requests, t.job.Due)
	if err != nil {
		return err
	}
	t.selfTest, t.notes = t.prepared.TryStamps(t.ctx)
	t.mu.Lock()
	t.told.Needs, t.told.Digest, t.told.Requests = nil, digest, len(t.job.Requests)
	t.mu.Unlock()
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	return nil
}

// deps is the world of this machine for a run that is sent and nothing else.
func (t *task) deps() run.Deps {
	d := t.w.o.Deps()
	d.Given, d.Fleet, d.Leg, d.Notes, d.Tell = t.order.Given, nil, nil, nil, nil
	d.Collectors, d.Inspect, d.Profile = nil, false, nil
	d.Machine.FileLimit = 0 // held to the share, by the controller
	return d
}

// refuse says which inputs are others here.
func (t *task) refuse(s *inputs.Supply, differs []int) error {
	var all []string
	for _, i := range differs {
		in := t.order.Inputs[i]
		all = append(all, fmt.Sprintf("%s %s has another content here: SHA-256 %.12s…, and %.12s… on the controller", in.Kind, in.Name, s.Found(i), in.Digest))
	}
	t.mu.Lock()
	t.told.Differs = differs
	t.mu.Unlock()
	return errors.New(strings.Join(all, "; "))
}

// fetchEvery is how often an input is looked for that the controller has not offered yet.
const fetchEvery = 100 * time.Millisecond

// fetch waits for an input in the object store of the run.
func (t *task) fetch(ctx context.Context, object string) (io.ReadCloser, error) {
	for {
		r, err := inputs.Get(ctx, t.w.o.Bus.Stream(), t.order.Run, object)
		if err == nil || !errors.Is(err, inputs.ErrNotThere) {
			return r, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(fetchEvery):
		}
	}
}

// inWords is an error in one line. Mistakes name their settings by path: the controller has
// checked the Spec, so they are about this machine.
func inWords(err error) error {
	var problems plan.Problems
	if !errors.As(err, &problems) {
		return err
	}
	var all []string
	for _, p := range slices.All(problems) {
		all = append(all, fmt.Sprintf("%s: %s", p.Path, p.Why))
	}
	return errors.New(strings.Join(all, "; "))
}

var _ = fleet.Failed
