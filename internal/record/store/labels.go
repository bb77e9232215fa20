package store

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Label changes the labels of a run, given as they are; it returns the stored labels. Labels
// that cannot be are an error, and nothing is stored.
func (s *Store) Label(id string, change func(*trace.Labels) error) (stored trace.Labels, err error) {
	err = s.change(patient, func(tx *sql.Tx) error {
		var tags string
		err := tx.QueryRow("SELECT tags, remark FROM run WHERE id = ?", id).Scan(&tags, &stored.Remark)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNoRun
		}
		if err != nil {
			return repairable(err)
		}
		stored.Tags = lines(tags)
		if err := change(&stored); err != nil {
			return err
		}
		if stored, err = stored.Clean(); err != nil {
			return err
		}
		return writeLabels(tx, id, stored)
	})
	return stored, storing("label run "+id, err)
}

func writeLabels(tx *sql.Tx, id string, l trace.Labels) error {
	_, err := tx.Exec("UPDATE run SET tags = ?, remark = ?, labelled_ns = max(?, (SELECT coalesce(max(labelled_ns), 0) FROM run WHERE labelled_ns > 0) + 1) WHERE id = ?",
		strings.Join(l.Tags, "\n"), l.Remark, time.Now().UnixNano(), id)
	return err
}

// Tags are those of all runs, the most used first.
func (s *Store) Tags() ([]string, error) {
	rows, err := s.db.Query("SELECT tags, count(*) FROM run WHERE tags <> '' GROUP BY tags")
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	used := map[string]int{}
	for rows.Next() {
		var tags string
		var n int
		if err := rows.Scan(&tags, &n); err != nil {
			return nil, err
		}
		for _, tag := range lines(tags) {
			used[tag] += n
		}
	}
	return mostUsed(used), repairable(rows.Err())
}

// mostUsed are names in the order of how often they are used, then of the alphabet.
func mostUsed(used map[string]int) []string {
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := used[b] - used[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// lines are those of a text, none of an empty one.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
