package result

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// What is kept of a value of a file: nil, bool, number, string, *object or *list.

// A Number is one as it stands in the file.
type Number string

// Float is its value.
func (n Number) Float() float64 {
	f, _ := parseNumber([]byte(n)) // it was checked when it was read
	return f
}

// An Object has its members in their order. A name that stands twice has the
// later value, as in Python.
type Object struct {
	At     place
	Names  []string
	Values map[string]any
}

// A List is an array: where it is, what kind of items it has and, if it is
// small, the items.
type List struct {
	At    place
	N     int
	of    kind
	Items []any // nil if there are more than an objectScanner stores

	// Of all numbers in it, those of its arrays included:
	min, max float64
	odd      place // the first item that is of another kind than the first, or a number that is none; line 0 without
	null     place // the first null; line 0 without
}

// A kind is what the items of a list have in common.
type kind string

// The kinds.
const (
	empty   kind = ""
	numbers kind = "numbers"
	strs    kind = "strings"
	arrays  kind = "arrays of numbers"
	others  kind = "values of other kinds"
)

func newList(at place) *List { return &List{At: at, min: math.Inf(1), max: math.Inf(-1)} }

// add notes an item.
func (l *List) add(k kind, at place) {
	if l.N++; l.of == empty {
		l.of = k
	} else if l.of != k && l.odd.line == 0 {
		l.odd = at
	}
}

func (l *List) number(v float64, at place) {
	l.min, l.max = min(l.min, v), max(l.max, v)
	if !IsFinite(v) && l.odd.line == 0 {
		l.odd = at
	}
}

// addList notes an item that is an array, and its numbers if it is one of numbers.
func (l *List) addList(inner *List) {
	if inner.N > 0 && inner.of != numbers {
		l.add(others, inner.At)
		return
	}
	l.min, l.max = min(l.min, inner.min), max(l.max, inner.max)
	if l.odd.line == 0 {
		l.odd = inner.odd
	}
	if l.null.line == 0 {
		l.null = inner.null
	}
	l.add(arrays, inner.At)
}

// A objectScanner reads values and keeps what settings and figures need. Long arrays are
// only looked at: a column of a million requests is left in its file.
type objectScanner struct {
	*scanner
	room int // bytes
}

// How much is kept of a file.
const (
	keptTotal  = 32 << 20
	keptText   = 4 << 10 // bytes of a string
	KeptItems  = 256     // of an array
	keptInner  = 32      // of an array within another
	perValue   = 64      // bytes, about
	wholeArray = 1       // depth of a result's own arrays
)

// value reads a value and notes in l what it is. What it is not to keep it only looks at.
func (k *objectScanner) value(l *List, nested int, keep bool) any {
	c := k.start()
	at, most := k.at(), 0
	if keep {
		most = keptText
		if k.room -= perValue; k.room < 0 {
			k.fail(at, "this is more than %d MiB of settings and figures", keptTotal>>20)
			return nil
		}
	}
	switch c {
	case '{':
		l.add(others, at)
		return k.object(nested, keep)
	case '[':
		inner := k.list(nested, keep)
		l.addList(inner)
		return inner
	case '"':
		l.add(strs, at)
		text := k.text(most)
		k.room -= len(text)
		return text
	}
	return k.scalar(l, at, keep)
}

// scalar reads a number, a truth value or null.
func (k *objectScanner) scalar(l *List, at place, keep bool) any {
	w := k.word()
	v, isNumber := parseNumber(w)
	switch {
	case isNumber:
		l.add(numbers, at)
		l.number(v, at)
		if keep {
			return Number(w)
		}
		return nil
	case len(w) == 0:
		k.refuse("where a value should")
	case !slices.Contains([]string{"null", "true", "false"}, string(w)):
		k.wrong(at, w)
	case string(w) == "null":
		if l.N++; l.null.line == 0 {
			l.null = at
		}
		return nil
	}
	l.add(others, at)
	if string(w) == "true" || string(w) == "false" {
		return string(w) == "true"
	}
	return nil
}

func (k *objectScanner) object(nested int, keep bool) *Object {
	k.start()
	o := &Object{At: k.at(), Values: map[string]any{}}
	k.members(func(name string) {
		if v := k.value(new(List), nested, keep); keep {
			o.Set(name, v)
			k.room -= len(name)
		}
	})
	return o
}

// list keeps the items until there are too many.
func (k *objectScanner) list(nested int, keep bool) *List {
	k.start()
	l := newList(k.at())
	most, room := KeptItems, k.room
	if nested >= wholeArray {
		most = keptInner
	}
	k.items(func() {
		if keep && l.N == most {
			keep, l.Items, k.room = false, nil, room
		}
		if v := k.value(l, nested+1, keep); keep {
			l.Items = append(l.Items, v)
		}
	})
	return l
}

// Reading an object. What is not there, or of another kind, is nil, 0 or "".

// Has reports whether all members are there, and are not null.
func (o *Object) Has(names ...string) bool {
	for _, name := range names {
		if o == nil || o.Values[name] == nil {
			return false
		}
	}
	return true
}

// Get is a member.
func (o *Object) Get(name string) any {
	if o == nil {
		return nil
	}
	return o.Values[name]
}

// Object follows names inwards.
func (o *Object) Object(names ...string) *Object {
	for _, name := range names {
		o, _ = o.Get(name).(*Object)
	}
	return o
}

// List is a member that is an array.
func (o *Object) List(name string) *List {
	l, _ := o.Get(name).(*List)
	return l
}

// Text is a member that is a string.
func (o *Object) Text(name string) string {
	s, _ := o.Get(name).(string)
	return s
}

// Float is false unless the value is a finite number.
func (o *Object) Float(name string) (float64, bool) {
	n, ok := o.Get(name).(Number)
	if !ok {
		return 0, false
	}
	f := n.Float()
	return f, IsFinite(f)
}

// Int is a count, 0 if the value is not a count.
func (o *Object) Int(name string) int {
	f, ok := o.Float(name)
	return toInt(f, ok)
}

func toInt(f float64, ok bool) int {
	if !ok || f < math.MinInt32 || f > math.MaxInt32 {
		return 0
	}
	return int(f)
}

// Values are the items of an array, none of one that is not there.
func (l *List) Values() []any {
	if l == nil {
		return nil
	}
	return l.Items
}

// First is the first item if that is an object.
func (l *List) First() *Object {
	if items := l.Values(); len(items) > 0 {
		o, _ := items[0].(*Object)
		return o
	}
	return nil
}

// All are the members in their order, none of an object that is not there.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := 0; o != nil && i < len(o.Names); i++ {
			if !yield(o.Names[i], o.Values[o.Names[i]]) {
				return
			}
		}
	}
}

// Set puts a member at the end, or in the place of that name.
func (o *Object) Set(name string, v any) {
	if _, twice := o.Values[name]; !twice {
		o.Names = append(o.Names, name)
	}
	o.Values[name] = v
}

// text is a scalar as it stands in the file; false for what is none, and for
// null.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Number:
		return string(v), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}

// Wrote reports whether a member was there, whatever its value.
func (o *Object) Wrote(name string) bool { return slices.Contains(o.Names, name) }
