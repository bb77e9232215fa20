package traffic

import (
	"context"

	"github.com/pitot-bench/pitot/internal/load/dist"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A talking is conversations that are drawn.
type talking struct {
	drawn
	Conversations int           `json:"conversations,omitempty"` // 0: as many as make the requests
	Turns         dist.Count    `json:"turns"`
	TurnLen       dist.Count    `json:"turn_len"` // tokens of a later turn
	Think         dist.Duration `json:"think"`    // pause from an answer to the next turn

	kind string
}

// newTalking is conversations of a kind, by the texts of their distributions.
func newTalking(kind, turns, later, think string) *talking {
	t := &talking{drawn: defaultDrawn(), kind: kind}
	t.Turns, _ = dist.ParseCount(turns) // ours can be read
	t.TurnLen, _ = dist.ParseCount(later)
	t.Think, _ = dist.ParseDuration(think)
	return t
}

// Check reports what is wrong.
func (d *talking) Check(s *workload.Source) plan.Problems {
	p := d.check()
	p.If(s.Ask.Silent, "", nil, "a conversation goes on from answers, and the protocol %s gives none; use completions, chat, responses or messages", s.Ask.Protocol)
	p.If(s.Ask.Protocol == "transcription", "", nil, "audio is needed for the protocol transcription; use custom, with lines that have audio")
	p.If(d.Conversations < 0, "conversations", d.Conversations, "must not be negative")
	p.If(d.Input.Law == nil && d.Input.Fixed < 1, "input_len", d.Input, "must be at least 1")
	p.If(d.Output.Law == nil && d.Output.Fixed < 1, "output_len", d.Output, "must be at least 1")
	return p
}

// Build draws the conversations.
func (d *talking) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	p, err := NewPrompter(ctx, s.Vocab, s.Tokens, s.Seed)
	if err != nil {
		return workload.Workload{}, err
	}
	c := Chat{
		Conversations: d.Conversations, Requests: s.Requests, Turns: d.Turns, First: d.lengths(), Later: d.TurnLen, Think: d.Think, System: d.Prefix,
		Messages: s.Ask.Messages, Seed: s.Seed, IDPrefix: s.IDPrefix, Spool: s.Spool,
	}
	if c.Conversations == 0 {
		c.Requests = wanted(s)
	}
	if s.Arrivals {
		c.Conversations, c.Requests = s.Requests, 0
	}
	return c.Build(ctx, p)
}
