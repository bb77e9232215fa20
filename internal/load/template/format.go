package template

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// verb is one conversion of the % operator.
var verb = lazy.Regexp(`%(?:\((\w*)\))?([-+ 0#]*)(\d{0,4})(?:\.(\d{0,3}))?([a-zA-Z%])`)

// format is text % of.
func (x *run) format(text string, of value) string {
	args := []value{of}
	if l, ok := of.(*list); ok && l.tuple {
		args = l.items
	}
	named, _ := of.(*dict)
	x.chargeAll(len(text), formatCost)
	if left := verb.ReplaceAllString(text, ""); strings.Contains(left, "%") {
		x.failf("the format %.60q is %w", text, errUnsupported)
	}
	made := verb.ReplaceAllStringFunc(text, func(s string) string {
		part := verb.FindStringSubmatch(s)
		if part[5] == "%" {
			return "%"
		}
		var v value
		switch {
		case part[1] != "" && named != nil:
			v = named.at(part[1])
		case len(args) == 0:
			x.failf("the format %.60q wants more arguments", text)
		default:
			v, args = args[0], args[1:]
		}
		return x.convert(part, v)
	})
	if l, ok := of.(*list); len(args) > 0 && named == nil && (!ok || l.tuple) {
		x.failf("the format %.60q does not take all arguments", text)
	}
	return made
}

// formatCost is what a byte of a format costs: the search for verbs, and the text again.
const formatCost = 16

// convert formats one value: part is the verb with its key, flags, width, precision
// and letter.
func (x *run) convert(part []string, v value) string {
	layout := "%" + part[2] + part[3]
	if part[4] != "" {
		layout += "." + part[4]
	}
	for _, size := range part[3:5] {
		n, _ := strconv.Atoi(size)
		x.charge(n)
	}
	made := x.converted(layout, part[5], v)
	x.charge(len(made))
	return made
}

// converted formats one value by a layout of package fmt, but for its letter.
func (x *run) converted(layout, letter string, v value) string {
	switch letter {
	case "s":
		text := x.text(v)
		x.charge(len(text))
		return fmt.Sprintf(layout+"s", text)
	case "d", "i", "x", "X", "o":
		f, ok := number(v)
		n, whole := integral(v)
		if !ok || !whole && (letter != "d" && letter != "i" || math.IsNaN(f) || math.IsInf(f, 0)) {
			x.failf("%%%s is given %s", letter, typeName(v))
		}
		if !whole {
			n, _ = big.NewFloat(f).Int(nil)
		}
		x.charge(weight(n))
		return fmt.Sprintf(layout+strings.Replace(letter, "i", "d", 1), n)
	case "f", "e", "F", "E":
		if f, ok := number(v); ok {
			return fmt.Sprintf(layout+letter, f)
		}
		x.failf("%%%s is given %s", letter, typeName(v))
	}
	x.failf("the conversion %%%s is %w", letter, errUnsupported)
	return ""
}

// formatText is .format(): {} by position, {0} and {name}.
func formatText(x *run, of value, g given) value {
	text, _ := plain(of)
	x.charge(len(text))
	b, named := builder{run: x}, g.dict(x)
	next := 0
	for text != "" {
		before, rest, found := strings.Cut(text, "{")
		if strings.Contains(strings.ReplaceAll(before, "}}", ""), "}") {
			x.failf("the format %.60q has a } that closes nothing", before)
		}
		b.WriteString(strings.ReplaceAll(before, "}}", "}"))
		if text = rest; !found {
			break
		}
		if strings.HasPrefix(text, "{") {
			b.WriteString("{")
			text = text[1:]
			continue
		}
		field, after, closed := strings.Cut(text, "}")
		if !closed || strings.ContainsAny(field, ":!.[") {
			x.failf("the format field {%.40s is %w", text, errUnsupported)
		}
		b.WriteString(x.text(x.field(field, &next, g.list, named)))
		text = after
	}
	return b.text.String()
}

// field is the argument for a field of .format().
func (x *run) field(name string, next *int, list []value, named *dict) value {
	x.charge(stepCost)
	at := *next
	if name == "" {
		*next++
	} else if n, err := strconv.Atoi(name); err == nil {
		at = n
	} else if v, ok := named.get(name); ok {
		return v
	} else {
		at = -1
	}
	if at < 0 || at >= len(list) {
		x.failf("the format field {%s} has no argument", name)
	}
	return list[at]
}
