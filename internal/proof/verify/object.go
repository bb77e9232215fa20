package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// newObject reads the last of the JSON objects in data: some tools append to
// their files.
func newObject(data []byte) (object, error) {
	if err := plan.Check(data); err != nil {
		return object{}, err
	}
	var last json.RawMessage
	d := json.NewDecoder(bytes.NewReader(fromPython(data)))
	for {
		var one json.RawMessage
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return object{}, fmt.Errorf("it is not JSON, or cut short: %w", err)
		}
		last = one
	}
	if last == nil {
		return object{}, errNoReport
	}
	o := object{data: last}
	if err := json.Unmarshal(last, &o.members); err != nil {
		return object{}, errors.New("it is JSON, but not an object")
	}
	return o, nil
}

// An object is a report as JSON: the whole, and its members.
type object struct {
	data    []byte
	members map[string]json.RawMessage
}

// pythonOnly finds the numbers that only Python takes for JSON, and strings, in which
// they are words.
var pythonOnly = regexp.MustCompile(`"(?s:[^"\\]|\\.)*"|-?Infinity|NaN`)

// fromPython makes JSON of what Python writes: Infinity and NaN become null.
func fromPython(data []byte) []byte {
	if !bytes.Contains(data, []byte("Infinity")) && !bytes.Contains(data, []byte("NaN")) {
		return data
	}
	return pythonOnly.ReplaceAllFunc(data, func(word []byte) []byte {
		if word[0] == '"' {
			return word
		}
		return []byte("null")
	})
}

var errNoReport = errors.New("it is empty")

// into decodes the whole.
func (o object) into(v any) error { return json.Unmarshal(o.data, v) }

// has reports whether all of the keys are there.
func (o object) has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return o.members[k] == nil })
}

// list names some of the keys.
func (o object) list() string {
	var keys []string
	for k := range o.members {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if len(keys) > 8 {
		keys = append(keys[:8], "…")
	}
	return strings.Join(keys, ", ")
}
