package template

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A value is Python's: nil for None, bool, int64, *big.Int for larger integers,
// float64, string, markup, *list for lists and tuples, *dict, and the types below.
type value any

type (
	// undefined is the value of an unknown name or attribute: it prints nothing,
	// and using it reports this reason.
	undefined string
	// markup is text that is safe in HTML. Text added to it is escaped.
	markup string

	list struct {
		items []value
		tuple bool
	}
	// An iterator can be iterated over once, and has no length.
	iterator struct{ items []value }
	// A view is the keys, values or items of a dict.
	view struct {
		name  string
		items []value
	}
	namespace struct{ vars map[string]value }
	// A method is a function of a value, or without a value a global function.
	method struct {
		of   value
		name string
		function
	}
	// A loop is the loop variable.
	loop struct {
		items     []value
		at, depth int
		again     func(items value) string // nil: the loop is not recursive
		changed   value
		asked     bool // changed was called
	}
)

// A dict is a mapping in the order of insertion.
type dict struct {
	keys   []value
	values map[value]value // by hashed key
}

func newDict() *dict { return &dict{values: map[value]value{}} }

// hashed normalizes keys that are equal in Python: 1, 1.0 and true.
func hashed(key value) value {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return int64(k)
		}
	case markup:
		return string(k)
	case *big.Int:
		return k.String() + " " // a text that no chat contains
	}
	return key
}

func (d *dict) set(key, v value) {
	h := hashed(key)
	if _, ok := d.values[h]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[h] = v
}

func (x *run) put(d *dict, key, v value) {
	x.charge(entryCost)
	d.set(x.key(key), v)
}

func (d *dict) at(key value) value { return d.values[hashed(key)] }

func (d *dict) get(key value) (value, bool) {
	v, ok := d.values[hashed(key)]
	return v, ok
}

func (x *run) items(d *dict) []value {
	x.chargeAll(len(d.keys), 4*itemCost)
	pairs := make([]value, len(d.keys))
	for i, key := range d.keys {
		pairs[i] = &list{items: []value{key, d.at(key)}, tuple: true}
	}
	return pairs
}

func hashable(v value) bool {
	switch v.(type) {
	case nil, bool, int64, float64, string, markup, *big.Int:
		return true
	}
	return false
}

// key requires a hashable value.
func (x *run) key(v value) value {
	switch v := v.(type) {
	case string:
		x.charge(len(v))
	case markup:
		x.charge(len(v))
	case *big.Int:
		x.charge(weight(v))
	case nil, bool, int64, float64:
	default:
		x.failf("%s cannot be a key", typeName(v))
	}
	return v
}

// typeName is Python's name of a value's type, for errors.
func typeName(v value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a bool"
	case int64, *big.Int:
		return "an int"
	case float64:
		return "a float"
	case string, markup:
		return "a text"
	case *list:
		if v.tuple {
			return "a tuple"
		}
		return "a list"
	case *dict:
		return "a dict"
	case *iterator, *view:
		return "an iterator"
	case undefined:
		return "undefined"
	case *namespace:
		return "a namespace"
	case *loop:
		return "a loop"
	}
	return "a function"
}

func (x *run) defined(v value) {
	if u, ok := v.(undefined); ok {
		x.failf("%s", string(u))
	}
}

// itemsOf returns the items of a list, dict or view; ok is false for other values.
func itemsOf(v value) (items []value, ok bool) {
	switch v := v.(type) {
	case undefined:
		return nil, true
	case *list:
		return v.items, true
	case *dict:
		return v.keys, true
	case *view:
		return v.items, true
	}
	return nil, false
}

// truth is bool().
func (x *run) truth(v value) bool {
	if items, ok := itemsOf(v); ok {
		return len(items) > 0
	}
	switch v {
	case nil, false, int64(0), 0.0, "", markup(""):
		return false
	}
	return true
}

// plain is a text unchanged, whether safe or not.
func plain(v value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case markup:
		return string(v), true
	}
	return "", false
}

