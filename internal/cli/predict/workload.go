package predict

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// A workload is the load to predict: requests drawn by a Spec, or those of a run.
type workload interface {
	// on is the case of the workload on a profile, and the load in words.
	on(ctx context.Context, p *profile.Profile) (c predict.Case, words string, err error)
	// measured are measured runs of this load.
	measured(run trace.Run) ([]*trace.Trace, error)
	// cached describes the uncertainty about a cache of prompts; empty if it does not matter.
	cached(ctx context.Context, p *profile.Profile) (string, error)
}

// workload is the load that the command line names.
func (c *Cmd) workload(sess *session.Session, k *kong.Context) (workload, error) {
	if c.Replay != "" && c.Replay != "data" && !isTimes(c.Replay) {
		return c.replay(sess, k)
	}
	made, err := pitot.NewDraft(k, pitot.Options{Config: c.Config, Simulated: true, Read: sess.ReadSettings, Check: func(plan.Spec) plan.Problems { return nil }}).Compile()
	if err != nil {
		return nil, session.Usage(err)
	}
	spec := session.AsSimulation(made.Spec)
	spec.Request.Model = c.Model // that of a plan is the server's
	return drawn{session.NewPredictedLoad(sess, spec, false, func(err error) error { return session.InWords(made, err) }), sess, c.Store}, nil
}

// isTimes reports whether a file has send times, a number in a line, and is no result.
func isTimes(name string) bool {
	data, err := files.ReadSmall(name)
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	_, err = strconv.ParseFloat(strings.TrimSpace(first), 64)
	return err == nil
}

// drawn is a workload of a Spec: each draw has another seed.
type drawn struct {
	*session.PredictedLoad
	sess  *session.Session
	store string
}

func (d drawn) on(ctx context.Context, p *profile.Profile) (c predict.Case, words string, err error) {
	c, requests, err := d.Case(ctx, p)
	if err != nil {
		return c, "", err
	}
	count := ""
	if c.Run.Plan.Requests > 0 { // else time decides, and draws differ
		count = d.sess.Word("predicted.requests", "requests", requests)
	}
	return c, doc.Join(d.sess.Word("list.comma"), count, report.Load(c.Run.Plan, d.sess.Words())), nil
}

// mostMeasured limits the stored runs that a prediction is compared with.
const mostMeasured = 20

func (d drawn) measured(run trace.Run) ([]*trace.Trace, error) {
	if run.Plan.Spec == nil {
		return nil, nil
	}
	own := identity(*run.Plan.Spec)
	return d.sess.Like(d.store, mostMeasured, func(r *trace.Run) bool {
		invalid := r.Verdict != nil && r.Verdict.Validity == trace.Invalid
		return r.Plan.Spec != nil && !invalid && bytes.Equal(own, identity(*r.Plan.Spec))
	})
}

// identity identifies a load: all of a Spec without its seed and the settings of server and client.
func identity(s plan.Spec) []byte {
	s = session.AsSimulation(s)
	s.Seed, s.Tokens, s.Percentiles, s.Request.Usage = 0, plan.Tokenizer{}, nil, ""
	b, _ := json.Marshal(s) // it was read from JSON, or is about to be
	var tree any
	_ = json.Unmarshal(b, &tree)
	b, _ = json.Marshal(tree) // in one order
	return b
}

// A replay is a workload of the requests of a run.
type replay struct {
	of   *trace.Trace
	sess *session.Session
}

