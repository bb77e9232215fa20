// Package store keeps runs on disk, in one SQLite file.
//
// A run exists in the store from its start, and its records arrive as they are
// completed: a Writer commits them every 0.4 s, each time with a snapshot
// of the run's progress. A process that is killed therefore loses at most the
// records of the last half second, and the rest can be reported like any
// other run. Other processes can follow the run meanwhile: they read the records
// committed since their last read.
//
//	run         one row per run: the columns for lists and filters
//	run_body    the run as JSON, without its records
//	block       the records, some in a row, as columns (trace.Block), numbered in commit order
//	record      those of runs that version 13 and before wrote, one in a row
//	snapshot    the progress of a run at each flush
//	telemetry_  the samples of a run: sources, series, and blocks
//	figure      computed figures of a run
//	observation likewise what comparisons need of it
//	note        the texts that imported runs came from
//	experiment  the state of an experiment; its runs have its name
//	search      likewise of a sweep, or of a search for a capacity
//
// A run's tags and remark, which users write, are columns of run that its writer does not know.
//
// A flush writes one small block. When the small blocks of a run fill a large one, and at the end of the run, they are
// replaced by it in one transaction. Who counts, sorts or pages reads the directory and the heads of blocks, and no
// chunks; blocks overlap by as many requests as were in flight, and a merge puts them into workload order.
//
// Records that cannot be written stay in memory, and at the end of the run go to a
// file in the folder of the store, for Import.
//
// A list reads only the table run, so it costs the same whatever the runs contain,
// and a damaged run affects no other; Repair saves of a damaged store what can be read.
//
// Samples are committed every two seconds, in small blocks that are merged at the end of the run.
// Damaged blocks are left out, like those of records.
//
// The store derives nothing: figures are computed elsewhere, stored here by definition and version,
// and dropped when the run changes.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A Store is an open database. It is safe for concurrent use, also by several
// processes.
type Store struct {
	db   *sql.DB
	file string
	mark files.Mark // of the file, while it has its name

	stmts sync.Map // *sql.Stmt by its text: see exec

	// follow is for Refresh: the mark of the file that the name was last seen to lead to.
	follow struct {
		sync.Mutex
		mark     *files.Mark
		replaced time.Time // last
	}
}

//go:embed migrations/*.sql
var migrations embed.FS

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// migrate upgrades the database to the newest version: PRAGMA user_version is the
// number of the last script applied.
func (s *Store) migrate() error {
	version, err := s.version()
	if err != nil {
		return err
	}
	if err := s.logAhead(); err != nil {
		return err
	}
	for n := max(version+1, oldest); n <= newest; n++ {
		if err := s.apply(n); err != nil {
			return fmt.Errorf("migration %d: %w", n, err)
		}
	}
	return nil
}

// logAhead gives a database a write-ahead log. It retries: where two processes have just created a
// database, SQLite does not wait for the other one's write while this one turns the log on.
func (s *Store) logAhead() error {
	return whileBusy(patient, func() error {
		_, err := s.db.Exec("PRAGMA journal_mode = WAL")
		return err
	})
}

// apply runs the n-th script.
func (s *Store) apply(n int) error {
	text, err := script(n)
	if err != nil {
		return err
	}
	return s.change(patient, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version >= n {
			return err // another process was faster
		}
		if version > 0 { // an older Pitot that writes a run would no longer find its tables
			if err := live(tx); err != nil {
				return err
			}
		}
		_, err := tx.Exec(text + fmt.Sprintf(";PRAGMA user_version = %d", n))
		return err
	})
}

// The time to wait for another process that writes: brief while records can stay in
// memory, patient where there is nothing else to do.
const (
	brief   = 2 * time.Second
	patient = 10 * time.Second
	retry   = 5 * time.Millisecond
)

// change calls do in a transaction, which holds the write lock from its start.
func (s *Store) change(wait time.Duration, do func(*sql.Tx) error) error {
	return s.changeOn(wait, func(_ *sql.Conn, tx *sql.Tx) error { return do(tx) })
}

