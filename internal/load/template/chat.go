package template

import (
	"errors"
	"fmt"
)

// reasonings are the names under which a message may have its reasoning, the first one found
// counts.
var reasonings = []string{"reasoning_content", "thinking", "reasoning"}

// chat prepares messages as apply_chat_template of transformers 5.23 does: fields that are
// null are dropped, and reasoning is there as reasoning_content and as thinking.
func chat(v value) (*list, error) {
	l, ok := v.(*list)
	if !ok || len(l.items) == 0 {
		return nil, errors.New("messages: must be a list of at least one message")
	}
	made := &list{items: make([]value, len(l.items))}
	for i, item := range l.items {
		message, ok := item.(*dict)
		if !ok {
			return nil, fmt.Errorf("messages[%d]: must be an object", i)
		}
		made.items[i] = withReasoning(message)
	}
	return made, nil
}

func withReasoning(message *dict) *dict {
	made := newDict()
	reasoning := value(nil)
	for _, name := range reasonings {
		if v, ok := message.get(name); ok && reasoning == nil {
			reasoning = v
		}
	}
	if reasoning != nil {
		made.set("thinking", reasoning)
	}
	for _, key := range message.keys {
		if v := message.at(key); v != nil {
			made.set(key, v)
		}
	}
	if reasoning != nil {
		made.set("reasoning_content", reasoning)
	}
	return made
}

// objects refuses a value that is neither a list of objects nor missing.
func objects(name string, v value) error {
	l, ok := v.(*list)
	if v != nil && !ok {
		return fmt.Errorf("%s: must be a list of objects", name)
	}
	for i := 0; v != nil && i < len(l.items); i++ {
		if _, ok := l.items[i].(*dict); !ok {
			return fmt.Errorf("%s[%d]: must be an object", name, i)
		}
	}
	return nil
}
