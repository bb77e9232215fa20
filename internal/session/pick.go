package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// PickHelp describes the forms of an argument.
const PickHelp = "Runs (an id, a name, the beginning of a name path, a pattern such as 'base-*', or last; with commas between, one variant), result files, notes or folders of them, or - for a pasted table."

// A Picker finds the runs that arguments stand for: files and folders first, then
// the store, which is opened when it is needed.
type Picker struct {
	session *Session
	file    string  // of the store
	finder  *Finder // nil until it is needed
	open    []io.Closer
	// Notes receives the texts that runs stand in, by their IDs; nil: they are not read.
	Notes map[string]*trace.Note
}

// NewPicker looks for stored runs in the store that a flag names.
func (s *Session) NewPicker(file string) *Picker { return &Picker{session: s, file: file} }

// Journals are those of arguments that are experiments.
func (k *Picker) Journals() []*experiment.Journal {
	if k.finder == nil {
		return nil
	}
	return k.finder.Journals
}

// Runs is the store of runs, nil if no argument named one.
func (k *Picker) Runs() *store.Store {
	if k.finder == nil {
		return nil
	}
	return k.finder.Runs
}

// Close closes the store that picks are read from.
func (k *Picker) Close() error {
	var errs []error
	for _, c := range slices.Backward(k.open) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Pick resolves every argument.
func (k *Picker) Pick(args []string) ([]Pick, error) {
	picks, err := Merge(args, Labels(args), k.one)
	for _, one := range picks {
		o := one.Run.Origin
		if k.Notes == nil || o == nil || o.Note == nil || k.Notes[o.Note.ID] != nil {
			continue
		}
		note := o.Note
		if len(note.Passages) == 0 {
			var unread error
			if note, unread = k.finder.Runs.Note(note.ID); unread != nil {
				fmt.Fprintln(k.session.Stderr, "pitot:", unread)
				continue
			}
		}
		k.Notes[note.ID] = note
	}
	return picks, err
}

// one finds the runs that an argument names. A folder that has the name of stored runs and no results in it is in
// nobody's way: the plots of a note may be in it.
func (k *Picker) one(arg string) ([]Pick, error) {
	info, err := os.Stat(arg)
	if err != nil && arg != Pasted {
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
	return nil, Usagef("%s: contains no result that can be compared; `pitot import --dry-run` shows what is read", arg)
}

// Labels are short names for arguments: the last part of a path, where that is unique.
func Labels(args []string) []string {
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

func (k *Picker) files(arg string) (picks []Pick, err error) {
	files, problems, err := Files([]string{arg})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		found, more, file, err := f.Read()
		if err != nil {
			return nil, err
		}
		k.open, problems = append(k.open, file), append(problems, more...)
		if k.Notes != nil {
			if err := f.AddNote(found); err != nil {
				return nil, err
			}
		}
		for _, one := range found {
			picks = append(picks, Pick{Run: one.Run, Load: one.Trace})
		}
	}
	k.session.ReportProblems(problems)
	return picks, nil
}

func (k *Picker) stored(arg string) ([]Pick, error) {
	if k.finder == nil {
		runs, err := k.session.OpenRuns(k.file)
		if err != nil {
			return nil, err
		}
		k.finder = &Finder{Runs: runs, Neither: "no file or folder of that name, and ", Damaged: k.session.ReportDamage, Loaded: func(t *trace.Trace) { k.session.ReportSkipped(t) }}
		k.open = append(k.open, runs)
	}
	return k.finder.Find(arg)
}

// experimentIn is the name of the experiment that the folder belongs to; empty: none.
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

// ReportDamage says on stderr that a run is damaged, if an error says so.
func (s *Session) ReportDamage(err error) bool {
	damage := (*store.Damage)(nil)
	if errors.As(err, &damage) {
		fmt.Fprintln(s.Stderr, "pitot:", err)
	}
	return damage != nil
}

// ReportSkipped says on stderr which records of a run were left out.
func (s *Session) ReportSkipped(t *trace.Trace) *trace.Trace {
	for _, n := range store.LeftOut(t) {
		fmt.Fprintln(s.Stderr, "pitot: "+English.Say(n))
	}
	return t
}

// Like are the runs in the store that want says yes to, the newest first, at most limit
// of them; a store that is not there has none.
func (s *Session) Like(file string, limit int, want func(*trace.Run) bool) (traces []*trace.Trace, err error) {
	path, err := s.StorePath(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = s.With(file, func(runs *store.Store) error {
		list, err := runs.List(store.Filter{Kind: trace.Measured, Status: trace.Complete})
		for _, l := range list {
			if len(traces) == limit {
				break
			}
			header, err := runs.Run(l.ID)
			if err != nil || !want(&header) { // a damaged one is no evidence
				continue
			}
			t, err := runs.Load(l.ID)
			if err != nil {
				continue
			}
			traces = append(traces, t)
		}
		return err
	})
	return traces, err
}

// Traces are the runs that arguments stand for: stored ones, files and folders.
func (s *Session) Traces(args []string, file string) (traces []*trace.Trace, err error) {
	k := s.NewPicker(file)
	defer func() { err = errors.Join(err, k.Close()) }()
	picks, err := k.Pick(args)
	if err != nil {
		return nil, err
	}
	for _, one := range picks {
		t, err := one.Load()
		if err != nil {
			return nil, err
		}
		traces = append(traces, t)
	}
	return traces, nil
}
