package python

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
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

// AppendFloat is a number as json.dumps writes it, which is not always JSON.
func AppendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	return append(b, Float(f)...)
}

// An Object writes an object as json.dumps does: members in order of
// first mention, `, ` and `: ` between them, ASCII only. A member written twice
// keeps its place and takes the new value.
type Object struct {
	names  []string
	values map[string][]byte
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

// Text writes a string.
func (o *Object) Text(name, v string) { o.Raw(name, AppendString(nil, v)) }

// Null writes a member without a value.
func (o *Object) Null(name string) { o.Raw(name, []byte("null")) }

// Float writes a number.
func (o *Object) Float(name string, v float64) { o.Raw(name, AppendFloat(nil, v)) }

// Int writes a whole number.
func (o *Object) Int(name string, v int) { o.Raw(name, []byte(strconv.Itoa(v))) }

// OptText writes a string, or null.
func (o *Object) OptText(name string, v *string) {
	if v == nil {
		o.Null(name)
		return
	}
	o.Text(name, *v)
}

// OptInt writes a whole number, or null.
func (o *Object) OptInt(name string, v *int) {
	if v == nil {
		o.Null(name)
		return
	}
	o.Int(name, *v)
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

// of is what json.loads reads of data.
func (s style) of(data json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return s.next(dec)
}

// next is the next value of dec: objects in the order in which they are written.
func (s style) next(dec *json.Decoder) string {
	token, _ := dec.Token() // of what is no JSON there is none
	switch x := token.(type) {
	case json.Delim:
		var items []string
		for dec.More() {
			item := s.next(dec)
			if x == '{' {
				item += ": " + s.next(dec)
			}
			items = append(items, item)
		}
		closing, _ := dec.Token()
		return fmt.Sprint(x) + strings.Join(items, ", ") + fmt.Sprint(closing)
	case json.Number:
		return s.number(x.String())
	case string:
		return s.text(x)
	case bool:
		return s.truth(x)
	}
	return s.none
}

// number is one as Python prints what it reads of it: with a point or an exponent it is a
// float, and may be too large for one.
func (s style) number(n string) string {
	switch f, err := ParseFloat(n); {
	case err == nil && strings.ContainsAny(n, ".eE"):
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
