package python

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Options are those of the fields of a struct, in their order. A field says by its tags
// which option it has:
//
//	arg      the name; without one the field has none
//	default  its value where none is given, written as on a command line
//	choices  the possible values
//	nargs    * or +: how many values a list takes
//	meta     the placeholder of a value in the usage
//	bars     the option that cannot be given with it
//	mask     the text printed in place of a value
//	hidden   not empty: no printout of all arguments has it
//	in       the form of the tool that alone has it
//
// A pointer may be nil, Python's None. Special are the options, by name, of fields whose
// tags do not say enough.
func Options(args any, form string, special map[string]Option) (all []Option) {
	fields := reflect.ValueOf(args).Elem()
	for i := range fields.NumField() {
		tag := fields.Type().Field(i).Tag
		name := tag.Get("arg")
		if name == "" {
			continue
		}
		options := []Option{special[name]}
		if options[0].set == nil {
			options = ofKind(name, fields.Field(i).Addr().Interface(), strings.Fields(tag.Get("choices")))
		}
		options[0].tagged(tag)
		if in := tag.Get("in"); in == "" || in == form {
			all = append(all, options...)
		}
	}
	return all
}

// Text reads any text.
func Text(s string) (string, error) { return s, nil }

// ofKind are the options of a variable, by its type: two of a truth value that may be
// None.
func ofKind(name string, variable any, choices []string) []Option {
	read := Text
	if len(choices) > 0 {
		read = OneOf(choices)
	}
	var o Option
	switch v := variable.(type) {
	case *bool:
		o = Flag(name, v)
	case **bool:
		return TriState(name, v)
	case *string:
		o = Valued(name, v, read)
	case **string:
		o = Nullable(name, v, read)
	case *[]string:
		o = Values(name, v, read)
	case *int:
		o = Valued(name, v, ParseInt)
	case **int:
		o = Nullable(name, v, ParseInt)
	case *[]int:
		o = Values(name, v, ParseInt)
	case *float64:
		o = Valued(name, v, ParseFloat)
	case **float64:
		o = Nullable(name, v, ParseFloat)
	case *json.RawMessage:
		o = JSON(name, v)
	default:
		panic(fmt.Sprintf("option %s: %T is of no kind", name, variable))
	}
	if len(choices) > 0 {
		o.meta = braces(choices)
	}
	return []Option{o}
}

// tagged adds what tags say, and sets the default.
func (o *Option) tagged(tag reflect.StructTag) {
	if meta := tag.Get("meta"); meta != "" {
		o.meta = meta
	}
	if tag.Get("nargs") == "*" {
		o.arity = anyNumber
	}
	if mask := tag.Get("mask"); mask != "" {
		shown := o.repr
		o.repr = func() string {
			if s := shown(); s == "None" {
				return s
			}
			return mask
		}
	}
	o.bars, o.hidden = tag.Get("bars"), tag.Get("hidden") != ""
	if text := tag.Get("default"); text != "" {
		values := []string{text}
		if o.arity > one {
			values = strings.Fields(text)
		}
		if err := o.set(values); err != nil {
			panic(fmt.Sprintf("default of option %s: %v", o.name, err))
		}
	}
}

// Assign sets fields of a struct, and of structs in it, to arguments: one with a tag flag
// to the first of the options named there that has a value. It returns which flag that
// is, or would be, by the name of the field in JSON.
func Assign(settings any, options []Option) map[string]string {
	values := map[string]any{}
	for _, o := range options {
		if o.value != nil {
			values[o.name] = o.value()
		}
	}
	flags := map[string]string{}
	assign(reflect.ValueOf(settings).Elem(), values, flags)
	return flags
}

func assign(to reflect.Value, values map[string]any, flags map[string]string) {
	for i := range to.NumField() {
		field, tag := to.Field(i), to.Type().Field(i).Tag
		if to.Type().Field(i).Anonymous {
			assign(field, values, flags)
		}
		for name := range strings.SplitSeq(tag.Get("flag"), ",") {
			v := reflect.ValueOf(values[name])
			if name == "" || !v.IsValid() {
				continue
			}
			path, _, _ := strings.Cut(tag.Get("json"), ",")
			flags[path] = "--" + name
			if v.Kind() == reflect.Pointer && field.Kind() != reflect.Pointer {
				if v.IsNil() {
					continue
				}
				v = v.Elem()
			}
			field.Set(v.Convert(field.Type()))
			break
		}
	}
}
