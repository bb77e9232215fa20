package store

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"modernc.org/sqlite"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// Open opens the database in file to read and write, or creates it; its folder must
// exist. Only their owner can read the file and SQLite's sidecar files, since they may
// contain texts.
func Open(file string) (*Store, error) {
	if !files.Exists(file) {
		if err := files.MakePrivate(file); err != nil {
			return nil, fmt.Errorf("open store %s: %w", file, err)
		}
	}
	s, err := openBy(file, (*Store).migrate)
	if err == nil {
		s.bury()
	}
	return s, err
}

// openBy is Open for a file that exists: a further connection does not create a removed file again.
// A file that is not known to be a store is left unchanged.
func openBy(file string, upgrade func(*Store) error) (*Store, error) {
	return connect(file, url.Values{"mode": {"rw"}, "_pragma": {"synchronous(NORMAL)"}}, func(s *Store) error {
		if err := upgrade(s); err != nil {
			return err
		}
		makePrivate(file)
		return nil
	})
}

// regular rejects paths that are not files, and a file that SQLite would take for an empty one.
func regular(file string) error {
	const shortest = 512
	for _, name := range append([]string{file}, sidecarFiles(file)...) {
		if kind := files.Kind(name); kind != "" {
			return fmt.Errorf("it is a %s; a store is a file", kind)
		}
	}
	if size := files.Size(file); size > 0 && size < shortest {
		return errors.New("it is too short for a database")
	}
	return nil
}

// makePrivate makes a store private. Permissions that cannot be changed are another user's, or those of a file that
// cannot be written.
func makePrivate(file string) {
	for _, name := range append(sidecarFiles(file), file) {
		if files.Exists(name) {
			_ = files.MakePrivate(name)
		}
	}
}

// sidecarFiles are the write-ahead log and shared memory that SQLite adds to a database.
func sidecarFiles(file string) []string { return []string{file + "-wal", file + "-shm"} }

// OpenRead opens the database in file to read it, also if it cannot be written.
func OpenRead(file string) (*Store, error) {
	s, err := Open(file)
	if err == nil || !files.Exists(file) || !unwritable(err) {
		return s, err
	}
	if s, again := connect(file, url.Values{"mode": {"ro"}}, (*Store).current); again == nil || !unwritable(again) {
		return s, again
	}
	return connectImmutable(file)
}

// connectImmutable opens a database in a folder in which SQLite cannot create files.
func connectImmutable(file string) (*Store, error) {
	if log := file + "-wal"; files.Size(log) > 0 {
		return nil, fmt.Errorf("open store %s: it cannot be written, and newer records wait in %s; copy both to a folder that can be written", file, log)
	}
	return connect(file, url.Values{"mode": {"ro"}, "immutable": {"1"}}, (*Store).current)
}

// connect opens a database and prepares it.
func connect(file string, query url.Values, prepare func(*Store) error) (*Store, error) {
	if err := regular(file); err != nil {
		return nil, fmt.Errorf("open store %s: %w", file, err)
	}
	wait := fmt.Sprintf("busy_timeout(%d)", patient.Milliseconds())
	query["_pragma"] = append([]string{wait, "foreign_keys(1)", "trusted_schema(0)"}, query["_pragma"]...)
	query.Set("_txlock", "immediate")
	query.Set("_defensive", "1")
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, file: file}
	if err = prepare(s); err == nil {
		s.mark, err = files.NewMark(file)
	}
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open store %s: %w", file, err)
	}
	return s, nil
}

// current rejects a database that would have to be upgraded before it is read.
func (s *Store) current() error {
	version, err := s.version()
	if err == nil && version < newest {
		err = errors.New("written by an older pitot, and it cannot be upgraded where it is; copy it to a folder that can be written")
	}
	return err
}

// OpenWrite is Open for a database that will be written to: it tries.
func OpenWrite(file string) (*Store, error) {
	s, err := Open(file)
	if err != nil {
		return nil, err
	}
	if err := s.tryWrite(); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// tryWrite finds out whether the store can be written, by writing to it.
func (s *Store) tryWrite() error {
	version, err := s.version()
	if err == nil {
		err = s.change(patient, func(tx *sql.Tx) error {
			_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("store %s cannot be written: %w", s.file, err)
	}
	return nil
}

// Result codes of SQLite.
const (
	codeBusy     = 5
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
)

// code returns the primary result code of SQLite, 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// unwritable reports that a database cannot be written where it is.
func unwritable(err error) bool {
	return slices.Contains([]int{codeReadOnly, codeIO, codeFull, codeCantOpen}, code(err))
}
