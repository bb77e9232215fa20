package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Talks replays recorded conversations: what the users said, and how long the answers
// were. What the model says is its own.
type Talks struct {
	Conversations int   // at most, 0: all
	Requests      int   // at most, the last conversation ending early; 0: no limit
	Output        Count // in place of the recorded lengths; nil: as recorded
	Think         Pause // where the recording has none; nil: none
	// Recorded puts the recorded answers into the history, in place of those that come.
	Recorded bool
	Messages bool // turns are messages of a chat; else the history is one text
	NeedTime bool // every conversation must have a timestamp
	Seed     uint64
	IDPrefix string
}

// Build makes requests of conversations, one behind the other. tok counts tokens: of
// prompts, and of recorded answers that do not say their length.
func (t Talks) Build(ctx context.Context, talks []Talk, tok workload.Tokenizer) (workload.Workload, error) {
	b := talkBuilder{Talks: t}
	for i, talk := range talks {
		if i == t.Conversations && t.Conversations > 0 || len(b.requests) == t.Requests && t.Requests > 0 {
			break
		}
		if t.NeedTime && !talk.timed {
			return workload.Workload{}, fmt.Errorf("conversation %d: field \"timestamp\" is missing, and the arrivals are to follow it", talk.Line)
		}
		if err := b.talk(talk, i); err != nil {
			return workload.Workload{}, err
		}
	}
	if err := b.count(ctx, tok); err != nil {
		return workload.Workload{}, err
	}
	if len(b.requests) == 0 {
		return workload.Workload{}, errors.New("no conversation in it has an answer")
	}
	return workload.Workload{Requests: b.requests, Notes: append(b.notes(), t.missing(talks, len(b.requests))...)}, nil
}

// missing says that there are fewer conversations, or requests, than were asked for.
func (t Talks) missing(talks []Talk, requests int) []plan.Message {
	switch {
	case t.Conversations > len(talks):
		return []plan.Message{plan.Say(talksShort, "have", len(talks), "asked", t.Conversations)}
	case t.Conversations == 0 && t.Requests > requests:
		return []plan.Message{plan.Say(turnsShort, "have", requests, "asked", t.Requests)}
	}
	return nil
}

// A talkBuilder is the requests in the making.
type talkBuilder struct {
	Talks
	requests []workload.Request
	sources  []source // of each request
	tools    int      // results of tools
	open     int      // turns without an answer
}

// A source is where a request comes from.
type source struct {
	line, turn int
	text       string // of its prompt
	reply      string // that was recorded
}

func (b *talkBuilder) notes() []plan.Message {
	var notes []plan.Message
	if b.tools > 0 {
		notes = append(notes, plan.Say(toolResults, "results", b.tools))
	}
	if b.open > 0 {
		notes = append(notes, plan.Say(talksOpen, "conversations", b.open))
	}
	return notes
}

// talk adds the turns of conversation i.
func (b *talkBuilder) talk(talk Talk, i int) error {
	turns := talk.turns
	if last := turns[len(turns)-1]; last.output == 0 && last.open && b.Output == nil {
		turns = turns[:len(turns)-1]
		b.open++
	}
	if b.Requests > 0 {
		turns = turns[:min(len(turns), b.Requests-len(b.requests))]
	}
	d := dice(b.Seed, "talk", uint64(talk.Line))
	from := len(b.requests)
	var history []json.RawMessage
	for k, turn := range turns {
		r := workload.Request{ID: fmt.Sprint(b.IDPrefix, from+k), At: talk.At, OutputTokens: turn.output}
		if b.Output != nil {
			r.OutputTokens = b.Output.Draw(d)
		}
		r.Turn = workload.Turn{Session: fmt.Sprintf("c%d", i), Number: k, Followed: k+1 < len(turns) && !b.Recorded}
		if k > 0 {
			r.After, r.Remember = from+k, !b.Recorded
			switch {
			case turn.think != nil:
				r.Think = *turn.think
			case b.Think != nil:
				r.Think = b.Think.Draw(d)
			}
		}
		said := b.said(turn, &history)
		text, err := b.say(&r, said, r.Remember)
		if err != nil {
			return fmt.Errorf("conversation %d, turn %d: %w", talk.Line, k+1, err)
		}
		b.requests = append(b.requests, r)
		b.sources = append(b.sources, source{talk.Line, k + 1, text, turn.reply})
	}
	return nil
}

// said are the messages that a turn sends: its own, or all until then where the
// recorded answers are the history.
func (b *talkBuilder) said(turn recorded, history *[]json.RawMessage) []json.RawMessage {
	if !b.Recorded {
		messages, tools := plain(turn.messages)
		b.tools += tools
		return messages
	}
	*history = append(*history, turn.messages...)
	said := slices.Clone(*history)
	*history = append(*history, turn.answer...)
	return said
}

// plain turns results of tools into messages of the user.
func plain(messages []json.RawMessage) ([]json.RawMessage, int) {
	out, n := slices.Clone(messages), 0
	for i, raw := range out {
		if role, text, err := read(raw); err == nil && (role == "tool" || role == "function") {
			out[i] = encode(message{"user", text})
			n++
		}
	}
	return out, n
}

// say writes messages into a request, as a chat or as a text, which begins on a line of
// its own where it stands behind an answer. It returns their text.
func (b *talkBuilder) say(r *workload.Request, messages []json.RawMessage, behind bool) (string, error) {
	var texts []string
	for _, raw := range messages {
		_, text, err := read(raw)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	text := strings.Join(texts, "\n")
	if b.Messages {
		all, err := json.Marshal(messages)
		r.Messages = all
		return text, err
	}
	if text == "" {
		return "", errors.New("says nothing")
	}
	if behind {
		text = "\n" + text
	}
	r.Text = text
	return text, nil
}

// count fills in the tokens of prompts and of recorded answers.
func (b *talkBuilder) count(ctx context.Context, tok workload.Tokenizer) error {
	var silent atomic.Int64
	err := workload.Each(ctx, len(b.requests), func(ctx context.Context, i int) error {
		r, s := &b.requests[i], b.sources[i]
		if tok != nil {
			ids, err := tok.Encode(ctx, s.text, r.Number == 0)
			if err != nil {
				return err
			}
			r.PromptTokens = len(ids)
		}
		switch {
		case r.OutputTokens > 0:
			return nil
		case tok == nil || s.reply == "":
			silent.CompareAndSwap(0, int64(i)+1)
			return nil
		}
		ids, err := tok.Encode(ctx, s.reply, false)
		r.OutputTokens = max(len(ids), 1)
		return err
	})
	if i := silent.Load(); err == nil && i > 0 {
		s := b.sources[i-1]
		return fmt.Errorf("conversation %d, turn %d: nothing says how long its answer is to be: give all of them an output length, or, where answers were recorded, a tokenizer to count them", s.line, s.turn)
	}
	return err
}
