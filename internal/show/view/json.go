package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// JSON encodes an answer for the page. Lists and maps that are nil are empty ones, so that the page
// never finds null where its types have a list, and a number that JSON cannot write, NaN or
// infinite, is null.
func JSON(answer any) ([]byte, error) { return appendValue(nil, reflect.ValueOf(answer)) }

var marshaler = reflect.TypeFor[json.Marshaler]()

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, "null"...), nil
	}
	if v.Type().Implements(marshaler) && v.Kind() != reflect.Pointer {
		return appendEncoded(b, v)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return appendValue(b, v.Elem())
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(b, "null"...), nil
		}
	case reflect.Slice, reflect.Array:
		return appendList(b, v)
	case reflect.Map:
		return appendMap(b, v)
	case reflect.Struct:
		return appendStruct(b, v)
	}
	return appendEncoded(b, v)
}

// appendEncoded leaves a value without parts to encoding/json.
func appendEncoded(b []byte, v reflect.Value) ([]byte, error) {
	text, err := json.Marshal(v.Interface())
	return append(b, text...), err
}

func appendList(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, v.Index(i)); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// appendMap writes a map with texts for keys, in their order.
func appendMap(b []byte, v reflect.Value) (_ []byte, err error) {
	values := map[string]reflect.Value{}
	for key, value := range v.Seq2() {
		if key.Kind() != reflect.String {
			return b, fmt.Errorf("a map by %s in an answer", key.Type())
		}
		values[key.String()] = value
	}
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if b, err = appendMember(b, i, key, values[key]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendStruct writes the fields that have a JSON name.
func appendStruct(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '{')
	n := 0
	for f, value := range v.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		if b, err = appendMember(b, n, name, value); err != nil {
			return b, err
		}
		n++
	}
	return append(b, '}'), nil
}

func appendMember(b []byte, before int, name string, value reflect.Value) ([]byte, error) {
	if before > 0 {
		b = append(b, ',')
	}
	key, err := json.Marshal(name)
	if err != nil {
		return b, err
	}
	return appendValue(append(append(b, key...), ':'), value)
}
