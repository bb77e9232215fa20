package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/completion"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// completionCmd is `pitot completion`.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" placeholder:"SHELL" help:"bash, zsh or fish."`
}

// Help says where the script goes.
func (completionCmd) Help() string {
	return "In ~/.bashrc: source <(pitot completion bash)\n\nIn ~/.zshrc, below compinit: source <(pitot completion zsh)\n\nIn ~/.config/fish/config.fish: pitot completion fish | source"
}

// Run prints the script.
func (c completionCmd) Run(p *Process) error {
	_, err := io.WriteString(p.Stdout, completion.Script(c.Shell))
	return err
}

// completeCmd is what the scripts call with the words so far.
type completeCmd struct {
	Words []string `arg:"" optional:""`
}

// Run prints what can stand next, a word and a sentence a line.
func (c completeCmd) Run(p *Process, k *kong.Context) error {
	for _, one := range completion.Names(p.runNames).For(k.Model.Node, c.Words) {
		fmt.Fprintf(p.Stdout, "%s\t%s\n", plain.Line(one.Word), one.Help)
	}
	return nil
}

// mostNames is how many runs are offered.
const mostNames = 50

// runNames are names, else ids, of the newest stored runs; a store is not made for them.
func (p *Process) runNames() (names []string) {
	file, err := p.storePath("")
	if _, none := os.Stat(file); err != nil || none != nil {
		return nil
	}
	_ = p.with("", func(runs *store.Store) error {
		list, err := runs.List(store.Filter{Limit: mostNames})
		for _, l := range list {
			if l.Name != "" && !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
			names = append(names, l.ID)
		}
		return err
	})
	return append(names, "last")
}
