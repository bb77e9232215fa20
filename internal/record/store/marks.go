package store

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// MarkKey is the key under which the answers of the store's runs are marked. A store that has none gets a random one.
func (s *Store) MarkKey() (key trace.MarkKey, err error) {
	key, err = storedKey(s.db.QueryRow(readKey))
	if errors.Is(err, sql.ErrNoRows) {
		err = s.change(patient, func(tx *sql.Tx) error {
			if key, err = storedKey(tx.QueryRow(readKey)); !errors.Is(err, sql.ErrNoRows) {
				return err // another process was faster
			}
			_, _ = rand.Read(key[:]) // does not fail
			return addKey(tx, key)
		})
	}
	if err != nil {
		return key, fmt.Errorf("key of the marks in store %s: %w", s.file, err)
	}
	return key, nil
}

const readKey = "SELECT key FROM mark_key"

func storedKey(row *sql.Row) (key trace.MarkKey, err error) {
	var b []byte
	if err = row.Scan(&b); err == nil && len(b) != len(key) {
		err = fmt.Errorf("%d bytes, want %d", len(b), len(key))
	}
	copy(key[:], b)
	return key, err
}

func addKey(tx *sql.Tx, key trace.MarkKey) error {
	_, err := tx.Exec("INSERT INTO mark_key (key) VALUES (?)", key[:])
	return err
}

// EachMarked reads the records of a run with the marks of their answers and without chunks and texts, in the order of
// their commits. Damaged ones are left out, and those that version 13 and before wrote, which have no marks.
func (s *Store) EachMarked(id string) iter.Seq2[[]*trace.Record, error] {
	return func(yield func([]*trace.Record, error) bool) {
		all, err := s.extents(id, 0)
		for _, e := range all {
			if some, err := s.block(id, e, marked); err == nil && !yield(some, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, fmt.Errorf("read run %s: %w", id, err))
		}
	}
}
