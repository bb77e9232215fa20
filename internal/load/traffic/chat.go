package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Chat is conversations that are drawn: a first turn, and further ones that each wait
// for the answer before it and a pause.
//
//	user   ── first ──>        think        ── later ──>
//	model               ── answer ──>                    ── answer ──>
//
// With short pauses and long later turns it is an agent: what comes back from a tool
// is the next turn.
type Chat struct {
	Conversations int // 0: as many as make Requests
	Requests      int // at most, the last conversation ending early; 0: no limit
	Turns         Count
	First         Lengths // of the first turn, and of all answers
	Later         Count   // length of a later turn
	Think         Pause   // from an answer to the next turn
	System        int     // tokens of a system prompt that all conversations share
	Messages      bool    // turns are messages of a chat; else the history is one text
	Seed          uint64
	IDPrefix      string
	Spool         *workload.Spool // for prompts that are too many for memory; nil keeps them there
}

// A talk is a conversation that is drawn.
type talk struct {
	turns []Pair // without what they remember
	think []time.Duration
}

// Build makes the conversations, one behind the other.
func (c Chat) Build(ctx context.Context, p *Prompter) (workload.Workload, error) {
	if p.tok == nil {
		return workload.Workload{}, errNoText
	}
	talks, notes := c.draw()
	system := ""
	if c.System > 0 {
		var err error
		if system, _, err = p.text(ctx, "system", 0, c.System, false); err != nil {
			return workload.Workload{}, err
		}
	}
	w := workload.Workload{Notes: notes}
	first := make([]int, len(talks)+1) // where each begins
	for i, t := range talks {
		first[i+1] = first[i] + len(t.turns)
	}
	w.Requests = make([]workload.Request, first[len(talks)])
	err := workload.Each(ctx, len(w.Requests), func(ctx context.Context, n int) (err error) {
		i := place(first, n)
		if w.Requests[n], err = c.turn(ctx, p, talks[i], system, i, n-first[i], first[i]); err != nil {
			return err
		}
		return c.Spool.Keep(&w.Requests[n])
	})
	w.Notes = append(w.Notes, p.notes()...)
	return w, err
}

// place is which of the ranges that begin at first n is in.
func place(first []int, n int) int {
	lo, hi := 0, len(first)-1
	for lo+1 < hi {
		if mid := (lo + hi) / 2; first[mid] <= n {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// turn is turn k of conversation i, whose first request is at position from.
func (c Chat) turn(ctx context.Context, p *Prompter, t talk, system string, i, k, from int) (workload.Request, error) {
	text, n, err := p.text(ctx, "turn", uint64(i)<<20|uint64(k), t.turns[k].Input, !c.Messages && (k > 0 || system != ""))
	if err != nil {
		return workload.Request{}, err
	}
	r := workload.Request{ID: fmt.Sprint(c.IDPrefix, from+k), PromptTokens: n, OutputTokens: t.turns[k].Output}
	messages := []message{{"user", text}}
	if k == 0 && system != "" {
		r.PromptTokens += c.System
		messages = []message{{"system", system}, messages[0]}
		text = system + text
	}
	if c.Messages {
		r.Messages, err = json.Marshal(messages)
	} else {
		r.Text = text
	}
	r.Turn = workload.Turn{Session: fmt.Sprintf("c%d", i), Number: k, Followed: k+1 < len(t.turns)}
	if k > 0 {
		r.After, r.Think, r.Remember = from+k, t.think[k], true
	}
	return r, err
}

// A message is one of a chat.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// draw draws the lengths and the pauses.
func (c Chat) draw() ([]talk, []plan.Message) {
	var talks []talk
	total, cut, shortened := 0, 0, 0
	for i := 0; c.more(i, total); i++ {
		d := dice(c.Seed, "conversation", uint64(i))
		n := c.Turns.Draw(d)
		if c.Requests > 0 {
			n = min(n, c.Requests-total)
		}
		pairs, cutFirst := c.first(i)
		if cutFirst {
			shortened++
		}
		t := talk{turns: pairs, think: []time.Duration{0}}
		for len(t.turns) < n {
			next := Pair{c.Later.Draw(d), 0}
			answer, _ := Lengths{Input: c.Later, Output: c.First.Output, Seen: c.First.Seen}.Draw(1, d.Uint64())
			next.Output = answer[0].Output
			think := c.Think.Draw(d)
			if t.length()+c.System+next.Input+next.Output > c.First.Fit && c.First.Fit > 0 {
				cut++
				break
			}
			t.turns, t.think = append(t.turns, next), append(t.think, think)
		}
		talks, total = append(talks, t), total+len(t.turns)
	}
	var notes []plan.Message
	if shortened > 0 {
		notes = append(notes, plan.Say(turnsCut, "cut", shortened, "of", len(talks), "limit", c.First.Fit))
	}
	if cut > 0 {
		notes = append(notes, plan.Say(talksCut, "cut", cut, "of", len(talks), "limit", c.First.Fit))
	}
	return talks, notes
}

// first draws the first turn of conversation i; cut tells whether it was too long.
func (c Chat) first(i int) (pairs []Pair, cut bool) {
	l := c.First
	if l.Fit > 0 {
		l.Fit = max(l.Fit-c.System, 2)
	}
	pairs, notes := l.Draw(1, c.Seed^scatter(uint64(i)))
	return pairs, notes != nil
}

// more tells whether there is to be another, after so many conversations and requests.
func (c Chat) more(conversations, requests int) bool {
	if c.Requests > 0 && requests >= c.Requests {
		return false
	}
	return conversations < c.Conversations || c.Conversations == 0 && c.Requests > 0
}

// length is how many tokens have been said.
func (t talk) length() int {
	n := 0
	for _, p := range t.turns {
		n += p.Input + p.Output
	}
	return n
}
