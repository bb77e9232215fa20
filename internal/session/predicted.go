package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// PredictedPercentiles are those that are predicted unless others are asked for.
var PredictedPercentiles = []float64{99}

// MostCached is the largest number of requests in a load for which draws are cached for the next profile and
// simulated concurrently.
const MostCached = 10_000

// AsSimulation is a Spec without all that is about a server and the client in front of it.
func AsSimulation(s plan.Spec) plan.Spec {
	s.Target = plan.Target{Simulated: true}
	s.Request.Model, s.Request.Root, s.Request.IDs = "", "", ""
	s.Name, s.KeepText, s.Cache = "", false, ""
	s.Before, s.After, s.Probe, s.Client, s.Dialect, s.Objectives = plan.Before{}, plan.After{}, plan.Probe{}, plan.Client{}, plan.Dialect{}, nil
	return s
}

// A PredictedLoad is a Spec that is predicted: draw i of its requests has the seed of the Spec plus i.
type PredictedLoad struct {
	session *Session
	words   func(error) error
	spec    plan.Spec
	settled bool // the time of the load was chosen, and its steady state counts
	mu      sync.Mutex
	known   map[string]draw // by the parts of a profile that they depend on
}

// A draw is requests, and the run that simulates them.
type draw struct {
	sim.SimulationPlan
	run trace.Run
}

// NewPredictedLoad is the load of a Spec of a simulation, by itself or as AsSimulation makes one of another; words
// words its problems as its front end does. If settled, its steady state counts.
func NewPredictedLoad(sess *Session, s plan.Spec, settled bool, words func(error) error) *PredictedLoad {
	if len(s.Percentiles) == 0 {
		s.Percentiles = PredictedPercentiles
	}
	return &PredictedLoad{session: sess, words: words, spec: s, settled: settled, known: map[string]draw{}}
}

// lengthen sets the duration of a load without a number of requests or a time: long enough to show the effect of
// its rate on the engine of a profile. Later profiles use the same duration.
func (l *PredictedLoad) lengthen(ctx context.Context, p *profile.Profile) error {
	if !experiment.OpenEnded(&l.spec) {
		return nil
	}
	light, err := l.simulate(ctx, experiment.LightLoad(l.spec), p)
	if err != nil {
		return err
	}
	l.spec, l.settled = experiment.Lengthened(l.spec, experiment.AnswerTime(light.Records)), true
	for range mostTries {
		t, err := l.simulate(ctx, l.spec, p)
		needs := experiment.NeedsTime(t, &l.spec)
		if err != nil || needs <= l.spec.Duration.Std() {
			return err
		}
		l.spec.Duration = plan.Duration(needs)
	}
	return nil
}

// mostTries is how often a load is lengthened if its answers take longer than expected.
const mostTries = 2

func (l *PredictedLoad) simulate(ctx context.Context, s plan.Spec, p *profile.Profile) (*trace.Trace, error) {
	load, made, err := l.session.Requests(ctx, s, p)
	if err != nil {
		return nil, l.words(err)
	}
	model, err := engine.New(p.Engine)
	if err != nil {
		return nil, err
	}
	load.Stop = func() bool { return ctx.Err() != nil }
	return &trace.Trace{Run: made, Records: sim.Run(model, load).Records}, nil
}

// Case is the load on a profile, without level and objectives, and how many requests its first
// draw has.
func (l *PredictedLoad) Case(ctx context.Context, p *profile.Profile) (c predict.Case, requests int, err error) {
	if err = l.lengthen(ctx, p); err != nil {
		return c, 0, err
	}
	first, err := l.draw(ctx, p, 0)
	if err != nil {
		return c, 0, err
	}
	c = predict.Case{Profile: p, Run: first.run, Percentiles: first.run.Plan.Percentiles, Settled: l.settled}
	c.Load = func(ctx context.Context, i int) (sim.SimulationPlan, error) {
		d, err := l.draw(ctx, p, i)
		return d.SimulationPlan, err
	}
	if len(first.Requests) > MostCached {
		c.AtOnce = 1
	}
	return c, len(first.Requests), nil
}

// draw is draw i, cached or made.
func (l *PredictedLoad) draw(ctx context.Context, p *profile.Profile, i int) (d draw, err error) {
	l.mu.Lock()
	defer l.mu.Unlock() // drawing keeps all processors busy
	key := fmt.Sprint(i, inputKey(p))
	if d, ok := l.known[key]; ok {
		return d, nil
	}
	s := l.spec
	s.Seed = (s.Seed + uint64(i)) % (1 << 32)
	d.SimulationPlan, d.run, err = l.session.Requests(ctx, s, p)
	if err == nil && len(d.Requests) <= MostCached {
		l.known[key] = d
	}
	return d, l.words(err)
}

// inputKey has the parts of a profile that the requests depend on: the model's name, the length of its answers and
// its context, and whether the text of prompts matters.
func inputKey(p *profile.Profile) string {
	e := p.Engine
	return fmt.Sprint(p.Model, e.Context(), e.KV.PrefixCache, e.Disaggregation != nil, e.Speculative != nil, e.Replicas.Router)
}
