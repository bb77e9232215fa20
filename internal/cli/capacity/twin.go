package capacity

import (
	"context"
	"encoding/json"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A twin simulates the runs of a search with a profile.
type twin struct {
	legs    *legs
	profile string
}

// Replay simulates a leg: the requests and instants of its run, against the profile.
func (w *twin) Replay(ctx context.Context, l search.Leg, draw uint64) (o search.Outcome, err error) {
	load, err := w.legs.load(l)
	if err != nil {
		return o, err
	}
	s, err := simulated(load.Spec, w.profile, l.Seed*100+draw)
	if err != nil {
		return o, err
	}
	ctx, release := w.legs.sess.UntilInterrupt(ctx)
	defer release()
	r, err := w.legs.sess.Simulate(ctx, s)
	switch {
	case ctx.Err() != nil:
		return o, context.Cause(ctx)
	case err != nil:
		return o, err
	}
	return search.Observe(r.Trace, l, w.legs.s.Objectives), nil
}

// simulated is a Spec against a profile in virtual time.
func simulated(s plan.Spec, profile string, seed uint64) (plan.Spec, error) {
	engine, err := json.Marshal(map[string]any{"profile": profile, "seed": seed})
	s.Target = plan.Target{Simulated: true, Engine: engine}
	s.Request.Model, s.Request.Root, s.Request.Headers, s.Request.Body, s.Request.Sampling = "", "", nil, nil, nil
	s.Before, s.After, s.Cache, s.Probe, s.KeepText, s.Client = plan.Before{}, plan.After{}, "", plan.Probe{}, false, plan.Client{}
	if len(s.Load) == 1 && s.Load[0].Dataset.Kind == "random" { // lengths are all that counts
		s.Tokens = plan.Tokenizer{Where: "none"}
	}
	return s, err
}
