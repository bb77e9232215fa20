package secret

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// A Set is the secrets that are known. It may be used by several goroutines; the zero
// value and nil are empty sets.
type Set struct {
	mu    sync.RWMutex
	forms []*form // the longest first, so that no rest of one stays
}

// Add adds values that are Worth it.
func (s *Set) Add(values ...string) {
	if s == nil { // nothing is hidden there
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		value = strings.TrimSpace(value)
		known := slices.ContainsFunc(s.forms, func(f *form) bool { return f.plain == value })
		if !Worth(value) || known {
			continue
		}
		s.forms = append(slices.Clip(s.forms), newForm(value))
	}
	slices.SortStableFunc(s.forms, func(a, b *form) int { return len(b.plain) - len(a.plain) })
}

// AddJSON adds the secrets in JSON: strings under the name of a secret, and those that Find finds in others. The
// value of a header is under the name of its header.
func (s *Set) AddJSON(raw json.RawMessage) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		s.addIn("", v)
	}
}

func (s *Set) addIn(name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			if header, ok := v["name"].(string); ok && key == "value" {
				key = header
			}
			s.addIn(key, below)
		}
	case []any:
		for _, below := range v {
			s.addIn(name, below)
		}
	case string:
		s.Add(Find(v)...)
		if Setting(name) {
			s.Add(InHeader(v)...)
		}
	}
}

func (s *Set) all() []*form {
	if s == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.forms
}

// Hide replaces every secret in a text, in whatever form it is there.
func (s *Set) Hide(text string) string {
	if len(text) < shortest {
		return text
	}
	for _, f := range s.all() {
		text = f.hide(text)
	}
	return text
}

// HideJSON replaces every secret in JSON, also where its strings have escapes. Without secrets it returns its
// argument.
func (s *Set) HideJSON(raw []byte) []byte {
	if len(s.all()) == 0 {
		return raw
	}
	return MapJSON(raw, func(_, text string) string { return s.Hide(text) })
}

// MapJSON changes every string in JSON, also where it has escapes. change gets the name of its member, which is that of
// the list for an item, and is empty for a name itself. What change returns as it was stays byte for byte.
func MapJSON(raw []byte, change func(name, text string) string) []byte {
	var out bytes.Buffer
	name := ""
	for rest := raw; len(rest) > 0; {
		start := bytes.IndexByte(rest, '"')
		end := literal(rest, start)
		if end < 0 {
			if tail := string(rest); strings.Trim(tail, "{}[]:,.+-0123456789eEtrufalsn \t\r\n") == "" {
				out.WriteString(tail)
			} else { // no JSON
				out.WriteString(change(name, tail))
			}
			break
		}
		quoted := rest[start:end]
		out.Write(rest[:start])
		rest = rest[end:]
		if bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte{':'}) {
			out.Write(mapLiteral(quoted, func(text string) string {
				name = text
				return change("", text)
			}))
			continue
		}
		out.Write(mapLiteral(quoted, func(text string) string { return change(name, text) }))
	}
	return out.Bytes()
}

// literal is the end of the string that begins at start, -1 if there is none.
func literal(raw []byte, start int) int {
	if start < 0 {
		return -1
	}
	for i := start + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

func mapLiteral(quoted []byte, change func(string) string) []byte {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return quoted
	}
	changed := change(text)
	if changed == text {
		return quoted
	}
	out, _ := json.Marshal(changed) // a string can always be
	return out
}

// Error is err without secrets in its text.
func (s *Set) Error(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); s.Hide(text) != text {
		return hiddenError{s.Hide(text), err}
	}
	return err
}

type hiddenError struct {
	text string
	err  error
}

func (e hiddenError) Error() string { return e.text }

func (e hiddenError) Unwrap() error { return e.err }
