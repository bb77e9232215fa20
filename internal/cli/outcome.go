package cli

import (
	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// adviceOn says after an A/A experiment which comparison is worth making.
func (v variants) adviceOn(sess *session.Session, c compare.Comparison, lang *words.Language) (advice []string) {
	_ = sess.With(v.Store, func(s *store.Store) error { // without it there is no advice
		j, err := journalOf(s, c.Experiment())
		if err == nil {
			advice = comparing.Worthwhile(j, c, lang)
		}
		return err
	})
	return advice
}

// experimentOf is how the runs of a note were made, if one experiment made them all.
func (c noteCmd) experimentOf(sess *session.Session, n comparison.Note) (made *comparison.Experiment, err error) {
	name := comparing.MadeBy(n.Runs)
	if len(c.Runs) != 1 || name == "" {
		return nil, nil
	}
	err = sess.With(c.Store, func(s *store.Store) error {
		j, err := journalOf(s, name)
		if err == nil {
			made, err = comparing.ExperimentOf(n, j)
		}
		return err
	})
	return made, err
}
