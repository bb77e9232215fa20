package session

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// ReadJournal reads the journal of an experiment. If its process has ended, it does not count as running.
func ReadJournal(row store.Experiment) (*experiment.Journal, error) {
	j, err := experiment.ReadJournal(row.Body)
	if err != nil {
		return nil, DamagedJournal(row.Name, err)
	}
	j.Name = row.Name
	if j.Status == experiment.Running && !alive(j.Owner) {
		j.Status = experiment.Interrupted
	}
	return j, nil
}

// alive reports whether the process that runs an experiment exists. That of another machine,
// with which this one shares a store, is taken to.
func alive(o experiment.Owner) bool {
	return o.Host != proc.Host() || o.Birth != "" && proc.Birth(o.PID) == o.Birth
}

// DamagedJournal adds a hint to the error of a journal; nil without one.
func DamagedJournal(name string, err error) error {
	if err != nil {
		err = fmt.Errorf("the journal of experiment %s in the store is damaged: %w; its runs are kept; start a new one under another --name", plain.Line(name), err)
	}
	return err
}
