package sglang

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/load/rows"
)

// A talk is the first two turns of a conversation.
type talk struct{ prompt, answer string }

// readEntry is the talk of a conversation, which is valid JSON; nil when it has fewer
// than two turns. text tells the text of a turn.
func readEntry(raw []byte, text func(turn gjson.Result) (string, error)) (*talk, error) {
	entry := gjson.ParseBytes(raw)
	if !entry.IsObject() {
		return nil, errors.New("not a JSON object")
	}
	key := "conversations"
	if !entry.Get(key).Exists() {
		key = "conversation"
	}
	list := entry.Get(key)
	if list.Exists() && !list.IsArray() {
		return nil, fmt.Errorf("field %q is not a list", key)
	}
	var texts []string
	var err error
	list.ForEach(func(_, turn gjson.Result) bool {
		var t string
		if t, err = text(turn); err != nil {
			err = fmt.Errorf("turn %d: %w", len(texts)+1, err)
		}
		texts = append(texts, t)
		return err == nil && len(texts) < 2
	})
	switch {
	case err == nil && len(texts) == 2:
		return &talk{texts[0], texts[1]}, nil
	case len(texts) == 1 && !list.Get("1").Exists():
		return nil, nil // a single turn is not used
	}
	return nil, err
}

// value is the text of a turn of ShareGPT.
func value(turn gjson.Result) (string, error) {
	v := turn.Get("value")
	if !v.Exists() {
		return "", errors.New(`no field "value"`)
	}
	return text("value", v)
}

// contentOrValue is the text of a turn of a custom conversation, which may have none.
func contentOrValue(turn gjson.Result) (string, error) {
	if !turn.IsObject() {
		return "", errors.New("not a JSON object")
	}
	for _, key := range []string{"content", "value"} {
		if v := turn.Get(key); v.Exists() {
			return text(key, v)
		}
	}
	return "", nil
}

// text is a copy: the conversation it is from is large, and let go.
func text(key string, v gjson.Result) (string, error) {
	if v.Type != gjson.String {
		return "", fmt.Errorf("field %q is not a text", key)
	}
	return strings.Clone(v.String()), nil
}

// readShareGPT reads a JSON list of conversations, entry by entry, and keeps those of
// two turns or more, with their answers if they are wanted.
func readShareGPT(f *file, answers bool) ([]talk, error) {
	dec := json.NewDecoder(f)
	if token, err := dec.Token(); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil || token != json.Delim('[') {
		return nil, cmp.Or(err, errors.New("not a JSON list of conversations"))
	}
	var talks []talk
	n := 0
	for ; dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, fmt.Errorf("conversation %d, at byte %d: %w", n+1, dec.InputOffset(), err)
		}
		t, err := readEntry(raw, value)
		if err != nil {
			return nil, fmt.Errorf("conversation %d, at byte %d: %w", n+1, dec.InputOffset(), err)
		}
		if t != nil && !answers {
			t.answer = ""
		}
		if t != nil {
			talks = append(talks, *t)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("after conversation %d: %w", n, err)
	}
	if len(talks) == 0 {
		return nil, fmt.Errorf("no conversation of two turns among %d", n)
	}
	return slices.Clip(talks), nil
}

// readCustom reads conversations as JSON Lines.
func readCustom(f *file) (talks []talk, bad badLines, err error) {
	n := 0
	err = rows.Lines(f, func(_ int, line []byte) error {
		n++
		if bad.skip(line) {
			return nil
		}
		t, err := readEntry(line, contentOrValue)
		if t != nil {
			talks = append(talks, *t)
		}
		return err
	})
	if err == nil && len(talks) == 0 {
		err = fmt.Errorf("no conversation of two turns among %d lines", n)
	}
	return talks, bad, err
}
