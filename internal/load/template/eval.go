package template

import (
	"fmt"
	"slices"
	"strings"
)

// An expression computes a value of a template.
type expression interface {
	eval(x *run, s *scope) value
}

type (
	literal  struct{ v value }
	variable struct{ name string }

	// An operation computes a value from those of one or two operands; do gets nil
	// for one that is not there.
	operation struct {
		line int
		a, b expression
		do   func(x *run, a, b value) value
	}
	slice struct {
		of     expression
		bounds [3]expression // start, stop, step; nil if absent
		line   int
	}
	listLiteral struct {
		items []expression
		tuple bool
	}
	dictLiteral struct {
		keys, values []expression
		line         int
	}
	macroLiteral struct{ *macro }

	condition struct{ test, then, otherwise expression }
	logic     struct {
		left, right expression
		or          bool
	}
	comparison struct {
		first expression
		rest  []compared
		line  int
	}
	compared struct {
		operator string
		with     expression
	}

	// A call applies a function, a filter or a test to a value and arguments.
	call struct {
		of   expression
		args arguments
		line int
		do   func(x *run, of value, g given) value // nil: of is the function
	}

	arguments struct {
		list                []expression
		named               []namedArg
		spread, spreadNamed expression
	}
	namedArg struct {
		name  string
		value expression
	}
)

func (l literal) eval(x *run, _ *scope) value {
	x.charge(1)
	return l.v
}

func (v *variable) eval(x *run, s *scope) value {
	x.charge(1)
	for ; s != nil; s = s.outer {
		if found, ok := s.vars[v.name]; ok {
			return found
		}
	}
	if g, ok := globals[v.name]; ok {
		return g
	}
	return undefined(fmt.Sprintf("'%s' is undefined", brief(v.name)))
}

func (o *operation) eval(x *run, s *scope) value {
	x.deeper()
	defer x.leave()
	var a, b value = o.a.eval(x, s), nil
	if o.b != nil {
		b = o.b.eval(x, s)
	}
	x.at(o.line)
	return o.do(x, a, b)
}

func (e *slice) eval(x *run, s *scope) value {
	x.deeper()
	defer x.leave()
	of := e.of.eval(x, s)
	var bounds [3]value
	for i, b := range e.bounds {
		if b != nil {
			bounds[i] = b.eval(x, s)
		}
	}
	x.at(e.line)
	return x.slice(of, bounds)
}

func (l *listLiteral) eval(x *run, s *scope) value {
	x.chargeAll(len(l.items), itemCost)
	made := &list{tuple: l.tuple, items: make([]value, len(l.items))}
	for i, e := range l.items {
		made.items[i] = e.eval(x, s)
	}
	return made
}

func (d *dictLiteral) eval(x *run, s *scope) value {
	made := newDict()
	for i, key := range d.keys {
		k, v := key.eval(x, s), d.values[i].eval(x, s)
		x.at(d.line)
		x.put(made, k, v)
	}
	return made
}

func (m *macroLiteral) eval(_ *run, s *scope) value { return &closure{m.macro, s} }

func (c *condition) eval(x *run, s *scope) value {
	x.deeper()
	defer x.leave()
	switch {
	case x.truth(c.test.eval(x, s)):
		return c.then.eval(x, s)
	case c.otherwise == nil:
		return undefined("an if without else has no value where its test fails")
	}
	return c.otherwise.eval(x, s)
}

func (l *logic) eval(x *run, s *scope) value {
	x.deeper()
	defer x.leave()
	left := l.left.eval(x, s)
	if x.truth(left) == l.or {
		return left
	}
	return l.right.eval(x, s)
}

