package python

import (
	"errors"
	"fmt"
	"strings"
)

// ReadNamespace reads a printout of arguments, `Namespace(name=value, ...)`, at the
// beginning of a text. Values are as Python shows them, strings without their
// quotes, and secrets are masked. The rest is what stands behind.
func ReadNamespace(text string) (settings map[string]string, rest string, err error) {
	rest, ok := strings.CutPrefix(text, "Namespace(")
	if !ok {
		return nil, text, errors.New("no Namespace begins here")
	}
	settings = map[string]string{}
	for {
		rest = strings.TrimLeft(rest, " \t\n")
		if after, ok := strings.CutPrefix(rest, ")"); ok {
			return settings, after, nil
		}
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			return settings, rest, ErrCut
		}
		if name = strings.TrimSpace(name); !isIdentifier(name) {
			return settings, rest, fmt.Errorf("%.40q is no name of an argument", name)
		}
		n, err := ValueEnd(value)
		if err != nil {
			return settings, value, fmt.Errorf("argument %s: %w", name, err)
		}
		settings[name] = maskSetting(name, Unquote(strings.TrimSpace(value[:n])))
		rest = strings.TrimPrefix(value[n:], ",")
	}
}

func isIdentifier(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// A Checklist collects the problems of a command line.
type Checklist []error

// Refuse notes a mistake where cond holds.
func (c *Checklist) Refuse(cond bool, format string, a ...any) {
	if cond {
		*c = append(*c, fmt.Errorf(format, a...))
	}
}

// Add notes an error, if there is one.
func (c *Checklist) Add(err error) {
	if err != nil {
		*c = append(*c, err)
	}
}
