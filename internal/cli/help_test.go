package cli

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
)

// wholeGrammar is the parser of all commands.
func wholeGrammar(t *testing.T) *kong.Kong {
	t.Helper()
	parser, _, err := newParser(&session.Session{Stdout: io.Discard, Stderr: io.Discard}, &grammar{})
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// commands are the commands that help lists, without those that take a line of another tool.
func commands(parser *kong.Kong) (all []*kong.Node) {
	for _, n := range parser.Model.Leaves(true) {
		if !n.Passthrough {
			all = append(all, n)
		}
	}
	return all
}

var (
	flagName    = regexp.MustCompile(`(?:^|[^-\w])(--[a-z][a-z0-9-]*[a-z0-9])`)
	redirection = regexp.MustCompile(` > [a-z.]+$`)
	otherDetail = regexp.MustCompile(`pitot ([a-z]+)`)
)

// A help that names a flag which is not there sends people on a search.
func TestHelpNamesFlagsThatExist(t *testing.T) {
	parser, found := wholeGrammar(t), 0
	root := parser.Model.Node
	for _, node := range commands(parser) {
		texts := []string{node.Help, node.Detail}
		for _, f := range node.Flags {
			texts = append(texts, f.Help)
		}
		for _, p := range node.Positional {
			texts = append(texts, p.Help)
		}
		for _, text := range texts {
			for _, name := range flagName.FindAllStringSubmatch(text, -1) {
				found++
				known := flags.FlagOf(node, name[1]) != nil
				for _, other := range append(otherDetail.FindAllStringSubmatch(text, -1), []string{"", "bench"}) {
					n := flags.Command(root, other[1])
					mentioned := other[0] != "" || strings.Contains(text, "bench")
					known = known || mentioned && n != nil && (n.Passthrough || flags.FlagOf(n, name[1]) != nil)
				}
				if !known {
					t.Errorf("%s: there is no %s, which stands in %q", node.FullPath(), name[1], text)
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d names were found", found)
	}
}

// Each command begins with examples that its parser takes, a line each, no wider than a terminal.
func TestExamples(t *testing.T) {
	for _, node := range wholeGrammar(t).Model.Leaves(true) {
		path := flags.Path(node)
		lines := flags.Examples(path)
		if len(lines) == 0 {
			t.Errorf("%s has no examples", path)
		}
		for _, line := range lines {
			text, _, _ := strings.Cut(strings.TrimSpace(line), "   ")
			text = redirection.ReplaceAllString(text, "")
			if len(line) > 80 || strings.HasPrefix(text, "kubectl") {
				if len(line) > 80 {
					t.Errorf("%s: has %d columns", text, len(line))
				}
				continue
			}
			words, err := shell.Split(text)
			if err != nil || words[0] != "pitot" {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if _, _, err := flags.Parse(wholeGrammar(t), words[1:]); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// Few flags are shown, and all by --help-all.
func TestHelpIsShort(t *testing.T) {
	help := func(arg string) string {
		var out strings.Builder
		Run(&session.Session{Args: []string{"bench", arg}, Stdout: &out, Stderr: io.Discard, Env: func(string) (string, bool) { return "", false }})
		return out.String()
	}
	short, long := help("--help"), help("--help-all")
	if n := len(flagName.FindAllString(short, -1)); strings.Count(short, "\n") > 100 || n > 60 {
		t.Errorf("%d lines, %d names", strings.Count(short, "\n"), n)
	}
	if !strings.HasPrefix(short, "Examples:\n  pitot bench ") || !strings.Contains(short, "more flags: pitot bench --help-all\n") {
		t.Error(short)
	}
	for _, name := range []string{"--engine-drift-over", "--fleet-ca", "--think", "--slo"} {
		if !strings.Contains(long, name) {
			t.Errorf("--help-all lacks %s", name)
		}
	}
}

// The words of other programs lead to Pitot's.
func TestMeant(t *testing.T) {
	seen := map[string]string{}
	root := wholeGrammar(t).Model.Node
	for line, words := range flags.CommandsMeant {
		command, _, _ := strings.Cut(strings.TrimPrefix(line, "pitot "), " ")
		if flags.Command(root, command) == nil {
			t.Errorf("%s: there is no such command", line)
		}
		for _, w := range strings.Fields(words) {
			if seen[w] != "" || flags.Command(root, w) != nil {
				t.Errorf("%s is of %s and of %s, or a command", w, seen[w], line)
			}
			seen[w] = line
		}
	}
	bench := flags.Command(root, "bench")
	for name, words := range flags.FlagsMeant {
		if flags.FlagOf(bench, "--"+strings.TrimPrefix(name, "no-")) == nil && flags.FlagOf(bench, "--"+name) == nil {
			t.Errorf("bench has no --%s", name)
		}
		for _, w := range strings.Fields(words) {
			if seen["--"+w] != "" || flags.FlagOf(bench, "--"+w) != nil {
				t.Errorf("--%s is of %s and of %s, or a flag of bench", w, seen["--"+w], name)
			}
			seen["--"+w] = name
		}
	}
}

// A mistake is answered by one line, with what to write, before anything else is printed.
func TestMistakesAreAnswered(t *testing.T) {
	for args, want := range map[string]string{
		"measure":                     "there is no command measure; write pitot bench --url http://HOST:PORT\n",
		"bench --dataset-name random": "unknown flag --dataset-name; write --workload\n",
		"bench --duration 10":         "pitot: --duration: \"10\": needs a unit: 10s, 10m\n",
		"bench -n 10k":                "pitot: --requests: \"10k\": must be a whole number; write 10000\n",
		"bench --output-len 1k":       "pitot: --output-len: \"1k\": must be a whole number; write 1000\n",
		"bench --url 127.0.0.1:8000":  "pitot: --url \"127.0.0.1:8000\": must begin with http:// or https://; write http://127.0.0.1:8000\n",
		"bench --workload multi-turn": "pitot: --workload \"multi-turn\": unknown kind; write chat\n",
		"--url http://127.0.0.1:8000": "the command comes first: pitot bench --url\n",
		"bench --slo ttft:200":        "write ttft=200ms\n",
		"bench --cost 2.5":            "--cost: \"2.5\": needs a unit: 2.5/h\n",
	} {
		sess, stdout, stderr := process(t, nil, strings.Fields(args)...)
		code := Run(sess)
		if got := stderr.String(); code != exitUsage || strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, want) || stdout.String() != "" {
			t.Errorf("%s: exit code %d, said %q, want %q", args, code, got, want)
		}
	}
}
