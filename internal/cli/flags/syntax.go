package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
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
