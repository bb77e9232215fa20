package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"time"
)

// A Code identifies the statement of a Message, in a few words joined by dashes,
// such as requests-left-late. Every constant of this type has words in every
// catalogue of show/words; a test checks that.
type Code string

// TextCode is the code of a message in a fixed language: from runs stored when
// notes were sentences, and from servers and other tools.
const TextCode Code = "text"

// Args are the arguments of a message by name: strings, numbers as float64 in SI
// units, booleans, messages, and lists of strings or of messages.
type Args map[string]any

// A Message is a statement as data: a note, a reason, a verdict, a definition. A
// catalogue words it in a language; equal messages say the same. The zero value
// says nothing.
type Message struct {
	Code Code
	Args Args
}

// Msg makes a message from a code and its arguments, each a name and a value.
// Numbers of any kind become float64, durations seconds, errors and Stringers
// strings. It panics on a value that Args cannot hold.
func Msg(code Code, args ...any) Message {
	m := Message{Code: code}
	for i := 0; i+1 < len(args); i += 2 {
		if m.Args == nil {
			m.Args = Args{}
		}
		m.Args[args[i].(string)] = normal(args[i+1])
	}
	return m
}

// Text returns a message of fixed words; without words it says nothing.
func Text(words string) Message {
	if words == "" {
		return Message{}
	}
	return Message{TextCode, Args{"text": words}}
}

// IsZero reports whether a message says nothing.
func (m Message) IsZero() bool { return m.Code == "" }

// Words returns the words of a message in a fixed language.
func (m Message) Words() (words string, ok bool) {
	if m.Code != TextCode {
		return "", m.IsZero()
	}
	words, ok = m.Args["text"].(string)
	return words, ok
}

// normal returns a value in the type that JSON would give it.
func normal(v any) any {
	switch v := v.(type) {
	case Message:
		if words, ok := v.Words(); ok {
			return words
		}
		return v
	case []Message:
		return normalList(v)
	case string, float64, bool, []string:
		return v
	case time.Duration:
		return v.Seconds()
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(r.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(r.Uint())
	case reflect.Float32:
		return r.Float()
	case reflect.String:
		return r.String()
	}
	panic(fmt.Sprintf("plan: a %T cannot be an argument of a message", v))
}

// MarshalJSON writes {"code": ..., "args": ...}, or only the words if there is
// nothing else.
func (m Message) MarshalJSON() ([]byte, error) {
	if words, ok := m.Words(); ok {
		return json.Marshal(words)
	}
	return json.Marshal(plain(m))
}

// plain is the JSON object of a message.
type plain struct {
	Code Code `json:"code"`
	Args Args `json:"args,omitempty"`
}

// normalList returns a list of strings if all messages are plain text.
func normalList(all []Message) any {
	texts := make([]string, len(all))
	for i, m := range all {
		words, ok := m.Words()
		if !ok {
			return all
		}
		texts[i] = words
	}
	return texts
}

// UnmarshalJSON reads a message, or a sentence from a run stored when notes were
// sentences.
func (m *Message) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch v := typedArg(v).(type) {
	case nil:
		*m = Message{}
	case string:
		*m = Text(v)
	case Message:
		*m = v
	default:
		return fmt.Errorf("%s is not a message", b)
	}
	return nil
}

// typedArg returns a value of JSON in the type that Msg gives it.
func typedArg(v any) any {
	switch v := v.(type) {
	case map[string]any:
		code, _ := v["code"].(string)
		args, _ := v["args"].(map[string]any)
		m := Message{Code: Code(code)}
		for name, arg := range args {
			if m.Args == nil {
				m.Args = Args{}
			}
			m.Args[name] = typedArg(arg)
		}
		return m
	case []any:
		var all []Message
		for _, item := range v {
			switch item := typedArg(item).(type) {
			case string:
				all = append(all, Text(item))
			case Message:
				all = append(all, item)
			}
		}
		return normalList(all)
	}
	return v
}

// Key is equal only for equal messages.
func (m Message) Key() string {
	b, err := json.Marshal(m) // maps are written in order of their keys
	if err != nil {
		return fmt.Sprintf("%s %v", m.Code, m.Args) // a number that JSON cannot represent
	}
	return string(b)
}

// Map applies change to each string in a message, for example to mask secrets.
func (m Message) Map(change func(string) string) Message {
	m.Args = maps.Clone(m.Args)
	for name, v := range m.Args {
		switch v := v.(type) {
		case string:
			m.Args[name] = change(v)
		case Message:
			m.Args[name] = v.Map(change)
		case []string:
			texts := make([]string, len(v))
			for i := range v {
				texts[i] = change(v[i])
			}
			m.Args[name] = texts
		case []Message:
			all := make([]Message, len(v))
			for i := range v {
				all[i] = v[i].Map(change)
			}
			m.Args[name] = all
		}
	}
	return m
}
