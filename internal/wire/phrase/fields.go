package phrase

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A field is what a name in a body means: it reads the value.
type field func(r *reader, name string, v gjson.Result)

// fields are those that mean something in an object; others are ignored.
type fields map[string]field

// read takes the fields of an object in the order they come. The body is the object
// that has no name.
func (f fields) read(r *reader, name string, object gjson.Result) {
	if name != "" {
		r.nest = name + "."
		defer func() { r.nest = "" }()
	}
	object.ForEach(func(key, v gjson.Result) bool {
		if read := f[key.Str]; read != nil {
			read(r, key.Str, v)
		}
		return true
	})
}

// The fields that protocols share, under their own names.
var (
	readModel    = readString(func(q *Request) *string { return &q.Model })
	readID       = readString(func(q *Request) *string { return &q.ID })
	readText     = readString(func(q *Request) *string { return &q.Text })
	readLeast    = readInteger(func(q *Request) *int { return &q.MinTokens })
	readPriority = readInteger(func(q *Request) *int { return &q.Priority })
	readStream   = readBoolean(func(q *Request) *bool { return &q.Stream })
	readEOS      = readBoolean(func(q *Request) *bool { return &q.IgnoreEOS })
)

// readString reads a string that outlives the body.
func readString(of func(*Request) *string) field {
	return func(r *reader, name string, v gjson.Result) {
		dst := of(&r.req)
		r.str(name, v, dst)
		*dst = strings.Clone(*dst)
	}
}

func readInteger(of func(*Request) *int) field {
	return func(r *reader, name string, v gjson.Result) { r.integer(name, v, of(&r.req), nil) }
}

func readBoolean(of func(*Request) *bool) field {
	return func(r *reader, name string, v gjson.Result) { r.boolean(name, v, of(&r.req)) }
}

func readLimit(r *reader, name string, v gjson.Result) {
	r.integer(name, v, &r.req.MaxTokens, &r.req.Limited)
}

func readLimitOrNull(r *reader, name string, v gjson.Result) {
	r.req.Fill = v.Type == gjson.Null
	readLimit(r, name, v)
}

// readChoices reads how many answers are wanted.
func readChoices(r *reader, name string, v gjson.Result) { r.integer(name, v, &r.choices, nil) }

// readStop reads strings that end an answer, or one.
func readStop(r *reader, name string, v gjson.Result) {
	r.req.Stop = nil
	add := func(name string, v gjson.Result) {
		var s string
		if v.Type == gjson.Null {
			r.note(name, "string_type", notString)
		}
		r.str(name, v, &s)
		r.req.Stop = append(r.req.Stop, strings.Clone(s))
	}
	switch {
	case v.Type == gjson.Null:
	case v.IsArray():
		for i, e := range v.Array() {
			add(name+"."+strconv.Itoa(i), e)
		}
	default:
		add(name, v)
	}
}

// later keeps a value that is read when all fields are known.
func later(r *reader, name string, v gjson.Result) { r.late = append(r.late, lateField{name, v}) }

type lateField struct {
	name  string
	value gjson.Result
}

// lastValue is such a value, the last of that name.
func (r *reader) lastValue(name string) (v gjson.Result) {
	for _, k := range r.late {
		if k.name == name {
			v = k.value
		}
	}
	return v
}

// unserved is a field that would change the answer. False and null ask for nothing,
// and so do the values in harmless.
func unserved(harmless ...string) field {
	return func(r *reader, name string, v gjson.Result) {
		if r.req.Unserved == nil && v.Type != gjson.Null && v.Type != gjson.False && !slices.Contains(harmless, v.Raw) {
			r.req.Unserved = BadRequest(name, v.String(), "%s is not supported by this server.", name)
		}
	}
}
