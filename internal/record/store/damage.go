package store

import (
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Damage is a part of the store that cannot be read. It is an error.
type Damage struct {
	Run string // "" for the database
	// First and Last are the indices of records that cannot be read; both are -1 if it is
	// the run itself, or its telemetry.
	First, Last int
	Records     int // how many of those between First and Last; 0: all
	Missing     int // records that are not there, of unknown indices
	// Telemetry is the part of the telemetry that cannot be read, such as a source with a span of
	// time; empty of records and runs.
	Telemetry string
	Why       error
}

// Error names the damaged object.
func (d *Damage) Error() string {
	switch {
	case d.Run == "":
		return fmt.Sprintf("the database is damaged: %v", d.Why)
	case d.Telemetry != "":
		return fmt.Sprintf("telemetry of run %s is damaged: %s: %v", d.Run, d.Telemetry, d.Why)
	case d.Missing > 0:
		return fmt.Sprintf("%d records of run %s are lost: %v", d.Missing, d.Run, d.Why)
	case d.First < 0:
		return fmt.Sprintf("run %s is damaged: %v", d.Run, d.Why)
	case d.Records > 0:
		return fmt.Sprintf("%d records between %d and %d of run %s are damaged: %v", d.Records, d.First, d.Last, d.Run, d.Why)
	case d.First == d.Last:
		return fmt.Sprintf("record %d of run %s is damaged: %v", d.First, d.Run, d.Why)
	}
	return fmt.Sprintf("records %d to %d of run %s are damaged: %v", d.First, d.Last, d.Run, d.Why)
}

func damagedRun(id string, why error) error {
	return fmt.Errorf("%w; `pitot runs repair` saves what can be read", &Damage{Run: id, First: -1, Last: -1, Why: why})
}

// repairable says of damage to the database what can be done.
func repairable(err error) error {
	if damaged(err) {
		return damagedRun("", err)
	}
	return err
}

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Why }

const (
	// unsampled is noted of a run of which some telemetry cannot be read.
	unsampled plan.Code = "store.telemetry-damaged" // run, parts, why
	// altered is noted of a run that is not as it was stored.
	altered plan.Code = "store.altered" // run, why
	// rebuilt is noted of a run that was made of what a list has of it.
	rebuilt plan.Code = "store.rebuilt"
)

func alteredRun(id string, why error) plan.Message { return plan.Msg(altered, "run", id, "why", why) }

// LeftOut returns the notes of a trace, which may be nil, on records and telemetry that were left
// out.
func LeftOut(t *trace.Trace) []plan.Message {
	if t == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Run.Notes), func(n plan.Message) bool {
		return n.Code != trace.Damaged && n.Code != unsampled && n.Code != altered
	})
}

// note says of a run which records and which telemetry were left out.
func note(run *trace.Run, records, telemetry []*Damage) {
	n := 0
	for _, d := range records {
		switch n += d.Missing; {
		case d.Records > 0:
			n += d.Records
		case d.First >= 0:
			n += d.Last - d.First + 1
		}
	}
	if n > 0 {
		run.Lose(plan.Msg(trace.Damaged, "run", records[0].Run, "records", n, "why", records[0].Why))
	}
	if n := len(telemetry); n > 0 {
		run.Notes = append(run.Notes, plan.Msg(unsampled, "run", telemetry[0].Run, "parts", n, "why", telemetry[0].Why))
	}
}

// noteUnended says of a run without an end how many requests have no record, by its last snapshot: they were in flight,
// or their records were lost with the process.
func (s *Store) noteUnended(run *trace.Run) {
	noted := slices.ContainsFunc(run.Notes, func(n plan.Message) bool { return n.Code == trace.Unended })
	if noted || run.Status != trace.Running && run.Status != Killed {
		return
	}
	var n int
	_ = s.db.QueryRow(`SELECT released - records FROM run JOIN snapshot ON run_id = id
		WHERE id = ? ORDER BY at_ns DESC LIMIT 1`, run.ID).Scan(&n) // 0 without one
	if n > 0 {
		run.Notes = append(run.Notes, plan.Msg(trace.Unended, "run", run.ID, "records", n))
	}
}

// damaged reports that a part of the database file cannot be read, as SQLite found.
func damaged(err error) bool {
	const shortRead = 522
	var e *sqlite.Error
	return code(err) == codeCorrupt || errors.As(err, &e) && e.Code() == shortRead
}

// extent is the largest index that a record of a run has, as far as is known without
// reading one.
func (s *Store) extent(id string) (n int) {
	_ = s.db.QueryRow("SELECT max(records, requests) - 1 FROM run WHERE id = ?", id).Scan(&n)
	return n
}
