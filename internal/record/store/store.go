// Package store keeps runs on disk, in one SQLite file.
//
// A run is there from its first moment, and its records arrive as they are
// completed: a Writer commits them a few times a second. A process that is
// killed in the middle of a run therefore loses at most the records of the last
// second, and what it left can be reported like any other run. Nothing is
// derived here: figures are computed from the records when they are asked for.
package store

import (
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Store is an open database. It is safe for concurrent use, also by several
// processes.
type Store struct{ db *sql.DB }

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the database in file, or makes one; its folder must exist.
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

// migrate brings the database to the newest version: PRAGMA user_version is the
// number of the last script that ran.
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
		return fmt.Errorf("it was written by a newer pitot (version %d, this one knows %d)", version, len(scripts))
	}
	for n := version + 1; n <= len(scripts); n++ {
		if err := s.apply(n); err != nil {
			return fmt.Errorf("migration %d: %w", n, err)
		}
	}
	return nil
}

// ErrForeign is the error for a database that is not pitot's.
var ErrForeign = errors.New("it is the database of another program")

// ours refuses the database of another program: one with tables, but not our own.
func (s *Store) ours() error {
	var tables, known int
	err := s.db.QueryRow("SELECT count(*), (SELECT count(*) FROM pragma_table_info('run') WHERE name = 'beat_ns') FROM sqlite_master").Scan(&tables, &known)
	if err == nil && tables > 0 && known == 0 {
		err = ErrForeign
	}
	return err
}

func (s *Store) apply(n int) error {
	script, err := migrations.ReadFile(path.Join("migrations", fmt.Sprintf("%d.sql", n)))
	if err != nil {
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it has nothing to do
	var version int
	if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version >= n {
		return err // another process was faster
	}
	if _, err := tx.Exec(string(script) + fmt.Sprintf(";PRAGMA user_version = %d", n)); err != nil {
		return err
	}
	return tx.Commit()
}

// A Listing is a run in a list.
type Listing struct {
	Run     trace.Run
	Records int
	Failed  int
}

// silence is how long a run that claims to be running may give no sign of life.
const silence = 5 * time.Second

// Killed is the status of a run whose process ended without ending the run.
const Killed trace.Status = "killed"

// List returns the runs, newest first.
func (s *Store) List() ([]Listing, error) {
	rows, err := s.db.Query(`SELECT body, beat_ns,
		(SELECT count(*) FROM record WHERE run_id = run.id),
		(SELECT count(*) FROM record WHERE run_id = run.id AND class <> '')
		FROM run ORDER BY started DESC, rowid DESC`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Listing
	for rows.Next() {
		var l Listing
		var body string
		var beat int64
		if err := rows.Scan(&body, &beat, &l.Records, &l.Failed); err != nil {
			return nil, err
		}
		if l.Run, err = decodeRun(body, beat); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, rows.Err()
}

func decodeRun(body string, beat int64) (trace.Run, error) {
	run := trace.Run{End: trace.Never}
	if err := json.Unmarshal([]byte(body), &run); err != nil {
		return run, fmt.Errorf("read a run: %w", err)
	}
	if run.Status == trace.Running && time.Since(time.Unix(0, beat)) > silence {
		run.Status = Killed
	}
	return run, nil
}

// ErrNoRun is wrapped by the error for a reference that names no run.
var ErrNoRun = errors.New("no such run")

// Find turns a reference into the id of a run. A reference is an id, a unique
// beginning of one, a name (of several runs of that name the newest), or "last",
// the newest of all.
func (s *Store) Find(ref string) (string, error) {
	runs, err := s.List()
	if err != nil {
		return "", err
	}
	var starts []string
	for i, l := range runs { // newest first
		switch {
		case l.Run.ID == ref, ref == "last" && i == 0:
			return l.Run.ID, nil
		case strings.HasPrefix(l.Run.ID, ref) && ref != "":
			starts = append(starts, l.Run.ID)
		}
	}
	for _, l := range runs {
		if ref != "" && l.Run.Name == ref {
			return l.Run.ID, nil
		}
	}
	switch len(starts) {
	case 0:
		return "", fmt.Errorf("%w: %q (`pitot runs list` shows the %d there are)", ErrNoRun, ref, len(runs))
	case 1:
		return starts[0], nil
	}
	return "", fmt.Errorf("%w: %q could be any of %d: %s", ErrNoRun, ref, len(starts), some(starts))
}

// some are the first of ids, in words.
func some(ids []string) string {
	const most = 5
	if len(ids) > most {
		return strings.Join(ids[:most], ", ") + " …"
	}
	return strings.Join(ids, ", ")
}

// Load reads a run and its records, in the order of the workload.
func (s *Store) Load(ref string) (*trace.Trace, error) {
	id, err := s.Find(ref)
	if err != nil {
		return nil, err
	}
	var body string
	var beat int64
	if err := s.db.QueryRow("SELECT body, beat_ns FROM run WHERE id = ?", id).Scan(&body, &beat); err != nil {
		return nil, fmt.Errorf("load run %s: %w", id, err)
	}
	t := new(trace.Trace)
	if t.Run, err = decodeRun(body, beat); err != nil {
		return nil, err
	}
	if t.Records, err = s.records(id); err != nil {
		return nil, fmt.Errorf("load run %s: %w", id, err)
	}
	return t, nil
}

// Remove deletes a run and its records.
func (s *Store) Remove(id string) error {
	_, err := s.db.Exec("DELETE FROM run WHERE id = ?", id)
	return err
}
