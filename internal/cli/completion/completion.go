// Package completion completes command lines, and has the scripts for bash, zsh and fish.
//
// A script knows nothing of Pitot: it runs `pitot complete WORD...` with the words so far,
// the last of them begun or empty, and offers the lines that come back. So a shell that was
// set up once knows later flags, too, and names that are stored.
package completion

import (
	"embed"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
)

//go:embed scripts
var scripts embed.FS

// Script is the script that a shell runs at its start: bash, zsh or fish; empty for another one.
func Script(shell string) string {
	b, _ := scripts.ReadFile("scripts/pitot." + shell)
	return string(b)
}

// A Candidate is a word that can stand next.
type Candidate struct {
	Word string
	Help string // one sentence, may be empty
}

// Known are names that a grammar does not have.
type Known struct {
	Values  map[string][]string // of flags, by the flag
	Foreign map[string]Line     // command lines of other tools, by the command
	Runs    func() []string     // names of runs, for the commands in Takes
	Takes   []string            // paths of commands that take runs, such as "runs show"
	Args    map[string][]string // arguments of commands, by their paths
}

// A Line is the command line of another tool: words that stand first, then flags.
type Line struct{ Words, Flags []string }

// For lists completions of the last of words, which may be empty.
func (k Known) For(root *kong.Node, words []string) []Candidate {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // bash divides --flag=value
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	node, flag, rest := walk(root, before)
	if line, foreign := k.Foreign[node.Name]; foreign && node.Passthrough {
		return startingWith(last, line.next(rest))
	}
	prefix := ""
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "--") {
		prefix, last, flag = name+"=", value, flags.FlagOf(node, name)
	}
	var all []Candidate
	switch {
	case flag != nil:
		all = candidates(k.valuesOf(flag))
	case strings.HasPrefix(last, "-"):
		all = flagsOf(node)
	default:
		all = append(commands(node), candidates(k.Args[pathOf(node)])...)
		if slices.Contains(k.Takes, pathOf(node)) {
			all = append(all, candidates(k.Runs())...)
		}
	}
	all = startingWith(last, all)
	for i := range all {
		all[i].Word = prefix + all[i].Word
	}
	return all
}

// walk follows words into the grammar: to a command, and to a flag that a value must follow.
func walk(root *kong.Node, words []string) (node *kong.Node, flag *kong.Flag, rest []string) {
	node = root
	for i, w := range words {
		switch {
		case node.Passthrough:
			return node, nil, words[i:]
		case flag != nil:
			flag = nil
		case strings.HasPrefix(w, "-"):
			if flag = flags.FlagOf(node, w); flag != nil && flag.IsBool() {
				flag = nil
			}
		default:
			if next := flags.Command(node, w); next != nil {
				node = next
			}
		}
	}
	return node, flag, nil
}

func (k Known) valuesOf(f *kong.Flag) []string {
	if f.Enum != "" {
		return f.EnumSlice()
	}
	return k.Values[f.Name]
}

// flagsOf are those of a command, by their long names.
func flagsOf(node *kong.Node) (all []Candidate) {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			all = append(all, Candidate{"--" + f.Name, sentence(f.Help)})
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int { return strings.Compare(a.Word, b.Word) })
	return all
}

func commands(node *kong.Node) (all []Candidate) {
	for _, c := range node.Children {
		if !c.Hidden {
			all = append(all, Candidate{c.Name, sentence(c.Help)})
		}
	}
	if node.Parent == nil {
		all = append(all, Candidate{"help", "Print the help of a command."})
	}
	return all
}

// pathOf is the names of a command and of those above it.
func pathOf(node *kong.Node) string {
	if node.Parent == nil || node.Parent.Parent == nil {
		return node.Name
	}
	return pathOf(node.Parent) + " " + node.Name
}

// next lists the words that can follow a line.
func (l Line) next(before []string) []Candidate {
	if len(before) < len(l.Words) {
		return []Candidate{{Word: l.Words[len(before)]}}
	}
	var all []Candidate
	for _, f := range l.Flags {
		all = append(all, Candidate{Word: "--" + f})
	}
	return all
}

func candidates(words []string) []Candidate {
	all := make([]Candidate, len(words))
	for i, w := range words {
		all[i].Word = w
	}
	return all
}

func startingWith(begun string, all []Candidate) []Candidate {
	return slices.DeleteFunc(all, func(c Candidate) bool { return !strings.HasPrefix(c.Word, begun) })
}

func sentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}
