// Package store keeps runs on disk, in one SQLite file.
//
// A run exists in the store from its start, and its records arrive as they are
// completed: a Writer commits them four times per second, each time with a snapshot
// of the run's progress. A process that is killed therefore loses at most the
// records of the last quarter of a second, and the rest can be reported like any
// other run. Other processes can follow the run meanwhile: they read the records
// committed since their last read.
//
//	run         one row per run: the columns for lists and filters
//	run_body    the whole run as JSON, without its records
//	record      the records, numbered in commit order
//	snapshot    the progress of a run at each flush
//	figure      computed figures of a run
//
// A list reads only the table run, so it costs the same whatever the runs contain,
// and a damaged run affects no other. The store derives nothing: figures are
// computed elsewhere, stored here by definition and version, and dropped when the
// run changes.
package store

import (
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"path"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Store is an open database. It is safe for concurrent use, also by several
// processes.
type Store struct{ db *sql.DB }

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the database in file, or creates it; its folder must exist.
func Open(file string) (*Store, error) {
	pragmas := url.Values{"_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)",
	}, "_txlock": {"immediate"}}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: pragmas.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	s := &Store{db}
	if err := s.migrate(); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open store %s: %w", file, err)
	}
	return s, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// migrate upgrades the database to the newest version: PRAGMA user_version is the
// number of the last script applied.
func (s *Store) migrate() error {
	scripts, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	var version int
	if err := s.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if err := s.ours(); err != nil {
		return err
	}
	if version > len(scripts) {
		return fmt.Errorf("written by a newer pitot (version %d; this one supports up to %d)", version, len(scripts))
	}
	for n := version + 1; n <= len(scripts); n++ {
		if err := s.apply(n); err != nil {
			return fmt.Errorf("migration %d: %w", n, err)
		}
	}
	return nil
}

// ErrForeign is the error for a database of another program.
var ErrForeign = errors.New("database of another program")

// ours rejects a database that has tables, but not Pitot's.
func (s *Store) ours() error {
	var tables, known int
	err := s.db.QueryRow("SELECT count(*), (SELECT count(*) FROM pragma_table_info('run') WHERE name = 'beat_ns') FROM sqlite_master").Scan(&tables, &known)
	if err == nil && tables > 0 && known == 0 {
		err = ErrForeign
	}
	return err
}

// apply runs the n-th script.
func (s *Store) apply(n int) error {
	script, err := migrations.ReadFile(path.Join("migrations", fmt.Sprintf("%d.sql", n)))
	if err != nil {
		return err
	}
	return s.change(func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version >= n {
			return err // another process was faster
		}
		if err := idle(tx, version); err != nil {
			return err
		}
		_, err := tx.Exec(string(script) + fmt.Sprintf(";PRAGMA user_version = %d", n))
		return err
	})
}

// change calls do in a transaction, which holds the write lock from its start.
func (s *Store) change(do func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// idle rejects a database to which an older Pitot is writing a run: it would no
// longer find its tables, and the rest of the run would be lost.
func idle(tx *sql.Tx, version int) error {
	var live int
	if version == 0 {
		return nil
	}
	err := tx.QueryRow("SELECT count(*) FROM run WHERE status = ? AND beat_ns > ?", trace.Running, time.Now().Add(-silence).UnixNano()).Scan(&live)
	if err == nil && live > 0 {
		err = errors.New("an older pitot is writing a run to it; try again when that run has ended")
	}
	return err
}

// Load reads the run for a reference (see Find) and its records, in workload order.
func (s *Store) Load(ref string) (*trace.Trace, error) {
	l, err := s.Find(ref)
	if err != nil {
		return nil, err
	}
	t := new(trace.Trace)
	if t.Run, err = s.Run(l.ID); err != nil {
		return nil, err
	}
	if t.Records, _, err = s.records("run_id = ? ORDER BY idx", l.ID); err != nil {
		return nil, fmt.Errorf("load run %s: %w", l.ID, err)
	}
	return t, nil
}

// Remove deletes a run and its records.
func (s *Store) Remove(id string) error {
	_, err := s.db.Exec("DELETE FROM run WHERE id = ?", id)
	return err
}
