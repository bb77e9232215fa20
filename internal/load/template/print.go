package template

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
)

// toJSON is json.dumps() with ensure_ascii off.
func toJSON(x *run, v value, a []value) value {
	w := printer{
		builder: builder{run: x}, json: true, words: jsonWords, ascii: x.truth(either(a[0], false)), item: ", ", key: ": ",
		sorted: x.truth(either(a[3], false)),
	}
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
	return w.text.String()
}

// A printer writes values as Python does: by repr(), or as JSON.
type printer struct {
	builder
	json          bool
	words         map[value]string // None, bools and odd floats
	ascii, sorted bool
	broken        bool   // over several lines
	by            string // indentation
	item, key     string // separators
}

var (
	pythonWords = map[value]string{nil: "None", true: "True", false: "False"}
	jsonWords   = map[value]string{
		nil: "null", true: "true", false: "false", "nan": "NaN", "inf": "Infinity", "-inf": "-Infinity",
	}
)

func (w *printer) write(v value, depth int) {
	w.run.charge(stepCost)
	switch v := v.(type) {
	case nil, bool:
		w.WriteString(w.words[v])
	case int64:
		w.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		w.WriteString(w.run.digits(v))
	case float64:
		text := floatText(v)
		w.WriteString(cmp.Or(w.words[text], text))
	case string:
		w.quote(v)
	case *list:
		open, closed := "[", "]"
		if v.tuple && !w.json {
			open, closed = "(", map[bool]string{true: ",)", false: ")"}[len(v.items) == 1]
		}
		w.group(open, closed, len(v.items), depth, func(i int) { w.write(v.items[i], depth+1) })
	case *dict:
		keys := w.keys(v)
		w.group("{", "}", len(keys), depth, func(i int) {
			w.quoted(keys[i], depth)
			w.WriteString(w.key)
			w.write(v.at(keys[i]), depth+1)
		})
	default:
		w.odd(v, depth)
	}
}

func (w *printer) odd(v value, depth int) {
	if safe, ok := v.(markup); ok && w.json {
		w.quote(string(safe))
		return
	} else if w.json {
		w.run.defined(v)
		w.run.failf("%s cannot be written as JSON", typeName(v))
	}
	switch v := v.(type) {
	case markup:
		w.WriteString("Markup(")
		quote(&w.builder, string(v))
		w.WriteString(")")
	case undefined:
		w.WriteString("Undefined")
	case *view:
		w.WriteString("dict_" + v.name + "(")
		w.write(&list{items: v.items}, depth)
		w.WriteString(")")
	default:
		w.run.failf("cannot print %s", typeName(v))
	}
}

func (w *printer) keys(d *dict) []value {
	if !w.sorted {
		return d.keys
	}
	return sorted(w.run, d.keys, func(v value) value { return v }, false)
}

// quoted writes a key, which JSON wants to be a text.
func (w *printer) quoted(key value, depth int) {
	_, isText := plain(key)
	mark := map[bool]string{true: `"`}[w.json && !isText]
	w.WriteString(mark)
	w.write(key, depth)
	w.WriteString(mark)
}

// group writes the content of brackets.
func (w *printer) group(open, closed string, n, depth int, write func(i int)) {
	w.run.deeper()
	defer w.run.leave()
	w.WriteString(open)
	line := func(depth int) {
		if w.broken {
			w.WriteString("\n")
			for range depth {
				w.WriteString(w.by)
			}
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

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (w *printer) quote(s string) {
	if !w.json {
		quote(&w.builder, s)
		return
	}
	w.writeByte('"')
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
			w.writeRune(r)
		}
	}
	w.writeByte('"')
}
