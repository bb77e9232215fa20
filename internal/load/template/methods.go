package template

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// member is an attribute of the loop variable.
func (l *loop) member(name string) (value, bool) {
	n, at, depth := int64(len(l.items)), int64(l.at), int64(l.depth)
	member, ok := map[string]value{
		"index": at + 1, "index0": at, "revindex": n - at, "revindex0": n - at - 1, "first": at == 0, "last": at == n-1,
		"length": n, "depth": depth + 1, "depth0": depth,
	}[name]
	if ok {
		return member, true
	}
	switch name {
	case "previtem":
		return l.neighbour(l.at-1, "there is no previous item"), true
	case "nextitem":
		return l.neighbour(l.at+1, "there is no next item"), true
	case "cycle":
		return &method{l, name, function{all: func(x *run, _ value, g given) value {
			if len(g.list) == 0 {
				x.failf("no items to cycle through")
			}
			return g.list[l.at%len(g.list)]
		}}}, true
	case "changed":
		return &method{l, name, function{all: func(x *run, _ value, g given) value { return l.change(x, g.list) }}}, true
	}
	return nil, false
}

func (l *loop) neighbour(at int, otherwise string) value {
	if at < 0 || at >= len(l.items) {
		return undefined(otherwise)
	}
	return l.items[at]
}

// change reports whether the values differ from those of the previous call.
func (l *loop) change(x *run, values []value) bool {
	now := &list{items: values}
	if l.asked && x.equal(l.changed, now) {
		return false
	}
	l.asked, l.changed = true, now
	return true
}

// knownMethod reports whether any value has a method of this name. Methods that
// modify a list or a dict are known, and fail when called.
func knownMethod(name string) bool {
	_, text := textMethods[name]
	_, list := listMethods[name]
	_, dict := dictMethods[name]
	return text || list || dict || name == "cycle" || name == "changed"
}

func withChanging(methods map[string]function, names ...string) map[string]function {
	for _, name := range names {
		methods[name] = function{all: func(x *run, of value, _ given) value {
			x.failf(".%s() modifies %s, which templates must not do", name, typeName(of))
			return nil
		}}
	}
	return methods
}

var listMethods = withChanging(map[string]function{
	"count": {params: "value", do: func(x *run, of value, a []value) value {
		n := int64(0)
		for _, v := range x.iterate(of) {
			n += boolToInt(x.equal(v, a[0]))
		}
		return n
	}},
	"index": {params: "value", do: func(x *run, of value, a []value) value {
		n := slices.IndexFunc(of.(*list).items, func(v value) bool { return x.equal(v, a[0]) })
		if n < 0 {
			x.failf("the value is not in the list")
		}
		return int64(n)
	}},
	"copy": {do: func(_ *run, of value, _ []value) value { return of }},
}, "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort")

var dictMethods = withChanging(map[string]function{
	"get": {params: "key = default", do: func(x *run, of value, a []value) value {
		if v, ok := of.(*dict).get(x.key(a[0])); ok {
			return v
		}
		return either(a[1], nil)
	}},
	"keys":   {do: func(_ *run, of value, _ []value) value { return &view{"keys", of.(*dict).keys} }},
	"values": {do: func(x *run, of value, _ []value) value { return &view{"values", x.all(of.(*dict))} }},
	"items":  {do: func(x *run, of value, _ []value) value { return &view{"items", x.items(of.(*dict))} }},
	"copy":   {do: func(_ *run, of value, _ []value) value { return of }},
}, "clear", "pop", "popitem", "setdefault", "update")

func (x *run) all(d *dict) []value {
	x.chargeAll(len(d.keys), itemCost)
	values := make([]value, len(d.keys))
	for i, key := range d.keys {
		values[i] = d.at(key)
	}
	return values
}

// onText makes a method or filter from a function of a string.
func onText(params string, do func(x *run, s string, a []value) value) function {
	return function{params: params, do: func(x *run, of value, a []value) value {
		s := x.text(of)
		x.charge(len(s))
		made := do(x, s, a)
		if text, ok := made.(string); ok {
			x.charge(len(text))
			return like(of, text)
		}
		return made
	}}
}

// mapped is a method without arguments that returns another string.
func mapped(f func(string) string) function {
	return onText("", func(x *run, s string, _ []value) value {
		x.chargeAll(len(s), caseCost)
		return f(s)
	})
}

// predicate is a method without arguments that returns a bool.
func predicate(f func(string) bool) function {
	return onText("", func(_ *run, s string, _ []value) value { return f(s) })
}

// ofAll reports whether a text is not empty and has only characters of a kind.
func ofAll(is func(r rune) bool) function {
	return predicate(func(s string) bool {
		return s != "" && strings.IndexFunc(s, func(r rune) bool { return !is(r) }) < 0
	})
}

var textMethods map[string]function

