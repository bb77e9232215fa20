package store

import (
	"database/sql"
	"fmt"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// scanned are the columns of a record that say when things happened and how much came, in the
// order of scanner.row.
const scanned = `idx, turn, inputs, prompt_tokens, usage_prompt, output_tokens,
	due_ns, released_ns, sent_ns, first_byte_ns, done_ns,
	status, class, error, stamps, chunks`

// Scan reads records of a run in commit order, like RecordsSince, but without texts, ids, and
// usage other than the length of the prompt: for counts over many records. each gets them one by
// one and must not retain them. more reports whether there may be records after number next.
// Damaged records are passed over.
func (s *Store) Scan(runID string, since, limit int, each func(*trace.Record)) (next int, more bool, err error) {
	sc := scanner{record: trace.NewRecord(0), next: since}
	err = sc.scan(s, runID, limit, each)
	switch {
	case damaged(err):
		sc.next++ // the records of a page are passed over one by one
		return sc.next, sc.next <= s.extent(runID), nil
	case err != nil:
		return sc.next, false, fmt.Errorf("read run %s: %w", runID, err)
	}
	return sc.next, sc.n == limit, nil
}

// A scanner reads into one record.
type scanner struct {
	record *trace.Record
	chunks []trace.Chunk
	packed sql.RawBytes
	next   int // number of the last row
	n      int // rows
}

func (sc *scanner) scan(s *Store, runID string, limit int, each func(*trace.Record)) error {
	rows, err := s.db.Query("SELECT "+commitNumber+", "+scanned+" FROM record WHERE "+following, runID, sc.next, limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	into := sc.into()
	for rows.Next() {
		sc.n++
		if err := rows.Scan(into...); err != nil {
			continue
		}
		if sc.chunks, err = trace.DecodeOnto(sc.chunks[:0], sc.packed); err != nil {
			continue
		}
		sc.record.Chunks = sc.chunks
		each(sc.record)
	}
	return rows.Err()
}

// into is where the columns go.
func (sc *scanner) into() []any {
	r := sc.record
	return []any{
		&sc.next, // first: it is known then, whatever is damaged behind it
		&r.Index, &r.Turn, &r.Inputs, &r.PromptTokens, &r.Usage.Prompt, &r.OutputTokens,
		instant{&r.Due},
		instant{&r.Released},
		instant{&r.Sent},
		instant{&r.FirstByte},
		instant{&r.Done},
		&r.Status, &r.Class, &r.Error, &r.Stamps, &sc.packed,
	}
}

// Weight is how many bytes the chunks and texts of a run take in the store: in memory chunks take
// two to three times as many.
func (s *Store) Weight(runID string) (n int64, err error) {
	err = s.db.QueryRow("SELECT coalesce(sum(length(chunks) + length(text)), 0) FROM record WHERE run_id = ?", runID).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read run %s: %w", runID, err)
	}
	return n, nil
}
