package worker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/run"
)

// prepare makes the run of the order ready: its inputs, its requests, the connection to the server.
func (t *task) prepare() error {
	o := &t.order
	o.Spec = fleet.ForWorkers(o.Spec)
	if o.Spec.Target.URL == "" { // the engine would listen
		return errors.New("the order names no server")
	}
	supply := inputs.NewSupply(inputs.SupplyOptions{
		Inputs: o.Inputs, Deps: t.deps(), Folder: filepath.Join(t.w.o.Folder, "inputs"), Fetch: inputs.Fetcher(t.w.o.Bus.Stream(), o.Run), Spec: o.Spec, Env: o.Env, Files: o.Files,
	})
	needs, differs := supply.Check(t.ctx)
	if len(differs) > 0 {
		return t.refuse(supply, differs)
	}
	t.mu.Lock()
	t.told.Needs = needs
	t.mu.Unlock()
	err := supply.Take(t.ctx)
	if err != nil {
		return err
	}
	if t.prepared, err = run.Prepare(t.ctx, o.Spec, supply.Deps()); err != nil {
		return inWords(err)
	}
	if err = t.prepared.Reach(t.ctx); err != nil {
		return fmt.Errorf("it does not reach the server: %w", err)
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
	if d.Secrets == nil {
		d.Secrets = new(secret.Set)
	}
	t.secrets, d.Env = d.Secrets, others(d.Env)
	d.Given, d.Fleet, d.Leg, d.Notes, d.Tell = t.order.Given, nil, nil, nil, nil
	d.Collectors, d.Inspect, d.Profile = nil, false, nil
	d.Machine.FileLimit = 0 // held to the share, by the controller
	return d
}

// others are the variables of the environment that do not belong to the fleet: an order can name a
// variable as the source of a key, and any server.
func others(env func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if env == nil || strings.HasPrefix(name, "PITOT_FLEET") {
			return "", false
		}
		return env(name)
	}
}

// refuse is an error that says which inputs are others here.
func (t *task) refuse(s *inputs.Supply, differs []int) error {
	var all []string
	for _, i := range differs {
		in := t.order.Inputs[i]
		all = append(all, fmt.Sprintf("%s has another content here: SHA-256 %.12s…, and %.12s… on the controller", inputs.Title(in), s.Found(i), in.Digest))
	}
	return errors.New(strings.Join(all, "; "))
}

// inWords is an error in one line. Mistakes name their settings by path: the controller has
// checked the Spec, so they are about this machine.
func inWords(err error) error {
	var problems plan.Problems
	if !errors.As(err, &problems) {
		return err
	}
	var all []string
	for _, p := range problems {
		all = append(all, fmt.Sprintf("%s: %s", p.Path, p.Why))
	}
	return errors.New(strings.Join(all, "; "))
}
