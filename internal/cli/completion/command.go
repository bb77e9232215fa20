package completion

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Cmd is `pitot completion`.
type Cmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" placeholder:"SHELL" help:"bash, zsh or fish."`
}

// Help says where the script goes.
func (Cmd) Help() string {
	return "In ~/.bashrc: source <(pitot completion bash)\n\nIn ~/.zshrc, below compinit: source <(pitot completion zsh)\n\nIn ~/.config/fish/config.fish: pitot completion fish | source"
}

// Run prints the script.
func (c Cmd) Run(sess *session.Session) error {
	_, err := io.WriteString(sess.Stdout, Script(c.Shell))
	return err
}

// CompleteCmd is the command that the scripts call with the words so far.
type CompleteCmd struct {
	Words []string `arg:"" optional:""`
}

// Run prints the completions, a word and a sentence a line.
func (c CompleteCmd) Run(sess *session.Session, k *kong.Context) error {
	for _, one := range Names(func() []string { return runNames(sess) }).For(k.Model.Node, c.Words) {
		fmt.Fprintf(sess.Stdout, "%s\t%s\n", plain.Line(one.Word), one.Help)
	}
	return nil
}

// mostNames is how many runs are offered.
const mostNames = 50

// runNames are names, else ids, of the newest stored runs; a store is not made for them.
func runNames(sess *session.Session) (names []string) {
	file, err := sess.StorePath("")
	if _, none := os.Stat(file); err != nil || none != nil {
		return nil
	}
	_ = sess.With("", func(runs *store.Store) error {
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
