package flags

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// Description stands above all commands.
const Description = `Pitot measures LLM serving endpoints: what they do, how sure that is, and what
the load generator itself did to the figures.

Examples:
  pitot bench                                      the built-in engine, to look around
  pitot bench --url http://127.0.0.1:8000 -c 16 --duration 1m
  pitot vllm bench serve --model NAME --num-prompts 100
  pitot sglang bench_serving --num-prompts 100     the lines that you have, and Pitot's verdict
  pitot watch http://127.0.0.1:8000                what a server does now, without any load
  pitot serve --profile small-chat                 a server to try clients against
  pitot runs list                                  what was measured so far
  pitot compare before after                       better, worse, the same, or undecided
  pitot predict small-chat --rate 5 --slo ttft.p99=50ms
  pitot plan -- bench --rate 5                     what a line would send, without sending it
  pitot help bench                                 a command; --help-all has all its flags`

// Asked turns requests for help into the flag that the parser knows: an empty line, and the word help before a
// command.
func Asked(args []string) []string {
	asked := len(args) == 0
	for len(args) > 0 && args[0] == "help" {
		asked, args = true, args[1:]
	}
	if asked {
		return append(slices.Clip(args), "--help")
	}
	return args
}

//go:embed examples.txt
var examples string

// Examples are the lines of examples of a command, such as "runs list", those of the commands below it among them.
func Examples(path string) (lines []string) {
	under := ""
	for line := range strings.Lines(examples) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, " ") {
			under = line
		} else if under == path || strings.HasPrefix(under, path+" ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Path is the words of a command: runs list.
func Path(node *kong.Node) string {
	if node.Parent == nil {
		return ""
	}
	return strings.TrimSpace(Path(node.Parent) + " " + node.Name)
}

// mostExamples are those that a help begins with.
const mostExamples = 5

// fewFlags are so many that all are shown.
const fewFlags = 25

// PrintHelp prints the help of a command: its examples, then what it is, then its flags. Of many flags it shows those
// that people use: settings of a run that are tagged often, and others but for those tagged rare. The flag help-all
// asks for all.
func PrintHelp(o kong.HelpOptions, ctx *kong.Context) error {
	node, left := ctx.Selected(), 0
	if node == nil {
		return kong.DefaultHelpPrinter(o, ctx)
	}
	path := Path(node)
	if lines := Examples(path); len(lines) > 0 {
		lines = lines[:min(len(lines), mostExamples)]
		fmt.Fprintf(ctx.Stdout, "Examples:\n%s\n\n", strings.Join(lines, "\n"))
	}
	all := slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == helpAll })
	if shown := visible(node); !all && len(shown) > fewFlags {
		for _, f := range shown {
			if !often(f) {
				f.Hidden, left = true, left+1
			}
		}
	}
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil || left == 0 {
		return err
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\n%d more flags: pitot %s --%s\n", left, path, helpAll)
	return err
}

// helpAll is the name of the flag that shows all flags.
const helpAll = "help-all"

// visible are the flags of a command that its help can show.
func visible(node *kong.Node) (all []*kong.Flag) {
	for _, f := range node.Flags {
		if !f.Hidden {
			all = append(all, f)
		}
	}
	return all
}

// often reports whether people use a flag.
func often(f *kong.Flag) bool {
	if setting := f.Tag.Get("path") != ""; setting {
		return f.Tag.Has("often") && !strings.HasPrefix(f.Name, "engine-")
	}
	return !f.Tag.Has("rare")
}

// AllHelp is the flag --help-all.
type AllHelp bool

// BeforeReset prints the help, and ends.
func (AllHelp) BeforeReset(ctx *kong.Context) error {
	err := ctx.PrintUsage(false)
	ctx.Exit(0)
	return err
}

// EngineNames mends the names of flags of the engine in its help, for commands where a prefix stands before them.
func EngineNames(k *kong.Kong) error {
	for _, node := range k.Model.Children {
		for _, f := range node.Flags {
			for _, word := range strings.FieldsFunc(f.Help, func(r rune) bool { return strings.ContainsRune(" ,;.", r) }) {
				name, flag := strings.CutPrefix(word, "--")
				if flag && FlagOf(node, word) == nil && FlagOf(node, "--engine-"+name) != nil {
					f.Help = strings.ReplaceAll(f.Help, word, "--engine-"+name)
				}
			}
		}
	}
	return nil
}

// HelpFlag reports whether an argument asks for help.
func HelpFlag(arg string) bool { return arg == "--help" || arg == "-h" }

const ownFlags = `
Flags of Pitot's own:
  --dialect-version FORM    FORMS
  --require-valid           exit with 3 unless the run is valid
  --fleet URL|local         send the requests from the workers of a fleet; its other
                            flags, such as --workers N, are those of pitot bench

Every run is kept: see pitot runs. PITOT_STORE names the file.
`

const flagsOf = "\nFlags, with their defaults:\n"

// VLLM is the help of `pitot vllm bench serve`.
func VLLM() string {
	return `usage: pitot vllm bench serve [flags]

pitot vllm bench serve takes the flags of vllm bench serve and follows its rules:
names may be cut short, underscores are dashes, --extra-body.a.b VALUE builds JSON,
and --config FILE reads flags from YAML. Flags that are not supported, or that do not
go together, are refused by name before anything is sent. docs/vllm.md lists them.
Datasets of the hub are read from a local copy, and downloaded only if
PITOT_HF_DOWNLOAD=1.
` + own("definitions and report of 2026-11 (release 0.33, the\n                            default), 2026-08 (0.28 to 0.32), 2025-12 or 2025-07") +
		flagsOf + vllm.Help()
}

// SGLang is the help of `pitot sglang bench_serving`, which is known as program; given are its
// arguments, which select a version of the flags.
func SGLang(program string, given []string) string {
	return `pitot python -m sglang.bench_serving, or pitot sglang bench_serving, takes the flags of
sglang.bench_serving and follows Python's rules: names may be cut short.
docs/sglang.md lists the differences.
` + own("flags, definitions and report of main (default) or of\n                            2026-01 (around release 0.5.6)") + "\n" +
		sglang.Usage(program, given) + flagsOf + sglang.Help(given)
}

func own(forms string) string { return strings.Replace(ownFlags, "FORMS", forms, 1) }
