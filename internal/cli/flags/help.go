package flags

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// Description stands above all commands.
const Description = "Pitot measures LLM serving endpoints: what they do, how sure that is, and what the load generator itself did to the figures."

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

// helpAsked reports whether a command line asks for help.
func helpAsked(args []string) bool {
	return slices.ContainsFunc(Asked(args), func(arg string) bool { return HelpFlag(arg) || arg == "--"+helpAll })
}

// Path is the words of a command: runs list.
func Path(node *kong.Node) string {
	if node.Parent == nil {
		return ""
	}
	return strings.TrimSpace(Path(node.Parent) + " " + node.Name)
}

// fewFlags are so many that all are shown.
const fewFlags = 25

// PrintHelp is the printer of helps. Of many flags it shows those that people use: settings of a run that are tagged
// often, and others but for those tagged rare. The flag help-all asks for all.
func PrintHelp(sess *session.Session) kong.HelpPrinter {
	return func(_ kong.HelpOptions, ctx *kong.Context) error {
		node, left := ctx.Selected(), 0
		if node == nil {
			node = ctx.Model.Node
		}
		all := slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == helpAll })
		if shown := visible(node); !all && len(shown) > fewFlags {
			for _, f := range shown {
				if !often(f) {
					f.Hidden, left = true, left+1
				}
			}
			for _, f := range ctx.Model.Flags {
				f.Hidden = f.Hidden || f.Tag.Has("rare")
			}
		}
		return newManual(sess).print(ctx.Stdout, node, left)
	}
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
			for _, word := range flagNames(f.Help) {
				bare := strings.TrimPrefix(word, "--")
				if FlagOf(node, word) == nil && FlagOf(node, "--engine-"+bare) != nil {
					f.Help = strings.ReplaceAll(f.Help, word, "--engine-"+bare)
				}
			}
		}
	}
	return nil
}

// flagNames are the flags that a text names, such as --rate.
func flagNames(text string) (names []string) {
	other := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	for _, word := range strings.FieldsFunc(text, other) {
		if strings.HasPrefix(word, "--") {
			names = append(names, word)
		}
	}
	return names
}

// HelpFlag reports whether an argument asks for help.
func HelpFlag(arg string) bool { return arg == "--help" || arg == "-h" }

// VLLM is the help of `pitot vllm bench serve`.
func VLLM(sess *session.Session) string {
	m := newManual(sess)
	m.examples("vllm")
	m.paragraph("Usage: pitot vllm bench serve " + m.in("[flags]"))
	m.paragraph("It takes the flags of vllm bench serve and follows its rules: names may be cut short, underscores are dashes, " +
		"--extra-body.a.b VALUE builds JSON, and --config FILE reads flags from YAML. Flags that are not supported, or that do not " +
		"go together, are refused by name before anything is sent. docs/vllm.md lists them. " +
		"Datasets of the hub are read from a local copy, and downloaded only if PITOT_HF_DOWNLOAD=1.")
	m.foreign("Definitions and report of 2026-11 (release 0.33, the default), 2026-08 (0.28 to 0.32), 2025-12 or 2025-07.")
	return m.text() + vllm.Help()
}

// SGLang is the help of `pitot sglang bench_serving`, which is known as program; given are its
// arguments, which select a version of the flags.
func SGLang(sess *session.Session, program string, given []string) string {
	m := newManual(sess)
	m.examples("sglang")
	m.paragraph("pitot python -m sglang.bench_serving, or pitot sglang bench_serving, takes the flags of sglang.bench_serving " +
		"and follows Python's rules: names may be cut short. docs/sglang.md lists the differences.")
	m.WriteString("\n" + sglang.Usage(program, given))
	m.foreign("Flags, definitions and report of main (default) or of 2026-01 (around release 0.5.6).")
	return m.text() + sglang.Help(given)
}

// VLLMSweep is the help of `pitot vllm bench sweep serve`.
func VLLMSweep(sess *session.Session) string {
	m := newManual(sess)
	m.examples("vllm bench sweep serve")
	m.paragraph("Usage: pitot vllm bench sweep serve --serve-cmd COMMAND --bench-cmd COMMAND " + m.in("[flags]"))
	m.paragraph("Flags, with their defaults:")
	return m.text() + vllm.SweepHelp()
}

// foreign writes the flags that Pitot adds to those of another tool, which follow.
func (m *manual) foreign(forms string) {
	m.table("Flags of Pitot's own:", [][2]string{
		{"--dialect-version FORM", m.in(forms)},
		{"--require-valid", m.in("Exit with 3 unless the run is valid.")},
		{"--fleet URL|local", m.in("Send the requests from the workers of a fleet; its other flags, such as --workers, are those of pitot bench.")},
	}, m.width/2)
	m.paragraph("Every run is kept: see pitot runs. PITOT_STORE names the file.")
	m.paragraph("Flags, with their defaults:")
}
