package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// pickHelp says what an argument can be.
const pickHelp = "Runs (an id, a name, the beginning of a name path, a pattern such as 'base-*', or last; with commas between, one variant), result files, notes or folders of them, or - for a pasted table."

// A picker finds the runs that arguments stand for: files and folders first, then
// the store, which is opened when it is needed.
type picker struct {
	process *Process
	file    string            // of the store
	finder  *comparing.Finder // nil until it is needed
	open    []io.Closer
}

// journals are those of arguments that are experiments.
func (k *picker) journals() []*experiment.Journal {
	if k.finder == nil {
		return nil
	}
	return k.finder.Journals
}

// close lets go of what picks are read from.
func (k *picker) close() error {
	var errs []error
	for _, c := range slices.Backward(k.open) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// pick resolves every argument.
func (k *picker) pick(args []string) ([]comparing.Pick, error) {
	return comparing.Together(args, labels(args), k.one)
}

// one is what an argument stands for. A folder that has the name of stored runs and no
// results in it is in nobody's way: the plots of a note may be in it.
func (k *picker) one(arg string) ([]comparing.Pick, error) {
	info, err := os.Stat(arg)
	if err != nil && arg != comparing.Pasted {
		return k.stored(arg)
	}
	if name := experimentIn(arg); name != "" {
		return k.stored(name)
	}
	picks, err := k.files(arg)
	if err != nil || len(picks) > 0 {
		return picks, err
	}
	if info != nil && info.IsDir() {
		if picks, err = k.stored(arg); err == nil {
			return picks, nil
		}
	}
	return nil, usagef("%s: contains no result that can be compared; `pitot import --dry-run` shows what is read", arg)
}

// labels are short names for arguments: of a path its last part, where that tells
// them apart.
func labels(args []string) []string {
	short := make([]string, len(args))
	for i, arg := range args {
		short[i] = arg
		if _, err := os.Stat(arg); err == nil {
			base := filepath.Base(filepath.Clean(arg))
			short[i] = strings.TrimSuffix(base, filepath.Ext(base))
		}
	}
	for i, s := range short {
		if slices.Contains(short[:i], s) || slices.Contains(short[i+1:], s) {
			return slices.Clone(args)
		}
	}
	return short
}

func (k *picker) files(arg string) (picks []comparing.Pick, err error) {
	files, problems, err := sourceFiles([]string{arg})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		found, more, file, err := f.Read()
		if err != nil {
			return nil, err
		}
		k.open, problems = append(k.open, file), append(problems, more...)
		for _, one := range found {
			picks = append(picks, comparing.Pick{Run: one.Run, Load: one.Trace})
		}
	}
	k.process.complain(problems)
	return picks, nil
}

func (k *picker) stored(arg string) ([]comparing.Pick, error) {
	if k.finder == nil {
		runs, err := k.process.openRuns(k.file)
		if err != nil {
			return nil, err
		}
		k.finder = &comparing.Finder{Runs: runs, Neither: "no file or folder of that name, and ", Damaged: k.process.passOver, Loaded: func(t *trace.Trace) { k.process.tellDamage(t) }}
		k.open = append(k.open, runs)
	}
	return k.finder.Find(arg)
}

// experimentIn is the name of the experiment whose folder this is; empty: of none.
func experimentIn(folder string) string {
	data, err := files.ReadSmall(filepath.Join(folder, "experiment.yaml"))
	if err != nil {
		return ""
	}
	e, _, err := design.Read("", data)
	if err != nil {
		return ""
	}
	return e.Name
}

// passOver says on stderr that a run is damaged, if that is what an error says.
func (p *Process) passOver(err error) bool {
	damage := (*store.Damage)(nil)
	if errors.As(err, &damage) {
		fmt.Fprintln(p.Stderr, "pitot:", err)
	}
	return damage != nil
}

// tellDamage says on stderr which records of a run were left out.
func (p *Process) tellDamage(t *trace.Trace) *trace.Trace {
	for _, n := range store.LeftOut(t) {
		fmt.Fprintln(p.Stderr, "pitot: "+english.Say(n))
	}
	return t
}
