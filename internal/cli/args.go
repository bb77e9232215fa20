package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// parse parses a command line. A usage error is one of ours.
func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	args, err := withValues(parser.Model.Node, args)
	if err != nil {
		return nil, err
	}
	k, err := parser.Parse(args)
	return k, usage(err)
}

// withValues writes a flag and a value that begins with a dash as one argument: the parser
// would take a negative number for a flag. A flag without its value is told.
func withValues(node *kong.Node, args []string) (out []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" || node.Passthrough {
			return append(out, args[i:]...), nil
		}
		if next := child(node, arg); next != nil {
			node = next
		}
		out = append(out, arg)
		f := flagNamed(node, arg)
		if f == nil || f.IsBool() {
			continue
		}
		i++
		switch {
		case i == len(args) || len(args[i]) > 1 && args[i][0] == '-' && !strings.ContainsRune("0123456789.", rune(args[i][1])):
			return nil, usagef("%s: needs a value", arg)
		case args[i] != "" && args[i][0] == '-':
			out[len(out)-1] = "--" + f.Name + "=" + args[i]
		default:
			out = append(out, args[i])
		}
	}
	return out, nil
}

// child is the command of that name below a node.
func child(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// flagNamed is the flag that an argument names, without a value in it; nil if there is none.
func flagNamed(node *kong.Node, arg string) *kong.Flag {
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

// some wants at least one of what a command works on.
func some(what, command string, given []string) error {
	if len(given) == 0 {
		return usagef("no %s given; see `pitot %s --help`", what, command)
	}
	return nil
}
