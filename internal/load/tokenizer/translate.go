package tokenizer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// translate turns a pattern of Oniguruma in Ruby syntax into an equivalent one of
// regexp2. It accepts the part of the syntax for which both are known to agree, or
// to agree after translation, and reports the first thing outside it.
//
// Common and translated syntax:
//
//	\s . | * + ? ++ *? {1,3} (?=…) (?<!…)            the same
//	\d \p{L} \w                                     a class with the ranges of package ucd
//	\S \D \P{L}                                     a negated class
//	( … )                                           (?: … ), as nothing refers to it
//	(a+)+                                           ((?:a+))+, see below
//	[a[bc]]                                         [abc]
//	^ $ \b \h {1,3}+ (?m: [a&&b]                    refused: other meaning
//	(?<=a+) (?i:\p{L}) .*                           refused: found to differ
//
// Two constructs are avoided because of regexp2 2.12. In a union such as [\S\P{L}]
// the first complement alone decides: complements are written as negated classes,
// and unions with one are refused. Nested repetitions, such as (?>a+){2} and
// (?:aa{1,3})+, are merged into one that matches more: a group that captures is put between
// them, which prevents that.
//
// branches is whether a group is repeated, which may take very long.
func translate(source string) (translated string, branches bool, err error) {
	t := translator{in: []rune(source)}
	for t.err == nil && len(t.in) > 0 {
		if t.atom(); t.out.Len() > maxPattern || len(t.groups) > deepestGroup {
			t.fail("it is too long or too deep")
		}
	}
	return t.out.String(), t.branches, t.err
}

// A translator consumes in and writes out. After an error its state does not
// matter.
type translator struct {
	in     []rune
	out    bytes.Buffer
	groups []group // the open ones
	last   rune    // the literal directly before, in lower case, inside (?i: )
	before group   // the atom before, if it is a group

	branches bool // a repeated group may match in several ways
	err      error
}

type group struct {
	fold    bool // letter case is ignored inside
	behind  bool // inside a look-behind
	repeats bool // contains a repetition
	start   int  // where it begins in out
	closed  bool // it is over
}

func (t *translator) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
	t.in = nil
}

// peek returns the rune n places ahead, or 0.
func (t *translator) peek(n int) rune {
	if n < len(t.in) {
		return t.in[n]
	}
	return 0
}

func (t *translator) next() rune {
	r := t.peek(0)
	if len(t.in) > 0 {
		t.in = t.in[1:]
	}
	return r
}

// accept consumes s if it comes next.
func (t *translator) accept(s string) bool {
	r := []rune(s)
	if len(t.in) < len(r) || !slices.Equal(t.in[:len(r)], r) {
		return false
	}
	t.in = t.in[len(r):]
	return true
}

func (t *translator) group() group {
	if len(t.groups) == 0 {
		return group{}
	}
	return t.groups[len(t.groups)-1]
}

func (t *translator) atom() {
	last, before := t.last, t.before
	t.last, t.before = 0, group{}
	switch r := t.next(); r {
	case '\\':
		t.escape()
	case '[':
		t.class()
	case '(':
		t.last = last
		t.open()
	case ')':
		t.last = last
		t.close()
	case '.':
		t.out.WriteRune(r)
		if next := t.peek(0); next == '*' || next == '+' || next == '{' {
			t.fail("repeated .")
		}
	case '|':
		t.out.WriteRune(r)
	case '*', '+', '?', '{':
		t.quantifier(r, before)
	case '^', '$':
		t.fail("%c has another meaning", r)
	default:
		t.literal(r, last)
	}
}

// openings are the group openings that need no translation.
var openings = []string{"?:", "?i:", "?=", "?!", "?<=", "?<!", "?>"}

func (t *translator) open() {
	g := t.group()
	for _, o := range openings {
		if t.accept(o) {
			fold, behind := g.fold || o == "?i:", g.behind || o == "?<=" || o == "?<!"
			t.groups = append(t.groups, group{fold: fold, behind: behind, start: t.out.Len()})
			t.out.WriteString("(" + o)
			return
		}
	}
	if t.peek(0) == '?' {
		t.fail("group (?%c is unknown", t.peek(1))
	}
	t.groups = append(t.groups, group{fold: g.fold, behind: g.behind, start: t.out.Len()})
	t.out.WriteString("(?:")
}

func (t *translator) close() {
	if len(t.groups) == 0 {
		t.fail("unmatched )")
		return
	}
	t.before = t.group()
	t.before.closed = true
	t.groups = t.groups[:len(t.groups)-1]
	if t.before.repeats {
		t.repeats()
	}
	t.out.WriteByte(')')
}

// repeats records a repetition in the open group.
func (t *translator) repeats() {
	if n := len(t.groups); n > 0 {
		t.groups[n-1].repeats = true
	}
}

// quantifier translates a quantifier with its suffix. Ruby reads x{1,3}+ as a
// repeated repetition and x{3}? as an optional one.
func (t *translator) quantifier(r rune, before group) {
	if t.group().behind {
		t.fail("quantifier %c in a look-behind", r)
	}
	t.branches = t.branches || before.repeats || before.closed && r != '?'
	if before.repeats {
		inside := string(t.out.Bytes()[before.start:])
		t.out.Truncate(before.start)
		t.out.WriteString("(" + inside + ")")
	}
	t.repeats()
	lazy, possessive := true, true
	if r == '{' {
		interval, ranged := t.interval()
		t.out.WriteString(interval)
		lazy, possessive = ranged, false
	} else {
		t.out.WriteRune(r)
	}
	switch next := t.peek(0); {
	case next == '?' && lazy:
		t.out.WriteRune(t.next())
	case next == '+' && possessive:
		t.out.WriteRune(t.next())
	}
	if next := t.peek(0); next != 0 && strings.ContainsRune("*+?{", next) {
		t.fail("quantifier %c after a quantifier", next)
	}
}

// interval parses the rest of {n}, {n,} or {n,m}. The latter two are ranged.
func (t *translator) interval() (text string, ranged bool) {
	stop := slices.Index(t.in, '}')
	if stop < 0 {
		t.fail("unescaped {")
		return "", false
	}
	inside := string(t.in[:stop])
	t.in = t.in[stop+1:]
	low, high, ranged := strings.Cut(inside, ",")
	if !isNumber(low) || high != "" && !isNumber(high) {
		t.fail("{%s} is not an interval", inside)
	}
	return "{" + inside + "}", ranged
}

func isNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n < 1000
}

// longFolds are the pairs of letters that some single character folds to, such as ß
// or ﬁ, which Oniguruma then matches instead of the pair.
var longFolds = []string{"ss", "st", "ff", "fi", "fl"}

// literal writes a literal character; last is the literal before it.
func (t *translator) literal(r, last rune) {
	if t.group().fold {
		if r > unicode.MaxASCII {
			t.fail("%c ignoring case", r)
		}
		t.last = unicode.ToLower(r)
		if two := string([]rune{last, t.last}); slices.Contains(longFolds, two) {
			t.fail("%s ignoring case", two)
		}
	}
	t.out.WriteString(quote(r))
}

// quote writes a character so that it is literal everywhere.
func quote(r rune) string {
	if r > unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return string(r)
	}
	return fmt.Sprintf(`\x%02x`, r)
}
