package environment

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/shell"
)

// Noted is what the author of a note wrote of a server: its image, packages, and the command
// line that started it. nil: nothing.
func Noted(image string, packages []Version, command string) *Environment {
	e := new(Environment)
	e.Image.Name, e.Image.Digest, _ = strings.Cut(clean(image), "@")
	for _, p := range packages {
		p = Version{clean(p.Name), clean(p.Version)}
		if !slices.ContainsFunc(e.Packages, func(q Version) bool { return normal(q.Name) == normal(p.Name) }) {
			e.Packages = append(e.Packages, p)
		}
	}
	sortPackages(e.Packages)
	e.command(command)
	if e.IsZero() {
		return nil
	}
	e.Bound()
	return e
}

// command reads a command line: variables ahead of it, then words.
func (e *Environment) command(line string) {
	words, err := shell.Split(line)
	if err != nil || len(words) == 0 {
		return
	}
	p := &Process{Env: map[string]string{}}
	for len(words) > 0 {
		name, value, pair := strings.Cut(words[0], "=")
		if !pair || strings.ContainsAny(name, "-/. ") {
			break
		}
		p.Env[name], words = value, words[1:]
	}
	p.Args = words
	Hide(p, nil)
	e.Process = p
}
