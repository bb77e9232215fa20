package fleet

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/cli/flags"
)

// Take takes the flags of a fleet out of a command line of another tool. Names are whole: what is cut
// short is the tool's.
func Take(words []string) (rest []string, f flags.Fleet, err error) {
	parser, err := kong.New(&f, kong.Name("pitot"), kong.NoDefaultHelp(), kong.Exit(func(int) {}))
	if err != nil {
		return nil, f, err
	}
	var own []string
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		at := slices.IndexFunc(parser.Model.Flags, func(one *kong.Flag) bool { return "--"+one.Name == name })
		if words[i] == "--" {
			rest = append(rest, words[i:]...)
			break
		}
		if at < 0 {
			rest = append(rest, words[i])
			continue
		}
		own = append(own, words[i])
		if joined || parser.Model.Flags[at].IsBool() {
			continue
		}
		if i++; i == len(words) || strings.HasPrefix(words[i], "--") {
			return nil, f, console.Usagef("%s: needs a value", name)
		}
		own[len(own)-1] = name + "=" + words[i]
	}
	_, err = parser.Parse(own)
	return rest, f, console.Usage(err)
}

// Help is what the flags of a fleet do, for the help of other tools.
func Help() string {
	var f flags.Fleet
	parser, err := kong.New(&f, kong.NoDefaultHelp())
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, one := range parser.Model.Flags {
		name := "--" + one.Name
		if !one.IsBool() {
			name += " " + one.FormatPlaceHolder()
		}
		b.WriteString("  " + name + "\n      " + one.Help + "\n")
	}
	return b.String()
}
