package store

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Milestone is how many output tokens a run had received at an instant.
type Milestone struct {
	At     trace.Instant
	Tokens int
}

// Milestones returns some snapshots of a run, at most n+1 of them and about as far from each other
// as there are; none of a run without snapshots. It costs the same for long runs.
func (s *Store) Milestones(id string, n int) ([]Milestone, error) {
	rows, err := s.db.Query(`
		WITH RECURSIVE step (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM step WHERE i < ?2),
			span AS (SELECT (SELECT min(at_ns) FROM snapshot WHERE run_id = ?1) AS low, (SELECT max(at_ns) FROM snapshot WHERE run_id = ?1) AS high)
		SELECT at_ns, tokens FROM span CROSS JOIN step CROSS JOIN snapshot ON run_id = ?1
			AND at_ns = (SELECT max(at_ns) FROM snapshot WHERE run_id = ?1 AND at_ns <= low + (high - low) * i / ?2)
		WHERE low IS NOT NULL GROUP BY at_ns ORDER BY at_ns`, id, n)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	var out []Milestone
	for rows.Next() {
		var m Milestone
		if err := rows.Scan(&m.At, &m.Tokens); err != nil {
			return nil, fmt.Errorf("read run %s: %w", id, err)
		}
		out = append(out, m)
	}
	return out, repairable(rows.Err())
}

// An Outline is when a request was answered, and with how many tokens.
type Outline struct {
	First, Done trace.Instant // trace.Never if it was not
	Tokens      int
}

// Outlines returns those of at most n requests of a run, evenly chosen.
func (s *Store) Outlines(id string, n int) ([]Outline, error) {
	all, err := s.extents(id, 0)
	if err != nil {
		return nil, repairable(err)
	}
	if len(all) == 0 {
		return s.outlinesOfRows(id, n)
	}
	first, last := all[0].seq, all[len(all)-1].end()
	n = min(n, last-first+1)
	var out []Outline
	for i := 0; i < n; {
		number := func() int { return first + (last-first+1)*i/n }
		for all[0].end() < number() {
			all = all[1:]
		}
		records, err := s.block(id, all[0], heads) // none of a damaged one
		for ; i < n && number() <= all[0].end(); i++ {
			if at := number() - all[0].seq; err == nil && at >= 0 {
				out = append(out, Outline{records[at].FirstByte, records[at].Done, records[at].OutputTokens})
			}
		}
	}
	return out, nil
}

// outlinesOfRows is Outlines of a run of version 13 or before.
func (s *Store) outlinesOfRows(id string, n int) ([]Outline, error) {
	rows, err := s.db.Query(`
		WITH RECURSIVE step (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM step WHERE i + 1 < ?2),
			span AS (SELECT max(idx) + 1 AS n FROM record WHERE run_id = ?1)
		SELECT first_byte_ns, done_ns, output_tokens FROM span CROSS JOIN step CROSS JOIN record ON run_id = ?1
			AND idx = (SELECT min(idx) FROM record WHERE run_id = ?1 AND idx >= n * i / ?2)
		GROUP BY idx`, id, n)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	var out []Outline
	for rows.Next() {
		var o Outline
		if err := rows.Scan(instant{&o.First}, instant{&o.Done}, &o.Tokens); err != nil {
			return nil, fmt.Errorf("read run %s: %w", id, err)
		}
		out = append(out, o)
	}
	return out, repairable(rows.Err())
}
