package traffic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A Talk is a recorded conversation. Three forms of it are read:
//
//	{"turns": [{"text": "Hello", "output_tokens": 20}, {"text": "And then?", "think_ms": 1500}]}
//	{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}, ...]}
//	{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}, ...]}
//
// Turns may have messages in place of text, and delay for think_ms; a conversation may
// have a system prompt, an id, and a timestamp in seconds. In the other two, the last
// of them that of the ShareGPT dumps, what stands between two answers is a turn, and
// its answer is as long as the recorded one.
type Talk struct {
	Line  int // in the file, or the place in its list, from 1
	At    time.Duration
	turns []recorded
	timed bool // it says when it began
}

// A recorded turn.
type recorded struct {
	messages []json.RawMessage
	output   int // wanted, 0 = not said
	think    *time.Duration
	answer   []json.RawMessage // the messages that came
	reply    string            // their text
	open     bool              // nobody answered, and nothing says how long an answer is to be
}

// ReadTalks reads conversations: JSON Lines, or one JSON list.
func ReadTalks(r io.Reader) ([]Talk, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	head, _ := in.Peek(1 << 12)
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")) {
		return readList(in)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var talks []Talk
	var bad mistakes
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		t, err := readTalk(lines.Bytes())
		t.Line = n
		talks = append(talks, t)
		if !bad.add(n, err) {
			break
		}
	}
	if len(bad) == 0 && lines.Err() != nil {
		return nil, lines.Err()
	}
	return said(talks, bad.err())
}

// readList reads one JSON list.
func readList(in io.Reader) ([]Talk, error) {
	var talks []Talk
	var errs []error
	dec := json.NewDecoder(in)
	_, _ = dec.Token() // the bracket that was seen
	for n := 1; dec.More() && len(errs) < mostErrors; n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, fmt.Errorf("conversation %d, at byte %d: %w", n, dec.InputOffset(), err)
		}
		t, err := readTalk(raw)
		if t.Line = n; err != nil {
			errs = append(errs, fmt.Errorf("conversation %d: %w", n, err))
		}
		talks = append(talks, t)
	}
	return said(talks, errors.Join(errs...))
}

// said are the conversations in which a user says something.
func said(talks []Talk, err error) ([]Talk, error) {
	if err != nil {
		return nil, err
	}
	talks = slices.DeleteFunc(talks, func(t Talk) bool { return len(t.turns) == 0 })
	if len(talks) == 0 {
		return nil, errors.New("no conversations in it")
	}
	return talks, nil
}

// A conversation is one in any of the forms.
type conversation struct {
	System    string            `json:"system"`
	Timestamp *float64          `json:"timestamp"`
	Turns     []turn            `json:"turns"`
	Messages  []json.RawMessage `json:"messages"`
	ShareGPT  []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
}

type turn struct {
	Text     *string           `json:"text"`
	Messages []json.RawMessage `json:"messages"`
	Output   *float64          `json:"output_tokens"`
	Length   *float64          `json:"output_length"`
	Think    *float64          `json:"think_ms"`
	Delay    *float64          `json:"delay"`
}

func readTalk(raw []byte) (t Talk, err error) {
	var c conversation
	if err := json.Unmarshal(raw, &c); err != nil {
		return t, fmt.Errorf("not a JSON object of a conversation: %w", workload.WrongType(err))
	}
	if c.Timestamp != nil {
		if !(math.Abs(*c.Timestamp) < furthest/1e9) {
			return t, fmt.Errorf("field %q is %v: must be in seconds", "timestamp", *c.Timestamp)
		}
		t.At, t.timed = time.Duration(math.Round(*c.Timestamp*1e9)), true
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
func (c conversation) listed() (turns []recorded, err error) {
	for i, t := range c.Turns {
		r := recorded{messages: t.Messages}
		if t.Text != nil {
			r.messages = append(r.messages, encode(message{"user", *t.Text}))
		}
		if len(r.messages) == 0 {
			err = errors.Join(err, fmt.Errorf(`turn %d: field "text" is missing`, i+1))
		}
		for field, v := range map[string]*float64{"output_tokens": t.Output, "output_length": t.Length} {
			if v != nil {
				err = errors.Join(err, in(i, wholeNumber(field, v, &r.output)))
			}
		}
		for field, v := range map[string]*float64{"think_ms": t.Think, "delay": t.Delay} {
			if v != nil {
				r.think = new(time.Duration)
				err = errors.Join(err, in(i, millis(field, v, r.think)))
				if *r.think < 0 {
					err = errors.Join(err, in(i, fmt.Errorf("field %q is negative", field)))
				}
			}
		}
		turns = append(turns, r)
	}
	return turns, err
}

func in(turn int, err error) error {
	if err != nil {
		return fmt.Errorf("turn %d: %w", turn+1, err)
	}
	return nil
}

// shareGPT are the messages of the third form.
func (c conversation) shareGPT() []json.RawMessage {
	roles := map[string]string{"human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant", "bard": "assistant", "bing": "assistant", "assistant": "assistant", "model": "assistant", "system": "system"}
	var out []json.RawMessage
	for _, m := range c.ShareGPT {
		role := roles[m.From]
		if role == "" {
			role = m.From
		}
		out = append(out, encode(message{role, m.Value}))
	}
	return out
}

// split makes a turn of the messages ahead of each answer; what nobody answered is the
// last turn.
func split(messages []json.RawMessage) (turns []recorded, err error) {
	var open recorded
	for i, raw := range messages {
		role, text, bad := read(raw)
		switch {
		case bad != nil:
			err = errors.Join(err, fmt.Errorf("message %d: %w", i+1, bad))
		case role != "assistant":
			open.messages = append(open.messages, raw)
		case len(open.messages) == 0 && len(turns) > 0: // it went on
			last := &turns[len(turns)-1]
			last.answer, last.reply = append(last.answer, raw), last.reply+text
		case len(open.messages) > 0:
			open.answer, open.reply = []json.RawMessage{raw}, text
			turns, open = append(turns, open), recorded{}
		}
	}
	if len(open.messages) > 0 {
		open.open = true
		turns = append(turns, open)
	}
	return turns, err
}

// read gives the role of a message and its text, of parts that of all of them.
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
