package template

import (
	"fmt"
	"time"
)

// A statement is one step of a template.
type statement interface {
	exec(x *run, s *scope) jump
}

// A jump is break or continue, empty for neither.
type jump string

type (
	block []statement
	text  string
	print struct {
		e    expression
		line int
	}
	ifTag struct {
		branches  []branch
		otherwise block
	}
	branch struct {
		test expression
		body block
	}
	forTag struct {
		target          target
		items           expression
		test            expression // nil: all items
		body, otherwise block
		recursive       bool
		line            int
	}
	set struct {
		to   target
		e    expression
		line int
	}
	// setBlock assigns the output of its body, after filters, or prints it.
	setBlock struct {
		to     target
		filter expression
		body   block
		line   int
	}
	with struct {
		sets []*set
		body block
	}
)

// tagText is the name under which filters of a tag find the text in it.
const tagText = " text"

// A scope holds the variables of a part of a template; it can read those of
// enclosing parts.
type scope struct {
	vars  map[string]value
	outer *scope
}

type run struct {
	out    *builder
	now    func() time.Time
	line   int
	depth  int
	budget int // the rest of it, in bytes
}

// deepestCall limits recursion, for example of macros.
const deepestCall = 1500

func (x *run) failf(format string, a ...any) { panic(fault{x.line, fmt.Errorf(format, a...)}) }

// deeper counts the nesting of calls and operations, until leave.
func (x *run) deeper() {
	if x.depth++; x.depth > deepestCall {
		x.failf("calls and operations are nested more than %d deep", deepestCall)
	}
}

func (x *run) leave() { x.depth-- }

func (x *run) capture(f func()) string {
	outer := x.out
	x.out = &builder{run: x}
	f()
	text := x.out.text.String()
	x.out = outer
	return text
}

func (b block) exec(x *run, s *scope) jump {
	for _, st := range b {
		if j := st.exec(x, s); j != "" {
			return j
		}
	}
	return ""
}

func (j jump) exec(*run, *scope) jump { return j }

func (t text) exec(x *run, _ *scope) jump {
	x.charge(stepCost)
	x.out.WriteString(string(t))
	return ""
}

func (p *print) exec(x *run, s *scope) jump {
	v := p.e.eval(x, s)
	x.at(p.line)
	x.out.WriteString(x.text(v))
	return ""
}

func (t *ifTag) exec(x *run, s *scope) jump {
	for _, b := range t.branches {
		if x.truth(b.test.eval(x, s)) {
			return b.body.exec(x, s)
		}
	}
	return t.otherwise.exec(x, s)
}

func (t *set) exec(x *run, s *scope) jump {
	v := t.e.eval(x, s)
	x.at(t.line)
	t.to.assign(x, s, v)
	return ""
}

func (t *setBlock) exec(x *run, s *scope) jump {
	inner := x.inner(s)
	inner.vars[tagText] = x.capture(func() { t.body.exec(x, x.inner(s)) })
	v := t.filter.eval(x, inner)
	if x.at(t.line); t.to == nil {
		x.out.WriteString(x.text(v))
		return ""
	}
	t.to.assign(x, s, v)
	return ""
}

func (t *with) exec(x *run, s *scope) jump {
	inner := x.inner(s)
	x.chargeAll(len(t.sets), itemCost)
	values := make([]value, len(t.sets))
	for i, set := range t.sets {
		values[i] = set.e.eval(x, s)
	}
	for i, set := range t.sets {
		set.to.assign(x, inner, values[i])
	}
	return t.body.exec(x, inner)
}

func (t *forTag) exec(x *run, s *scope) jump {
	items := t.items.eval(x, s)
	x.at(t.line)
	t.loop(x, s, items, 0)
	return ""
}

// loop iterates over items, at recursion depth depth.
func (t *forTag) loop(x *run, s *scope, of value, depth int) {
	x.deeper()
	defer x.leave()
	items := t.chosen(x, s, x.iterate(of))
	if len(items) == 0 {
		t.otherwise.exec(x, x.inner(s))
		return
	}
	l := &loop{items: items, depth: depth}
	if t.recursive {
		l.again = func(of value) string { return x.capture(func() { t.loop(x, s, of, depth+1) }) }
	}
	for l.at = range items {
		x.at(t.line)
		inner := x.inner(s)
		inner.vars["loop"] = l
		t.target.assign(x, inner, items[l.at])
		if t.body.exec(x, inner) == "break" {
			return
		}
	}
}

// chosen are the items that pass the loop's test.
func (t *forTag) chosen(x *run, s *scope, items []value) []value {
	if t.test == nil {
		return items
	}
	var chosen []value
	for _, v := range items {
		inner := x.inner(s)
		t.target.assign(x, inner, v)
		if x.truth(t.test.eval(x, inner)) {
			chosen = x.push(chosen, v)
		}
	}
	return chosen
}

// A target is the left side of an assignment.
type target interface {
	assign(x *run, s *scope, v value)
}

type (
	name            string
	tupleTarget     []target
	attributeTarget struct {
		of, name string
		line     int
	}
)

func (n name) assign(_ *run, s *scope, v value) { s.vars[string(n)] = v }

func (t tupleTarget) assign(x *run, s *scope, v value) {
	items := x.iterate(v)
	x.charge(len(t))
	if len(items) != len(t) {
		x.failf("cannot unpack %d values into %d names", len(items), len(t))
	}
	for i := range t {
		t[i].assign(x, s, items[i])
	}
}

func (t attributeTarget) assign(x *run, s *scope, v value) {
	ns, ok := (&variable{t.of}).eval(x, s).(*namespace)
	if x.at(t.line); !ok {
		x.failf("cannot assign to %s.%s: %s is not a namespace", t.of, t.name, t.of)
	}
	ns.vars[x.varName(t.name)] = v
}

// A macro is a part of a template with parameters.
type macro struct {
	name   string
	params []parameter
	body   block

	rest, restNamed, caller bool // it uses varargs, kwargs, caller
}

type parameter struct {
	name   string
	preset expression // nil if required
}

// A closure is a macro with the variables around it.
type closure struct {
	*macro
	scope *scope
}

func (c *closure) call(x *run, g given) value {
	s := x.inner(c.scope)
	x.chargeAll(len(c.params), itemCost)
	var names []string
	for _, p := range c.params {
		names = append(names, p.name)
	}
	if c.caller {
		names = append(names, "caller")
		s.vars["caller"] = undefined("no caller defined")
	}
	more := surplus{takesList: c.rest, takesNamed: c.restNamed}
	for i, v := range x.place("the macro "+c.name, names, len(c.params), g, &more) {
		if v != (absent{}) {
			s.vars[names[i]] = v
		}
	}
	if c.rest {
		s.vars["varargs"] = &list{items: more.list, tuple: true}
	}
	if c.restNamed {
		s.vars["kwargs"] = more.dict(x)
	}
	for _, p := range c.params {
		if _, ok := s.vars[p.name]; !ok && p.preset != nil {
			s.vars[p.name] = p.preset.eval(x, s)
		} else if !ok {
			s.vars[p.name] = undefined(fmt.Sprintf("the parameter '%s' was not given", p.name))
		}
	}
	return x.capture(func() { c.body.exec(x, s) })
}
