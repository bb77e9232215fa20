package template

import (
	"fmt"
	"slices"
)

// deepest limits the nesting of expressions and tags.
const deepest = 100

// A parser turns tokens into statements. A mistake is a panic with a fault, which
// catch recovers.
type parser struct {
	tokens []token
	depth  int
	uses   map[string]bool // names used by the macro being parsed

	mistakes []fault // unknown names that are sure to be reached, or looked up
}

// A fault is an error in a template, or in its input, with its line.
type fault struct {
	line int
	err  error
}

// catch converts a panic with a fault into an error.
func catch(err *error) {
	switch f := recover().(type) {
	case nil:
	case fault:
		*err = fmt.Errorf("line %d: %w", f.line, f.err)
	default:
		panic(f)
	}
}

func parse(src string) (body block, err error) {
	tokens, err := lex(src)
	if err != nil {
		return nil, err
	}
	defer catch(&err)
	p := &parser{tokens: tokens}
	body = p.block()
	if len(p.mistakes) > 0 {
		panic(p.mistakes[0])
	}
	return body, nil
}

func (p *parser) failf(line int, format string, a ...any) {
	panic(fault{line, fmt.Errorf(format, a...)})
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != eof {
		p.tokens = p.tokens[1:]
	}
	return t
}

// is reports whether the next token is an operator or a name with this text.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == operator || t.kind == nameToken) && t.text == text
}

// accept consumes the next token if it is an operator or a name with this text.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.failf(p.peek().line, "want %q, got %v", text, p.peek())
	}
}

func (p *parser) expectKind(kind tokenKind, what string) token {
	if p.peek().kind != kind {
		p.failf(p.peek().line, "want %s, got %v", what, p.peek())
	}
	return p.next()
}

func (p *parser) name() string { return p.expectKind(nameToken, "a name").text }

// deeper counts the nesting of the parser; the returned function undoes that.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > deepest {
		p.failf(p.peek().line, "nested more than %d levels deep", deepest)
	}
	return func() { p.depth-- }
}

// block parses statements up to a tag that begins with one of ends, which it
// leaves, or without ends up to the end of the template.
func (p *parser) block(ends ...string) block {
	defer p.deeper()()
	var body block
	for {
		t := p.next()
		switch t.kind {
		case eof:
			if len(ends) > 0 {
				p.failf(t.line, "the template ends before {%% %s %%}", ends[len(ends)-1])
			}
			return body
		case dataToken:
			body = append(body, text(t.text))
		case printStart:
			body = append(body, &print{p.tuple(true), t.line})
			p.expectKind(printEnd, `"}}"`)
		case tagStart:
			if slices.Contains(ends, p.peek().text) && p.peek().kind == nameToken {
				return body
			}
			body = append(body, p.statement())
			p.expectKind(tagEnd, `"%}"`)
		}
	}
}

// body parses the rest of a tag, its content, and the beginning of the tag that
// ends it, which it returns.
func (p *parser) body(ends ...string) (block, string) {
	p.expectKind(tagEnd, `"%}"`)
	b := p.block(ends...)
	return b, p.next().text
}

func (p *parser) statement() statement {
	t := p.expectKind(nameToken, "the name of a tag")
	switch t.text {
	case "if":
		return p.ifTag()
	case "for":
		return p.forTag(t.line)
	case "set":
		return p.setTag(t.line)
	case "macro":
		of := p.name()
		return &set{name(of), &macroLiteral{p.macro(of)}, t.line}
	case "call":
		return p.callTag(t.line)
	case "with":
		return p.withTag(t.line)
	case "filter":
		return p.filterTag()
	case "generation":
		body, _ := p.body("endgeneration")
		return &with{body: body}
	case "print":
		return &print{p.tuple(true), t.line}
	case "break", "continue":
		return jump(t.text)
	}
	if slices.Contains(otherTags, t.text) {
		return p.otherTag(t)
	}
	p.failf(t.line, "the tag {%% %s %%} is not supported", t.text)
	return nil
}

