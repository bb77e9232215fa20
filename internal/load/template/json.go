package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// toJSON is json.dumps() with ensure_ascii off.
func toJSON(x *run, v value, a []value) value {
	w := jsonWriter{run: x, ascii: x.truth(either(a[0], false)), item: ", ", key: ": ", sorted: x.truth(either(a[3], false))}
	if by := either(a[1], nil); by != nil {
		w.item, w.broken = ",", true
		if text, ok := plain(by); ok {
			w.by = text
		} else {
			w.by = x.textOf(x.binary("*", " ", by))
		}
	}
	if l, ok := a[2].(*list); ok && len(l.items) == 2 {
		w.item, w.key = x.textOf(l.items[0]), x.textOf(l.items[1])
	}
	w.write(v, 1)
	return w.String()
}

// A jsonWriter writes JSON in Python's format.
type jsonWriter struct {
	strings.Builder
	run           *run
	ascii, sorted bool
	broken        bool   // over several lines
	by            string // indentation
	item, key     string // separators
}

func (w *jsonWriter) write(v value, depth int) {
	w.run.charge(1)
	switch v := v.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case int64, *big.Int:
		fmt.Fprint(w, v)
	case float64:
		w.WriteString(jsonFloat(v))
	case string:
		w.text(v)
	case markup:
		w.text(string(v))
	case *list:
		w.group("[", "]", len(v.items), depth, func(i int) { w.write(v.items[i], depth+1) })
	case *dict:
		keys := w.keys(v)
		w.group("{", "}", len(keys), depth, func(i int) {
			w.text(w.keyText(keys[i]))
			w.WriteString(w.key)
			w.write(v.at(keys[i]), depth+1)
		})
	default:
		w.run.defined(v)
		w.run.failf("%s cannot be written as JSON", typeName(v))
	}
}

func (w *jsonWriter) keys(d *dict) []value {
	if !w.sorted {
		return d.keys
	}
	return sorted(w.run, d.keys, func(v value) value { return v }, false)
}

// keyText is a key as text.
func (w *jsonWriter) keyText(key value) string {
	switch k := key.(type) {
	case string:
		return k
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(k)
	case float64:
		return jsonFloat(k)
	}
	return w.run.text(key)
}

// group writes the content of brackets.
func (w *jsonWriter) group(open, closed string, n, depth int, write func(i int)) {
	w.WriteString(open)
	line := func(depth int) {
		if w.broken {
			w.run.charge(depth * len(w.by))
			w.WriteString("\n" + strings.Repeat(w.by, depth))
		}
	}
	for i := range n {
		if i > 0 {
			w.WriteString(w.item)
		}
		line(depth)
		write(i)
	}
	if n > 0 {
		line(depth - 1)
	}
	w.WriteString(closed)
}

func jsonFloat(f float64) string {
	switch text := floatText(f); text {
	case "nan":
		return "NaN"
	case "inf":
		return "Infinity"
	case "-inf":
		return "-Infinity"
	default:
		return text
	}
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (w *jsonWriter) text(s string) {
	w.run.charge(len(s))
	w.WriteByte('"')
	for _, r := range s {
		switch short, ok := jsonEscapes[r]; {
		case ok:
			w.WriteString(short)
		case r < 0x20 || w.ascii && r >= 0x7f && r < 0x10000:
			fmt.Fprintf(w, `\u%04x`, r)
		case w.ascii && r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(w, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			w.WriteRune(r)
		}
	}
	w.WriteByte('"')
}

// fromJSON converts JSON to values, with the key order of objects.
func fromJSON(raw json.RawMessage) (value, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	v, err := readJSON(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func readJSON(d *json.Decoder) (value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		if strings.ContainsAny(t.String(), ".eE") {
			f, _ := t.Float64() // overflow is infinite, as in Python
			return f, nil
		}
		return integer(t.String()), nil
	case json.Delim:
		if t == '[' {
			return readList(d)
		}
		return readDict(d)
	}
	return t, nil
}

func readList(d *json.Decoder) (value, error) {
	l := &list{}
	for d.More() {
		v, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, v)
	}
	_, err := d.Token()
	return l, err
}

func readDict(d *json.Decoder) (value, error) {
	made := newDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		made.set(key.(string), v)
	}
	_, err := d.Token()
	return made, err
}
