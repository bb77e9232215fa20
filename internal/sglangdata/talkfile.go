package sglangdata

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A talk is the first two turns of a conversation.
type talk struct{ prompt, answer string }

// An entry is a conversation in a file.
type entry struct {
	Conversations *[]json.RawMessage `json:"conversations"`
	Conversation  *[]json.RawMessage `json:"conversation"`
}

func (e entry) turns() []json.RawMessage {
	if turns := cmp.Or(e.Conversations, e.Conversation); turns != nil {
		return *turns
	}
	return nil
}

// talk reads the first two turns; nil when there are fewer.
func (e entry) talk(text func(turn map[string]json.RawMessage) (string, error)) (*talk, error) {
	turns := e.turns()
	if len(turns) < 2 {
		return nil, nil
	}
	var texts [2]string
	for i := range texts {
		var fields map[string]json.RawMessage
		err := decode(turns[i], &fields)
		if err == nil {
			texts[i], err = text(fields)
		}
		if err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return &talk{texts[0], texts[1]}, nil
}

// value is the text of a turn of ShareGPT.
func value(turn map[string]json.RawMessage) (string, error) {
	if _, ok := turn["value"]; !ok {
		return "", errors.New(`no field "value"`)
	}
	return text(turn, "value")
}

// contentOrValue is the text of a turn of a custom conversation, which may have none.
func contentOrValue(turn map[string]json.RawMessage) (string, error) {
	for _, key := range []string{"content", "value"} {
		if _, ok := turn[key]; ok {
			return text(turn, key)
		}
	}
	return "", nil
}

func text(turn map[string]json.RawMessage, key string) (s string, err error) {
	if err := decode(turn[key], &s); err != nil || turn[key][0] != '"' {
		return "", fmt.Errorf("field %q is not a text", key)
	}
	return s, nil
}

// readShareGPT reads a JSON list of conversations, entry by entry, and keeps those of
// two turns or more, with their answers if they are wanted.
func readShareGPT(f *File, answers bool) ([]talk, error) {
	dec := json.NewDecoder(f.Content)
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return nil, f.in(cmp.Or(err, errors.New("not a JSON list of conversations")))
	}
	var talks []talk
	n := 0
	for ; dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, f.in(fmt.Errorf("conversation %d, at byte %d: %w", n+1, dec.InputOffset(), err))
		}
		t, err := readEntry(raw, value)
		if err != nil {
			return nil, f.in(fmt.Errorf("conversation %d, at byte %d: %w", n+1, dec.InputOffset(), err))
		}
		if t != nil && !answers {
			t.answer = ""
		}
		if t != nil {
			talks = append(talks, *t)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, f.in(fmt.Errorf("after conversation %d: %w", n, err))
	}
	if len(talks) == 0 {
		return nil, f.in(fmt.Errorf("no conversation of two turns among %d", n))
	}
	return slices.Clip(talks), nil
}

// readEntry is the talk of a conversation, nil if it has none.
func readEntry(raw []byte, text func(map[string]json.RawMessage) (string, error)) (*talk, error) {
	var e entry
	if err := decode(raw, &e); err != nil {
		return nil, err
	}
	return e.talk(text)
}

// readCustom reads conversations as JSON Lines.
func readCustom(f *File) (talks []talk, bad badLines, err error) {
	n := 0
	err = f.lines(func(line []byte) (bool, error) {
		n++
		if bad.skip(line) {
			return true, nil
		}
		t, err := readEntry(line, contentOrValue)
		if t != nil {
			talks = append(talks, *t)
		}
		return true, err
	})
	if err == nil && len(talks) == 0 {
		err = f.in(fmt.Errorf("no conversation of two turns among %d lines", n))
	}
	return talks, bad, err
}
