package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A chat is conversations that are drawn: a first turn, and further ones that each wait
// for the answer before them and a pause.
//
//	user   ── first ──>        think        ── later ──>
//	model               ── answer ──>                    ── answer ──>
//
// With short pauses and long later turns it is an agent: the result of a tool is the
// next turn. The prefix is a system prompt that all conversations share.
type chat struct {
	drawn                          // lengths of a first turn, and of all answers
	Conversations int              `json:"conversations,omitempty"` // 0: as many as make the requests
	Turns         arrival.Count    `json:"turns"`
	TurnLen       arrival.Count    `json:"turn_len"` // tokens of a later turn
	Think         arrival.Duration `json:"think"`    // pause from an answer to the next turn

	kind string
}

// newChat is conversations of a kind, by the texts of their distributions.
func newChat(kind, turns, later, think string) *chat {
	c := &chat{drawn: defaultDrawn(), kind: kind}
	c.Turns, _ = arrival.ParseCount(turns) // ours can be parsed
	c.TurnLen, _ = arrival.ParseCount(later)
	c.Think, _ = arrival.ParseDuration(think)
	return c
}

// Check reports mistakes in the settings.
func (d *chat) Check(s *workload.Source) plan.Problems {
	p := append(d.check(), unsuited(s.Ask, true)...)
	p.Count("conversations", d.Conversations, 0)
	p.If(!d.Input.atLeast(1), "input_len", d.Input, "must be at least 1")
	p.If(!d.Output.atLeast(1), "output_len", d.Output, "must be at least 1")
	return p
}

// Build draws the conversations, one behind the other.
func (d *chat) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	if s.Tokens == nil {
		return w, errNoText
	}
	p, err := newPrompter(ctx, s)
	if err != nil {
		return w, err
	}
	system := ""
	if d.Prefix > 0 {
		if system, _, err = p.text(ctx, prefixOfAll, "system", 0, d.Prefix, false); err != nil {
			return w, err
		}
	}
	turns, notes, err := d.draws(s)
	if err != nil {
		return w, err
	}
	w, err = s.Produce(ctx, workload.Production{
		N: len(turns), Chained: slices.ContainsFunc(turns, func(t turn) bool { return t.number > 0 }),
		Brief: func(n int) workload.Brief { return turns[n].brief(n) },
		Bare:  func(n int) workload.Request { return d.bare(p, turns[n], n) },
		Fill: func(ctx context.Context, n int, r *workload.Request) error {
			return d.fill(ctx, p, system, turns[n], n, r)
		},
	})
	w.Notes = notes
	p.noteOn(&w)
	return w, err
}

// A turn is one of a conversation that is drawn.
type turn struct {
	pair         // without its history
	talk, number int
	think        time.Duration
	followed     bool
}

// draws draws the lengths and the pauses.
func (d *chat) draws(s *workload.Source) (all []turn, notes []plan.Message, err error) {
	conversations, requests := limits(s, d.Conversations)
	if conversations == 0 {
		requests = wanted(s)
	}
	talk, cut, shortened := 0, 0, 0
	for ; (talk < conversations || conversations == 0) && (len(all) < requests || requests == 0); talk++ {
		rng := dice(s.Seed, "conversation", uint64(talk))
		n := d.Turns.Draw(rng)
		if requests > 0 {
			n = min(n, requests-len(all))
		}
		if n > plan.MaxRequests-len(all) {
			return nil, nil, plan.Problems{{
				Path: "turns", Value: d.Turns.String(),
				Why: fmt.Sprintf("the conversations have more than %d turns", plan.MaxRequests),
			}}
		}
		first, short := d.draw(1, s.Seed^arrival.Scramble(uint64(talk)), d.room())
		if short != nil {
			shortened++
		}
		length := d.Prefix + first[0].input + first[0].output
		all = append(all, turn{pair: first[0], talk: talk})
		for k := 1; k < n; k++ {
			next := turn{pair: pair{input: d.TurnLen.Draw(rng)}, talk: talk, number: k}
			answer, _ := d.draw(1, rng.Uint64(), 0)
			next.output, next.think = answer[0].output, d.Think.Draw(rng)
			if length += next.input + next.output; d.Fit > 0 && length > d.Fit {
				cut++
				break
			}
			all[len(all)-1].followed = true
			all = append(all, next)
		}
	}
	workload.Note(&notes, shortened > 0, turnsCut, "cut", shortened, "of", talk, "limit", d.Fit)
	workload.Note(&notes, cut > 0, talksCut, "cut", cut, "of", talk, "limit", d.Fit)
	return all, notes, nil
}

// limits are those of conversations and requests, 0 for none.
func limits(s *workload.Source, talks int) (conversations, requests int) {
	if s.Arrivals {
		return s.Requests, 0
	}
	return talks, s.Requests
}

// brief is the brief of a turn at position n.
func (t turn) brief(n int) workload.Brief {
	b := workload.Brief{Output: t.output, Think: t.think}
	if t.number > 0 {
		b.After = n
	}
	return b
}

// bare is the request at position n without its prompt.
func (d *chat) bare(p *prompter, t turn, n int) workload.Request {
	r := workload.Request{ID: p.IDPrefix + strconv.Itoa(n), PromptTokens: t.input, OutputTokens: t.output}
	if t.number == 0 {
		r.PromptTokens += d.Prefix
	}
	if p.Ask.Messages {
		r.Messages = workload.NoMessages
	}
	r.Turn = workload.Turn{
		Session: "c" + strconv.Itoa(t.talk), Number: t.number, After: t.brief(n).After, Think: t.think, Remember: t.number > 0,
		Followed: t.followed,
	}
	return r
}

func (d *chat) fill(ctx context.Context, p *prompter, system string, t turn, n int, r *workload.Request) error {
	behind := !p.Ask.Messages && (t.number > 0 || system != "")
	text, tokens, err := p.text(ctx, n, "turn", uint64(t.talk)<<20|uint64(t.number), t.input, behind)
	if err != nil {
		return err
	}
	r.PromptTokens = tokens
	messages := []message{{"user", text}}
	if t.number == 0 && system != "" {
		r.PromptTokens += d.Prefix
		messages, text = []message{{"system", system}, messages[0]}, system+text
	}
	if p.Ask.Messages {
		r.Messages, err = json.Marshal(messages)
	} else {
		r.Text = text
	}
	return err
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (d *chat) Describe() plan.Message {
	var first any = d.Input
	if d.Lengths != "" {
		first = plan.Msg(loadLengths, "file", d.Lengths)
	}
	return workload.Describe(d.kind, plan.Msg(loadLater, "first", first, "later", d.TurnLen, "output", d.Output),
		d.prefix(),
		plan.Msg(loadTurns, "turns", d.Turns), plan.Msg(loadThink, "think", d.Think))
}
