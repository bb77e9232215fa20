package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A command is parsed by its own grammar alone, and says of itself what it says in the whole one.
func TestACommandIsParsedByItsGrammarAlone(t *testing.T) {
	race.Skip(t)
	var g grammar
	var stdout bytes.Buffer
	sess := &session.Session{Stdout: &stdout, Stderr: &stdout, Env: func(string) (string, bool) { return "", false }}
	helped := func(grammar any, args []string) string {
		parser, exited, err := newParser(sess, grammar)
		if err != nil {
			t.Fatal(err)
		}
		if grammar != any(&g) && args[0] != "--help" && args[0] != "--version" && len(parser.Model.Children) != 1 {
			t.Errorf("%q: parsed among %d commands", args, len(parser.Model.Children))
		}
		stdout.Reset()
		if _, _, err := parse(parser, args); !*exited && err != nil {
			t.Errorf("%q: %v", args, err)
		}
		return stdout.String()
	}
	commands := []string{"python3"}
	for _, name := range commandNames(t) {
		if first, _, _ := strings.Cut(name, " "); first != "complete" && first != "man" { // which know all commands
			commands = append(commands, first)
		}
	}
	for _, name := range slices.Compact(commands) {
		args := []string{name, "--help"}
		part := onlyCommand(&g, args)
		if part == any(&g) {
			t.Errorf("%s is parsed by the whole grammar", name)
		}
		if d := cmp.Diff(helped(&g, args), helped(part, args)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for _, args := range [][]string{{"--help"}, {"--version"}} {
		if d := cmp.Diff(helped(&g, args), helped(onlyCommand(&g, args), args)); d != "" {
			t.Errorf("%s: %s", args[0], d)
		}
	}
	for _, args := range [][]string{nil, {""}, {"help"}, {"complete", "pitot"}, {"benhc"}} {
		if onlyCommand(&g, args) != any(&g) {
			t.Errorf("%q is parsed by a part of the grammar", args)
		}
	}
}
