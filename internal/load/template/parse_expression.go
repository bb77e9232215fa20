package template

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// tuple parses an expression, or several separated by commas. An "if" ends it
// unless conditions is set, and so does one of ends.
func (p *parser) tuple(conditions bool, ends ...string) expression {
	read := p.or
	if conditions {
		read = p.expression
	}
	first := read()
	if !p.is(",") {
		return first
	}
	list := &listLiteral{items: []expression{first}, tuple: true}
	for p.accept(",") {
		if p.tupleEnds(ends) {
			break
		}
		list.items = append(list.items, read())
	}
	return list
}

func (p *parser) tupleEnds(ends []string) bool {
	t := p.peek()
	return t.kind == printEnd || t.kind == tagEnd || p.is(")") || slices.ContainsFunc(ends, p.is)
}

// expression parses x if y else z, and everything that binds more tightly.
func (p *parser) expression() expression {
	defer p.deeper()()
	forgive := p.maybe()
	e := p.or()
	if p.is("if") {
		defer forgive()
	}
	for p.accept("if") {
		c := &condition{then: e, test: p.or()}
		if p.accept("else") {
			c.otherwise = p.expression()
		}
		e = c
	}
	return e
}

func (p *parser) or() expression {
	e := p.and()
	for p.accept("or") {
		e = &logic{e, p.and(), true}
	}
	return e
}

func (p *parser) and() expression {
	e := p.not()
	for p.accept("and") {
		e = &logic{e, p.not(), false}
	}
	return e
}

func (p *parser) not() expression {
	defer p.deeper()()
	if line := p.peek().line; p.accept("not") {
		return negation(line, p.not())
	}
	return p.comparison()
}

func negation(line int, of expression) expression {
	return &operation{line, of, nil, func(x *run, a, _ value) value { return !x.truth(a) }}
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">=", "in"}

func (p *parser) comparison() expression {
	c := &comparison{first: p.sum(), line: p.peek().line}
	for {
		t := p.peek()
		switch {
		case t.kind != stringToken && slices.ContainsFunc(comparisons, p.is):
			p.next()
		case p.is("not") && p.tokens[1].kind == nameToken && p.tokens[1].text == "in":
			p.next()
			p.next()
			t.text = "not in"
		case len(c.rest) == 0:
			return c.first
		default:
			return c
		}
		c.rest = append(c.rest, compared{t.text, p.sum()})
	}
}

// leftward parses left-associative operations of one precedence.
func (p *parser) leftward(read func() expression, operators ...string) expression {
	e := read()
	for t := p.peek(); t.kind == operator && slices.Contains(operators, t.text); t = p.peek() {
		p.next()
		e = &operation{t.line, e, read(), func(x *run, a, b value) value { return x.binary(t.text, a, b) }}
	}
	return e
}

func (p *parser) sum() expression { return p.leftward(p.concat, "+", "-") }

func (p *parser) concat() expression { return p.leftward(p.product, "~") }

func (p *parser) product() expression { return p.leftward(p.power, "*", "/", "//", "%") }

func (p *parser) power() expression {
	return p.leftward(func() expression { return p.unary(true) }, "**")
}

func (p *parser) unary(filters bool) expression {
	defer p.deeper()()
	var e expression
	switch t := p.peek(); {
	case p.accept("-"), p.accept("+"):
		e = &operation{t.line, p.unary(false), nil, func(x *run, a, _ value) value { return x.sign(t.text, a) }}
	default:
		e = p.primary()
	}
	e = p.postfix(e)
	for filters {
		switch {
		case p.accept("|"):
			e = p.filter(e)
		case p.is("is"):
			e = p.test(e)
		case p.is("("):
			e = p.call(e)
		default:
			return e
		}
	}
	return e
}

func (p *parser) primary() expression {
	t := p.next()
	switch t.kind {
	case nameToken:
		return p.nameOrConstant(t)
	case stringToken:
		return p.strings(t)
	case intToken:
		return literal{p.integer(t)}
	case floatToken:
		f, _ := strconv.ParseFloat(t.text, 64) // overflow is infinite, as in Python
		return literal{f}
	}
	if t.kind == operator {
		switch t.text {
		case "(":
			return p.parenthesis()
		case "[":
			list := &listLiteral{}
			p.until("]", func() { list.items = append(list.items, p.expression()) })
			return list
		case "{":
			return p.dict()
		}
	}
	p.failf(t.line, "want an expression, got %v", t)
	return nil
}

// strings joins texts that follow each other.
func (p *parser) strings(first token) expression {
	if p.peek().kind != stringToken && first.refused == nil {
		return literal{first.text}
	}
	var b strings.Builder
	b.WriteString(first.text)
	refused := first.refused
	for p.peek().kind == stringToken {
		next := p.next()
		b.WriteString(next.text)
		refused = cmp.Or(refused, next.refused)
	}
	if refused != nil {
		return refusal{first.line, refused}
	}
	return literal{b.String()}
}

func (p *parser) integer(t token) value {
	n, ok := integer(t.text)
	if !ok {
		p.failf(t.line, "an integer of more than %d digits", maxDigits)
	}
	return n
}

func integer(digits string) (value, bool) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, true
	}
	if len(digits) > maxDigits {
		return nil, false
	}
	return new(big.Int).SetString(digits, 10)
}

