package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A lab is a folder with a store and an experiment x in it, of simulations.
type lab struct {
	t *testing.T
	s *store.Store
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Chdir(t.TempDir())
	l := &lab{t: t}
	if code, output := l.run("ab -q --name x --blocks 1 --seed 1 --before profile:small-chat --same -- sim -n 2 --output-len 4"); code != exitOK {
		t.Fatal(code, output)
	}
	s, err := store.Open("runs.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l.s = s
	return l
}

// run runs a command line, and returns what it said on both streams.
func (l *lab) run(line string) (code int, output string) {
	l.t.Helper()
	sess, stdout, stderr := process(l.t, nil, strings.Fields(line)...)
	sess.Env = func(name string) (string, bool) { return "runs.db", name == "PITOT_STORE" }
	code = Run(sess)
	return code, stderr.String() + stdout.String()
}

// row is the experiment in the store, with its journal.
func (l *lab) row() (store.Experiment, *experiment.Journal) {
	l.t.Helper()
	row, err := l.s.Experiment("x")
	if err != nil {
		l.t.Fatal(err)
	}
	j := new(experiment.Journal)
	if err := json.Unmarshal(row.Body, j); err != nil {
		l.t.Fatal(err)
	}
	return row, j
}

// edit changes the journal.
func (l *lab) edit(change func(*experiment.Journal)) {
	l.t.Helper()
	row, j := l.row()
	change(j)
	body, err := json.Marshal(j)
	if err == nil {
		row.Body, row.Status = body, string(j.Status)
		_, err = l.s.UpdateExperiment(row)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// expect runs a command line whose exit code and words are known.
func (l *lab) expect(line string, code int, words ...string) {
	l.t.Helper()
	got, output := l.run(line)
	if got != code {
		l.t.Errorf("%s: exit code %d, want %d: %s", line, got, code, output)
	}
	for _, word := range words {
		if !strings.Contains(output, word) {
			l.t.Errorf("%s: said %q, which lacks %q", line, output, word)
		}
	}
}

// dead is a process that has ended, on this machine.
func dead() experiment.Owner {
	o := thisProcess()
	o.Birth = "of another one"
	return o
}

// killed makes the journal that of a process that was killed in a leg, whose run is stored.
func (l *lab) killed(position int) {
	l.edit(func(j *experiment.Journal) {
		j.Status, j.Owner = experiment.Running, dead()
		j.Legs = j.Legs[:position]
		leg := j.Legs[position-1]
		leg.Status, leg.Runs = experiment.Running, nil
	})
}

// Status tells what a killed process cannot have told any more, and the run that it was
// making is void once the experiment goes on.
func TestAKilledExperimentGoesOn(t *testing.T) {
	race.Skip(t)
	l := newLab(t)
	_, j := l.row()
	lost := j.Legs[2].Runs[0].ID
	l.killed(3)
	l.expect("experiment status x", exitOK, "experiment x: interrupted", "leg 3: the process of the experiment ended during it")
	if _, output := l.run("experiment status x --json"); strings.Contains(output, `"running"`) {
		t.Errorf("it is said to be running: %s", output)
	}
	l.expect("experiment resume x", exitOK, "leg 3 of 4", "leg 4 of 4")
	made, err := l.s.Run(lost)
	if err != nil || made.Leg.Void.Code != "experiment.leg-killed" {
		t.Errorf("%+v, %v", made.Leg, err)
	}
	if _, j := l.row(); j.Status != experiment.Done || len(j.With(experiment.Done)) != 4 {
		t.Errorf("%+v", j)
	}
	l.expect("experiment resume x", exitUsage, "is complete")
	l.expect("ab --name x --before profile:small-chat --same -- sim", exitUsage, "go on with `pitot experiment resume x`")
}

// A run of a process that was killed is no evidence, and not said to be running.
func TestAKilledRunIsVoid(t *testing.T) {
	l := newLab(t)
	l.killed(3)
	row, j := l.row()
	w, err := l.s.Create(trace.Run{ID: "cut", Started: time.Now(), Leg: &trace.Leg{Experiment: "x", Variant: "before", Block: 1, Slot: 3, Position: 3}}, store.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	x := &experimentRunner{sess: &session.Session{}, store: l.s, journal: j, changed: row.Changed}
	j.Abandon()
	if err := x.void(j.Legs[2]); err != nil {
		t.Fatal(err)
	}
	if got, err := l.s.Run("cut"); err != nil || got.Leg.Void.IsZero() || got.Status != trace.Interrupted {
		t.Errorf("%+v, %v", got, err)
	}
	_ = w // it was killed
}

func TestARemovedRunIsMadeAgain(t *testing.T) {
	race.Skip(t)
	l := newLab(t)
	_, j := l.row()
	if err := l.s.Remove(j.Legs[1].Runs[0].ID); err != nil {
		t.Fatal(err)
	}
	l.edit(func(j *experiment.Journal) { j.Status = experiment.Interrupted })
	l.expect("experiment resume x", exitOK, "leg 2 is made again: run "+j.Legs[1].Runs[0].ID+" is no longer in the store", "leg 2 of 4")
	if _, j := l.row(); len(j.With(experiment.Done)) != 4 || len(j.Legs) != 5 {
		t.Errorf("%+v", j)
	}
}

// What another process runs is left to it, and what another machine ran goes on when that is
// asked for.
func TestAnExperimentOfAnotherProcess(t *testing.T) {
	race.Skip(t)
	l := newLab(t)
	l.edit(func(j *experiment.Journal) { j.Status, j.Owner = experiment.Running, thisProcess() })
	l.expect("experiment resume x", exitUsage, "is under way in process")
	l.expect("ab --name x --before profile:small-chat --same -- sim", exitUsage, "is under way in process")
	l.expect("ab -q --name y --blocks 1 --before profile:small-chat --same -- sim -n 2", exitOK)
	l.edit(func(j *experiment.Journal) { j.Owner.Host = "elsewhere" })
	l.expect("experiment resume x", exitUsage, "of elsewhere", "pitot experiment resume x --yes")
	l.expect("experiment resume x --yes", exitOK)

	row, j := l.row()
	x := &experimentRunner{sess: &session.Session{}, store: l.s, changed: row.Changed.Add(-1)}
	if err := x.keep(j); !errors.Is(err, store.ErrExperimentChanged) {
		t.Errorf("what another process has stored is replaced: %v", err)
	}
}

// A journal that was edited is refused with a way out, and others are listed all the same.
func TestADamagedJournal(t *testing.T) {
	race.Skip(t)
	l := newLab(t)
	l.edit(func(j *experiment.Journal) { j.Status, j.Legs[1] = experiment.Interrupted, nil })
	for line, code := range map[string]int{"experiment status x": exitFailed, "experiment resume x": exitFailed, "experiment status": exitOK, "compare x": exitFailed} {
		l.expect(line, code, "the journal of experiment x in the store is damaged: legs[1]: is empty", "another --name")
	}
	l.expect("ab -q --name y --blocks 1 --before profile:small-chat --same -- sim -n 2", exitOK, "whether it has left a server running is not known")
	l.expect("experiment status", exitOK, "y")
}

func TestAnEditedJournalFitsNoFile(t *testing.T) {
	race.Skip(t)
	l := newLab(t)
	l.edit(func(j *experiment.Journal) { j.Status, j.Legs[0].Variant = experiment.Interrupted, "other" })
	l.expect("experiment resume x", exitUsage, "leg 1 of the journal is one of other")
	if _, j := l.row(); j.Status != experiment.Interrupted {
		t.Errorf("it is %s", j.Status)
	}
}

// The folder may have been moved, and its file edited: both are told.
func TestTheFolderOfAnExperiment(t *testing.T) {
	race.Skip(t)
	l := newLab(t)
	l.killed(4)
	if err := os.WriteFile("x/experiment.yaml", []byte("name: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.expect("experiment resume x", exitOK, "was changed: experiment x goes on as it began")
	l.killed(4)
	if err := os.Rename("x", "moved"); err != nil {
		t.Fatal(err)
	}
	l.expect("experiment resume x", exitOK, "is not there", "--folder")
	if _, err := os.Stat("x/experiment.yaml"); err != nil {
		t.Error(err)
	}
	l.killed(4)
	l.expect("experiment resume x --folder moved", exitOK)
	if _, j := l.row(); filepath.Base(j.Folder) != "moved" {
		t.Errorf("its folder is %s", j.Folder)
	}
}

// Attempts that came to nothing change no figure: a simulation has the seed of its turn, and its
// drift goes on from the turns ahead of it.
func TestFiguresOfAnExperimentThatWasKilled(t *testing.T) {
	race.Skip(t)
	l := newLab(t)
	if err := errors.Join(l.s.RemoveExperiment("x", true), os.RemoveAll("x")); err != nil {
		t.Fatal(err)
	}
	l.expect("ab -q --name x --blocks 2 --seed 1 --before profile:small-chat --after profile:small-chat,slower=5% -- sim -n 20 --rate 5 --output-len 8 --drift 50% --drift-over 1m", exitOK)
	_, want := l.run("compare x -f csv")
	for _, position := range []int{2, 6} {
		_, j := l.row()
		l.killed(position)
		for _, later := range j.Legs[position:] {
			if err := l.s.Remove(later.Runs[0].ID); err != nil {
				t.Fatal(err)
			}
		}
		l.expect("experiment resume -q x", exitOK)
	}
	l.edit(func(j *experiment.Journal) {
		j.Status = experiment.Interrupted
		if err := l.s.Remove(j.With(experiment.Done)[2].Runs[0].ID); err != nil {
			t.Fatal(err)
		}
	})
	l.expect("experiment resume -q x", exitOK)
	if _, j := l.row(); len(j.With(experiment.Done)) != 8 || len(j.Legs) != 11 {
		t.Errorf("%d legs", len(j.Legs))
	}
	if _, got := l.run("compare x -f csv"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
