package session

import (
	"cmp"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Pick is a run that a name stands for.
type Pick struct {
	Label string // of the name, where there are several
	Run   trace.Run
	Load  func() (*trace.Trace, error)
	Store *store.Store // that it is in; nil: it is in a file

	asked string // the name
}

// Merge are the picks of names, found one by one, under the label of each name if there are
// several. A run is picked once: it is no repetition of itself, and nothing to hold against
// itself. Several names with commas between are one: A,B is a variant with the runs of both.
func Merge(names, labels []string, find func(name string) ([]Pick, error)) (picks []Pick, err error) {
	by := map[string]int{} // names, by the ids of their runs
	var errs []error
	for i, name := range names {
		some, err := findAll(name, find)
		errs = append(errs, err)
		label := labels[i]
		if name == Pasted {
			label = "pasted"
		}
		if err == nil && label == name {
			label = called(some, name)
		}
		for _, one := range some {
			other, again := by[one.Run.ID]
			if again && other != i {
				errs = append(errs, Usagef("%s and %s are both run %s; a run belongs to one variant", names[other], name, cmp.Or(one.Run.Name, one.Run.ID)))
				break
			}
			if by[one.Run.ID] = i; again {
				continue
			}
			if one.asked = name; len(names) > 1 {
				one.Label = label
			}
			picks = append(picks, one)
		}
	}
	labelUniquely(picks)
	if len(names) == 1 && names[0] == Pasted {
		beforeAndAfter(picks)
	}
	return picks, errors.Join(errs...)
}

// Pasted is the name for standard input.
const Pasted = "-"

// beforeAndAfter makes two variants of two tables without headings: who pastes two has something
// to compare.
func beforeAndAfter(picks []Pick) {
	bare := func(p Pick) bool {
		return p.Run.Origin != nil && p.Run.Origin.Detail == trace.Table && len(p.Run.Origin.Path) == 0
	}
	if len(picks) == 2 && bare(picks[0]) && bare(picks[1]) {
		picks[0].Run.Origin.Path, picks[1].Run.Origin.Path = []string{"first"}, []string{"second"}
	}
}

// findAll are the picks of a name, or of several with commas between, unless a run has that very name.
func findAll(name string, find func(name string) ([]Pick, error)) ([]Pick, error) {
	picks, err := find(name)
	if err == nil || !strings.Contains(name, ",") {
		return picks, err
	}
	var all []Pick
	for part := range strings.SplitSeq(name, ",") {
		some, why := find(part)
		if why != nil {
			return nil, errors.Join(err, why)
		}
		all = append(all, some...)
	}
	return all, nil
}

// called is the label of runs that were named by ids, or with commas between: the name of the run, or the common
// beginning of their names. Others are called as they were named.
func called(picks []Pick, name string) string {
	if len(picks) == 0 || !strings.Contains(name, ",") && picks[0].Run.ID != name {
		return name
	}
	begin := picks[0].Run.Name
	for _, one := range picks[1:] {
		for !strings.HasPrefix(one.Run.Name, begin) {
			_, size := utf8.DecodeLastRuneInString(begin)
			begin = begin[:len(begin)-size]
		}
	}
	if len(picks) > 1 {
		begin = strings.TrimRight(begin, "-_./# ")
	}
	return cmp.Or(begin, name)
}

// labelUniquely labels runs of different names by these names, where they would share a label.
func labelUniquely(picks []Pick) {
	names := map[string]map[string]bool{} // by label
	for _, one := range picks {
		if names[one.Label] == nil {
			names[one.Label] = map[string]bool{}
		}
		names[one.Label][one.asked] = true
	}
	for i, one := range picks {
		if len(names[one.Label]) > 1 {
			picks[i].Label = one.asked
		}
	}
}

// LabelOf is the label of the runs that a name stands for, or the name.
func LabelOf(picks []Pick, name string) string {
	for _, one := range picks {
		if one.asked == name && name != "" {
			return cmp.Or(one.Label, name)
		}
	}
	return name
}

// A Finder finds runs of a store.
type Finder struct {
	Runs *store.Store
	// Damaged receives the error of a run that cannot be read, and says whether to skip the run, among others of
	// its name.
	Damaged func(error) bool
	// Loaded is shown each trace that was loaded, before anybody else.
	Loaded func(*trace.Trace)
	// Neither begins the error about an unknown run: it says what else the name is not.
	Neither string
	// Journals are those of the names that were experiments.
	Journals []*experiment.Journal
}

// Find are the runs that a name stands for, the oldest first: those of an experiment, of a name
// or a pattern, or the one of an id.
func (f *Finder) Find(name string) (picks []Pick, err error) {
	if picks, err = f.experiment(name); err != nil || picks != nil {
		return picks, err
	}
	var list []store.Listing
	if name != "" {
		if list, err = f.Runs.List(store.Filter{Match: name}); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		if IsPattern(name) {
			n, err := f.Runs.Count(store.Filter{})
			return nil, errors.Join(Usagef("%s: no stored run has this name or id; `pitot runs list` shows all %d", name, n), err)
		}
		found, err := f.Runs.Find(name) // last, or the beginning of an id
		if err != nil {
			return nil, Usagef("%s: %s%w", name, f.Neither, err)
		}
		list = []store.Listing{found}
	}
	for _, l := range slices.Backward(list) { // oldest first
		run, err := f.Runs.Run(l.ID)
		if err != nil && len(list) > 1 && f.Damaged(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		picks = append(picks, f.pick(run))
	}
	return picks, nil
}

func (f *Finder) pick(run trace.Run) Pick {
	return Pick{Run: run, Store: f.Runs, Load: func() (*trace.Trace, error) {
		t, err := f.Runs.Load(run.ID)
		if err == nil {
			f.Loaded(t)
		}
		return t, err
	}}
}

// experiment are the runs of the experiment of that name, those of legs that failed among
// them; none if there is no such experiment.
func (f *Finder) experiment(name string) (picks []Pick, err error) {
	row, err := f.Runs.Experiment(name)
	if errors.Is(err, store.ErrNoExperiment) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j, err := ReadJournal(row)
	if err != nil {
		return nil, err
	}
	for _, l := range j.Legs {
		if l.Status == experiment.Running { // incomplete legs are no evidence
			continue
		}
		for _, made := range l.Runs {
			run, err := f.Runs.Run(made.ID)
			switch {
			case errors.Is(err, store.ErrNoRun): // it was removed
			case err != nil && !f.Damaged(err):
				return nil, err
			case err == nil:
				picks = append(picks, f.pick(run))
			}
		}
	}
	if picks == nil {
		return nil, Usagef("experiment %s has no runs; see `pitot experiment status %s`", name, shell.Quote(name))
	}
	f.Journals = append(f.Journals, j)
	return picks, nil
}

// IsPattern reports whether a name is a pattern.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?") }

// LargeRun is the number of records from which the memory of a run is returned to the system at once.
const LargeRun = 20_000

// Observed loads a run, calls use, which takes the values it needs, and returns the number of records. It lowers
// GOGC meanwhile, so that memory has little more than the run, and returns memory to the system after a large one.
func (p Pick) Observed(use func(*trace.Trace)) (records int, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	defer func() {
		if records >= LargeRun {
			debug.FreeOSMemory()
		}
	}()
	t, err := p.Load()
	if err == nil {
		use(t)
		records = len(t.Records)
	}
	return records, err
}
