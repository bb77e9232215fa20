package template

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var filters map[string]function

func init() { // map, select and others look up filters and tests
	filters = map[string]function{
		"tojson":     {params: "= ensure_ascii indent separators sort_keys", do: toJSON},
		"string":     {do: func(x *run, v value, _ []value) value { return soft(x, v) }},
		"safe":       {do: func(x *run, v value, _ []value) value { return markup(x.text(v)) }},
		"escape":     {do: func(x *run, v value, _ []value) value { return escapeHTML(x, v) }},
		"e":          {do: func(x *run, v value, _ []value) value { return escapeHTML(x, v) }},
		"lower":      mapped(lower),
		"upper":      mapped(upper),
		"capitalize": mapped(capitalize),
		"title": mapped(func(s string) string {
			return titled(s, func(r rune) bool { return !isSpace(r) && !strings.ContainsRune("-([{<", r) })
		}),
		"trim": trims(strings.TrimFunc),
		"replace": {params: "old new = count", do: func(x *run, v value, a []value) value {
			return replace(x, x.text(v), x.text(a[0]), x.text(a[1]), or(x, a[2], int64(-1)))
		}},
		"indent": {params: "= width first blank", do: indent},
		"format": {all: func(x *run, v value, g given) value { return x.format(x.text(v), arrange(x, g)) }},
		"center": {params: "= width", do: center},

		"length": {do: func(x *run, v value, _ []value) value { return x.length(v) }},
		"count":  {do: func(x *run, v value, _ []value) value { return x.length(v) }},
		"list":   {do: func(x *run, v value, _ []value) value { return &list{items: x.clone(x.iterate(v))} }},
		"first":  {do: func(x *run, v value, _ []value) value { return end(x.iterate(v), 0) }},
		"last": {do: func(x *run, v value, _ []value) value {
			items := x.iterate(v)
			return end(items, len(items)-1)
		}},
		"join":    {params: "= d attribute", do: join},
		"reverse": {do: reverse},
		"sort": {params: "= reverse case_sensitive attribute", do: func(x *run, v value, a []value) value {
			return &list{items: sorted(x, x.iterate(v), keysOf(x, a[2], a[1]), a[0])}
		}},
		"unique": {params: "= case_sensitive attribute", do: unique},
		"min":    {params: "= case_sensitive attribute", do: extreme(-1)},
		"max":    {params: "= case_sensitive attribute", do: extreme(1)},
		"sum":    {params: "= attribute start", do: sum},
		"batch":  {params: "linecount = fill_with", do: batch},

		"items": {do: func(x *run, v value, _ []value) value {
			switch v := v.(type) {
			case *dict:
				return &iterator{x.items(v)}
			case undefined:
				return &iterator{}
			}
			x.failf("%s has no items", typeName(v))
			return nil
		}},
		"dictsort": {params: "= case_sensitive by reverse", do: dictSort},
		"default":  {params: "= default_value boolean", do: preset},
		"d":        {params: "= default_value boolean", do: preset},
		"attr": {params: "name", do: func(x *run, v value, a []value) value {
			return memberOrNot(x, v, x.textOf(a[0]))
		}},
		"map":        {all: mapFilter},
		"select":     {all: selected(false, true)},
		"reject":     {all: selected(false, false)},
		"selectattr": {all: selected(true, true)},
		"rejectattr": {all: selected(true, false)},

		"int":   {params: "= default base", do: toInt},
		"float": {params: "= default", do: toFloat},
		"abs":   {do: absolute},
		"round": {params: "= precision method", do: round},
	}
}

// soft is the text of a value, safe if the value was.
func soft(x *run, v value) value {
	if _, ok := v.(markup); ok {
		return v
	}
	return x.text(v)
}

// like makes a text safe if the value it was made from is.
func like(v value, s string) value {
	if _, ok := v.(markup); ok {
		return markup(s)
	}
	return s
}

func end(items []value, at int) value {
	if len(items) == 0 {
		return undefined("there is no first or last item, the sequence is empty")
	}
	return items[at]
}

func memberOrNot(x *run, v value, name string) value {
	x.defined(v)
	if m, ok := x.member(v, name); ok {
		return m
	}
	return undefined(typeName(v) + " has no attribute '" + name + "'")
}

// preset replaces an undefined value, or optionally a false one.
func preset(x *run, v value, a []value) value {
	if _, missing := v.(undefined); missing || x.truth(either(a[1], false)) && !x.truth(v) {
		return either(a[0], "")
	}
	return v
}

