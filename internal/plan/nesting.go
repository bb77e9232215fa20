package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Limit is deeper than any answer, tokenizer or result file is nested.
const Limit = 200

// A DeepError is JSON that is nested beyond a limit.
type DeepError struct{ Limit int }

func (e DeepError) Error() string {
	return fmt.Sprintf("more than %d brackets are open at once", e.Limit)
}

// Check returns a DeepError for JSON that is nested deeper than Limit.
func Check(data []byte) error {
	if Deeper(data, Limit) {
		return DeepError{Limit}
	}
	return nil
}

// Unmarshal is json.Unmarshal for JSON that passes Check.
func Unmarshal(data []byte, v any) error {
	if err := Check(data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Values counts the values of data behind commas that are no numbers: each takes many times its length where it is
// read. Numbers are left out: lists of tokens have many.
func Values(data []byte) (n int) {
	quoted, comma := false, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		if comma && c > ' ' {
			if comma = false; c != '-' && (c < '0' || c > '9') {
				n++
			}
		}
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
			next := bytes.IndexAny(data[i:], `"\`)
			if next < 0 {
				return n
			}
			i += next - 1
		case c == ',':
			comma = true
		}
	}
	return n
}

// Deeper reports whether brackets in data are nested beyond limit. Data that is not JSON
// may give either answer, but no more open brackets than limit if it is false.
func Deeper(data []byte, limit int) bool {
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) <= limit {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted: // text goes by as fast as can be: it may be an image
			next := bytes.IndexAny(data[i:], `"\`)
			if next < 0 {
				return false
			}
			i += next - 1
		case c == '[' || c == '{':
			if depth++; depth > limit {
				return true
			}
		case c == ']' || c == '}':
			depth = max(0, depth-1)
		}
	}
	return false
}
