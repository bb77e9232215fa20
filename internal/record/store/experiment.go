package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrNoExperiment is wrapped by errors for names that no experiment has.
var ErrNoExperiment = errors.New("no such experiment")

// ErrExperimentExists is wrapped by the error for a new experiment if its name exists.
var ErrExperimentExists = errors.New("an experiment of this name exists")

// ErrExperimentChanged is wrapped by errors for experiments that another process has changed
// or removed.
var ErrExperimentChanged = errors.New("another process has changed or removed it")

// An Experiment is a row of the table of experiments.
type Experiment struct {
	Name    string
	Status  string
	Started time.Time
	Changed time.Time       // last
	Body    json.RawMessage // of package experiment
}

// maxExperiment bounds the body of an experiment, in bytes.
const maxExperiment = 64 << 20

// CreateExperiment stores a new experiment. Its name must be new.
func (s *Store) CreateExperiment(e Experiment) error {
	err := s.change(patient, func(tx *sql.Tx) error {
		r, err := tx.Exec("INSERT INTO experiment (name, status, started, beat_ns, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			e.Name, e.Status, e.Started.UnixNano(), time.Now().UnixNano(), string(e.Body))
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrExperimentExists)
		}
		return nil
	})
	return storing("store experiment "+e.Name, err)
}

// UpdateExperiment replaces status and body of an experiment, and returns when. Nothing is
// replaced, and the error is ErrExperimentChanged, if it was changed after e.Changed; zero
// stands for any time.
func (s *Store) UpdateExperiment(e Experiment) (changed time.Time, err error) {
	now := time.Now().UnixNano()
	err = s.change(patient, func(tx *sql.Tx) error {
		r, err := tx.Exec("UPDATE experiment SET status = ?, beat_ns = max(?, beat_ns + 1), body = ? WHERE name = ? AND (? OR beat_ns = ?)",
			e.Status, now, string(e.Body), e.Name, e.Changed.IsZero(), e.Changed.UnixNano())
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrExperimentChanged)
		}
		return tx.QueryRow("SELECT beat_ns FROM experiment WHERE name = ?", e.Name).Scan(&now)
	})
	return time.Unix(0, now), storing("store experiment "+e.Name, err)
}

// RemoveExperiment deletes an experiment, and with all its runs too.
func (s *Store) RemoveExperiment(name string, all bool) error {
	return s.change(patient, func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM experiment WHERE name = ?", name)
		if err == nil && all {
			_, err = tx.Exec("DELETE FROM run WHERE experiment = ?", name)
		}
		return repairable(cmp.Or(err, dropNotes(tx)))
	})
}

// Experiment reads an experiment.
func (s *Store) Experiment(name string) (Experiment, error) {
	all, err := s.experiments("WHERE name = ?", name)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: %s", ErrNoExperiment, name)
	}
	if err != nil {
		return Experiment{}, err
	}
	return all[0], nil
}

// Experiments reads all experiments, the newest first.
func (s *Store) Experiments() ([]Experiment, error) {
	return s.experiments("ORDER BY started DESC, rowid DESC")
}

func (s *Store) experiments(condition string, args ...any) (out []Experiment, err error) {
	rows, err := s.db.Query(fmt.Sprintf("SELECT name, status, started, beat_ns, substr(body, 1, %d) FROM experiment ", maxExperiment)+condition, args...)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Experiment
		var started, beat int64
		var body string
		if err := rows.Scan(&e.Name, &e.Status, &started, &beat, &body); err != nil {
			return nil, fmt.Errorf("read an experiment: %w", err)
		}
		e.Started, e.Changed, e.Body = time.Unix(0, started), time.Unix(0, beat), json.RawMessage(body)
		out = append(out, e)
	}
	return out, repairable(rows.Err())
}

// storing says what was being done.
func storing(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
