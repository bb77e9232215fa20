package python

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// AppendString is a JSON string as json.dumps writes it: everything but printable
// ASCII escaped.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= 0x20 && r < 0x7f:
			b = append(b, byte(r))
		case escapes[r] != "":
			b = append(b, escapes[r]...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		}
	}
	return append(b, '"')
}

// unreal are numbers that JSON has not, as json.dumps writes them.
var unreal = map[string]string{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}

// AppendFloat is a number as json.dumps writes it, which is not always JSON.
func AppendFloat(b []byte, f float64) []byte {
	text := Float(f)
	return append(b, cmp.Or(unreal[text], text)...)
}

// An Object writes an object as json.dumps does: members in order of
// first mention, `, ` and `: ` between them, ASCII only. A member written twice
// keeps its place and takes the new value.
type Object struct {
	names  []string
	values map[string][]byte
}

// Set writes a member, as json.dumps writes a value: null for a nil pointer.
func (o *Object) Set(name string, v any) { o.Raw(name, []byte(dumps.value(v))) }

// Known writes a member that is null unless it is known.
func (o *Object) Known(name string, v any, known bool) {
	if !known {
		v = nil
	}
	o.Set(name, v)
}

// Raw writes a member of JSON.
func (o *Object) Raw(name string, value []byte) {
	if o.values == nil {
		o.values = map[string][]byte{}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// Bytes is the object.
func (o *Object) Bytes() []byte {
	b := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(AppendString(b, name), ": "...)
		b = append(b, o.values[name]...)
	}
	return append(b, '}')
}

// JSONList writes a list of n items.
func JSONList(n int, item func(b []byte, i int) []byte) []byte {
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = item(b, i)
	}
	return append(b, ']')
}

// AppendFloats is a list of numbers.
func AppendFloats(b []byte, x []float64) []byte {
	return append(b, JSONList(len(x), func(b []byte, i int) []byte { return AppendFloat(b, x[i]) })...)
}

// Dumped is JSON as json.dumps writes what json.loads read of it; null for none.
func Dumped(data json.RawMessage) []byte { return []byte(dumps.of(data)) }

// A style is how values are written.
type style struct {
	none  string
	truth func(bool) string
	text  func(string) string
	float func(float64) string
}

var (
	repr  = style{"None", Bool, Quote, Float}
	dumps = style{
		"null", strconv.FormatBool, func(s string) string { return string(AppendString(nil, s)) }, func(f float64) string { return string(AppendFloat(nil, f)) },
	}
)

// Repr is the repr of a value: None for a nil pointer or slice, and of JSON what json.loads
// reads. A type that Python writes in a way of its own has the method.
func Repr(v any) string { return repr.value(v) }

func (s style) value(v any) string {
	switch v := v.(type) {
	case interface{ Repr() string }:
		return v.Repr()
	case bool:
		return s.truth(v)
	case float64:
		return s.float(v)
	case json.RawMessage:
		return s.of(v)
	}
	switch r := reflect.ValueOf(v); {
	case v == nil, r.Kind() == reflect.Pointer && r.IsNil(), r.Kind() == reflect.Slice && r.IsNil():
		return s.none
	case r.Kind() == reflect.String:
		return s.text(r.String())
	case r.Kind() == reflect.Pointer:
		return s.value(r.Elem().Interface())
	case r.Kind() == reflect.Slice:
		items := make([]string, r.Len())
		for i := range items {
			items[i] = s.value(r.Index(i).Interface())
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// of is what json.loads reads of data: objects in the order in which they are written.
func (s style) of(data json.RawMessage) string { return s.parsed(gjson.ParseBytes(data)) }

func (s style) parsed(v gjson.Result) string {
	switch v.Type {
	case gjson.JSON:
		var items []string
		v.ForEach(func(key, item gjson.Result) bool {
			text := s.parsed(item)
			if v.IsObject() {
				text = s.parsed(key) + ": " + text
			}
			items = append(items, text)
			return true
		})
		if v.IsObject() {
			return "{" + strings.Join(items, ", ") + "}"
		}
		return "[" + strings.Join(items, ", ") + "]"
	case gjson.Number:
		return s.number(v.Raw)
	case gjson.String:
		return s.text(v.String())
	case gjson.True, gjson.False:
		return s.truth(v.Bool())
	}
	return s.none
}

// number is one as Python prints it after reading it: with a point or an exponent it is a float,
// which may overflow.
func (s style) number(n string) string {
	switch f, err := ParseFloat(n); {
	case err == nil && strings.ContainsAny(n, ".eENI"):
		return s.float(f)
	case n == "-0":
		return "0"
	}
	return n
}

// Str is how an f-string shows a value that json.loads reads: a text as it is. Lists and
// objects are errors.
func Str(raw json.RawMessage) (string, error) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		switch v := v.(type) {
		case string:
			return v, nil
		case bool, nil:
			return OfJSON(raw), nil
		case float64:
			return dumps.of(raw), nil
		}
	}
	return "", fmt.Errorf("%.40s is neither a text nor a number", raw)
}
