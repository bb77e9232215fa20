package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// globals are the global functions of a template.
var globals map[string]value

// largestRange is the limit of Jinja's sandbox on a range.
const largestRange = 100000

func init() {
	global := func(name string, f function) { globals[name] = &method{nil, name, f} }
	globals = map[string]value{}
	global("range", function{params: "start = stop step", do: func(x *run, _ value, a []value) value {
		from, to, step := 0, x.index(a[0]), 1
		if a[1] != (absent{}) {
			from, to = to, x.index(a[1])
		}
		if a[2] != (absent{}) {
			step = x.index(a[2])
		}
		if step == 0 {
			x.failf("a range has step 0")
		}
		made := &list{}
		for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
			if len(made.items) == largestRange {
				x.failf("a range of more than %d numbers", largestRange)
			}
			made.items = x.push(made.items, int64(i))
			if next := i + step; (next > i) != (step > 0) { // beyond the integers
				break
			}
		}
		return made
	}})
	global("dict", function{all: func(x *run, _ value, g given) value {
		made := newDict()
		for _, v := range g.list {
			x.pour(made, v)
		}
		x.pour(made, g.dict(x))
		return made
	}})
	global("namespace", function{all: func(x *run, _ value, g given) value {
		d := globals["dict"].(*method).all(x, nil, g).(*dict)
		made := &namespace{map[string]value{}}
		for _, key := range d.keys {
			x.charge(entryCost)
			made.vars[x.varName(x.textOf(key))] = d.at(key)
		}
		return made
	}})
	global("raise_exception", function{params: "message", do: func(x *run, _ value, a []value) value {
		x.failf("the template refuses this chat: %.1000s", x.text(a[0]))
		return nil
	}})
	global("strftime_now", function{params: "format", do: func(x *run, _ value, a []value) value {
		return strftime(x, x.textOf(a[0]), x.now())
	}})
}

// varName is a name of an attribute of a namespace; those with an underscore are forbidden by
// Hugging Face's sandbox.
func (x *run) varName(name string) string {
	if strings.HasPrefix(name, "_") {
		x.failf("a namespace must not have an attribute %s, which begins with an underscore", brief(name))
	}
	return name
}

// pour adds a mapping, or pairs, to a dict.
func (x *run) pour(d *dict, v value) {
	if from, ok := v.(*dict); ok {
		for _, key := range from.keys {
			x.put(d, key, from.at(key))
		}
		return
	}
	for _, pair := range x.clone(x.iterate(v)) {
		kv := x.iterate(pair)
		if len(kv) != 2 {
			x.failf("a dict must be made from pairs")
		}
		x.put(d, kv[0], kv[1])
	}
}

// clockLayouts are the conversions of strftime, as layouts of package time.
var clockLayouts = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday",
	'a': "Mon",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002", 'f': "000000", 'Z': "MST", 'z': "-0700",
	'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'R': "15:04", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06",
	'X': "15:04:05",
}

// strftime formats an instant like strftime in the C locale. Python's instant has
// no time zone, so zone names are empty.
func strftime(x *run, layout string, at time.Time) string {
	b := builder{run: x}
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' || i+1 == len(layout) {
			b.writeByte(layout[i])
			continue
		}
		i++
		bare := layout[i] == '-' && i+1 < len(layout)
		if bare {
			i++
		}
		text, ok := conversion(layout[i], at)
		if !ok {
			x.failf("the conversion %%%c of a date is %w", layout[i], errUnsupported)
		}
		if bare {
			text = strings.TrimLeft(text[:len(text)-1], "0 ") + text[len(text)-1:]
		}
		b.WriteString(text)
	}
	return b.text.String()
}

func conversion(c byte, at time.Time) (string, bool) {
	switch c {
	case '%', 'n', 't':
		return map[byte]string{'%': "%", 'n': "\n", 't': "\t"}[c], true
	case 'f':
		return fmt.Sprintf("%06d", at.Nanosecond()/1000), true
	case 'w', 'u':
		day := int(at.Weekday())
		if c == 'u' && day == 0 {
			day = 7
		}
		return strconv.Itoa(day), true
	case 's':
		return strconv.FormatInt(at.Unix(), 10), true
	case 'Z', 'z':
		return "", true
	}
	layout, ok := clockLayouts[c]
	return at.Format(layout), ok
}
