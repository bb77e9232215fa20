package grade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxStarts is the number of braces and brackets at which a value is looked for.
const maxStarts = 32

// takeJSON takes the first value of JSON: all of the text, or an object or array within it.
func takeJSON(text string, _ int) (string, How) {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return text, Whole
	}
	rest := text
	for range maxStarts {
		i := strings.IndexAny(rest, "{[")
		if i < 0 {
			return "", None
		}
		var v json.RawMessage
		if json.NewDecoder(strings.NewReader(rest[i:])).Decode(&v) == nil {
			return string(v), Marked
		}
		rest = rest[i+1:]
	}
	return "", None
}

// equalJSON compares by value: numbers by theirs, keys in any order.
func equalJSON(got, want string) bool { return compareJSON(got, want, false) }

// subsetJSON is equalJSON, but objects of got may have further keys.
func subsetJSON(got, want string) bool { return compareJSON(got, want, true) }

func compareJSON(got, want string, more bool) bool {
	a, errA := decoded(got)
	b, errB := decoded(want)
	return errA == nil && errB == nil && same(a, b, more)
}

// decoded is the one value of s, with numbers as they are written.
func decoded(s string) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	if err = d.Decode(&v); err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("text follows the value")
		}
	}
	return v, err
}

func same(got, want any, more bool) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) && !more {
			return false
		}
		for key, v := range w {
			if has, ok := g[key]; !ok || !same(has, v, more) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i, v := range w {
			if !same(g[i], v, more) {
				return false
			}
		}
		return true
	case json.Number:
		g, ok := got.(json.Number)
		return ok && (g == w || equalNumbers(g.String(), w.String()))
	}
	return got == want
}

func checkJSON(want string, _ int) error {
	if _, err := decoded(want); err != nil {
		return fmt.Errorf("%.40q is not JSON: %w", want, err)
	}
	return nil
}
