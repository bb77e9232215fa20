package pitot

import (
	"math/rand/v2"
	"strconv"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Begin sets the values of a Spec that are decided when runs are made of it, and returns a line
// about them; empty for a simulation. Without a server the embedded engine is measured. Since a
// server may have the prompts of an earlier run in its cache, the seed is random unless given.
func (c *Compiled) Begin(spec *plan.Spec) (line plan.Message, err error) {
	_, seeded := c.names["seed"]
	switch {
	case spec.Target.Simulated:
	case spec.Target.URL == "":
		return plan.Msg("stage.embedded"), c.Explain(c.ofServer())
	case !seeded && c.spec == nil:
		spec.Seed = uint64(rand.Uint32())
		return plan.Msg("stage.seed", "seed", strconv.FormatUint(spec.Seed, 10)), nil
	}
	return plan.Message{}, nil
}

// ofServer are the settings that were given and only servers have. An engine that is described may have models, too.
func (c *Compiled) ofServer() (problems plan.Problems) {
	for _, path := range []string{"request.model", "target.key.env", "target.key.file", "target.headers", "target.ca", "target.insecure"} {
		_, given := c.names[path]
		problems.If(given && (path != "request.model" || c.get("target.engine") == nil), path, nil, "only applies to a server, and none is given; add --url URL to measure one")
	}
	return problems
}