// indent puts spaces before lines, by default except the first and empty ones.
func indent(x *run, v value, a []value) value {
	by, isText := plain(either(a[0], int64(4)))
	if !isText {
		by = x.textOf(x.binary("*", " ", either(a[0], int64(4))))
	}
	first, blank := x.truth(either(a[1], false)), x.truth(either(a[2], false))
	b := builder{run: x}
	for i, line := range lines(x, x.textOf(v)+"\n", false) {
		if i > 0 {
			b.writeByte('\n')
		}
		if (i > 0 || first) && (blank && i > 0 || line != "" || i == 0) {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return like(v, b.text.String())
}

func center(x *run, v value, a []value) value {
	s := x.text(v)
	lack := x.lack(s, either(a[0], int64(80)))
	left := lack/2 + lack&(lack+utf8.RuneCountInString(s))&1
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", lack-left)
}

func join(x *run, v value, a []value) value {
	key := keyOf(x, a[1], true)
	var parts []string
	for _, item := range x.iterate(v) {
		x.charge(itemCost)
		parts = append(parts, x.text(key(item)))
	}
	return joined(x, parts, x.text(either(a[0], "")))
}

func reverse(x *run, v value, _ []value) value {
	if _, ok := plain(v); ok {
		return x.slice(v, [3]value{nil, nil, int64(-1)})
	}
	items := x.clone(x.iterate(v))
	slices.Reverse(items)
	return &iterator{items}
}

// keyOf returns the sort key of items: an attribute such as "a.b", or the items
// themselves, by default ignoring case.
func keyOf(x *run, attribute, caseSensitive value) func(value) value {
	exact := x.truth(either(caseSensitive, false))
	return func(v value) value {
		if attribute != (absent{}) && attribute != nil {
			v = attributeOf(x, v, attribute)
		}
		if s, ok := plain(v); ok && !exact {
			x.chargeAll(len(s), caseCost)
			return lower(s)
		}
		return v
	}
}

// keysOf is keyOf for several attributes separated by commas.
func keysOf(x *run, attributes, caseSensitive value) func(value) value {
	text, ok := plain(attributes)
	if !ok {
		return keyOf(x, attributes, caseSensitive)
	}
	var keys []func(value) value
	for attribute := range strings.SplitSeq(text, ",") {
		x.charge(itemCost)
		keys = append(keys, keyOf(x, attribute, caseSensitive))
	}
	return func(v value) value {
		all := &list{}
		for _, key := range keys {
			all.items = x.push(all.items, key(v))
		}
		return all
	}
}

// attributeOf follows a path of attributes and indexes.
func attributeOf(x *run, v, path value) value {
	text, ok := plain(path)
	if !ok {
		return x.item(v, path)
	}
	for step := range strings.SplitSeq(text, ".") {
		if n, err := strconv.ParseInt(step, 10, 64); err == nil {
			v = x.item(v, n)
		} else {
			v = x.item(v, step)
		}
	}
	return v
}

func sorted(x *run, items []value, key func(value) value, reverse value) []value {
	down := x.truth(either(reverse, false))
	type keyed struct{ key, v value }
	x.chargeAll(len(items), 3*itemCost)
	all := make([]keyed, len(items))
	for i, v := range items {
		all[i] = keyed{key(v), v}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if down {
			return x.order(b.key, a.key)
		}
		return x.order(a.key, b.key)
	})
	out := make([]value, len(all))
	for i := range all {
		out[i] = all[i].v
	}
	return out
}

func unique(x *run, v value, a []value) value {
	key := keyOf(x, a[1], a[0])
	seen := newDict()
	var kept []value
	for _, item := range x.iterate(v) {
		k := x.key(key(item))
		if _, ok := seen.get(k); !ok {
			x.put(seen, k, true)
			kept = x.push(kept, item)
		}
	}
	return &iterator{kept}
}

func extreme(sign int) func(*run, value, []value) value {
	return func(x *run, v value, a []value) value {
		key := keyOf(x, a[1], a[0])
		items := x.iterate(v)
		if len(items) == 0 {
			return undefined("there is no least or largest item, the sequence is empty")
		}
		best := items[0]
		for _, item := range items[1:] {
			if sign*x.order(key(item), key(best)) > 0 {
				best = item
			}
		}
		return best
	}
}

func sum(x *run, v value, a []value) value {
	total := either(a[1], int64(0))
	for _, item := range x.iterate(v) {
		if a[0] != (absent{}) && a[0] != nil {
			item = attributeOf(x, item, a[0])
		}
		total = x.binary("+", total, item)
	}
	return total
}

func batch(x *run, v value, a []value) value {
	n := x.index(a[0])
	items := x.iterate(v)
	var all []value
	for n > 0 && len(items) > 0 {
		row := x.clone(items[:min(n, len(items))])
		items = items[len(row):]
		for fill := either(a[1], nil); fill != nil && len(row) < n; {
			row = x.push(row, fill)
		}
		all = x.push(all, &list{items: row})
	}
	return &iterator{all}
}

func dictSort(x *run, v value, a []value) value {
	d, ok := v.(*dict)
	if !ok {
		x.failf("%s cannot be sorted: it is not a mapping", typeName(v))
	}
	at := map[string]value{"key": int64(0), "value": int64(1)}[or(x, a[1], "key")]
	if at == nil {
		x.failf("a mapping can be sorted by key or by value")
	}
	return &list{items: sorted(x, x.items(d), keyOf(x, at, a[0]), a[2])}
}

// some are the items of a value, none if it is false.
func some(x *run, v value) []value {
	if !x.truth(v) {
		return nil
	}
	return x.iterate(v)
}

// mapFilter applies a filter to every item, or takes its attribute.
func mapFilter(x *run, v value, g given) value {
	items := some(x, v)
	x.chargeAll(len(items), itemCost)
	made := make([]value, len(items))
	if len(g.list) == 0 {
		a := x.bind("|map", "attribute = default", g)
		for i, item := range items {
			made[i] = attributeOf(x, item, a[0])
			if _, missing := made[i].(undefined); missing && a[1] != (absent{}) {
				made[i] = a[1]
			}
		}
		return &iterator{made}
	}
	name := x.textOf(g.list[0])
	f, ok := filters[name]
	if !ok && len(items) > 0 {
		x.failf("the filter |%s is %w", name, errUnsupported)
	}
	for i, item := range items {
		made[i] = f.as("|"+name)(x, item, given{g.list[1:], g.named})
	}
	return &iterator{made}
}

// selected keeps the items that pass a test, or fail it, by themselves or by an
// attribute.
func selected(byAttribute, keep bool) func(*run, value, given) value {
	return func(x *run, v value, g given) value {
		args := g.list
		var path value = absent{}
		if byAttribute {
			if len(args) == 0 {
				x.failf("the attribute to select by is missing")
			}
			path, args = args[0], args[1:]
		}
		passes := chosenTest(x, args, g.named)
		var kept []value
		for _, item := range some(x, v) {
			x.charge(stepCost)
			of := item
			if byAttribute {
				of = attributeOf(x, item, path)
			}
			if passes(of) == keep {
				kept = x.push(kept, item)
			}
		}
		return &iterator{kept}
	}
}

// chosenTest is the test named by the first argument, truth without arguments.
func chosenTest(x *run, args []value, named []namedValue) func(value) bool {
	if len(args) == 0 {
		return x.truth
	}
	name := x.textOf(args[0])
	t, ok := tests[name]
	if !ok {
		return func(value) bool { panic(fault(unsupported(x.line, "the test %q", name))) }
	}
	return func(v value) bool { return x.truth(t.as("is "+name)(x, v, given{args[1:], named})) }
}

func toInt(x *run, v value, a []value) value {
	preset, base := either(a[0], int64(0)), or(x, a[1], int64(10))
	if base != 0 && (base < 2 || base > 36) {
		return preset
	}
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return preset
		}
		n, _ := big.NewFloat(v).Int(nil)
		return short(n)
	case string, markup:
		s, _ := plain(v)
		s = strings.TrimFunc(s, isSpace)
		if base == 16 {
			s = strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
		}
		x.charge(len(s))
		if n, ok := x.parse(s, int(base)); ok {
			return short(n)
		}
		f, ok := parseFloat(s)
		if !ok {
			return preset
		}
		return toInt(x, f, a)
	}
	if n, ok := integral(v); ok {
		return short(n)
	}
	x.defined(v)
	return preset
}

