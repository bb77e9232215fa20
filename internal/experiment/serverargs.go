package experiment

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
)

// serverFlags are the flags of `pitot ab` that take commands.
var serverFlags = []string{"--" + design.Before, "--" + design.After}

// SplitServerArgs returns the words of a command line with those of the commands of servers in it, each of which is
// one word there: secrets are found among them by the word before.
func SplitServerArgs(args []string) (all []string) {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case joined && slices.Contains(serverFlags, name):
			all = append(append(all, name), server.Words(value)...)
		case i > 0 && slices.Contains(serverFlags, args[i-1]):
			all = append(all, server.Words(arg)...)
		default:
			all = append(all, arg)
		}
	}
	return all
}
