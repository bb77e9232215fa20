package predict

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
)

// A Hull is how far a load stays within what a calibration saw. Its zero value is of a profile
// without one.
type Hull struct {
	Beyond []Beyond `json:"beyond,omitempty"` // in which it leaves it
}

// Inside reports whether the load stays within.
func (h Hull) Inside() bool { return len(h.Beyond) == 0 }

// A Beyond is a way in which a load leaves a hull.
type Beyond struct {
	What  string  `json:"what"`  // requests at once
	Most  int     `json:"most"`  // that the load has
	Seen  int     `json:"seen"`  // that the calibration saw
	Share float64 `json:"share"` // of the time of steps, or of the prompts
}

// String is one clause: up to 211 requests at once, and 64 were seen.
func (b Beyond) String() string {
	return fmt.Sprintf("up to %d %s, and %d were seen", b.Most, b.What, b.Seen)
}

// String says in which ways the load leaves it; empty if it does not.
func (h Hull) String() string {
	all := make([]string, len(h.Beyond))
	for i, b := range h.Beyond {
		all[i] = b.String()
	}
	return strings.Join(all, "; ")
}

// How far beyond what was seen a load may go, and for which share of the time farther.
const (
	moreSequences = 1.05
	moreTokens    = 1.05
	moreContext   = 1.15
	morePrompt    = 1.15
	mostOutside   = 0.01
)

// bounds are what a step may have at most to be within the hull of one replica.
type bounds struct{ sequences, context, tokens, prompt float64 }

// bounds are those of the calibration. A limit that was reached there holds for all loads, as
// more of them only wait; where it was raised since, its old value still counts. Without a
// calibration nothing is bounded.
func (c *Case) bounds() bounds {
	k, e := c.Base.Calibration, c.Base.Engine
	if k == nil {
		none := math.Inf(1)
		return bounds{none, none, none, none}
	}
	replicas := float64(cmp.Or(e.Replicas.Count, 1))
	b := bounds{
		sequences: float64(k.Seen.Sequences) / replicas, context: float64(k.Seen.Context) / replicas,
		tokens: float64(k.Seen.StepTokens), prompt: math.Round(float64(k.Seen.Prompt) * morePrompt),
	}
	if k.Seen.Limit {
		b.sequences = max(b.sequences, float64(e.Scheduler.MaxSequences))
	}
	if k.Seen.Memory {
		b.context = max(b.context, float64(e.KV.Tokens))
	}
	if k.Seen.Budget {
		b.tokens = max(b.tokens, float64(e.Scheduler.TokenBudget))
	}
	b.sequences *= moreSequences
	b.context *= moreContext
	b.tokens *= moreTokens
	return b
}

// An extent is what the steps of a simulation had: sequences that decode, tokens of their
// contexts, and prompt tokens.
type extent struct {
	bounds bounds
	time   time.Duration    // of all steps
	over   [3]time.Duration // of those beyond a bound
	most   [3]int

	prompts, long, longest int // their number, those beyond a bound, tokens of the longest
}

func (x *extent) add(s engine.Step) {
	x.time += s.Took
	for i, one := range [...]struct {
		has   int
		bound float64
	}{{s.Decodes, x.bounds.sequences}, {int(s.Context), x.bounds.context}, {s.PrefillTokens, x.bounds.tokens}} {
		x.most[i] = max(x.most[i], one.has)
		if float64(one.has) > one.bound {
			x.over[i] += s.Took
		}
	}
}

// hull is that of all simulations together.
func (c *Case) hull(of []*outcome) (h Hull) {
	k := c.Base.Calibration
	if k == nil {
		return h
	}
	var all extent
	for _, o := range of {
		all.time += o.extent.time
		for i := range all.over {
			all.over[i] += o.extent.over[i]
			all.most[i] = max(all.most[i], o.extent.most[i])
		}
		all.prompts, all.long, all.longest = all.prompts+o.extent.prompts, all.long+o.extent.long, max(all.longest, o.extent.longest)
	}
	replicas := cmp.Or(c.Base.Engine.Replicas.Count, 1)
	for i, one := range [...]Beyond{
		{What: "requests at once", Seen: k.Seen.Sequences / replicas},
		{What: "tokens of context at once", Seen: k.Seen.Context / replicas},
		{What: "prompt tokens in a step", Seen: k.Seen.StepTokens},
	} {
		one.Most, one.Share = all.most[i], all.over[i].Seconds()/max(all.time.Seconds(), math.SmallestNonzeroFloat64)
		h.note(one)
	}
	h.note(Beyond{What: "tokens of a prompt", Most: all.longest, Seen: k.Seen.Prompt, Share: float64(all.long) / float64(max(1, all.prompts))})
	return h
}

// note adds a dimension if the load is outside in it.
func (h *Hull) note(b Beyond) {
	if b.Share > mostOutside {
		h.Beyond = append(h.Beyond, b)
	}
}

func (x *extent) read(load sim.SimulationPlan) {
	for i := range load.Requests {
		r := &load.Requests[i]
		if r.Status != 0 { // the engine refuses it
			continue
		}
		x.prompts++
		x.longest = max(x.longest, r.Job.PromptTokens)
		if float64(r.Job.PromptTokens) > x.bounds.prompt {
			x.long++
		}
	}
}