// parseFloat parses a float like Python: overflow is infinite, and hexadecimal is
// invalid.
func parseFloat(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimFunc(s, isSpace), 64)
	return f, (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.ContainsAny(s, "xXpP")
}

func toFloat(x *run, v value, a []value) value {
	if s, ok := plain(v); ok {
		if f, ok := parseFloat(s); ok {
			return f
		}
	} else if f, ok := number(v); ok {
		return f
	}
	x.defined(v)
	return either(a[0], 0.0)
}

func absolute(x *run, v value, _ []value) value {
	if n, ok := integral(v); ok {
		return short(new(big.Int).Abs(n))
	}
	f, ok := number(v)
	if !ok {
		x.failf("%s has no absolute value", typeName(v))
	}
	return math.Abs(f)
}

// round returns a float, with ties to even, except for an integer argument.
func round(x *run, v value, a []value) value {
	digits := x.index(either(a[0], int64(0)))
	method := or(x, a[1], "common")
	f, ok := number(v)
	if !ok || digits < 0 || digits > 300 {
		x.failf("%s cannot be rounded to %d digits", typeName(v), digits)
	}
	if n, isInt := integral(v); isInt && method == "common" {
		return short(n)
	}
	shift := math.Pow(10, float64(digits))
	switch method {
	case "ceil":
		return math.Ceil(f*shift) / shift
	case "floor":
		return math.Floor(f*shift) / shift
	case "common":
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		return rounded
	}
	x.failf("rounding is common, ceil or floor, not %.20q", method)
	return nil
}

// arrange returns the right operand of % from the arguments.
func arrange(x *run, g given) value {
	if len(g.named) > 0 && len(g.list) > 0 {
		x.failf("|format takes arguments with names or without, not both")
	}
	if len(g.named) > 0 {
		return g.dict(x)
	}
	return &list{items: g.list, tuple: true}
}
