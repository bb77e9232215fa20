package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// WithValues writes a flag and a value that begins with a dash as one argument: the parser
// would take a negative number for a flag. A flag without its value is an error.
func WithValues(node *kong.Node, args []string) (out []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" || node.Passthrough {
			return append(out, args[i:]...), nil
		}
		if next := Command(node, arg); next != nil {
			node = next
		}
		out = append(out, arg)
		if f := dashed(node, arg); f != nil {
			out[len(out)-1] = "--" + f.Name + "=" + arg[1:]
			continue
		}
		f := FlagOf(node, arg)
		if f == nil || f.IsBool() {
			continue
		}
		i++
		switch {
		case i == len(args) || len(args[i]) > 1 && args[i][0] == '-' && !strings.ContainsRune("0123456789.", rune(args[i][1])):
			return nil, fmt.Errorf("%s: needs a value", arg)
		case args[i] != "" && args[i][0] == '-':
			out[len(out)-1] = "--" + f.Name + "=" + args[i]
		default:
			out = append(out, args[i])
		}
	}
	return out, nil
}

// dashed is the flag of a command for words with a dash before them, such as -TAG; nil if it has
// none, or if the word is a flag itself.
func dashed(node *kong.Node, arg string) *kong.Flag {
	if len(arg) < 2 || arg[0] != '-' || arg[1] == '-' || FlagOf(node, arg) != nil {
		return nil
	}
	i := slices.IndexFunc(node.Flags, func(f *kong.Flag) bool { return f.Tag.Has("dash") })
	if i < 0 {
		return nil
	}
	return node.Flags[i]
}

// Command is the command of a name below a node, nil if there is none.
func Command(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// FlagOf is the flag that an argument names, without a value in it; nil if there is none.
func FlagOf(node *kong.Node, arg string) *kong.Flag {
	long, isLong := strings.CutPrefix(arg, "--")
	for at := node; at != nil; at = at.Parent {
		for _, f := range at.Flags {
			short := len(arg) == 2 && arg[0] == '-' && f.Short != 0 && rune(arg[1]) == f.Short
			if short || isLong && (f.Name == long || slices.Contains(f.Aliases, long)) {
				return f
			}
		}
	}
	return nil
}

// Parse parses a command line, also with values that begin with a dash. If a flag is given two values and takes the
// last, warnings has a remark on it, unless that is a mistake.
func Parse(parser *kong.Kong, args []string) (k *kong.Context, warnings []string, err error) {
	if args, err = WithValues(parser.Model.Node, args); err != nil {
		return nil, nil, err
	}
	if k, err = parser.Parse(args); err != nil {
		return nil, nil, err
	}
	warnings, err = twice(k)
	return k, warnings, err
}

// twice finds flags that are given two values and take only the last: the caller of a script may replace its
// values. Two values of --url are an error.
func twice(k *kong.Context) (warnings []string, err error) {
	given := map[*kong.Flag]string{}
	for _, element := range k.Path {
		f := element.Flag
		if f == nil || f.IsCumulative() || f.IsCounter() {
			continue
		}
		value := valueOf(f, k.Args[len(k.Args)-len(element.Remainder())-1])
		if before, again := given[f]; again && before != value {
			what := fmt.Sprintf("--%s: is given twice, as %s and as %s; ", f.Name, quoted(before), quoted(value))
			if f.Name == "url" {
				return nil, errors.New(what + "give it once, or compare two servers with `pitot ab`")
			}
			warnings = append(warnings, what+"the last one counts")
		}
		given[f] = value
	}
	return warnings, nil
}

// valueOf is the value of a flag in its last argument.
func valueOf(f *kong.Flag, arg string) string {
	name, value, ok := strings.Cut(arg, "=")
	switch {
	case f.IsBool() && strings.HasPrefix(name, "--no-") && f.Name != name[2:] && !slices.Contains(f.Aliases, name[2:]):
		return "false"
	case ok && strings.HasPrefix(name, "--"):
		return value
	case f.IsBool():
		return "true"
	case f.Short != 0 && len(arg) > 2 && strings.HasPrefix(arg, "-"+string(f.Short)):
		return strings.TrimPrefix(arg[2:], "=")
	}
	return arg
}

func quoted(value string) string { return fmt.Sprintf("%.200q", secret.Mask(value)) }
