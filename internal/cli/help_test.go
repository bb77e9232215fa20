package cli

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// wholeGrammar is the parser of all commands.
func wholeGrammar(t *testing.T) *kong.Kong { return parserOf(t, &grammar{}) }

// parserOf is the parser of a grammar, or of a part of it.
func parserOf(t *testing.T, grammar any) *kong.Kong {
	t.Helper()
	none := func(string) (string, bool) { return "", false }
	parser, _, err := newParser(&session.Session{Stdout: io.Discard, Stderr: io.Discard, Env: none}, grammar)
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

// Each command begins with examples that its parser takes, a line each, no wider than a terminal, with a text.
func TestExamples(t *testing.T) {
	race.Skip(t)
	paths := []string{"", "vllm bench sweep serve"}
	for _, node := range wholeGrammar(t).Model.Leaves(true) {
		paths = append(paths, flags.Path(node))
	}
	for _, path := range paths {
		all := flags.Examples(path)
		if len(all) == 0 {
			t.Errorf("%s has no examples", path)
		}
		for _, e := range all {
			if len(e.Line) > 78 || e.Text == "" {
				t.Errorf("%s: has %d columns, and the text %q", e.Line, len(e.Line), e.Text)
			}
			words, err := shell.Split(redirection.ReplaceAllString(e.Line, ""))
			if err != nil || words[0] != "pitot" && words[0] != "kubectl" {
				t.Errorf("%s: %v", e.Line, err)
				continue
			}
			if i := slices.Index(words, "pitot"); i >= 0 {
				args := flags.Asked(words[i+1:])
				if _, _, err := flags.Parse(parserOf(t, onlyCommand(&grammar{}, args)), args); err != nil {
					t.Errorf("%s: %v", e.Line, err)
				}
			}
		}
	}
}

// Examples that need no server, nothing but stored runs, and little time work as they stand.
func TestExamplesRun(t *testing.T) {
	race.Skip(t)
	t.Chdir(t.TempDir())
	env := map[string]string{"PITOT_STORE": filepath.Join(t.TempDir(), "runs.db")}
	run := func(line string) (int, string) {
		words, err := shell.Split(redirection.ReplaceAllString(line, ""))
		if err != nil {
			t.Fatal(err)
		}
		sess, _, stderr := process(t, nil, words[1:]...)
		sess.Env = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
		return Run(sess), stderr.String()
	}
	for _, name := range strings.Fields("before after before-1 after-1 baseline nightly try-1 try-2") {
		run("pitot sim -q -n 40 --rate 20 --name " + name)
	}
	others := regexp.MustCompile(`port|http|FILE|NAME|HOST|\.yaml|\.json |results|vllm serve|5m|replicas|run\.html|'try-\*'$|fail-if|note b|profile:|runs answers`)
	ran := 0
	for _, path := range []string{"sim", "predict", "sweep", "profiles list", "profiles show", "runs", "compare", "note", "plan", "version", "completion"} {
		for _, e := range flags.Examples(path) {
			if others.MatchString(e.Line) && !strings.Contains(e.Line, "--short") {
				continue
			}
			if code, said := run(e.Line); code != exitOK {
				t.Errorf("%s: exit code %d, %s", e.Line, code, said)
			}
			ran++
		}
	}
	if ran < 40 {
		t.Errorf("only %d were run", ran)
	}
}

// helpIn is the help of a command in a language, the short one and the long one, each text on one line.
func helpIn(language, path string) string {
	var out strings.Builder
	env := func(name string) (string, bool) { return "100000", name == "COLUMNS" }
	for _, asked := range []string{" --help", " --help-all"} {
		args := strings.Fields("--lang " + language + " " + path + asked)
		Run(&session.Session{Args: args, Stdout: &out, Stderr: io.Discard, Env: env})
	}
	return out.String()
}

// Each line of a help is translated, and each translation is one of a text that some help has.
func TestHelpIsTranslated(t *testing.T) {
	race.Skip(t)
	paths, english := []string{"vllm bench serve", "vllm bench sweep serve", "sglang bench_serving"}, ""
	_ = kong.Visit(wholeGrammar(t).Model.Node, func(at kong.Visitable, next kong.Next) error {
		if node, ok := at.(*kong.Node); ok && !node.Hidden && !node.Passthrough {
			paths = append(paths, flags.Path(node))
		}
		return next(nil)
	})
	han := func(line string) bool {
		return strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	for _, path := range paths {
		english += helpIn("en", path)
		help, _, _ := strings.Cut(helpIn("zh", path), "usage: ") // that of SGLang's own
		help, _, _ = strings.Cut(help, "\n\n参数及其默认值：\n")         // of vLLM's own
		for line := range strings.Lines(help) {
			if line != "\n" && !han(line) {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
	fixed := regexp.MustCompile(`\$\{[a-z_]+\}|%[ds]`)
	exact := regexp.MustCompile(`[0-9]+|--[a-z][a-z0-9-]+|\$\{(?:default|enum|conform_formats|languages)\}`)
	facts := func(text string) []string {
		return slices.Compact(slices.Sorted(slices.Values(exact.FindAllString(text, -1))))
	}
	for text, translated := range flags.Translation("zh") {
		for _, part := range fixed.Split(text, -1) {
			if !strings.Contains(english, part) {
				t.Errorf("no help has the text %q", text)
			}
		}
		if diff := cmp.Diff(facts(text), facts(translated)); diff != "" {
			t.Errorf("%s\n%s\n%s", text, translated, diff)
		}
	}
}

// The language of a help is that of --lang, wherever it stands, and of the environment; it is as wide as COLUMNS.
func TestLanguageAndWidthOfHelp(t *testing.T) {
	race.Skip(t)
	for line, zh := range map[string]bool{
		"bench --help": false, "bench --help --lang zh": true, "bench --lang=zh_CN -h": true, "LANG=zh_CN.UTF-8 help bench": true, "LC_ALL=zh_TW COLUMNS=50": true,
		"PITOT_LANG=zh bench --help --lang en": false, "LANG=zh_CN LC_ALL=C bench --help": false, "COLUMNS=120 bench --help": false, "LANG=zh COLUMNS=120 capacity --help-all": true,
	} {
		env, args := map[string]string{}, []string{}
		for _, word := range strings.Fields(line) {
			if name, value, ok := strings.Cut(word, "="); ok && !strings.HasPrefix(name, "-") {
				env[name] = value
			} else {
				args = append(args, word)
			}
		}
		sess, stdout, _ := process(t, env, args...)
		code, width := Run(sess), 80
		if env["COLUMNS"] != "" {
			width, _ = strconv.Atoi(env["COLUMNS"])
		}
		if code != exitOK || strings.Contains(stdout.String(), "用法：") != zh {
			t.Errorf("%s: %d\n%s", line, code, stdout)
		}
		widest := 0
		for row := range strings.Lines(stdout.String()) {
			if n := doc.Width(strings.TrimRight(row, "\n")); !strings.HasPrefix(row, "  pitot") {
				widest = max(widest, n)
			}
		}
		if widest > width || widest < width-12 {
			t.Errorf("%s: %d columns", line, widest)
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
	race.Skip(t)
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
		"bench --rate abc":            "pitot: --rate: \"abc\": must be a number: requests per second, such as 10 or 2.5, or inf; a rate that changes is --ramp linear:1..20\n",
		"sweep --rate 5rps":           "must be a number: requests per second, such as 10 or 2.5, or inf; a rate that changes is --ramp linear:1..20\n",
		"bench --warmup few":          "pitot: --warmup: \"few\": must be a whole number, such as 2\n",
		"capacity --output-len 1k":    "pitot: --output-len: \"1k\": must be a whole number; write 1000\n",
		"capacity":                    "pitot: --slo: is missing: objectives, such as ttft.p99=500ms,tpot.p95=50ms\n",
		"bench --server-env a=b=c":    "must be ROLE=TARGET, such as prefill=ssh:HOST or decode=pid:123; targets are local, pid:NUMBER, docker:NAME, podman:NAME, ssh:HOST and kubectl:POD\n",
		"bench --cost 2.5":            "--cost: \"2.5\": needs a unit: 2.5/h\n",
	} {
		sess, stdout, stderr := process(t, nil, strings.Fields(args)...)
		code := Run(sess)
		if got := stderr.String(); code != exitUsage || strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, want) || stdout.String() != "" {
			t.Errorf("%s: exit code %d, said %q, want %q", args, code, got, want)
		}
	}
}