func (c *comparison) eval(x *run, s *scope) value {
	left := c.first.eval(x, s)
	for _, next := range c.rest {
		right := next.with.eval(x, s)
		x.at(c.line)
		if !x.compare(next.operator, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (c *call) eval(x *run, s *scope) value {
	x.deeper()
	defer x.leave()
	of := c.of.eval(x, s)
	args := c.args.eval(x, s)
	x.at(c.line)
	if c.do == nil {
		return x.call(of, args)
	}
	return c.do(x, of, args)
}

// given holds the arguments of one call.
type given struct {
	list  []value
	named []namedValue
}

type namedValue struct {
	name string
	v    value
}

func (g given) dict(x *run) *dict {
	d := newDict()
	for _, n := range g.named {
		x.put(d, n.name, n.v)
	}
	return d
}

func (a *arguments) eval(x *run, s *scope) given {
	var g given
	x.chargeAll(len(a.list)+len(a.named), itemCost)
	for _, e := range a.list {
		g.list = append(g.list, e.eval(x, s))
	}
	if a.spread != nil {
		g.list = append(g.list, x.clone(x.iterate(a.spread.eval(x, s)))...)
	}
	for _, n := range a.named {
		g.named = append(g.named, namedValue{n.name, n.value.eval(x, s)})
	}
	if a.spreadNamed != nil {
		d, ok := a.spreadNamed.eval(x, s).(*dict)
		if !ok {
			x.failf("** needs a mapping")
		}
		x.chargeAll(len(d.keys), itemCost)
		for _, key := range d.keys {
			name, _ := key.(string)
			g.named = append(g.named, namedValue{name, d.at(key)})
		}
	}
	return g
}

// A function is a filter, a test, a method or a global function: its parameters
// in addition to the value it is applied to, and its implementation.
type function struct {
	params string // names separated by spaces; those after "=" are optional
	do     func(x *run, in value, a []value) value
	all    func(x *run, in value, g given) value // instead of do: takes any arguments
}

// absent is an omitted argument.
type absent struct{}

// as is f under the name that its mistakes have.
func (f function) as(what string) func(x *run, in value, g given) value {
	if f.all != nil {
		return f.all
	}
	return func(x *run, in value, g given) value { return f.do(x, in, x.bind(what, f.params, g)) }
}

// bind puts arguments into parameter order.
func (x *run) bind(what, params string, g given) []value {
	required, optional, _ := strings.Cut(params, "=")
	names := append(strings.Fields(required), strings.Fields(optional)...)
	bound := x.place(what, names, len(names), g, &surplus{})
	for i := range strings.Fields(required) {
		if bound[i] == (absent{}) {
			x.failf("%s needs the argument %s", what, names[i])
		}
	}
	return bound
}

// A surplus is the arguments beyond the parameters, of a macro that takes them.
type surplus struct {
	takesList, takesNamed bool
	given
}

// place puts arguments into the order of names, the first of which can be given by
// position.
func (x *run) place(what string, names []string, positions int, g given, more *surplus) []value {
	x.chargeAll(1+len(g.named), len(names)+1)
	bound := slices.Repeat([]value{absent{}}, len(names))
	n := copy(bound[:positions], g.list)
	if more.list = g.list[n:]; len(more.list) > 0 && !more.takesList {
		x.failf("%s takes at most %d arguments, not %d", what, positions, len(g.list))
	}
	for _, arg := range g.named {
		switch i := slices.Index(names, arg.name); {
		case i < 0 && more.takesNamed:
			more.named = append(more.named, arg)
		case i < 0:
			x.failf("%s takes no argument %s", what, arg.name)
		case bound[i] != (absent{}):
			x.failf("%s is given %s twice", what, arg.name)
		default:
			bound[i] = arg.v
		}
	}
	return bound
}

// either is the argument, or preset if it was omitted.
func either(v, preset value) value {
	if v == (absent{}) {
		return preset
	}
	return v
}

// or is the argument, which must have the type of preset, or preset if it was
// omitted.
func or[T any](x *run, v value, preset T) T {
	if v == (absent{}) {
		return preset
	}
	t, ok := v.(T)
	if !ok {
		x.failf("an argument is %s where %s is expected", typeName(v), typeName(preset))
	}
	return t
}
