package plan

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// A Decoder fills structs from trees. It continues after a mistake, so that all are
// reported at once, accepts only known fields, and leaves fields alone that the
// tree does not mention. Fields go by the names of their yaml or json tags;
// embedded structs and those tagged ",inline" belong to the struct around them.
type Decoder struct {
	// Unknown suggests a known name for an unknown setting; nil: the nearest one.
	Unknown func(name string, known []string) (hint string)
}

// A NodeDecoder decodes itself. Paths of its problems count from itself.
type NodeDecoder interface{ DecodeNode(*Node) Problems }

// Decode fills the value that dst points at.
func (d Decoder) Decode(n *Node, dst any) Problems {
	s := &decoding{Decoder: d}
	s.value("", reflect.ValueOf(dst).Elem(), n)
	return s.problems
}

// Decode fills the value that dst points at, with the default hints.
func Decode(n *Node, dst any) Problems { return Decoder{}.Decode(n, dst) }

// DecodeJSON fills the value that dst points at.
func DecodeJSON(data json.RawMessage, dst any) Problems {
	n, err := ParseJSON(data)
	if err != nil {
		return Problems{{Why: "is not JSON: " + err.Error()}}
	}
	return Decode(n, dst)
}

type decoding struct {
	Decoder
	problems Problems
}

func (d *decoding) problem(path string, at Place, value, why string, a ...any) {
	d.problems = append(d.problems, Problem{Path: path, Value: value, Why: fmt.Sprintf(why, a...), at: at})
}

func (d *decoding) value(path string, dst reflect.Value, n *Node) {
	if n.Kind == Null { // as if it were absent
		return
	}
	switch into := dst.Addr().Interface().(type) {
	case *json.RawMessage:
		b, err := n.JSON()
		if p := (Problem{}); errors.As(err, &p) {
			p.Path = path
			d.problems = append(d.problems, p)
		}
		*into = b
		return
	case **Node:
		*into = n
		return
	case NodeDecoder:
		d.problems = append(d.problems, into.DecodeNode(n).Below(path)...)
		return
	case encoding.TextUnmarshaler:
		d.text(path, into, n)
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		d.value(path, dst.Elem(), n)
	case reflect.Struct:
		d.fields(path, dst, n)
	case reflect.Slice:
		d.list(path, dst, n)
	case reflect.Map:
		d.entries(path, dst, n)
	default:
		d.scalar(path, dst, n)
	}
}

// Fields are the names of those that v has, a pointer to a struct, in a file.
func Fields(v any) []string {
	_, names := fieldsOf(reflect.ValueOf(v).Elem())
	return names
}

// fields fills a struct from a map.
func (d *decoding) fields(path string, dst reflect.Value, n *Node) {
	if n.Kind != Map {
		d.problem(path, n.At, "", "must be a map of fields")
		return
	}
	fields, names := fieldsOf(dst)
	for _, m := range n.Members {
		at := Join(path, m.Key)
		if field, ok := fields[m.Key]; ok {
			d.value(at, field, m.Value)
			continue
		}
		hint := Suggest(m.Key, names)
		if d.Unknown != nil {
			hint = d.Unknown(m.Key, names)
		}
		d.problem(at, m.At, "", "unknown field%s", hint)
	}
}

// Names are the settings that a struct has, by the tags that a Decoder goes by.
func Names(of any) []string {
	_, names := fieldsOf(reflect.ValueOf(of))
	return names
}

// fieldsOf returns the fields of a struct by their names in a file.
func fieldsOf(v reflect.Value) (fields map[string]reflect.Value, names []string) {
	fields = map[string]reflect.Value{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := cmp.Or(f.Tag.Get("yaml"), f.Tag.Get("json"))
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "" && (f.Anonymous || options == "inline"):
			inner, more := fieldsOf(v.Field(i))
			maps.Copy(fields, inner)
			names = append(names, more...)
		case name != "":
			fields[name] = v.Field(i)
			names = append(names, name)
		}
	}
	return fields, names
}

func (d *decoding) list(path string, dst reflect.Value, n *Node) {
	if n.Kind != List {
		d.problem(path, n.At, "", "must be a list")
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		d.value(Item(path, i), dst.Index(i), item)
	}
}

// entries fills a map with string keys.
func (d *decoding) entries(path string, dst reflect.Value, n *Node) {
	if n.Kind != Map {
		d.problem(path, n.At, "", "must be a map")
		return
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for _, m := range n.Members {
		v := reflect.New(dst.Type().Elem()).Elem()
		d.value(Join(path, m.Key), v, m.Value)
		dst.SetMapIndex(reflect.ValueOf(m.Key).Convert(dst.Type().Key()), v)
	}
}

func (d *decoding) text(path string, dst encoding.TextUnmarshaler, n *Node) {
	if !n.scalar() {
		d.problem(path, n.At, "", "must be a plain value")
		return
	}
	if err := dst.UnmarshalText([]byte(n.Text)); err != nil {
		d.problem(path, n.At, "", "%v", err)
	}
}

// scalar fills a string, a bool or a number.
func (d *decoding) scalar(path string, dst reflect.Value, n *Node) {
	ok, want := n.scalar(), "a text"
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(n.Text)
	case reflect.Bool:
		ok, want = n.Kind == Bool, "true or false"
		dst.SetBool(strings.EqualFold(n.Text, "true"))
	case reflect.Int, reflect.Int64:
		v, err := ParseInteger(n.Text)
		ok, want = n.plain() && err == nil, "a whole number"
		dst.SetInt(v)
	case reflect.Uint32, reflect.Uint64:
		most := uint64(math.MaxUint64)
		if dst.Kind() == reflect.Uint32 {
			most = math.MaxUint32
		}
		v, err := ParseUnsigned(n.Text)
		ok, want = n.plain() && err == nil && v <= most, fmt.Sprintf("a whole number from 0 to %d", most)
		dst.SetUint(v)
	case reflect.Float64:
		x, err := finite(n.Text)
		ok, want = n.plain() && err == nil, "a number"
		dst.SetFloat(x)
	default:
		panic("plan: no setting can be a " + dst.Type().String())
	}
	if !ok {
		value := ""
		if n.scalar() {
			value = strconv.Quote(n.Text)
		}
		if n.plain() && octal(n.Text) {
			want += " that does not begin with 0"
		}
		d.problem(path, n.At, value, "must be %s", want)
	}
}
