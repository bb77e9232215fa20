package ingest

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

var starts = lazy.Regexp(`\bsglang\.launch_server\b|\bsglang serve\b|\bvllm serve\b|\bvllm\.entrypoints\.openai\.api_server\b`)

// serverOf is the environment of the server, by lines on the environment of a table, outermost first, and by the
// command line that starts it. nil: they state none.
func serverOf(env [][]string, run []string) *environment.Environment {
	var l environment.Listing
	command := ""
	for _, line := range run { // what stands nearest counts
		switch {
		case command == "" && starts.MatchString(line):
			command = line
		case strings.HasPrefix(line, exporting):
			l.Line(line, true)
		}
	}
	for _, lines := range slices.Backward(env) {
		for _, line := range lines {
			l.Line(line, true)
		}
	}
	return l.Environment(command)
}
