package traffic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/rows"
)

// A talk is a recorded conversation, in one of three forms:
//
//	{"turns": [{"text": "Hello", "output_tokens": 20}, {"text": "And then?", "think_ms": 1500}]}
//	{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}, ...]}
//	{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}, ...]}
//
// Turns may have messages in place of text, and delay for think_ms; a conversation may
// have a system prompt, an id, and a timestamp in seconds. In the other two, the last of
// which is that of the ShareGPT dumps, the messages between two answers are a turn, and
// its answer is as long as the recorded one.
type talk struct {
	line  int // in the file, or the place in its list, from 1
	at    time.Duration
	turns []recordedTurn
	timed bool // it has a timestamp
}

type recordedTurn struct {
	messages []json.RawMessage
	output   int               // wanted, 0 = not known
	think    time.Duration     // negative: not known
	answer   []json.RawMessage // the messages that came
	reply    string            // their text
	open     bool              // it has no answer, and no length of one
}

// readTalks reads conversations: JSON Lines, or one JSON list. Those without a turn are
// left out.
func readTalks(file io.Reader) (talks []talk, err error) {
	in, err := rows.SkipMark(file)
	if err != nil {
		return nil, err
	}
	read := func(n int, raw []byte) error {
		t, err := readTalk(raw)
		if t.line = n; len(t.turns) > 0 {
			talks = append(talks, t)
		}
		return err
	}
	head, _ := in.Peek(1 << 12)
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")) {
		err = eachOfList(in, read)
	} else {
		err = rows.Lines(in, read)
	}
	if err == nil && len(talks) == 0 {
		err = errors.New("no conversations in it")
	}
	return talks, err
}

// eachOfList has read look at each value of a JSON list.
func eachOfList(in io.Reader, read func(n int, raw []byte) error) error {
	var bad rows.Mistakes
	dec := json.NewDecoder(in)
	_, _ = dec.Token() // the bracket that was seen
	for n := 1; dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("conversation %d, at byte %d: %w", n, dec.InputOffset(), err)
		}
		if !bad.Add("conversation", n, read(n, raw)) {
			break
		}
	}
	return bad.Err()
}

type conversation struct {
	System    string            `json:"system"`
	Timestamp *float64          `json:"timestamp"`
	Turns     []turnJSON        `json:"turns"`
	Messages  []json.RawMessage `json:"messages"`
	ShareGPT  []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
}

type turnJSON struct {
	Text     *string           `json:"text"`
	Messages []json.RawMessage `json:"messages"`
	Output   *float64          `json:"output_tokens"`
	Length   *float64          `json:"output_length"`
	Think    *float64          `json:"think_ms"`
	Delay    *float64          `json:"delay"`
}

func readTalk(raw []byte) (t talk, err error) {
	var c conversation
	if err := json.Unmarshal(raw, &c); err != nil {
		return t, fmt.Errorf("not a JSON object of a conversation: %w", rows.WrongType(err))
	}
	if t.timed = c.Timestamp != nil; t.timed {
		if t.at, err = duration("timestamp", c.Timestamp, time.Second); err != nil {
			return t, err
		}
	}
	switch {
	case c.Turns != nil:
		t.turns, err = c.listed()
	case c.Messages != nil:
		t.turns, err = split(c.Messages)
	case c.ShareGPT != nil:
		t.turns, err = split(c.shareGPT())
	default:
		err = errors.New(`none of the fields "turns", "messages" and "conversations" is there`)
	}
	if err == nil && c.System != "" && len(t.turns) > 0 {
		t.turns[0].messages = slices.Insert(t.turns[0].messages, 0, encode(message{"system", c.System}))
	}
	return t, err
}

func encode(m message) json.RawMessage {
	b, _ := json.Marshal(m) // of strings: cannot fail
	return b
}

// listed are the turns of the first form.
func (c conversation) listed() (turns []recordedTurn, err error) {
	for i, t := range c.Turns {
		r, bad := t.recorded()
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("turn %d: %w", i+1, bad))
		}
		turns = append(turns, r)
	}
	return turns, err
}

func (t turnJSON) recorded() (r recordedTurn, err error) {
	r.messages, r.think = t.Messages, -1
	if t.Text != nil {
		r.messages = append(r.messages, encode(message{"user", *t.Text}))
	}
	if len(r.messages) == 0 {
		err = errors.New(`field "text" is missing`)
	}
	if field, length := either("output_tokens", t.Output, "output_length", t.Length); length != nil {
		err = errors.Join(err, wholeNumber(field, length, &r.output))
	}
	if field, think := either("think_ms", t.Think, "delay", t.Delay); think != nil {
		var bad error
		if r.think, bad = duration(field, think, time.Millisecond); bad == nil && r.think < 0 {
			bad = fmt.Errorf("field %q is negative", field)
		}
		err = errors.Join(err, bad)
	}
	return r, err
}

// either is the first of two fields that is there.
func either(one string, v *float64, other string, w *float64) (field string, value *float64) {
	if v != nil {
		return one, v
	}
	return other, w
}

// shareGPT are the messages of the third form.
func (c conversation) shareGPT() (out []json.RawMessage) {
	for _, m := range c.ShareGPT {
		role := m.From
		switch m.From {
		case "human":
			role = "user"
		case "gpt", "chatgpt", "bard", "bing", "model":
			role = "assistant"
		}
		out = append(out, encode(message{role, m.Value}))
	}
	return out
}

// split makes a turn of the messages before each answer; messages without an answer are
// the last turn.
func split(messages []json.RawMessage) (turns []recordedTurn, err error) {
	next := recordedTurn{think: -1}
	for i, raw := range messages {
		role, text, bad := read(raw)
		switch {
		case bad != nil:
			err = errors.Join(err, fmt.Errorf("message %d: %w", i+1, bad))
		case role != "assistant":
			next.messages = append(next.messages, raw)
		case len(next.messages) == 0 && len(turns) > 0: // it went on
			last := &turns[len(turns)-1]
			last.answer, last.reply = append(last.answer, raw), last.reply+text
		case len(next.messages) > 0:
			next.answer, next.reply = []json.RawMessage{raw}, text
			turns, next = append(turns, next), recordedTurn{think: -1}
		}
	}
	if len(next.messages) > 0 {
		next.open = true
		turns = append(turns, next)
	}
	return turns, err
}

// read gives the role of a message and its text, with that of all its parts.
func read(raw json.RawMessage) (role, text string, err error) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Calls   json.RawMessage `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil || m.Role == "" {
		return "", "", errors.New(`must be an object with a role and a content`)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	switch {
	case len(m.Content) == 0 || string(m.Content) == "null":
	case json.Unmarshal(m.Content, &text) == nil:
	case json.Unmarshal(m.Content, &parts) == nil:
		for _, p := range parts {
			text += p.Text
		}
	default:
		return "", "", errors.New(`field "content" must be a string or a list of parts`)
	}
	return m.Role, text + string(m.Calls), nil
}
