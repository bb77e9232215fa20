package cli

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
)

// experimentNamed is the experiment of that name; nil if there is none.
func experimentNamed(sess *session.Session, name, file string) (j *experiment.Journal) {
	_ = sess.With(file, func(s *store.Store) (err error) { // finding a run reports the error
		row, err := s.Experiment(name)
		if err == nil {
			j, err = session.ReadJournal(row)
		}
		return err
	})
	return j
}

// reportExperiment writes the state of an experiment and, where it has legs to judge, its outcome.
func reportExperiment(sess *session.Session, j *experiment.Journal, dialect string, in flags.StoreFlag) error {
	if dialect == "json" {
		enc := json.NewEncoder(sess.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(j)
	}
	if cmp.Or(dialect, "pitot") != "pitot" {
		return usagef("%s is an experiment; --dialect %s reports a run, such as %s", j.Name, dialect, "`pitot runs list '"+j.Name+"*'`")
	}
	if err := comparing.Status(sess.Stdout, j, sess.Words()); err != nil || len(j.With(experiment.Done)) == 0 {
		return err
	}
	fmt.Fprintln(sess.Stdout)
	v := variants{Runs: []string{j.Name}, Level: "95%", Margin: "2%", StoreFlag: in}
	o, err := v.options("runs report")
	if err != nil {
		return err
	}
	out := new(experiment.Outcome)
	if out.Comparison, err = v.compare(sess, o, nil); err != nil {
		return err
	}
	e, _, err := design.Read("", []byte(j.File))
	if err != nil {
		return err
	}
	err = comparing.PrintOutcome(sess, j, out, e.Same(), true)
	fmt.Fprintln(sess.Stdout, comparison.Closing(out.Whole(), sess.Words()))
	return err
}
