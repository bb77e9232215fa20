package python

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/plan"
)

// errLoads is the error of a text that json.loads does not read.
var errLoads = errors.New("not JSON")

// notNumbers are the numbers that json.loads reads and JSON has not.
var notNumbers = []string{"NaN", "Infinity", "-Infinity"}

// Loads is a text that json.loads reads: JSON, in which NaN, Infinity and -Infinity may stand.
// Of members of one name the last one counts, in the place of the first, as in a dict. It is
// written as json.dumps writes it.
func Loads(s string) (json.RawMessage, error) {
	if plan.Check([]byte(s)) != nil || !json.Valid([]byte(withoutUnreal(s))) {
		return nil, errLoads
	}
	return Dumped(json.RawMessage(distinct(gjson.Parse(s)))), nil
}

// ErrUnreal is the error for Unreal values that would be sent or stored. Python's tools send such
// numbers as bare words, which only servers in Python take.
var ErrUnreal = errors.New("NaN and Infinity are not JSON and cannot be sent; leave the field out, or give a number or a text")

// Unreal reports whether a value read by json.loads is not JSON, because it has one of notNumbers.
func Unreal(raw json.RawMessage) bool { return len(raw) > 0 && !json.Valid(raw) }

// withoutUnreal puts null in the place of notNumbers.
func withoutUnreal(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if s[0] == '"' {
			n, err := quoteEnd(s)
			if err != nil {
				n = len(s)
			}
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		rest := s[1:]
		for _, name := range notNumbers {
			if after, ok := strings.CutPrefix(s, name); ok {
				b.WriteString("null")
				rest = after
			}
		}
		if len(rest) == len(s)-1 {
			b.WriteByte(s[0])
		}
		s = rest
	}
	return b.String()
}

// distinct writes a value without members that others of their name replace.
func distinct(v gjson.Result) string {
	switch {
	case v.IsArray():
		var items []string
		v.ForEach(func(_, item gjson.Result) bool {
			items = append(items, distinct(item))
			return true
		})
		return "[" + strings.Join(items, ", ") + "]"
	case v.IsObject():
		var o Object
		v.ForEach(func(name, item gjson.Result) bool {
			o.Raw(name.String(), []byte(distinct(item)))
			return true
		})
		return string(o.Bytes())
	}
	return v.Raw
}

// Truth is bool(value) of what Loads read.
func Truth(raw json.RawMessage) bool {
	switch v := gjson.ParseBytes(raw); v.Type {
	case gjson.Number:
		return v.Num != 0
	case gjson.String:
		return v.Str != ""
	case gjson.JSON:
		return v.Raw != "[]" && v.Raw != "{}"
	default:
		return v.Type == gjson.True
	}
}
