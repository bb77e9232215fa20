package python

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A UsageError is a command line that cannot be used, in argparse's words.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// Usagef makes a UsageError.
func Usagef(format string, a ...any) error { return &UsageError{fmt.Sprintf(format, a...)} }

// An arity is how many values an option takes.
type arity int

// The arities.
const (
	none       arity = iota // a flag
	one                     // exactly one
	anyNumber               // nargs="*"
	atLeastOne              // nargs="+"
)

// An Option is one argument of a command line. set stores its values; for a
// flag it gets none.
type Option struct {
	name   string // without dashes
	arity  arity
	json   bool   // also takes dotted paths, --name.a.b value
	meta   string // what stands for a value in the usage; empty: the name
	bars   string // the option that cannot be given with this one
	hidden bool   // a printout of all arguments does not have it
	set    func(values []string) error
	repr   func() string // the value as Python would print it
	value  func() any    // the value for a JSON file
}

// A Parser reads command lines by the rules of Python's argparse: a name may be cut
// short as long as it stays unique, and the last of several occurrences wins. Unless
// it is plain it has vLLM's additions: underscores in names are dashes, and JSON
// options can be given member by member.
type Parser struct {
	Options []Option
	Plain   bool
	given   map[string]bool
}

// ErrHelp is returned when a command line asks for help.
var ErrHelp = errors.New("help requested")

// Parse stores the values of args.
func (p *Parser) Parse(args []string) error {
	p.given = map[string]bool{}
	if !p.Plain {
		merged, err := p.mergeDotted(args)
		if err != nil {
			return err
		}
		args = merged
	}
	var unknown []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "-h" {
			return ErrHelp
		}
		if !looksLikeOption(arg) {
			unknown = append(unknown, arg)
			continue
		}
		_, value, explicit := strings.Cut(arg, "=")
		name := arg
		if !p.Plain {
			name = Canonical(arg)
		}
		o, err := p.find(name)
		switch {
		case err != nil:
			return err
		case o == nil:
			unknown = append(unknown, arg)
			continue
		}
		if args, err = p.take(o, value, explicit, args); err != nil {
			return err
		}
	}
	if len(unknown) > 0 {
		return Usagef("unrecognized arguments: %s%s", strings.Join(unknown, " "), p.suggest(unknown))
	}
	return nil
}

// looksLikeOption: a dash and something behind it, unless it is a number or has
// a blank in it.
func looksLikeOption(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' || isNegativeNumber(arg) {
		return false
	}
	return !strings.Contains(arg, " ") || strings.Contains(arg, "=") && strings.HasPrefix(arg, "--")
}

// isNegativeNumber is argparse's ^-\d+$|^-\d*\.\d+$.
func isNegativeNumber(arg string) bool {
	whole, fraction, dotted := strings.Cut(arg[1:], ".")
	if dotted {
		return fraction != "" && digits(fraction) && digits(whole)
	}
	return whole != "" && digits(whole)
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// Canonical turns the underscores of a name into dashes, up to a dot or an
// equals sign.
func Canonical(arg string) string {
	if !strings.HasPrefix(arg, "--") {
		return arg
	}
	end := strings.IndexAny(arg, ".=")
	if end < 0 {
		end = len(arg)
	}
	return strings.ReplaceAll(arg[:end], "_", "-") + arg[end:]
}

// find looks up the option of an argument, --name or a unique beginning of it,
// perhaps with a value; nil means that there is no such option.
func (p *Parser) find(arg string) (*Option, error) {
	name, _, _ := strings.Cut(arg, "=")
	bare, long := strings.CutPrefix(name, "--")
	if !long || bare == "" {
		return nil, nil
	}
	if bare == "help" {
		return nil, ErrHelp
	}
	var matches []string
	var found *Option
	if strings.HasPrefix("help", bare) {
		matches = append(matches, "--help")
	}
	for i := range p.Options {
		o := &p.Options[i]
		if o.name == bare {
			return o, nil
		}
		if strings.HasPrefix(o.name, bare) {
			found = o
			matches = append(matches, "--"+o.name)
		}
	}
	if len(matches) > 1 {
		return nil, Usagef("ambiguous option: %s could match %s", arg, strings.Join(matches, ", "))
	}
	if found == nil && len(matches) == 1 {
		return nil, ErrHelp
	}
	return found, nil
}

// take stores the values of o, the first of them perhaps behind an equals sign,
// and returns the arguments left over.
func (p *Parser) take(o *Option, value string, explicit bool, args []string) ([]string, error) {
	var values []string
	n := 0
	switch {
	case explicit && o.arity == none:
		return nil, Usagef("argument --%s: ignored explicit argument '%s'", o.name, value)
	case explicit:
		values = []string{value}
	case o.arity == one:
		n = min(1, valuesIn(args))
	case o.arity != none:
		n = valuesIn(args)
	}
	values = append(values, args[:n]...)
	if o.arity == one && len(values) == 0 {
		return nil, Usagef("argument --%s: expected one argument", o.name)
	}
	if o.arity == atLeastOne && len(values) == 0 {
		return nil, Usagef("argument --%s: expected at least one argument", o.name)
	}
	if p.given[o.bars] {
		return nil, Usagef("argument --%s: not allowed with argument --%s", o.name, o.bars)
	}
	if err := o.set(values); err != nil {
		return nil, Usagef("argument --%s: %v", o.name, err)
	}
	p.given[o.name] = true
	return args[n:], nil
}

// valuesIn counts the arguments ahead of the next option.
func valuesIn(args []string) int {
	n := slices.IndexFunc(args, looksLikeOption)
	if n < 0 {
		return len(args)
	}
	return n
}

// suggest is a line that names what arguments that no option has may stand for, empty
// if nothing is near. argparse has none before Python 3.14.
func (p *Parser) suggest(unknown []string) string {
	var names, near []string
	for _, o := range p.Options {
		names = append(names, o.name)
	}
	for _, arg := range unknown {
		name, long := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if long && name != "" {
			near = append(near, nearest(strings.ReplaceAll(name, "_", "-"), names)...)
		}
	}
	if near == nil {
		return ""
	}
	return "\n(did you mean --" + strings.Join(near, ", --") + "?)"
}

// mostNear is how many names are worth reading.
const mostNear = 3

// nearest is the name with the fewest edits, or else those that have this one among their
// words, as --request-rate has rate.
func nearest(name string, names []string) (near []string) {
	if one := plan.Nearest(name, names); one != "" {
		return []string{one}
	}
	for _, other := range names {
		if strings.Contains("-"+other+"-", "-"+name+"-") && len(near) < mostNear {
			near = append(near, other)
		}
	}
	return near
}