// changeOn is change with the connection of the transaction.
func (s *Store) changeOn(wait time.Duration, do func(*sql.Conn, *sql.Tx) error) error {
	conn, err := s.db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := begin(conn, wait)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := do(conn, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// exec executes a statement in a transaction, and keeps it prepared for the next time: parsing one takes longer than
// most of those that a run repeats at each flush. Closing the database closes them.
func (s *Store) exec(tx *sql.Tx, text string, args ...any) error {
	stmt, _ := s.stmts.Load(text)
	if stmt == nil {
		_, err := tx.Exec(text, args...)
		return err
	}
	_, err := tx.Stmt(stmt.(*sql.Stmt)).Exec(args...)
	return err
}

// prepare prepares statements for exec; those that cannot be are parsed each time.
func (s *Store) prepare(texts ...string) {
	for _, text := range texts {
		if _, has := s.stmts.Load(text); has {
			continue
		}
		if stmt, err := s.db.Prepare(text); err == nil {
			s.stmts.Store(text, stmt)
		}
	}
}

// begin waits for the write lock itself: SQLite would do so for the same time everywhere.
func begin(conn *sql.Conn, wait time.Duration) (*sql.Tx, error) {
	patience := func(d time.Duration) error {
		_, err := conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
		return err
	}
	if err := patience(0); err != nil {
		return nil, err
	}
	var tx *sql.Tx
	err := whileBusy(wait, func() (err error) {
		tx, err = conn.BeginTx(context.Background(), nil)
		return err
	})
	return tx, cmp.Or(err, patience(patient))
}

// whileBusy tries again for as long as another process holds a lock, and no longer than wait.
func whileBusy(wait time.Duration, try func() error) error {
	for start := time.Now(); ; time.Sleep(retry) {
		if err := try(); code(err) != codeBusy || time.Since(start) >= wait {
			return err
		}
	}
}

// live is the error for a database to which a run is being written.
func live(tx *sql.Tx) error {
	var n int
	err := tx.QueryRow("SELECT count(*) FROM run WHERE status = ? AND beat_ns > ?", trace.Running, time.Now().Add(-silence).UnixNano()).Scan(&n)
	if err == nil && n > 0 {
		err = errors.New("another pitot is writing a run to it; try again when that run has ended")
	}
	return err
}

// Load reads the run for a reference (see Find) with its records, in workload order, and its
// telemetry. Damaged parts are left out, with a note on the run. The error for a damaged run is a
// *Damage.
func (s *Store) Load(ref string) (*trace.Trace, error) { return s.load(ref, true) }

// Telemetry is Load without the records.
func (s *Store) Telemetry(ref string) (*trace.Trace, error) { return s.load(ref, false) }

func (s *Store) load(ref string, records bool) (*trace.Trace, error) {
	l, err := s.Find(ref)
	if err != nil {
		return nil, err
	}
	t := new(trace.Trace)
	if t.Run, err = s.Run(l.ID); err != nil {
		return nil, err
	}
	var lost, unread, changed []*Damage
	if records {
		t.Records, lost, changed, err = s.readAll(l.ID)
	}
	if err == nil {
		t.Telemetry, unread, err = s.readTelemetry(l.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("load run %s: %w", l.ID, err)
	}
	s.noteUnended(&t.Run)
	note(&t.Run, lost, unread)
	for _, d := range changed {
		t.Run.Notes = append(t.Run.Notes, alteredRun(d.Run, d.Why))
	}
	return t, nil
}

// Remove deletes a run with its records and its telemetry, and the note that no other run came from.
func (s *Store) Remove(id string) error {
	return s.change(patient, func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM run WHERE id = ?", id)
		return repairable(cmp.Or(err, dropNotes(tx)))
	})
}

// File is the name of the file that the store is in.
func (s *Store) File() string { return s.file }