func init() { // they refer to each other
	textMethods = map[string]function{
		"strip":  trims(strings.TrimFunc),
		"lstrip": trims(strings.TrimLeftFunc),
		"rstrip": trims(strings.TrimRightFunc),
		"split": onText("= sep maxsplit", func(x *run, s string, a []value) value {
			return x.texts(splitText(x, s, a, false))
		}),
		"rsplit": onText("= sep maxsplit", func(x *run, s string, a []value) value {
			return x.texts(splitText(x, s, a, true))
		}),
		"splitlines": onText("= keepends", func(x *run, s string, a []value) value {
			return x.texts(lines(x, s, or(x, a[0], false)))
		}),
		"partition":  onText("sep", partition(strings.Index, false)),
		"rpartition": onText("sep", partition(strings.LastIndex, true)),
		"startswith": affix(strings.HasPrefix),
		"endswith":   affix(strings.HasSuffix),
		"removeprefix": onText("prefix", func(x *run, s string, a []value) value {
			return strings.TrimPrefix(s, x.textOf(a[0]))
		}),
		"removesuffix": onText("suffix", func(x *run, s string, a []value) value {
			return strings.TrimSuffix(s, x.textOf(a[0]))
		}),
		"replace": onText("old new = count", func(x *run, s string, a []value) value {
			return replace(x, s, x.textOf(a[0]), x.textOf(a[1]), or(x, a[2], int64(-1)))
		}),
		"join": onText("values", func(x *run, s string, a []value) value {
			var parts []string
			for _, v := range x.iterate(a[0]) {
				x.charge(itemCost)
				parts = append(parts, x.textOf(v))
			}
			return joined(x, parts, s)
		}),
		"count": onText("part", func(x *run, s string, a []value) value {
			return int64(strings.Count(s, x.textOf(a[0])))
		}),
		"find":       onText("part", position(strings.Index, false)),
		"rfind":      onText("part", position(strings.LastIndex, false)),
		"index":      onText("part", position(strings.Index, true)),
		"rindex":     onText("part", position(strings.LastIndex, true)),
		"lower":      mapped(lower),
		"upper":      mapped(upper),
		"casefold":   mapped(func(s string) string { return cases.Fold().String(s) }),
		"capitalize": mapped(capitalize),
		"title":      mapped(func(s string) string { return titled(s, isCased) }),
		"zfill":      onText("width", zfill),
		"ljust":      onText("width = fill", func(x *run, s string, a []value) value { return s + padding(x, s, a) }),
		"rjust":      onText("width = fill", func(x *run, s string, a []value) value { return padding(x, s, a) + s }),
		"isdigit":    ofAll(unicode.IsDigit),
		"isdecimal":  ofAll(unicode.IsDigit),
		"isnumeric":  ofAll(unicode.IsNumber),
		"isalpha":    ofAll(unicode.IsLetter),
		"isalnum":    ofAll(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }),
		"isspace":    ofAll(isSpace),
		"islower":    predicate(func(s string) bool { return isCase(s, unicode.IsLower) }),
		"isupper":    predicate(func(s string) bool { return isCase(s, unicode.IsUpper) }),
		"format":     {all: formatText},
	}
}

// textOf requires a string argument.
func (x *run) textOf(v value) string {
	s, ok := plain(v)
	if !ok {
		x.failf("got %s, want a string", typeName(v))
	}
	return s
}

func (x *run) texts(all []string) value {
	x.chargeAll(len(all), itemCost)
	l := &list{items: make([]value, len(all))}
	for i, s := range all {
		l.items[i] = s
	}
	return l
}

func trims(trim func(string, func(rune) bool) string) function {
	return onText("= chars", func(x *run, s string, a []value) value { return trimmed(x, s, a[0], trim) })
}

// trimmed removes white space, or certain characters, around a string.
func trimmed(x *run, s string, chars value, trim func(string, func(rune) bool) string) string {
	if chars == nil || chars == (absent{}) {
		return trim(s, isSpace)
	}
	set := x.textOf(chars)
	return trim(s, func(r rune) bool {
		x.charge(len(set))
		return strings.ContainsRune(set, r)
	})
}

func affix(has func(s, part string) bool) function {
	return onText("part", func(x *run, s string, a []value) value {
		if l, ok := a[0].(*list); ok && l.tuple {
			return slices.ContainsFunc(l.items, func(v value) bool {
				x.charge(stepCost + len(x.textOf(v)))
				return has(s, x.textOf(v))
			})
		}
		return has(s, x.textOf(a[0]))
	})
}

