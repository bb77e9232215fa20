package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// Parse parses a command line, a flag and a value that begins with a dash among it, and refuses flags with two values.
func Parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	args, err := WithValues(parser.Model.Node, args)
	if err != nil {
		return nil, err
	}
	k, err := parser.Parse(args)
	if err != nil {
		return nil, err
	}
	return k, once(k)
}

// once refuses a flag that is given two values and keeps the last one only.
func once(k *kong.Context) error {
	given := map[*kong.Flag]string{}
	for _, element := range k.Path {
		f := element.Flag
		if f == nil || f.IsCumulative() || f.IsCounter() {
			continue
		}
		value := valueOf(f, k.Args[len(k.Args)-len(element.Remainder())-1])
		if before, twice := given[f]; twice && before != value {
			return fmt.Errorf("--%s: is given twice, as %s and as %s; give it once%s", f.Name, quoted(before), quoted(value), instead[f.Name])
		}
		given[f] = value
	}
	return nil
}

// instead is what can be done with two values of a flag.
var instead = map[string]string{"url": ", or compare two servers with `pitot ab`"}

// valueOf is the value that a flag has in the last argument of its own.
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
