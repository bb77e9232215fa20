package calibrate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// caching is an engine that finds prompts again, in a cache that also has to make room.
var caching = engine.Config{
	Scheduler: engine.Scheduler{TokenBudget: 1024, MaxSequences: 200},
	KV:        engine.KVCache{Tokens: 64_000, PrefixCache: true},
	Cost:      engine.Costs{Step: 0.0091, Sequence: 49e-6, ContextToken: 37e-9, Prefill: 0.0017, PrefillToken: 33e-6, PrefillPair: 1.9e-9, Jitter: 0.03},
	Frontend:  engine.Frontend{Request: 0.0004, Delay: 0.0012, Chunk: 11e-6},
}

func cachingTruth() truth {
	return truth{"caching", func(seed uint64) (engine.Model, error) {
		c := caching
		c.Seed = seed
		return engine.New(c)
	}, true}
}

// tell gives runs what a server says of its memory.
func tell(runs []*trace.Trace) []*trace.Trace {
	for _, r := range runs {
		r.Run.KVTokens = caching.KV.Tokens
	}
	return runs
}

// Loads whose prompts share more, or nothing, are predicted by the cache that was found, and by what
// each request found where that is known. As if nothing were cached they would not be.
func TestACacheIsFound(t *testing.T) {
	race.Skip(t)
	o := newObserver(cachingTruth(), 5)
	found, err := calibrate.FromTraces(t.Context(), tell(o.protocol(t)))
	if err != nil {
		t.Fatal(err)
	}
	if k := found.Engine.KV; !k.PrefixCache || k.Block != 16 || k.Tokens != caching.KV.Tokens || found.Cached < 0.1 || len(found.Doubts()) > 0 {
		t.Errorf("%+v, %.2f cached, doubts %q", k, found.Cached, found.Doubts())
	}
	none := *found
	none.Engine.KV = engine.KVCache{Tokens: caching.KV.Tokens}
	loads := []load{{name: "open", mix: longPrompts, share: 0.6, until: 30 * time.Second}, {name: "closed", mix: longPrompts, limit: 24, n: 400}}
	for _, other := range []struct {
		common  int
		sharing float64
	}{{560, 0.85}, {0, 0}} {
		o.common, o.sharing = other.common, other.sharing
		clear(o.capacity)
		misses, without := o.heldAgainst(t, found, loads, 2), o.heldAgainst(t, &none, loads, 2)
		t.Logf("%d tokens in common: mean error %.2f %%, %.2f %% with what was cached told (noise %.2f)", other.common, mean(misses), mean(without), mean([]miss{misses[0].noise(), misses[1].noise()}))
		if mean(misses) > 3 || mean(without) > 4 {
			t.Errorf("%d tokens in common: mean error %.2f %%, and %.2f %%", other.common, mean(misses), mean(without))
		}
		o.silent = true
		if ignored := o.heldAgainst(t, &none, loads, 2); other.common > 0 && mean(ignored) < 10*mean(misses) {
			t.Errorf("a cache does not matter: mean error %.2f %% without it", mean(ignored))
		}
		o.silent = false
	}
}

// A server whose counters say that prompts are cached, but not which, is not trusted.
func TestACacheThatDoesNotTell(t *testing.T) {
	race.Skip(t)
	o := newObserver(cachingTruth(), 6)
	runs := o.protocol(t)
	for _, r := range runs {
		queried, hit := 0, 0
		for _, record := range r.Records {
			queried, hit = queried+record.PromptTokens, hit+record.Usage.Cached
			record.Usage.Cached = 0
		}
		r.Run.ServerCounters = map[string]float64{"vllm:num_preemptions_total": 0, "vllm:prefix_cache_queries_total": float64(queried), "vllm:prefix_cache_hits_total": float64(hit)}
	}
	found, err := calibrate.FromTraces(t.Context(), runs)
	if err != nil {
		t.Fatal(err)
	}
	if why := strings.Join(found.Doubts(), "; "); !strings.Contains(why, "do not say of which prompts") || found.Engine.KV.PrefixCache {
		t.Errorf("doubts %q, cache %v", why, found.Engine.KV.PrefixCache)
	}
}
