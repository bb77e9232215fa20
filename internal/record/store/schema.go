package store

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// An object is a table or an index, as a database describes it.
type object struct{ kind, name, sql string }

func (o object) String() string { return fmt.Sprintf("%s %q", o.kind, o.name) }

// The versions of stores: the numbers of the migrations. The oldest makes all of the schema.
const (
	oldest = 9
	newest = 16
)

// version returns the version of the database. A schema other than that of the migrations is an
// error: another program's trigger would run when Pitot writes, its view would replace a table.
func (s *Store) version() (int, error) {
	version, application, found, err := s.schema()
	switch {
	case err != nil:
		return 0, err
	case application != 0 || version < 0 || version == 0 && len(found) > 0:
		return version, ErrForeign
	case version > newest:
		return version, fmt.Errorf("written by a newer pitot (version %d; this one supports up to %d)", version, newest)
	case version > 0 && version < oldest:
		if !slices.ContainsFunc(found, func(o object) bool { return o.name == "run_started" }) {
			return version, ErrForeign
		}
		return version, fmt.Errorf("version %d is too old (this pitot supports %d to %d); move the file away to start a new store",
			version, oldest, newest)
	}
	if version == 0 || fingerprints[version] == fingerprint(found) {
		return version, nil
	}
	made, err := objectsUpTo(version)
	if err != nil {
		return version, err
	}
	return version, differences(found, made)
}

// fingerprints are those of the objects that the migrations up to a version make, which nearly all stores have. To run
// the migrations in memory, to compare the objects, takes a fifth of the time of a short command.
var fingerprints = map[int]string{
	9:  "a26ef2e5217b86d344c669a67967a5ec",
	10: "d695bd28e8e754b89936d4118f0b4c4f",
	11: "782dcd8426a6ab3512684d1a6dcd4b86",
	12: "bd5b41753c9bec2c3bdda8b3c8cf411c",
	13: "c31c7947cb1ef4fc93a06e562c4b9c71",
	14: "910935293dcbca0892fdec030c99cc78",
	15: "50b2384083f6e534b3137549fd6c8bd5",
	16: "9bbe1db41efe4536db8cc981dfeed56b",
}

// fingerprint is the same for the same objects, in any order.
func fingerprint(all []object) string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b object) int { return strings.Compare(a.String(), b.String()) })
	h := sha256.New()
	for _, o := range all {
		fmt.Fprintf(h, "%q %q %q\n", o.kind, o.name, o.sql)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// ErrForeign is the error for a database of another program.
var ErrForeign = errors.New("database of another program")

// A MissingError says that a store has lost tables or indices.
type MissingError struct{ missing []object }

// Error names the first.
func (e *MissingError) Error() string {
	return fmt.Sprintf("it has lost its %s; `pitot runs repair` saves what can be read", nameFirst(e.missing))
}

// differences is the error for a database that has other objects than those that the migrations make.
func differences(found, made []object) error {
	var foreign, missing []object
	for _, o := range found {
		if !slices.Contains(made, o) {
			foreign = append(foreign, o)
		}
	}
	for _, o := range made {
		if !slices.ContainsFunc(found, func(f object) bool { return f.name == o.name }) {
			missing = append(missing, o)
		}
	}
	switch {
	case len(missing) == len(made) && len(made) > 0:
		return ErrForeign
	case len(foreign) > 0:
		return fmt.Errorf("pitot did not make its %s; a store must contain nothing of another program", nameFirst(foreign))
	case len(missing) > 0:
		return &MissingError{missing}
	}
	return nil
}

// nameFirst names the first few.
func nameFirst(all []object) string {
	const few = 3
	var names []string
	for _, o := range all[:min(few, len(all))] {
		names = append(names, o.String())
	}
	if n := len(all) - few; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// schema reads the numbers that a database has in its header, and its objects without those that SQLite makes
// for itself, all as of one moment: another process may be upgrading it.
func (s *Store) schema() (version, application int, found []object, err error) {
	rows, err := s.db.Query(`SELECT user_version, application_id, coalesce(type, ''), coalesce(name, ''), coalesce(sql, '')
		FROM pragma_user_version, pragma_application_id LEFT JOIN sqlite_schema`)
	if err != nil {
		return 0, 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o object
		if err := rows.Scan(&version, &application, &o.kind, &o.name, &o.sql); err != nil {
			return 0, 0, nil, err
		}
		if !o.internal() {
			found = append(found, o)
		}
	}
	return version, application, found, rows.Err()
}

// internal reports whether SQLite makes an object for itself: the index of a key, which has no text, and the tables of
// ANALYZE. The row of a database without objects has no kind.
func (o object) internal() bool {
	analyzed := strings.HasPrefix(o.name, "sqlite_stat") && strings.HasPrefix(o.sql, "CREATE TABLE "+o.name+"(")
	key := strings.HasPrefix(o.name, "sqlite_autoindex_") && o.sql == ""
	return o.kind == "" || o.kind == "table" && analyzed || o.kind == "index" && key
}

// script is the text of a migration.
func script(n int) (string, error) {
	text, err := migrations.ReadFile(path.Join("migrations", fmt.Sprintf("%d.sql", n)))
	return string(text), err
}

var schemas sync.Map // []object by version

// objectsUpTo are the objects that the migrations up to a version make, in their order.
func objectsUpTo(version int) (all []object, err error) {
	if known, ok := schemas.Load(version); ok {
		return known.([]object), nil
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // another connection would have a database of its own
	for n := oldest; n <= version && err == nil; n++ {
		var text string
		if text, err = script(n); err == nil {
			_, err = db.Exec(text)
		}
	}
	if err == nil {
		_, _, all, err = (&Store{db: db}).schema()
	}
	if err != nil {
		return nil, fmt.Errorf("migrations up to %d: %w", version, err)
	}
	schemas.Store(version, all)
	return all, nil
}

// restore makes lost tables and indices again, empty.
func (s *Store) restore(lost *MissingError) error {
	return s.change(patient, func(tx *sql.Tx) error {
		for _, o := range lost.missing {
			if _, err := tx.Exec(o.sql); err != nil {
				return err
			}
		}
		return nil
	})
}
