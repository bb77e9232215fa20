package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A replayedTalks is recorded conversations: the turns of their users, and the lengths
// of the answers. The answers are the model's own.
type replayedTalks struct {
	data
	Conversations int               `json:"conversations,omitempty"` // 0: all
	History       string            `json:"history"`                 // live, or recorded: the answers in the history
	Think         *arrival.Duration `json:"think,omitempty"`         // pause before a turn that has none
	Output        Size              `json:"output_len,omitzero"`     // in place of the recorded lengths

	talks []talk
}

// Check reports mistakes in the settings.
func (d *replayedTalks) Check(s *workload.Source) plan.Problems {
	p := append(d.check(), unsuited(s.Ask, true)...)
	p.OneOf("history", d.History, "live", "recorded")
	p.Count("conversations", d.Conversations, 0)
	p.If(!d.Output.atLeast(0), "output_len", d.Output, "must not be negative")
	return p
}

func (d *replayedTalks) Read(_ context.Context, s *workload.Source) error {
	return s.Files.With("data", d.Data, func(file io.Reader) (err error) {
		d.talks, err = readTalks(file)
		return err
	})
}

// Build makes requests of their turns, one conversation behind the other.
func (d *replayedTalks) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	conversations, requests := limits(s, d.Conversations)
	b := talkBuilder{replayedTalks: d, source: s, most: requests}
	for i, t := range d.talks {
		if i == conversations && i > 0 || len(b.requests) == requests && requests > 0 {
			break
		}
		if s.NeedTime && !t.timed {
			err = fmt.Errorf("conversation %d: field \"timestamp\" is missing, and the arrivals are to follow it", t.line)
		} else {
			err = b.talk(t, i)
		}
		if err != nil {
			return w, workload.Blame("data", d.Data, err)
		}
	}
	if err = b.count(ctx); err == nil && len(b.requests) == 0 {
		err = errors.New("no conversation in it has a message of a user")
		if b.open > 0 {
			err = needsOutput(d.Data + " has no answers, which would tell their lengths")
		}
	}
	workload.Note(&b.notes, conversations > len(d.talks), talksShort, "have", len(d.talks), "asked", conversations)
	workload.Note(&b.notes, conversations == 0 && requests > len(b.requests), turnsShort, "have", len(b.requests),
		"asked", requests)
	return workload.Workload{Requests: b.requests, Notes: b.notes}, workload.Blame("data", d.Data, err)
}

func (d *replayedTalks) Describe() plan.Message {
	return workload.Describe("conversations", plan.Text(d.Data))
}

type talkBuilder struct {
	*replayedTalks
	source   *workload.Source
	most     int // requests, 0: no limit
	requests []workload.Request
	origins  []origin // of each request
	notes    []plan.Message
	tools    int // results of tools
	open     int // turns without an answer
}

// An origin is the turn that a request comes from.
type origin struct {
	line, turn int
	text       string // of its prompt
	reply      string // that was recorded
}

func (b *talkBuilder) recorded() bool { return b.History == "recorded" }

func (b *talkBuilder) talk(t talk, i int) error {
	turns := t.turns
	if last := turns[len(turns)-1]; last.output == 0 && last.open && b.Output.IsZero() {
		turns = turns[:len(turns)-1]
		b.open++
	}
	if b.most > 0 {
		turns = turns[:min(len(turns), b.most-len(b.requests))]
	}
	d := dice(b.source.Seed, "talk", uint64(t.line))
	var history []json.RawMessage
	for k, turn := range turns {
		n := len(b.requests)
		r := workload.Request{ID: fmt.Sprint(b.source.IDPrefix, n), At: t.at, OutputTokens: turn.output}
		if !b.Output.IsZero() {
			r.OutputTokens = b.Output.count().Draw(d)
		}
		r.Turn = workload.Turn{Session: fmt.Sprintf("c%d", i), Number: k, Followed: k+1 < len(turns) && !b.recorded()}
		if k > 0 {
			r.After, r.Remember = n, !b.recorded()
			if r.Think = max(turn.think, 0); turn.think < 0 && b.Think != nil {
				r.Think = b.Think.Draw(d)
			}
		}
		text, err := b.addMessage(&r, b.messages(turn, &history))
		if err != nil {
			return fmt.Errorf("conversation %d, turn %d: %w", t.line, k+1, err)
		}
		b.requests = append(b.requests, r)
		b.origins = append(b.origins, origin{t.line, k + 1, text, turn.reply})
	}
	return nil
}

// messages are those that a turn sends: its own, or with the recorded history all until
// then.
func (b *talkBuilder) messages(turn recordedTurn, history *[]json.RawMessage) []json.RawMessage {
	if !b.recorded() {
		return b.plain(turn.messages)
	}
	*history = append(*history, turn.messages...)
	all := slices.Clone(*history)
	*history = append(*history, turn.answer...)
	return all
}

// plain turns results of tools into messages of the user.
func (b *talkBuilder) plain(messages []json.RawMessage) []json.RawMessage {
	out := slices.Clone(messages)
	for i, raw := range out {
		if role, text, err := read(raw); err == nil && (role == "tool" || role == "function") {
			out[i] = encode(message{"user", text})
			b.tools++
		}
	}
	return out
}

// addMessage writes messages into a request, as a chat or as a text, and returns their text. A
// text behind an answer begins on a line of its own.
func (b *talkBuilder) addMessage(r *workload.Request, messages []json.RawMessage) (string, error) {
	var texts []string
	for _, raw := range messages {
		_, text, err := read(raw)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	text := strings.Join(texts, "\n")
	if b.source.Ask.Messages {
		all, err := json.Marshal(messages)
		r.Messages = all
		return text, err
	}
	if text == "" {
		return "", errors.New("says nothing")
	}
	if r.Remember {
		text = "\n" + text
	}
	r.Text = text
	return text, nil
}

// needsOutput is the error for recorded conversations that do not tell how long an answer is.
func needsOutput(why string) error {
	return plan.Problems{{Path: "output_len", Why: "is needed: " + why}}
}

// count fills in the tokens of prompts and of recorded answers, and adds notes.
func (b *talkBuilder) count(ctx context.Context) error {
	var unknown atomic.Int64
	tok := b.source.Tokens
	err := workload.Each(ctx, len(b.requests), func(ctx context.Context, i int) error {
		r, from := &b.requests[i], b.origins[i]
		if tok != nil {
			ids, err := tok.Encode(ctx, from.text, r.Number == 0)
			if err != nil {
				return err
			}
			r.PromptTokens = len(ids)
		}
		switch {
		case r.OutputTokens > 0:
			return nil
		case tok == nil || from.reply == "":
			unknown.CompareAndSwap(0, int64(i)+1)
			return nil
		}
		ids, err := tok.Encode(ctx, from.reply, false)
		r.OutputTokens = max(len(ids), 1)
		return err
	})
	if i := unknown.Load(); err == nil && i > 0 {
		from := b.origins[i-1]
		why := "has no answer, which would tell its length"
		if from.reply != "" {
			why = "has an answer, and no tokenizer is there to count its tokens"
		}
		return needsOutput(fmt.Sprintf("conversation %d, turn %d of %s %s", from.line, from.turn, b.Data, why))
	}
	workload.Note(&b.notes, b.tools > 0, toolResults, "results", b.tools)
	workload.Note(&b.notes, b.open > 0, talksOpen, "conversations", b.open)
	return err
}
