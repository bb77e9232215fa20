package view

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
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

// packedMagic begins packed rows.
const packedMagic = "PTR2"

// Pack writes rows as Encode does, for a report that is a file: less exact, and so that a
// compressor finds little to write. Instants are in units of at least unit seconds. After the
// header come the columns, each value a zigzag varint of its difference, where never counts as 0
// and all else is one more than it is: due, index, prompt, output and class from the row before,
// any other column from the column on its left.
func (r Rows) Pack(w io.Writer, unit float64) error {
	coarser := max(1, math.Ceil(unit/r.Unit-1e-6))
	head := r.RowsHeader
	head.Unit *= coarser
	header, err := json.Marshal(head)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32([]byte(packedMagic), uint32(len(header)))
	b = append(b, header...)
	left := make([]int64, r.N)
	for i, values := range r.Values {
		column := make([]int64, r.N)
		for j, v := range values {
			if column[j] = int64(v) + 1; v == math.MaxUint32 {
				column[j] = 0
			} else if instant[r.Columns[i]] {
				column[j] = int64(float64(v)/coarser) + 1
			}
		}
		before := int64(0)
		for j, v := range column {
			if fromLeft[r.Columns[i]] {
				before = left[j]
			}
			b = binary.AppendVarint(b, v-before)
			before = v
		}
		left = column
	}
	_, err = w.Write(b)
	return err
}

// The columns that are instants, and those of them that follow from the column on their left.
var (
	instant  = map[string]bool{"due": true, "released": true, "sent": true, "first": true, "last": true, "done": true}
	fromLeft = map[string]bool{"released": true, "sent": true, "first": true, "last": true, "done": true}
)
