package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errUnsupported means that something is not part of the supported language.
var errUnsupported = errors.New("not supported")

// A refusal is a part of a template that is refused when it is reached: Jinja knows it and
// this package does not, or neither does, in a branch of an if, where Jinja lets it be.
type refusal struct {
	line int
	err  error
}

func unsupported(line int, format string, a ...any) refusal {
	return refusal{line, fmt.Errorf("%s is %w", fmt.Sprintf(format, a...), errUnsupported)}
}

func (r refusal) eval(*run, *scope) value { panic(fault(r)) }

func (r refusal) exec(*run, *scope) jump { panic(fault(r)) }

// call fails in place of a filter or a test.
func (r refusal) call(*run, value, given) value { panic(fault(r)) }

// Parts of Jinja that no known chat template uses.
var (
	otherGlobals = strings.Fields("cycler joiner lipsum")
	otherFilters = strings.Fields("filesizeformat forceescape groupby pprint random slice striptags truncate urlencode " +
		"urlize wordcount wordwrap xmlattr")
	otherTags = strings.Fields("autoescape block extends from import include") // the first two have an end tag
)

// refuseUnknown refuses a filter or a test. One that Jinja does not know either is a mistake, unless
// the parser is in an if.
func (p *parser) refuseUnknown(jinja []string, name string, r refusal) func(*run, value, given) value {
	if !slices.Contains(jinja, name) {
		p.mistakes = append(p.mistakes, fault(r))
	}
	return r.call
}

// maybe starts a part of a template that may not be reached; the returned function ends it.
func (p *parser) maybe() func() {
	n := len(p.mistakes)
	return func() { p.mistakes = p.mistakes[:n] }
}

// otherTag parses one of otherTags, after its name.
func (p *parser) otherTag(t token) statement {
	for p.peek().kind != tagEnd && p.peek().kind != eof {
		p.next()
	}
	if t.text == "autoescape" || t.text == "block" {
		p.body("end" + t.text)
		if p.peek().kind == nameToken { // a block may be named at its end, too
			p.next()
		}
	}
	return unsupported(t.line, "the tag {%% %s %%}", t.text)
}
