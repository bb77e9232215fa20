package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// columns of a record, in the order of values and scan.
const columns = `idx, request_id, prompt_tokens, want_tokens,
	due_ns, free_ns, released_ns, dialed_ns, connected_ns, sent_ns, first_byte_ns, done_ns,
	status, finish_reason, usage_prompt, usage_completion, usage_cached, usage_reasoning, usage_at_ns,
	output_tokens, counted_from, class, error, redials, text, stamps, chunks,
	tenant, session, turn, vision_tokens, cached_from, accept_length, asides, inputs, audio_s, retokenized, resent, first_sent_ns`

var insertRecord = "INSERT INTO record (run_id, seq, " + columns + ") VALUES (?, ?" + marks(columns) + ")"

// null returns NULL for trace.Never.
func null(t trace.Instant) sql.NullInt64 {
	return sql.NullInt64{Int64: int64(t), Valid: t.Happened()}
}

func values(runID string, seq int, r *trace.Record) []any {
	return []any{
		runID, seq, r.Index, r.ID, r.PromptTokens, r.WantTokens,
		null(r.Due), null(r.Free), null(r.Released), null(r.Dialed), null(r.Connected), null(r.Sent), null(r.FirstByte), null(r.Done),
		r.Status, r.FinishReason, r.Usage.Prompt, r.Usage.Completion, r.Usage.Cached, r.Usage.Reasoning, null(r.Usage.At),
		r.OutputTokens, string(r.CountedFrom), string(r.Class), r.Error, r.Redials, r.Text, string(r.Stamps),
		trace.AppendChunks(make([]byte, 0, 7*len(r.Chunks)), r.Chunks), // rarely more
		r.Tenant, r.Session, r.Turn, r.VisionTokens, tiers(r.Usage.Tiers), r.Accept, r.Asides, r.Inputs, r.AudioSeconds, r.Retokenized, r.Resent, int64(r.FirstSent),
	}
}

// tiers returns JSON, empty for nil.
func tiers(t *trace.CacheTiers) string {
	if t == nil {
		return ""
	}
	b, _ := json.Marshal(t) // numbers and a string: cannot fail
	return string(b)
}

// An instant scans a nullable column into a trace.Instant.
type instant struct{ t *trace.Instant }

func (i instant) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*i.t = trace.Never
	case int64:
		*i.t = trace.Instant(v)
	default:
		return fmt.Errorf("an instant is stored as %T", v)
	}
	return nil
}

// A reader reads rows of columns, each into a record of its own.
type reader struct {
	number int // of the last row
	packed sql.RawBytes
	chunks []trace.Chunk // of the last record, which has a copy without room to grow
}

// scan reads a row. Of a damaged one there is the index.
func (d *reader) scan(rows *sql.Rows) (*trace.Record, error) {
	r := trace.NewRecord(0)
	var cached []byte
	err := rows.Scan(
		&r.Index, &r.ID, &r.PromptTokens, &r.WantTokens,
		instant{&r.Due}, instant{&r.Free}, instant{&r.Released}, instant{&r.Dialed}, instant{&r.Connected}, instant{&r.Sent}, instant{&r.FirstByte}, instant{&r.Done},
		&r.Status, &r.FinishReason, &r.Usage.Prompt, &r.Usage.Completion, &r.Usage.Cached, &r.Usage.Reasoning, instant{&r.Usage.At},
		&r.OutputTokens, &r.CountedFrom, &r.Class, &r.Error, &r.Redials, &r.Text, &r.Stamps, &d.packed,
		&r.Tenant, &r.Session, &r.Turn, &r.VisionTokens, &cached, &r.Accept, &r.Asides, &r.Inputs, &r.AudioSeconds, &r.Retokenized, &r.Resent, &r.FirstSent,
		&d.number,
	)
	if err == nil && len(cached) > 0 {
		err = json.Unmarshal(cached, &r.Usage.Tiers)
	}
	if err == nil {
		d.chunks, err = trace.DecodeOnto(d.chunks[:0], d.packed)
		r.Chunks = append(r.Chunks, d.chunks...)
	}
	return r, err
}

// commitNumber numbers the records of a run in commit order. There is an index on
// this exact expression.
const commitNumber = "coalesce(seq, idx + 1)"

// records reads the records that match a condition, in the order given at its end,
// and the number of the last one.
func (s *Store) records(condition string, args ...any) (out []*trace.Record, last int, err error) {
	rows, err := s.db.Query("SELECT "+columns+", "+commitNumber+" FROM record WHERE "+condition, args...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var d reader
	for rows.Next() {
		if r, err := d.scan(rows); err == nil { // a damaged one is passed over
			out = append(out, r)
		}
	}
	return out, d.number, rows.Err()
}

// RecordsSince reads records of a run in commit order: at most limit of those after
// number since. next is the number of the last one, for the next call; 0 is the
// beginning. No record is read twice, so a run can be followed while another
// process writes it.
func (s *Store) RecordsSince(runID string, since, limit int) (records []*trace.Record, next int, err error) {
	records, next, err = s.records(following, runID, since, limit)
	if err != nil {
		return nil, since, fmt.Errorf("read run %s: %w", runID, err)
	}
	return records, max(since, next), nil
}

// ErrNoRecord is wrapped by errors for requests that have no record.
var ErrNoRecord = errors.New("no such request")

// Record reads the record of one request by its index in the workload.
func (s *Store) Record(runID string, index int) (*trace.Record, error) {
	rows, err := s.db.Query("SELECT "+columns+", "+commitNumber+" FROM record WHERE run_id = ? AND idx = ?", runID, index)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", runID, err)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, &Damage{Run: runID, First: index, Last: index, Why: err}
		}
		return nil, fmt.Errorf("%w: run %s has none with index %d", ErrNoRecord, runID, index)
	}
	r, err := new(reader).scan(rows)
	if err != nil {
		return nil, &Damage{Run: runID, First: index, Last: index, Why: err}
	}
	return r, nil
}

// following selects the records of a run after a number, in order.
const following = "run_id = ?1 AND " + commitNumber + " > ?2 ORDER BY " + commitNumber + " LIMIT ?3"

// Snapshots reads the progress of a run at each flush after an instant, at most
// limit of them; trace.Never is before the first.
func (s *Store) Snapshots(runID string, after trace.Instant, limit int) ([]trace.Snapshot, error) {
	rows, err := s.db.Query("SELECT at_ns, released, done, failed, tokens FROM snapshot WHERE run_id = ? AND at_ns > ? ORDER BY at_ns LIMIT ?", runID, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", runID, err)
	}
	defer rows.Close()
	var out []trace.Snapshot
	for rows.Next() {
		var p trace.Snapshot
		if err := rows.Scan(&p.At, &p.Released, &p.Done, &p.Failed, &p.Tokens); err != nil {
			return nil, fmt.Errorf("read run %s: %w", runID, err)
		}
		out = append(out, p)
	}
	return out, rows.Err()
}