func (c *Cmd) replay(sess *session.Session, k *kong.Context) (workload, error) {
	for _, element := range k.Path {
		if f := element.Flag; f != nil && f.Name != "replay" && (f.Name == "config" || f.Tag.Get("path") != "" && f.Name != "percentiles") {
			return nil, session.Usagef("--%s: does not go with --replay of a run, which has a load of its own", f.Name)
		}
	}
	traces, err := sess.Traces([]string{c.Replay}, c.Store)
	switch {
	case err != nil:
		return nil, err
	case len(traces) != 1:
		return nil, session.Usagef("--replay %s: names %d runs; name one", c.Replay, len(traces))
	}
	r := replay{traces[0], sess}
	if why := r.unfit(); why != "" {
		return nil, session.Usagef("--replay %s: %s", c.Replay, why)
	}
	if problems := plan.CheckPercentiles("--percentiles", c.Percentiles); problems != nil {
		return nil, session.Usage(problems)
	}
	if r.of.Run.Plan.Percentiles = c.Percentiles; c.Percentiles == nil {
		r.of.Run.Plan.Percentiles = session.PredictedPercentiles
	}
	return r, nil
}

// unfit is why a run cannot be replayed, or empty.
func (r replay) unfit() string {
	o := r.of.Run.Origin
	switch {
	case len(r.of.Records) == 0:
		return "the run has no records of its requests"
	case o != nil && o.Detail == trace.Undated:
		return "the records of the run do not say when requests were sent"
	case !slices.ContainsFunc(r.of.Records, func(r *trace.Record) bool { return r.OK() }):
		return "no request of the run succeeded"
	}
	return ""
}

func (r replay) on(context.Context, *profile.Profile) (predict.Case, string, error) {
	load := sim.Replay(r.of)
	c := predict.Case{Load: predict.Fixed(load), Known: true, Run: r.of.Run}
	if len(load.Requests) > session.MostCached {
		c.AtOnce = 1
	}
	return c, doc.Join(r.sess.Word("list.comma"), r.sess.Word("predicted.requests", "requests", len(load.Requests)), report.Load(r.of.Run.Plan, r.sess.Words())), nil
}

func (r replay) measured(trace.Run) ([]*trace.Trace, error) { return []*trace.Trace{r.of}, nil }

func attach(p *predict.Prediction, c predict.Case, traces []*trace.Trace) {
	for _, t := range traces {
		own := *t
		own.Run.Plan.Percentiles = c.Percentiles
		figures := (metrics.Rules{}).Figures(&own, "pitot", "")
		if c.Settled {
			figures = metrics.SettledFigures(&own)
		}
		for _, f := range figures {
			if i := slices.IndexFunc(p.Figures, func(g predict.PredictedFigure) bool { return g.Name == f.Name }); i >= 0 {
				p.Figures[i].Measured = append(p.Figures[i].Measured, f.Value)
			}
		}
	}
}

// leastShared is the share of prompt tokens in a cache that matters.
const leastShared = 0.01

// cacheTokens are more than any load has: nothing is evicted.
const cacheTokens = 1 << 24

// cached says how much of the prompts a prefix cache would hold, if the profile has none: its
// calibration found nothing in one, so that it is not known whether the server has one.
func (d drawn) cached(ctx context.Context, p *profile.Profile) (string, error) {
	if p.Calibration == nil || p.Engine.KV.PrefixCache {
		return "", nil
	}
	with := *p
	with.Engine.KV = engine.KVCache{Tokens: cacheTokens, PrefixCache: true}
	c, requests, err := d.Case(ctx, &with)
	if err != nil || requests > session.MostCached {
		return "", err
	}
	load, err := c.Load(ctx, 0)
	if err != nil {
		return "", err
	}
	model, err := engine.New(with.Engine)
	if err != nil {
		return "", err
	}
	load.Stop = func() bool { return ctx.Err() != nil }
	l := sim.Run(model, load).Load
	if share := float64(l.PrefixHit) / float64(max(1, l.PrefixQueried)); share > leastShared {
		return d.sess.Word("predicted.repeats", "share", share), nil
	}
	return "", nil
}

// cached says that the run does not tell what its server found, if the profile has a cache.
func (r replay) cached(_ context.Context, p *profile.Profile) (string, error) {
	reported := slices.ContainsFunc(r.of.Records, func(one *trace.Record) bool { return one.Credible().Cached > 0 })
	if reported || !p.Engine.KV.PrefixCache {
		return "", nil
	}
	return r.sess.Word("predicted.cache-unknown"), nil
}
