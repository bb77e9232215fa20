package server

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// Check returns the mistakes in the settings of a server that Pitot is to start, under their
// names in a file.
func Check(s design.ServerSetup) (p plan.Problems) {
	runner := cmp.Or(s.Runner, design.Local)
	if _, known := runners[runner]; !known {
		p.OneOf("runner", string(runner), runnerNames()...)
		return p
	}
	boxed := runner == design.Docker || runner == design.Podman
	p.If(boxed && s.Image == "", "image", nil, "%s needs one", runner)
	p.If(boxed && operators(s.Command), "command", nil, "arguments of the image: operators of a shell are none; sh -c '...' runs a script there")
	p.If(!boxed && s.Image != "", "image", nil, "only docker and podman have one")
	p.If(runner == design.SSH && (s.Host == "" || s.Host[0] == '-'), "host", nil, "must be USER@HOST")
	p.If(runner == design.Kubectl && s.Deployment == "", "deployment", nil, "kubectl needs its name, also beside a manifest")
	p.If(runner == design.Kubectl && s.Command != "", "command", nil, "kubectl runs what the deployment says")
	p.If(runner == design.Kubectl && len(s.Env) > 0, "env", nil, "kubectl sets none: put it into the manifest")
	p.If(!boxed && runner != design.Kubectl && strings.TrimSpace(s.Command) == "", "command", nil, "must be given")
	p.If(runner != design.Kubectl && s.Deployment+s.Manifest != "", "deployment", nil, "only kubectl has one")
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		p.If(!variable.MatchString(name), "env."+name, nil, "must be the name of a variable")
	}
	p.If(s.ReadyTimeout < 0, "ready_timeout", nil, "must not be negative")
	p.If(s.StopTimeout < 0, "stop_timeout", nil, "must not be negative")
	return p
}

var variable = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// operators reports whether sh would take part of a text as more than words.
func operators(text string) bool {
	quote := rune(0)
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case strings.ContainsRune(";&|<>()\n`", r):
			return true
		}
	}
	return quote != 0 || escaped || strings.ContainsRune(text, '`') || strings.Contains(text, "$(")
}

// Words are those of a command line for a shell, without its quotes: enough to find secrets in
// it.
func Words(line string) (all []string) {
	var word strings.Builder
	quote := rune(0)
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && strings.ContainsRune(" \t\n;&|", r):
			if word.Len() > 0 {
				all = append(all, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	if quote != 0 { // it has no end: a mistake, reported later
		all = append(all, strings.Fields(word.String())...)
	}
	return all
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func installed(program string) (string, error) {
	path, err := proc.Find(program)
	if err != nil {
		return "", notInstalled(program)
	}
	return path, nil
}
