package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

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
