package predict

import (
	"context"
	"slices"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
)

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
