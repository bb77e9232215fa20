package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// planExperiment prints what an experiment would do, and which changes it could detect by the noise of stored
// experiments.
func planExperiment(sess *session.Session, e *design.Experiment, explain func(plan.Problems) error, file string) error {
	made, err := prepareExperiment(sess, e, explain)
	if err != nil {
		return err
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	runs, err := forecasts(ctx, sess, made)
	if err != nil {
		return err
	}
	before, err := allJournals(sess, file)
	if err != nil {
		return err
	}
	return comparing.Plan(sess.Stdout, made, experiment.Preview(made, machine.Here().Host, runs, before), sess.Words())
}

// forecasts looks into the workloads of the baseline, without a server.
func forecasts(
	ctx context.Context, sess *session.Session, made *experiment.CheckedExperiment,
) (all []*run.Forecast, err error) {
	home := sess.Offline()
	for i, l := range made.Loads[0] {
		f, err := run.Preview(ctx, l.Spec, home.Deps(l.Given, filepath.Join(os.TempDir(), "pitot")))
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", made.Workloads[i].Name, inWords(l.Front, err))
		}
		all = append(all, f)
	}
	return all, nil
}

// allJournals are those of the store, the newest first; none if there is no store yet.
func allJournals(sess *session.Session, file string) (all []*experiment.Journal, err error) {
	path, err := sess.StorePath(file)
	if err != nil || file == "" && !files.Exists(path) {
		return nil, err
	}
	err = sess.With(file, func(s *store.Store) error {
		rows, err := s.Experiments()
		for _, row := range rows {
			if j, err := session.ReadJournal(row); err == nil { // `pitot experiment status` reports damage
				all = append(all, j)
			}
		}
		return err
	})
	return all, err
}
