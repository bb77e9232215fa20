package flags

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/session"
)

func fleetParser(f *session.Fleet) (*kong.Kong, error) {
	return kong.New(f, kong.Name("pitot"), kong.NoDefaultHelp(), Numbers, kong.Exit(func(int) {}))
}

// TakeFleet takes the flags of a fleet out of a command line of another tool. Only complete names count:
// abbreviations are the tool's.
func TakeFleet(words []string) (rest []string, f session.Fleet, err error) {
	parser, err := fleetParser(&f)
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
			return nil, f, session.Usagef("%s: needs a value", name)
		}
		own[len(own)-1] = name + "=" + words[i]
	}
	_, err = parser.Parse(own)
	return rest, f, session.Usage(err)
}

// FleetNames are the names of the flags of a fleet.
func FleetNames() (names []string) {
	parser, err := fleetParser(new(session.Fleet))
	if err != nil {
		return nil
	}
	for _, one := range parser.Model.Flags {
		names = append(names, one.Name)
	}
	return names
}