// splitText splits at a separator, or without one at white space; at most a number
// of times, from the right or the left.
func splitText(x *run, s string, a []value, right bool) []string {
	most := -1
	if a[1] != (absent{}) {
		most = x.index(a[1])
	}
	if a[0] == nil || a[0] == (absent{}) {
		return splitSpace(x, s, most, right)
	}
	sep := x.textOf(a[0])
	if sep == "" {
		x.failf("the separator of a split is empty")
	}
	x.chargeAll(strings.Count(s, sep), itemCost)
	parts := strings.Split(s, sep)
	if most < 0 || len(parts) <= most+1 {
		return parts
	}
	if right {
		n := len(parts) - most
		return append([]string{strings.Join(parts[:n], sep)}, parts[n:]...)
	}
	return append(parts[:most:most], strings.Join(parts[most:], sep))
}

// splitSpace splits at white space. The rest of the text after the last split keeps
// its white space.
func splitSpace(x *run, s string, most int, right bool) []string {
	trim, cut := strings.TrimLeftFunc, strings.IndexFunc
	if right {
		trim, cut = strings.TrimRightFunc, strings.LastIndexFunc
	}
	var parts []string
	for s = trim(s, isSpace); s != ""; s = trim(s, isSpace) {
		x.charge(itemCost)
		n := cut(s, isSpace)
		if n < 0 || most >= 0 && len(parts) == most {
			parts = append(parts, s)
			break
		}
		if _, size := utf8.DecodeRuneInString(s[n:]); right {
			parts, s = append(parts, s[n+size:]), s[:n]
		} else {
			parts, s = append(parts, s[:n]), s[n+size:]
		}
	}
	if right {
		slices.Reverse(parts)
	}
	return parts
}

func lines(x *run, s string, keep bool) []string {
	var all []string
	for s != "" {
		x.charge(itemCost)
		n := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if n < 0 {
			return append(all, s)
		}
		_, size := utf8.DecodeRuneInString(s[n:])
		if strings.HasPrefix(s[n:], "\r\n") {
			size = 2
		}
		if keep {
			all = append(all, s[:n+size])
		} else {
			all = append(all, s[:n])
		}
		s = s[n+size:]
	}
	return all
}

func partition(find func(s, part string) int, last bool) func(*run, string, []value) value {
	return func(x *run, s string, a []value) value {
		sep := x.textOf(a[0])
		parts := []value{s, "", ""}
		if n := find(s, sep); n >= 0 {
			parts = []value{s[:n], sep, s[n+len(sep):]}
		} else if last {
			parts = []value{"", "", s}
		}
		return &list{items: parts, tuple: true}
	}
}

// position is the position of a part, in characters.
func position(find func(s, part string) int, must bool) func(*run, string, []value) value {
	return func(x *run, s string, a []value) value {
		n := find(s, x.textOf(a[0]))
		if n < 0 && must {
			x.failf("the part is not in the text")
		}
		return int64(utf8.RuneCountInString(s[:max(n, 0)])) - boolToInt(n < 0)
	}
}

// replace replaces a part, at most count times unless that is negative.
func replace(x *run, s, old, fresh string, count int64) string {
	x.charge(len(s))
	n := strings.Count(s, old)
	if count >= 0 {
		n = int(min(int64(n), count))
	}
	x.chargeAll(n, max(1, len(fresh)))
	return strings.Replace(s, old, fresh, n)
}

func joined(x *run, parts []string, by string) string {
	size := len(by) * len(parts)
	for _, p := range parts {
		size += len(p)
	}
	x.charge(size)
	return strings.Join(parts, by)
}

// lower and upper use the full Unicode mappings, such as ß to SS.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und, cases.HandleFinalSigma(true)).String(s)
}

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return cases.Title(language.Und, cases.NoLower).String(s[:n]) + lower(s[n:])
}

// titled capitalizes the first letter of each word and lowers the others.
func titled(s string, inWord func(rune) bool) string {
	var b strings.Builder
	inside := false
	for _, r := range s {
		switch {
		case inside:
			b.WriteString(lower(string(r)))
		default:
			b.WriteRune(unicode.ToTitle(r))
		}
		inside = inWord(r)
	}
	return b.String()
}

func isCased(r rune) bool {
	return unicode.IsLower(r) || unicode.IsUpper(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCase reports whether there are cased letters, all of one case.
func isCase(s string, is func(rune) bool) bool {
	some := false
	for _, r := range s {
		if isCased(r) {
			if some = true; !is(r) {
				return false
			}
		}
	}
	return some
}

func zfill(x *run, s string, a []value) value {
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign = s[:1]
	}
	return sign + padding(x, s, []value{a[0], "0"}) + s[len(sign):]
}

// padding is the padding of a text to a width.
func padding(x *run, s string, a []value) string {
	fill := either(a[1], " ")
	text, _ := x.repeat(x.textOf(fill), int64(x.lack(s, a[0])))
	return text.(string)
}

// lack is how many characters a text is short of a width, and takes them off the budget.
func (x *run) lack(s string, width value) int {
	lack := min(x.index(width), longest) - utf8.RuneCountInString(s)
	x.charge(len(s) + max(0, lack))
	return max(0, lack)
}

// caseCost is the cost of a byte that changes case: many times that of other work.
const caseCost = 8
