package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// runColumns are the columns of run that are derived from its body, in the order of
// runValues.
const runColumns = `name, kind, status, validity, started, model, url, dialect, workload, arrival,
	requests, concurrency, rate, reported_failed, experiment, block, leg, server_start`

// runValues are the values of runColumns; run can be written as JSON.
func runValues(run trace.Run) []any {
	p := run.Plan
	workload, _ := json.Marshal(p.Workload)
	arrival, _ := json.Marshal(p.Arrival)
	values := []any{
		run.Name, run.Kind, run.Status, validity(run), unixNano(run.Started), p.Model, p.URL, p.Dialect, string(workload), string(arrival),
		p.Requests, p.Concurrency, p.Rate, reportedFailed(run.Origin),
	}
	if l := run.Leg; l != nil {
		return append(values, l.Experiment, l.Block, l.Position, sql.Null[int]{V: l.ServerStart, Valid: l.ServerStart != 0})
	}
	return append(values, nil, nil, nil, nil)
}

// reportedFailed is NULL if o has no count of failed requests.
func reportedFailed(o *trace.Origin) (n sql.Null[int]) {
	if o != nil {
		var f trace.ReportedFigure
		f, n.Valid = o.Figure("requests.failed")
		n.V = int(f.Value)
	}
	return n
}

// validity returns the validity of a run, empty without a verdict.
func validity(run trace.Run) string {
	if run.Verdict == nil {
		return ""
	}
	return string(run.Verdict.Validity)
}

// unixNano returns 0 for an unknown time, so that such runs are the oldest.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

var (
	insertRun = "INSERT INTO run (id, beat_ns, " + runColumns + ") VALUES (?, ?" + marks(runColumns) + ")"
	updateRun = "UPDATE run SET (" + runColumns + ") = (" + marks(runColumns)[2:] + ") WHERE id = ?"
)

// marks returns ", ?" for each of columns.
func marks(columns string) string { return strings.Repeat(", ?", strings.Count(columns, ",")+1) }

// insert stores a run in progress.
func (s *Store) insert(run trace.Run) error {
	run.Status, run.End = trace.Running, trace.Never
	labels := run.Labels
	err := s.describe(run, patient, insertRun, append([]any{run.ID, time.Now().UnixNano()}, runValues(run)...),
		"INSERT INTO run_body (body, run_id) VALUES (json_set(?, '$.writer', '"+proc.Identity()+"'), ?)")
	if err == nil && labels != nil {
		_, err = s.Label(run.ID, func(l *trace.Labels) error {
			*l = labels.Acceptable()
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("store run %s: %w", run.ID, err)
	}
	return nil
}

// Update replaces everything stored about a run except its records and its labels.
func (s *Store) Update(run trace.Run) error { return s.update(run, patient) }

func (s *Store) update(run trace.Run, wait time.Duration) error {
	err := s.describe(run, wait, updateRun, append(runValues(run), run.ID), "UPDATE run_body SET body = ? WHERE run_id = ?")
	if err != nil {
		return fmt.Errorf("store the end of run %s: %w", run.ID, err)
	}
	return nil
}

// describe executes one statement on the columns of a run and one on its body. Its note stays as it is (see attach).
func (s *Store) describe(run trace.Run, wait time.Duration, columns string, values []any, body string) error {
	run.Labels = nil // columns of their own
	if o := run.Origin; o != nil && o.Note != nil {
		bare := *o
		bare.Note, run.Origin = nil, &bare
	}
	text, err := json.Marshal(run)
	if err != nil {
		return err
	}
	return s.change(wait, func(tx *sql.Tx) error {
		if _, err := tx.Exec(columns, values...); err != nil {
			return err
		}
		if _, err := tx.Exec(body, string(text), run.ID); err != nil {
			return err
		}
		return forgetFigures(tx, run.ID)
	})
}

// lists reports whether there is a run with an id, be it damaged.
func (s *Store) lists(id string) bool {
	var n int
	err := s.db.QueryRow("SELECT count(*) FROM run WHERE id = ?", id).Scan(&n)
	return err != nil || n > 0
}

// decode reads the body of a run. Stores of version 12 and before have the command line of an
// imported result with its plan.
func decode(body string, run *trace.Run) error {
	err := json.Unmarshal([]byte(body), run)
	if err != nil || run.Origin == nil || run.Origin.Command != nil {
		return err
	}
	var old struct {
		Plan struct {
			Foreign json.RawMessage `json:"foreign"`
		} `json:"plan"`
	}
	err = json.Unmarshal([]byte(body), &old)
	run.Origin.Command = old.Plan.Foreign
	return err
}

// Run reads everything stored about a run except its records.
func (s *Store) Run(id string) (trace.Run, error) {
	run := trace.Run{End: trace.Never}
	var body string
	var beat int64
	var labels trace.Labels
	var tags string
	var note sql.Null[string]
	err := s.db.QueryRow("SELECT body, beat_ns, tags, remark, note FROM run JOIN run_body ON run_id = id WHERE id = ?", id).
		Scan(&body, &beat, &tags, &labels.Remark, &note)
	if err == nil {
		if err = decode(body, &run); err == nil && run.ID != id {
			err = fmt.Errorf("it says that it is run %q", run.ID)
		}
		if err != nil {
			return run, damagedRun(id, err)
		}
	}
	switch {
	case errors.Is(err, sql.ErrNoRows) && !s.lists(id):
		return run, fmt.Errorf("%w: %s", ErrNoRun, id)
	case damaged(err), errors.Is(err, sql.ErrNoRows):
		return run, damagedRun(id, err)
	case err != nil:
		return run, fmt.Errorf("load run %s: %w", id, err)
	}
	run.Status, run.Labels = alive(run.Status, beat), nil
	if labels.Tags = lines(tags); !labels.IsZero() {
		run.Labels = &labels
	}
	if run.Origin != nil && note.Valid {
		run.Origin.Note = &trace.Note{ID: note.V}
	}
	return run, nil
}
