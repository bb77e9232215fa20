package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A pick is a run that an argument stands for.
type pick struct {
	label string // what the argument is called, where there are several
	run   trace.Run
	load  func() (*trace.Trace, error)
}

// pickHelp says what an argument can be.
const pickHelp = "Runs (an id, a name, the beginning of a name path, a pattern such as 'base-*', or last), result files, notes or folders of them."

// A picker finds the runs that arguments stand for: files and folders first, then
// the store, which is opened when it is needed.
type picker struct {
	process *Process
	file    string // of the store
	runs    *store.Store
	open    []io.Closer

	journals []*experiment.Journal // of arguments that are experiments
}

// close lets go of what picks are read from.
func (k *picker) close() error {
	var errs []error
	for _, c := range slices.Backward(k.open) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// pick resolves every argument. A run is picked once: it is no repetition of itself, and
// nothing to hold against itself.
func (k *picker) pick(args []string) (picks []pick, err error) {
	labels := labels(args)
	by := map[string]int{} // arguments, by the ids of their runs
	var errs []error
	for i, arg := range args {
		some, err := k.one(arg)
		errs = append(errs, err)
		for _, one := range some {
			other, again := by[one.run.ID]
			if again && other != i {
				errs = append(errs, usagef("%s and %s are both run %s; a run belongs to one variant", args[other], arg, cmp.Or(one.run.Name, one.run.ID)))
				break
			}
			if by[one.run.ID] = i; again {
				continue
			}
			if len(args) > 1 {
				one.label = labels[i]
			}
			picks = append(picks, one)
		}
	}
	return picks, errors.Join(errs...)
}

// one is what an argument stands for. A folder that has the name of stored runs and no
// results in it is in nobody's way: the plots of a note may be in it.
func (k *picker) one(arg string) ([]pick, error) {
	info, err := os.Stat(arg)
	if err != nil {
		return k.stored(arg)
	}
	if name := experimentIn(arg); name != "" {
		return k.stored(name)
	}
	picks, err := k.files(arg)
	if err != nil || len(picks) > 0 {
		return picks, err
	}
	if info.IsDir() {
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

func (k *picker) files(arg string) (picks []pick, err error) {
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
			picks = append(picks, pick{run: one.Run, load: one.Trace})
		}
	}
	k.process.complain(problems)
	return picks, nil
}

func (k *picker) stored(arg string) (picks []pick, err error) {
	if k.runs == nil {
		if k.runs, err = k.process.openRuns(k.file); err != nil {
			return nil, err
		}
		k.open = append(k.open, k.runs)
	}
	if picks, err = k.experiment(arg); err != nil || picks != nil {
		return picks, err
	}
	var list []store.Listing
	if arg != "" {
		if list, err = k.runs.List(store.Filter{Match: arg}); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		if isPattern(arg) {
			n, err := k.runs.Count(store.Filter{})
			return nil, errors.Join(usagef("%s: no stored run has this name or id; `pitot runs list` shows all %d", arg, n), err)
		}
		found, err := k.runs.Find(arg) // last, or the beginning of an id
		if err != nil {
			return nil, usagef("%s: no file or folder of that name, and %w", arg, err)
		}
		list = []store.Listing{found}
	}
	for _, l := range slices.Backward(list) { // oldest first
		run, err := k.runs.Run(l.ID)
		if err != nil && len(list) > 1 && k.process.passOver(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		picks = append(picks, k.pickOf(run))
	}
	return picks, nil
}

func (k *picker) pickOf(run trace.Run) pick {
	return pick{run: run, load: func() (*trace.Trace, error) {
		t, err := k.runs.Load(run.ID)
		return k.process.tellDamage(t), err
	}}
}

// experiment are the runs of the experiment of that name, those of legs that failed among
// them; none if there is no such experiment.
func (k *picker) experiment(name string) (picks []pick, err error) {
	row, err := k.runs.Experiment(name)
	if errors.Is(err, store.ErrNoExperiment) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j, err := journal(row)
	if err != nil {
		return nil, err
	}
	for _, l := range j.Legs {
		if l.Status == experiment.Running { // what is not complete is no evidence
			continue
		}
		for _, made := range l.Runs {
			run, err := k.runs.Run(made.ID)
			switch {
			case errors.Is(err, store.ErrNoRun): // it was removed
			case err != nil && !k.process.passOver(err):
				return nil, err
			case err == nil:
				picks = append(picks, k.pickOf(run))
			}
		}
	}
	if picks == nil {
		return nil, usagef("experiment %s has no runs; see `pitot experiment status %s`", name, shell.Quote(name))
	}
	k.journals = append(k.journals, j)
	return picks, nil
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

func isPattern(ref string) bool { return strings.ContainsAny(ref, "*?") }
