package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/cli/experiments"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// planExperiment prints what an experiment would do, and what it would be able to tell by
// the experiments that are in the store.
func (p *Process) planExperiment(e *design.Experiment, explain func(plan.Problems) error, file string) error {
	made, err := p.prepared(e, explain)
	if err != nil {
		return err
	}
	ctx, release := p.untilInterrupt(context.Background())
	defer release()
	runs, err := p.foresee(ctx, made)
	if err != nil {
		return err
	}
	before, err := p.journals(file)
	if err != nil {
		return err
	}
	return experiments.Plan(p.Stdout, made, experiment.Foresee(made, p.environment().Host, runs, before), english)
}

// foresee looks into the workloads of the baseline, without a server.
func (p *Process) foresee(ctx context.Context, made *experiment.Plan) (all []*run.Forecast, err error) {
	home := p.offline()
	for i, l := range made.Loads[0] {
		own := l.Made.(*compiled)
		f, err := run.Foresee(ctx, l.Spec, home.deps(own.given, filepath.Join(os.TempDir(), "pitot")))
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", made.Workloads[i].Name, inWords(own.front, err))
		}
		all = append(all, f)
	}
	return all, nil
}

// journals are those of the store, the newest first; none if there is no store yet.
func (p *Process) journals(file string) (all []*experiment.Journal, err error) {
	path, err := p.storePath(file)
	if err != nil || file == "" && !files.Exists(path) {
		return nil, err
	}
	err = p.with(file, func(s *store.Store) error {
		rows, err := s.Experiments()
		for _, row := range rows {
			if j, err := experiments.Read(row); err == nil { // `pitot experiment status` tells of damage
				all = append(all, j)
			}
		}
		return err
	})
	return all, err
}
