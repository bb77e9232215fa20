package ingest

import (
	"regexp"

	"github.com/pitot-bench/pitot/internal/record/environment"
)

var (
	imageOf   = regexp.MustCompile(`(?i)^(?:docker |container )?(?:image|镜像)\s*[:：=]\s*(\S+)`)
	packageOf = regexp.MustCompile(`^([A-Za-z][\w.-]*)(?:==|\s+)v?(\d+\.\d+(?:\.|\+)\S+)(?:\s+\S+)?$`)
	starts    = regexp.MustCompile(`\bsglang\.launch_server\b|\bsglang serve\b|\bvllm serve\b|\bvllm\.entrypoints\.openai\.api_server\b`)
)

// serverOf is the environment of the server, by lines on the environment of a table: its image,
// packages as `pip list` or a requirements file has them, and the command that starts it. nil:
// they tell none.
func serverOf(around []string) *environment.Environment {
	image, command := "", ""
	var packages []environment.Version
	for _, line := range around {
		if m := imageOf.FindStringSubmatch(line); m != nil && image == "" {
			image = m[1]
		} else if m := packageOf.FindStringSubmatch(line); m != nil {
			packages = append(packages, environment.Version{Name: m[1], Version: m[2]})
		} else if command == "" && starts.MatchString(line) {
			command = line
		}
	}
	return environment.Noted(image, packages, command)
}
