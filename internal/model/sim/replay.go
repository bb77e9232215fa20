package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Replay is the plan of a run that was made: its requests that succeeded, with the lengths
// that they had, by its schedule and its gate. A later turn of a conversation waits for the
// answer before it, as it did. What the server found of a prompt in a cache is in one here too: it
// is held, but not computed. The records have no prompts, so that nothing else is found.
func Replay(t *trace.Trace) SimulationPlan {
	p := SimulationPlan{
		Concurrency: t.Run.Plan.Concurrency, Stream: t.Run.Plan.Stream, Chat: t.Run.Plan.Protocol == "chat",
	}
	if spec := t.Run.Plan.Spec; spec != nil {
		p.Hold = spec.Gate.Hold
	}
	records := slices.SortedFunc(slices.Values(t.Records), func(a, b *trace.Record) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Index, b.Index))
	})
	before := map[turn]*trace.Record{}
	at := map[turn]int{} // 1 + position
	var due []time.Duration
	for _, r := range records {
		if !r.OK() {
			continue
		}
		prompt := max(1, cmp.Or(r.Credible().Prompt, r.PromptTokens))
		one := Request{
			ID: r.ID, PromptTokens: prompt, WantTokens: r.OutputTokens, Finish: "length", Tenant: r.Tenant, Session: r.Session, Number: r.Turn,
			Job: engine.Job{PromptTokens: prompt, Cached: min(r.Credible().Cached, prompt-1), OutputTokens: max(1, r.OutputTokens)},
		}
		this, last := turn{r.Session, r.Turn}, turn{r.Session, r.Turn - 1}
		if prior := before[last]; r.Session != "" && prior != nil {
			one.After, one.Think = at[last], max(0, time.Duration(r.Due-prior.Done))
		} else {
			due = append(due, time.Duration(max(0, r.Due)))
		}
		before[this], at[this] = r, len(p.Requests)+1
		p.Requests = append(p.Requests, one)
	}
	p.Schedule = slices.Values(due)
	return p
}

// A turn of a conversation.
type turn struct {
	session string
	number  int
}
