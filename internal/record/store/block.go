package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// insertBlock is the statement of a flush.
const insertBlock = `INSERT INTO block (run_id, seq, records, low, high, lost, tokens, count, bytes, heads, chunks, texts, marks)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, x''), coalesce(?, x''))`

// addBlock inserts a block with the number of its first record.
func (s *Store) addBlock(tx *sql.Tx, id string, seq int, b trace.Block) error {
	return s.exec(tx, insertBlock, id, seq, b.Records, b.Low, b.High, b.Lost, b.Tokens, b.Count, b.TextBytes,
		b.Heads, b.Chunks, b.Texts, b.Marks)
}

// An extent is the directory's entry of a block.
type extent struct {
	seq, records int // the number of the first record, and how many there are
	low, high    int // the smallest and the largest index
}

// end is the number of the last record.
func (e extent) end() int { return e.seq + e.records - 1 }

// extents are the blocks of a run with records after a number, in their order.
func (s *Store) extents(id string, since int) ([]extent, error) {
	all, err := s.directory(`SELECT seq, records, low, high FROM block
		WHERE run_id = ?1 AND seq >= coalesce((SELECT max(seq) FROM block WHERE run_id = ?1 AND seq <= ?2 + 1), 0)
		ORDER BY seq`, id, since)
	if damaged(err) {
		all, err = s.undirected(id), nil
	}
	return slices.DeleteFunc(all, func(e extent) bool { return e.end() <= since }), err
}

func (s *Store) directory(query string, args ...any) (all []extent, err error) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e extent
		if err := rows.Scan(&e.seq, &e.records, &e.low, &e.high); err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

// undirected are the blocks of a run that has lost its directory, as far as their rows can be read.
func (s *Store) undirected(id string) (all []extent) {
	var last int
	_ = s.db.QueryRow("SELECT max(rowid) FROM block").Scan(&last)
	for row := 1; row <= last; row++ {
		some, _ := s.directory("SELECT seq, records, low, high FROM block NOT INDEXED WHERE rowid = ? AND run_id = ?", row, id)
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b extent) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// The parts of a block: each has those before it, but marked, which is enough to compare answers.
const (
	heads  = "SELECT seq, records, heads FROM block "
	chunks = "SELECT seq, records, heads, chunks FROM block "
	whole  = "SELECT seq, records, heads, chunks, texts, marks FROM block "
	marked = "SELECT seq, records, heads, '', '', marks FROM block "
)

// block reads parts of the records of an extent. Meanwhile they may have been joined with others, and stand in a larger
// block.
func (s *Store) block(id string, e extent, parts string) ([]*trace.Record, error) {
	return s.readBlock(id, e, parts, func(all []*trace.Record) (from, to int) { return 0, len(all) })
}

// A choice is which of the records of a block are read with more parts than their heads.
type choice func([]*trace.Record) (from, to int)

// readBlock reads the heads of the records of an extent, and the other parts of those that are chosen by them.
func (s *Store) readBlock(id string, e extent, parts string, choose choice) ([]*trace.Record, error) {
	var seq, n int
	var blobs [4][]byte
	into := []any{&seq, &n, &blobs[0], &blobs[1], &blobs[2], &blobs[3]}
	into = into[:strings.Count(parts, ",")+1]
	err := s.db.QueryRow(parts+"WHERE run_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1", id, e.seq).Scan(into...)
	if err != nil {
		return nil, err
	}
	h, err := trace.DecodeHeads(blobs[0], n)
	first := e.seq - seq
	switch {
	case err != nil:
		return nil, err
	case first+e.records > n:
		return nil, errors.New("it has fewer records than the directory says")
	}
	records := h.Records[first : first+e.records]
	from, to := choose(records)
	if from == to {
		return records, nil
	}
	if parts == chunks || parts == whole {
		err = h.ReadChunks(blobs[1], first+from, first+to)
	}
	return records, cmp.Or(err, h.ReadTexts(blobs[2]), h.ReadMarks(blobs[3]))
}

// find reads the records with some indices from the blocks of a run.
func (s *Store) find(id string, indices ...int) (found map[int]*trace.Record, err error) {
	all, err := s.extents(id, 0)
	if err != nil {
		return nil, err
	}
	found = map[int]*trace.Record{}
	for _, e := range all {
		wanted := map[int]bool{}
		for _, index := range indices {
			if index >= e.low && index <= e.high && found[index] == nil {
				wanted[index] = true
			}
		}
		if len(wanted) == 0 {
			continue
		}
		isWanted := func(r *trace.Record) bool { return wanted[r.Index] }
		records, unread := s.readBlock(id, e, whole, func(all []*trace.Record) (from, to int) {
			if from = slices.IndexFunc(all, isWanted); from < 0 {
				return 0, 0
			}
			for to = len(all); !isWanted(all[to-1]); to-- {
			}
			return from, to
		})
		if unread != nil {
			err = unread
			continue
		}
		for _, r := range records {
			if isWanted(r) {
				found[r.Index] = r
			}
		}
	}
	return found, err
}

// withoutLost removes the records of lost workers from the blocks of a run, and calls each with all others. Their
// numbers stay.
func (s *Store) withoutLost(tx *sql.Tx, id string, each func(*trace.Record)) error {
	all, err := s.extents(id, 0)
	if err != nil {
		return err
	}
	for _, e := range all {
		records, err := s.block(id, e, whole)
		if err != nil {
			continue // it is damaged: the requests have no record
		}
		isLost := func(r *trace.Record) bool { return r.Class == trace.WorkerLost }
		for _, r := range records {
			if !isLost(r) {
				each(r)
			}
		}
		if slices.ContainsFunc(records, isLost) {
			if _, err := tx.Exec("DELETE FROM block WHERE run_id = ? AND seq = ?", id, e.seq); err != nil {
				return err
			}
			if err := s.addWithout(tx, id, e.seq, records, isLost); err != nil {
				return err
			}
		}
	}
	return nil
}

// addWithout inserts the records between those that are left out, with the number of the first of all.
func (s *Store) addWithout(tx *sql.Tx, id string, seq int, records []*trace.Record, out func(*trace.Record) bool) error {
	for at := 0; at < len(records); at++ {
		n := slices.IndexFunc(records[at:], out)
		if n < 0 {
			n = len(records) - at
		}
		if n == 0 {
			continue
		}
		if err := s.addBlock(tx, id, seq+at, new(trace.Packer).Block(records[at:at+n])); err != nil {
			return fmt.Errorf("records without those of lost workers: %w", err)
		}
		at += n
	}
	return nil
}
