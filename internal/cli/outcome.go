package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/cli/experiments"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/note"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// printOutcome writes the verdict, the comparison with what confirms it, what else was seen,
// and what it cost.
func (p *Process) printOutcome(j *experiment.Journal, out *experiment.Outcome, same bool, lang *words.Language) error {
	whole := out.Comparison
	if c := out.Confirmation; c != nil {
		whole.Workloads = slices.Concat(whole.Workloads, c.Workloads)
	}
	o := comparison.Options{Lang: lang}
	if same {
		o.Advice = experiments.Worthwhile(j, whole, lang)
	}
	if p.Screen != nil {
		o.Width, o.Color = p.Screen(), p.colors()
	}
	err := comparison.Text(p.Stdout, whole, o)
	fmt.Fprintln(p.Stdout)
	return errors.Join(err, experiments.Ending(p.Stdout, j, lang))
}

// adviceOn says after an A/A experiment what comparison is worth making.
func (v variants) adviceOn(p *Process, c compare.Comparison, lang *words.Language) (advice []string) {
	_ = p.with(v.Store, func(s *store.Store) error { // without it there is no advice
		j, err := journalOf(s, c.Experiment())
		if err == nil {
			advice = experiments.Worthwhile(j, c, lang)
		}
		return err
	})
	return advice
}

// experimentOf is how the runs of a note were made, if one experiment made them all.
func (c noteCmd) experimentOf(p *Process, n note.Note) (told *note.Experiment, err error) {
	if len(c.Runs) != 1 || len(n.Runs) == 0 || n.Runs[0].Leg == nil {
		return nil, nil
	}
	name := n.Runs[0].Leg.Experiment
	if slices.ContainsFunc(n.Runs, func(r note.Run) bool { return r.Leg == nil || r.Leg.Experiment != name }) {
		return nil, nil
	}
	err = p.with(c.Store, func(s *store.Store) error {
		j, err := journalOf(s, name)
		if err != nil {
			return err
		}
		e, _, err := design.Read("", []byte(j.File))
		if err != nil {
			return err
		}
		if told = experiments.Told(j, e); e.Same() {
			told.Advice = experiments.Worthwhile(j, n.Comparison, n.Lang)
		}
		return nil
	})
	return told, err
}