func (p *parser) ifTag() statement {
	defer p.maybe()()
	tag := &ifTag{}
	for {
		test := p.tuple(false)
		body, end := p.body("elif", "else", "endif")
		tag.branches = append(tag.branches, branch{test, body})
		switch end {
		case "else":
			tag.otherwise, _ = p.body("endif")
			return tag
		case "endif":
			return tag
		}
	}
}

func (p *parser) forTag(line int) statement {
	tag := &forTag{line: line}
	tag.target = p.target(false)
	p.expect("in")
	tag.items = p.tuple(false, "recursive")
	if p.accept("if") {
		tag.test = p.expression()
	}
	tag.recursive = p.accept("recursive")
	var end string
	if tag.body, end = p.body("else", "endfor"); end == "else" {
		tag.otherwise, _ = p.body("endfor")
	}
	return tag
}

func (p *parser) setTag(line int) statement {
	to := p.target(true)
	if p.accept("=") {
		return &set{to, p.tuple(true), line}
	}
	filter := p.filters()
	body, _ := p.body("endset")
	return &setBlock{to, filter, body, line}
}

func (p *parser) filters() expression {
	filter := expression(&variable{tagText})
	for p.accept("|") {
		filter = p.filter(filter)
	}
	return filter
}

func (p *parser) filterTag() statement {
	filter := p.filter(&variable{tagText})
	for p.accept("|") {
		filter = p.filter(filter)
	}
	body, _ := p.body("endfilter")
	return &setBlock{nil, filter, body, p.peek().line}
}

func (p *parser) withTag(line int) statement {
	tag := &with{}
	for p.peek().kind != tagEnd {
		if len(tag.sets) > 0 {
			p.expect(",")
		}
		to := p.target(false)
		p.expect("=")
		tag.sets = append(tag.sets, &set{to, p.expression(), line})
	}
	tag.body, _ = p.body("endwith")
	return tag
}

func (p *parser) callTag(line int) statement {
	m := &macro{name: "caller"}
	if p.is("(") {
		p.parameters(m)
	}
	made, ok := p.expression().(*call)
	if !ok || made.do != nil {
		p.failf(line, "{%% call %%} must call a macro")
	}
	m.body, _ = p.body("endcall")
	made.args.named = append(made.args.named, namedArg{"caller", &macroLiteral{m}})
	return &print{made, line}
}

func (p *parser) macro(name string) *macro {
	outer := p.uses
	p.uses = map[string]bool{}
	m := &macro{name: name}
	p.parameters(m)
	m.body, _ = p.body("endmacro")
	m.rest, m.restNamed, m.caller = p.uses["varargs"], p.uses["kwargs"], p.uses["caller"]
	for used := range p.uses {
		if outer != nil {
			outer[used] = true
		}
	}
	p.uses = outer
	return m
}

func (p *parser) parameters(m *macro) {
	p.expect("(")
	for !p.is(")") {
		if len(m.params) > 0 {
			p.expect(",")
		}
		param := parameter{name: p.name()}
		if p.accept("=") {
			param.preset = p.expression()
		}
		m.params = append(m.params, param)
	}
	p.expect(")")
}

// target parses the left side of an assignment: a name, several, or if attributes
// is set the attribute of a namespace.
func (p *parser) target(attributes bool) target {
	all := tupleTarget{p.oneTarget(attributes)}
	several := false
	for p.accept(",") {
		several = true
		if p.is("in") || !p.is("(") && p.peek().kind != nameToken {
			break
		}
		all = append(all, p.oneTarget(attributes))
	}
	if several {
		return all
	}
	return all[0]
}

func (p *parser) oneTarget(attributes bool) target {
	if p.accept("(") {
		defer p.deeper()()
		t := p.target(attributes)
		p.expect(")")
		return t
	}
	t := p.expectKind(nameToken, "a name to assign to")
	if slices.Contains([]string{"true", "false", "none", "True", "False", "None"}, t.text) {
		p.failf(t.line, "%s cannot be assigned to", t.text)
	}
	if attributes && p.accept(".") {
		return attributeTarget{t.text, p.name(), t.line}
	}
	return name(t.text)
}