func (x *run) iterate(v value) []value {
	if text, ok := plain(v); ok {
		return characters(x, text)
	}
	if items, ok := itemsOf(v); ok {
		x.charge(len(items))
		return items
	}
	once, ok := v.(*iterator)
	if !ok {
		x.failf("%s cannot be iterated over", typeName(v))
	}
	items := once.items
	once.items = nil
	x.charge(len(items))
	return items
}

func characters(x *run, text string) []value {
	n := utf8.RuneCountInString(text)
	x.chargeAll(n, itemCost)
	all := make([]value, 0, n)
	for _, r := range text {
		all = append(all, string(r))
	}
	return all
}

// length is len().
func (x *run) length(v value) int64 {
	if text, ok := plain(v); ok {
		x.charge(len(text))
		return int64(utf8.RuneCountInString(text))
	}
	items, ok := itemsOf(v)
	if !ok {
		x.failf("%s has no length", typeName(v))
	}
	return int64(len(items))
}

// text is str().
func (x *run) text(v value) string {
	switch v := v.(type) {
	case string:
		return v
	case markup:
		return string(v)
	case undefined:
		return ""
	}
	w := printer{builder: builder{run: x}, words: pythonWords, item: ", ", key: ": "}
	w.write(v, 1)
	return w.text.String()
}

// floatText is repr() of a float: the shortest text that parses to it, with an
// exponent below 1e-4 and from 1e16 on.
func floatText(f float64) string {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return map[bool]string{true: "inf", false: "-inf"}[f > 0]
	case abs != 0 && (abs < 1e-4 || abs >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// quote writes repr() of a text.
func quote(b *builder, s string) {
	q := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b.writeRune(q)
	for _, r := range s {
		switch {
		case r == q || r == '\\':
			b.writeRune('\\')
			b.writeRune(r)
		case unicode.IsPrint(r):
			b.writeRune(r)
		default:
			b.WriteString(quoteRune(r))
		}
	}
	b.writeRune(q)
}

func quoteRune(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

func escapeHTML(x *run, v value) markup {
	if m, ok := v.(markup); ok {
		return m
	}
	text := x.text(v)
	x.chargeAll(len(text), longestEscape)
	return markup(htmlEscapes.Replace(text))
}

const longestEscape = len("&quot;")

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;")

// number is a value as a float, if it is a number.
func number(v value) (float64, bool) {
	switch v := v.(type) {
	case bool:
		return float64(boolToInt(v)), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	}
	return 0, false
}

// boolToInt is a bool as a number, as in Python.
func boolToInt(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// integral is a value as an integer, if it is one.
func integral(v value) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		return big.NewInt(boolToInt(v)), true
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

// short returns an integer in the smaller of its two types.
func short(n *big.Int) value {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// index is an integer usable as a position.
func (x *run) index(v value) int {
	n, ok := integral(v)
	if !ok || !n.IsInt64() {
		x.failf("got %s, want an index", typeName(v))
	}
	return int(n.Int64())
}

// equal is ==.
func (x *run) equal(a, b value) bool {
	x.charge(stepCost)
	if s, ok := plain(a); ok {
		t, ok := plain(b)
		if !ok || len(s) != len(t) {
			return false
		}
		x.charge(len(s))
		return s == t
	}
	if n, ok := integral(a); ok {
		if m, ok := integral(b); ok {
			x.charge(weight(n))
			return n.Cmp(m) == 0
		}
	}
	if n, ok := number(a); ok {
		m, ok := number(b)
		return ok && n == m
	}
	x.deeper()
	defer x.leave()
	switch a := a.(type) {
	case *list:
		b, ok := b.(*list)
		return ok && a.tuple == b.tuple && slices.EqualFunc(a.items, b.items, func(v, w value) bool { return x.equal(v, w) })
	case *dict:
		b, ok := b.(*dict)
		return ok && x.equalDicts(a, b)
	case undefined:
		_, ok := b.(undefined)
		return ok
	}
	return a == b // None, and values equal only to themselves
}

func (x *run) equalDicts(a, b *dict) bool {
	if len(a.keys) != len(b.keys) {
		return false
	}
	for _, key := range a.keys {
		other, ok := b.get(key)
		if !ok || !x.equal(a.at(key), other) {
			return false
		}
	}
	return true
}