func (p *parser) nameOrConstant(t token) expression {
	switch t.text {
	case "true", "True":
		return literal{true}
	case "false", "False":
		return literal{false}
	case "none", "None":
		return literal{nil}
	}
	if p.uses != nil {
		p.uses[t.text] = true
	}
	v := &variable{t.text}
	if slices.Contains(otherGlobals, t.text) && p.is("(") {
		return found(t.line, v, func(_ *run, a, _ value) value { return a }, unsupported(t.line, "the function %s()", t.text))
	}
	return v
}

func (p *parser) parenthesis() expression {
	if p.accept(")") {
		return &listLiteral{tuple: true}
	}
	e := p.tuple(true)
	p.expect(")")
	return e
}

// until parses items separated by commas, and the bracket that ends them. A comma may
// precede it.
func (p *parser) until(end string, item func()) {
	for first := true; !p.accept(end); first = false {
		if !first {
			p.expect(",")
			if p.accept(end) {
				return
			}
		}
		item()
	}
}

func (p *parser) dict() expression {
	d := &dictLiteral{line: p.peek().line}
	p.until("}", func() {
		d.keys = append(d.keys, p.expression())
		p.expect(":")
		d.values = append(d.values, p.expression())
	})
	return d
}

func (p *parser) postfix(e expression) expression {
	for {
		switch {
		case p.is("."):
			e = p.attribute(e)
		case p.is("["):
			e = p.subscript(e)
		case p.is("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) attribute(of expression) expression {
	line := p.next().line
	switch t := p.next(); t.kind {
	case nameToken:
		get := func(x *run, a, _ value) value { return x.attribute(a, t.text) }
		if p.is("(") && !knownMethod(t.text) {
			return found(line, of, get, unsupported(t.line, "the method .%s()", t.text))
		}
		return &operation{line, of, nil, get}
	case intToken:
		return &operation{line, of, literal{p.integer(t)}, (*run).item}
	default:
		p.failf(t.line, "want a name after the dot, got %v", t)
	}
	return nil
}

func (p *parser) subscript(of expression) expression {
	line := p.next().line
	var index expression
	if !p.is(":") {
		if index = p.expression(); p.accept("]") {
			return &operation{line, of, index, (*run).item}
		}
	}
	s := &slice{of: of, line: line}
	s.bounds[0] = index
	for i := 1; i < 3 && p.accept(":"); i++ {
		if !p.is(":") && !p.is("]") {
			s.bounds[i] = p.expression()
		}
	}
	p.expect("]")
	return s
}

func (p *parser) call(of expression) expression {
	line := p.peek().line
	return &call{of: of, args: p.arguments(), line: line}
}

func (p *parser) arguments() arguments {
	var a arguments
	line := p.peek().line
	p.expect("(")
	p.until(")", func() {
		switch {
		case p.accept("**"):
			a.spreadNamed = p.expression()
		case p.accept("*"):
			a.spread = p.expression()
		case p.peek().kind == nameToken && p.tokens[1].kind == operator && p.tokens[1].text == "=":
			name := p.next().text
			p.next()
			a.named = append(a.named, namedArg{name, p.expression()})
		default:
			if len(a.named) > 0 || a.spread != nil || a.spreadNamed != nil {
				p.failf(line, "positional argument after a named one")
			}
			a.list = append(a.list, p.expression())
		}
	})
	return a
}

// found is an operation on a value that is refused if it finds nothing.
func found(line int, of expression, get func(x *run, a, b value) value, otherwise refusal) expression {
	return &operation{line, of, nil, func(x *run, a, _ value) value {
		got := get(x, a, nil)
		if _, missing := got.(undefined); missing {
			panic(fault(otherwise))
		}
		return got
	}}
}

// dotted is a name that may have dots, which those of filters and tests could.
func (p *parser) dotted(what string) token {
	t := p.expectKind(nameToken, what)
	for p.accept(".") {
		t.text += "." + p.name()
	}
	return t
}

func (p *parser) filter(in expression) expression {
	t := p.dotted("the name of a filter")
	e := &call{of: in, line: t.line}
	if f, ok := filters[t.text]; ok {
		e.do = f.as("|" + t.text)
	} else {
		e.do = p.refuseUnknown(otherFilters, t.text, unsupported(t.line, "the filter |%s", t.text))
	}
	if p.is("(") {
		e.args = p.arguments()
	}
	return e
}

// test parses the part after "is".
func (p *parser) test(in expression) expression {
	p.next()
	negated := p.accept("not")
	t := p.dotted("the name of a test")
	e := &call{of: in, line: t.line}
	if f, ok := tests[t.text]; ok {
		e.do = f.as("is " + t.text)
	} else {
		e.do = p.refuseUnknown(nil, t.text, unsupported(t.line, `the test "is %s"`, t.text))
	}
	if p.is("(") {
		e.args = p.arguments()
	} else if p.startsOperand() {
		if p.is("is") {
			p.failf(t.line, "tests cannot be chained with \"is\"")
		}
		e.args.list = []expression{p.postfix(p.primary())}
	}
	if negated {
		return negation(t.line, e)
	}
	return e
}

// startsOperand reports whether an argument without parentheses follows a test.
func (p *parser) startsOperand() bool {
	switch t := p.peek(); t.kind {
	case stringToken, intToken, floatToken:
		return true
	case nameToken:
		return !slices.Contains([]string{"else", "or", "and"}, t.text)
	case operator:
		return t.text == "[" || t.text == "{"
	}
	return false
}
