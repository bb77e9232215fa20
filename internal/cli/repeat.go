package cli

import (
	"encoding/json"
	"math"

	"github.com/pitot-bench/pitot/internal/plan"
)

// mostRepeats is the largest number of runs that one command makes.
const mostRepeats = 10_000

// repeatSpecs are n runs of a Spec: the first as it is, each further one with the next seed, or all with the same.
//
// Each run draws prompts, arrivals and the simulated engine with another seed, or noise common to all would look
// like none. With the same seed they send the same requests, which leaves the noise of the server and of the
// machine, and the effect of a cache of prompts.
func repeatSpecs(s plan.Spec, n int, same bool) []plan.Spec {
	all := make([]plan.Spec, n)
	for i := range all {
		all[i] = s
		if !same && i > 0 {
			all[i].Seed = (s.Seed + uint64(i)) & math.MaxUint32
			all[i].Target.Engine = reseeded(s.Target, i)
		}
	}
	return all
}

// reseeded are the settings of the engine with the seed i after its own; settings that are no object stay for the
// engine to refuse.
func reseeded(t plan.Target, i int) json.RawMessage {
	if t.URL != "" {
		return t.Engine
	}
	settings, seed := map[string]json.RawMessage{}, uint64(0)
	if t.Engine != nil && json.Unmarshal(t.Engine, &settings) != nil {
		return t.Engine
	}
	if own, ok := settings["seed"]; ok && json.Unmarshal(own, &seed) != nil {
		return t.Engine
	}
	settings["seed"], _ = json.Marshal(seed + uint64(i))
	b, _ := json.Marshal(settings) // of raw messages that were read
	return b
}
