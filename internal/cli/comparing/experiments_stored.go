package comparing

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Answers are the experiments of a store for the page, the newest first.
func Answers(s *store.Store, lang *words.Language) (out view.Experiments, err error) {
	rows, err := s.Experiments()
	if err != nil {
		return out, err
	}
	for _, row := range rows {
		j, err := session.ReadJournal(row)
		if err != nil {
			out.Damaged = append(out.Damaged, err.Error())
			continue
		}
		out.Rows = append(out.Rows, newExperimentPage(At(time.Now(), row.Changed, j), lang).row())
	}
	return out, nil
}

// Answer is one of them.
func Answer(s *store.Store, name string, lang *words.Language) (view.Experiment, error) {
	row, err := s.Experiment(name)
	if err != nil {
		return view.Experiment{}, err
	}
	j, err := session.ReadJournal(row)
	if err != nil {
		return view.Experiment{}, err
	}
	var live map[int][]view.LegRun
	if j.Status == experiment.Running {
		if live, err = liveRuns(s, j); err != nil {
			return view.Experiment{}, err
		}
	}
	return newExperimentPage(At(time.Now(), row.Changed, j), lang).answer(live, row.Changed), nil
}

// liveRuns are the runs of an experiment that are under way, by the positions of their legs.
func liveRuns(s *store.Store, j *experiment.Journal) (map[int][]view.LegRun, error) {
	running, err := s.List(store.Filter{Experiment: j.Name, Status: trace.Running, Since: j.Started})
	live := map[int][]view.LegRun{}
	for _, l := range running {
		if run, err := s.Run(l.ID); err == nil && run.Leg != nil { // else it has gone meanwhile
			live[run.Leg.Position] = append(live[run.Leg.Position], view.LegRun{ID: l.ID, Workload: run.Leg.Workload, Running: true})
		}
	}
	return live, err
}

// ErrNoLog says that a leg has no output of a server that could be read.
var ErrNoLog = fmt.Errorf("no log of a server: %w", fs.ErrNotExist)

// endOfLog is how much of it is shown, in bytes.
const endOfLog = 64 << 10

// logName is the form of names of server logs. A store may come from elsewhere, and no other file is opened because
// it says so.
var logName = lazy.Regexp(`^leg-\d{3,}-[^/\\]*\.log$`)

// Log is the end of the output of the server of a leg, with texts like secrets hidden.
func Log(s *store.Store, name string, leg int) (text string, err error) {
	row, err := s.Experiment(name)
	if err != nil {
		return "", err
	}
	j, err := session.ReadJournal(row)
	if err != nil {
		return "", err
	}
	if leg < 1 || leg > len(j.Legs) {
		return "", fmt.Errorf("leg %d: %w", leg, ErrNoLog)
	}
	file := j.Legs[leg-1].Log
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || !logName.MatchString(filepath.Base(file)) || filepath.Dir(file) != filepath.Join(j.Folder, "logs") {
		return "", fmt.Errorf("leg %d: %w", leg, ErrNoLog)
	}
	f, err := files.OpenRegular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-endOfLog), endOfLog))
	return secret.Mask(string(data)), err
}
