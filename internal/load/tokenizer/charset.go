package tokenizer

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The part of the translator for escapes and classes.

// escape translates an escape outside a class, after the backslash.
func (t *translator) escape() {
	isWord := t.peek(0) == 'w' || t.peek(0) == 'W'
	set, negated := t.set()
	if isWord {
		set += latinWord
	}
	switch {
	case set == "":
		t.literal(t.escaped(), 0)
	case negated:
		t.out.WriteString("[^" + set + "]")
	default:
		t.out.WriteString("[" + set + "]")
	}
}

// set parses an escape for a set of characters or its complement. It returns the
// set as class items, or nothing.
func (t *translator) set() (items string, negated bool) {
	r := t.peek(0)
	if r == 0 || !strings.ContainsRune("sSdDwWpP", r) {
		return "", false
	}
	t.next()
	if t.group().fold && r != 's' && r != 'd' {
		t.fail(`\%c ignoring case`, r)
	}
	switch unicode.ToLower(r) {
	case 'w':
		items = classItems(Table("regex word"))
	case 'd':
		items = classItems(Table("Nd"))
	case 'p':
		items = t.property()
	default:
		items = `\s`
	}
	return items, unicode.IsUpper(r)
}

// latinWord are the characters that \w of Oniguruma has outside a class only.
const latinWord = "²³¹¼½¾"

// classItems writes a table as items of a class: regexp2 has the tables of Go, which are of
// another Unicode version.
func classItems(table *unicode.RangeTable) string {
	var b strings.Builder
	add := func(first, last, step rune) {
		if step == 1 && first < last {
			b.WriteString(quote(first) + "-" + quote(last))
			return
		}
		for r := first; r <= last; r += step {
			b.WriteString(quote(r))
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return b.String()
}

// property parses a category or script; their names begin with a capital.
func (t *translator) property() string {
	stop := slices.Index(t.in, '}')
	if t.peek(0) != '{' || stop < 0 {
		t.fail(`\p without {…}`)
		return ""
	}
	name := string(t.in[1:stop])
	t.in = t.in[stop+1:]
	table := Table(name)
	if table == nil || !unicode.IsUpper(rune(name[0])) {
		t.fail(`\p{%s} is unknown`, name)
		return ""
	}
	return classItems(table)
}

var controls = map[rune]rune{
	't': '\t', 'n': '\n', 'r': '\r', 'f': '\f', 'v': '\v', 'a': '\a', 'e': 0x1b,
}

// escaped parses an escape for one character.
func (t *translator) escaped() rune {
	r := t.next()
	if c, ok := controls[r]; ok {
		return c
	}
	switch {
	case r == 'x' && t.accept("{"):
		stop := max(slices.Index(t.in, '}'), 0)
		return t.hex(stop, 1)
	case r == 'x':
		return t.hex(2, 0)
	case r == 'u':
		return t.hex(4, 0)
	case r > ' ' && r <= unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r), r == ' ':
		return r
	}
	t.fail(`\%c is unknown`, r)
	return 0
}

// hex parses a code point of n hexadecimal digits after skipping skip characters.
// In Oniguruma \x80 and above are bytes, not characters.
func (t *translator) hex(n, skip int) rune {
	if len(t.in) < n+skip {
		t.fail("unfinished escape")
		return 0
	}
	digits := string(t.in[:n])
	t.in = t.in[n+skip:]
	v, err := strconv.ParseUint(digits, 16, 32)
	isByte := n == 2 && skip == 0 && v >= 0x80
	if err != nil || isByte || v > unicode.MaxRune || 0xd800 <= v && v < 0xe000 {
		t.fail(`\x%s is no character`, digits)
	}
	return rune(v)
}

// class translates a bracket expression, after its bracket.
func (t *translator) class() {
	negated := t.accept("^")
	if negated && t.group().fold {
		t.fail("negated class ignoring case")
	}
	if set, ok := t.complement(); ok {
		negated = !negated
		t.out.WriteString(openClass(negated) + set + "]")
		return
	}
	t.out.WriteString(openClass(negated))
	t.items()
	t.out.WriteByte(']')
}

func openClass(negated bool) string {
	if negated {
		return "[^"
	}
	return "["
}

// complement parses the rest of a class that contains only one complement.
func (t *translator) complement() (items string, ok bool) {
	ahead := translator{in: t.in, groups: t.groups}
	if !ahead.accept(`\`) {
		return "", false
	}
	items, negated := ahead.set()
	if !negated || !ahead.accept("]") {
		return "", false
	}
	t.in, t.err = ahead.in, ahead.err
	return items, true
}

func (t *translator) items() {
	for first := true; t.err == nil; first = false {
		switch {
		case len(t.in) == 0:
			t.fail("unfinished class")
		case t.peek(0) == ']':
			if first {
				t.fail("empty class")
			}
			t.next()
			return
		case t.peek(0) == '[':
			t.next()
			if r := t.peek(0); r == '^' || r == ':' {
				t.fail("class within a class with %c", r)
			}
			t.items()
		case t.accept("&&"):
			t.fail("class intersection")
		case t.peek(0) == '-' && !first && t.peek(1) != ']':
			t.fail("unescaped - in a class")
		default:
			t.classItem()
		}
	}
}

// classItem translates one set, character or range.
func (t *translator) classItem() {
	if t.peek(0) == '\\' && strings.ContainsRune("sSdDwWpP", t.peek(1)) {
		t.next()
		set, negated := t.set()
		if negated {
			t.fail("complement of %s in a class with more", set)
		}
		t.out.WriteString(set)
		return
	}
	t.out.WriteString(quote(t.classRune()))
	if t.peek(0) == '-' && t.peek(1) != ']' {
		t.next()
		if r := t.peek(0); r == '[' || r == '-' {
			t.fail("range to %c", r)
		}
		t.out.WriteString("-" + quote(t.classRune()))
	}
}

func (t *translator) classRune() rune {
	r := t.next()
	if r == '\\' {
		r = t.escaped()
	}
	if r > unicode.MaxASCII && t.group().fold {
		t.fail("%c ignoring case", r)
	}
	return r
}
