package worker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// A setup is a prepared run, for send.
type setup struct {
	prepared *run.Prepared
	job      run.Job
	selfTest *trace.SelfTest
	notes    []plan.Message
}

// close frees it, if there is any.
func (s *setup) close() {
	if s.prepared != nil {
		s.prepared.Close()
	}
	*s = setup{} // the requests can take gigabytes
}

// prepareFor is how long a preparation may go on that is to end.
const prepareFor = 5 * time.Second

// awaitSetup prepares the run. A read that hangs in a file server cannot be ended: it is abandoned, and the worker
// is free for other runs.
func (t *task) awaitSetup() error {
	type result struct {
		setup
		err error
	}
	deps, done := t.deps(), make(chan result, 1)
	go func() {
		s, err := t.prepare(deps)
		done <- result{s, err}
	}()
	var late <-chan time.Time
	for ended := t.ctx.Done(); ; {
		select {
		case r := <-done:
			t.setup = r.setup
			return r.err
		case <-ended:
			ended, late = nil, time.After(prepareFor)
		case <-late:
			t.w.stuck.Add(1)
			go func() {
				r := <-done
				r.close()
				t.w.stuck.Add(-1)
			}()
			return context.Cause(t.ctx)
		}
	}
}

// prepare makes the run of the order ready: its inputs, its requests, the connection to the server.
func (t *task) prepare(deps run.Deps) (s setup, err error) {
	o := t.order
	o.Spec = fleet.ForWorkers(o.Spec)
	if o.Spec.Target.URL == "" { // the engine would listen
		return s, errors.New("the order names no server")
	}
	supply := inputs.NewSupply(inputs.SupplyOptions{
		Inputs: o.Inputs, Deps: deps, Folder: filepath.Join(t.w.o.Folder, "inputs"),
		Fetch: inputs.Fetcher(t.w.o.Bus.Stream(), o.Run), Spec: o.Spec, Env: o.Env, Files: o.Files,
	})
	needs, differs := supply.Check(t.ctx)
	if len(differs) > 0 {
		return s, t.refuse(differs)
	}
	t.updateReadiness(func(r *fleet.Readiness) { r.Needs = needs })
	if err := supply.FetchAll(t.ctx); err != nil {
		return s, err
	}
	if s.prepared, err = run.Prepare(t.ctx, o.Spec, supply.Deps()); err != nil {
		return s, inWords(err)
	}
	if err = s.prepared.Reach(t.ctx); err != nil {
		return s, fmt.Errorf("it does not reach the server: %w", err)
	}
	s.job = s.prepared.Job()
	digest, err := inputs.Digest(s.job.Requests, s.job.Due)
	if err != nil {
		return s, err
	}
	s.selfTest, s.notes = s.prepared.TryStamps(t.ctx)
	t.updateReadiness(func(r *fleet.Readiness) { r.Needs, r.Digest, r.Requests = nil, digest, s.job.Requests.N })
	if t.ctx.Err() != nil {
		return s, context.Cause(t.ctx)
	}
	return s, nil
}

// deps is the world of this machine for a run that is sent and nothing else.
func (t *task) deps() run.Deps {
	d := t.w.o.Deps()
	if d.Secrets == nil {
		d.Secrets = new(secret.Set)
	}
	t.secrets, d.Env = d.Secrets, others(d.Env)
	d.Given, d.Shared, d.Fleet, d.Leg, d.Notes, d.OnEvent = t.order.Given, true, nil, nil, nil, nil
	d.Collectors, d.Inspect, d.Profile, d.MarkKey = nil, false, nil, nil
	if key := t.order.MarkKey; key != nil {
		d.MarkKey = func() (trace.MarkKey, error) { return *key, nil }
	}
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

// refuse is an error that names the inputs that differ here, without their content: an order can name any file of
// this machine.
func (t *task) refuse(differs []int) error {
	var all []string
	for _, i := range differs {
		all = append(all, inputs.Title(t.order.Inputs[i]))
	}
	return fmt.Errorf("%s: the content here is not that of the controller; use the same on all machines, "+
		"or a name that only the controller has: then the workers get it from there", strings.Join(all, "; "))
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
