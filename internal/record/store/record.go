package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// columns of a record that is a row, as in stores of version 13 and before, in the order of scan.
const columns = `idx, request_id, prompt_tokens, want_tokens,
	due_ns, free_ns, released_ns, dialed_ns, connected_ns, sent_ns, first_byte_ns, done_ns,
	status, finish_reason, usage_prompt, usage_completion, usage_at_ns,
	output_tokens, counted_from, stamps, chunks,
	usage_cached, usage_reasoning, class, error, redials, text,
	tenant, session, turn, vision_tokens, cached_from, accept_length, asides, inputs, audio_s, retokenized, resent, first_sent_ns, quirks, server_times`

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
	chunks []trace.Chunk // of the last record
	arena  trace.Arena   // of all records
}

// scan reads a row. Of a damaged one there is the index.
func (d *reader) scan(rows *sql.Rows) (*trace.Record, error) {
	r := trace.NewRecord(0)
	var cached, odd, times []byte
	err := rows.Scan(
		&r.Index, &r.ID, &r.PromptTokens, &r.WantTokens,
		instant{&r.Due}, instant{&r.Free}, instant{&r.Released}, instant{&r.Dialed}, instant{&r.Connected}, instant{&r.Sent}, instant{&r.FirstByte}, instant{&r.Done},
		&r.Status, &r.FinishReason, &r.Usage.Prompt, &r.Usage.Completion, instant{&r.Usage.At},
		&r.OutputTokens, &r.CountedFrom, &r.Stamps, &d.packed,
		&r.Usage.Cached, &r.Usage.Reasoning, &r.Class, &r.Error, &r.Redials, &r.Text, &r.Tenant, &r.Session, &r.Turn, &r.VisionTokens, &cached, &r.Accept, &r.OtherLines, &r.Inputs, &r.AudioSeconds, &r.Retokenized, &r.Resent, &r.FirstSent, &odd, &times,
		&d.number,
	)
	if err == nil && len(cached) > 0 {
		err = json.Unmarshal(cached, &r.Usage.Tiers)
	}
	if err == nil && len(odd) > 0 {
		err = json.Unmarshal(odd, &r.Quirks)
	}
	if err == nil && len(times) > 0 {
		err = json.Unmarshal(times, &r.Server)
	}
	if err == nil {
		d.chunks, err = trace.DecodeOnto(d.chunks[:0], d.packed)
		r.Chunks = append(d.arena.Take(len(d.chunks)), d.chunks...)
	}
	return r, err
}

// commitNumber numbers the records of a run in commit order. There is an index on
// this exact expression.
const commitNumber = "coalesce(seq, idx + 1)"

// following selects the rows of a run after a number, in order.
const following = "run_id = ?1 AND " + commitNumber + " > ?2 ORDER BY " + commitNumber + " LIMIT ?3"

// ErrNoRecord is wrapped by errors for requests that have no record.
var ErrNoRecord = errors.New("no such request")

// Record reads the record of one request by its index in the workload.
func (s *Store) Record(runID string, index int) (*trace.Record, error) {
	r, err := s.row(runID, index)
	if r == nil && err == nil {
		var found map[int]*trace.Record
		if found, err = s.find(runID, index); found[index] != nil {
			return found[index], nil // whatever else is damaged
		}
	}
	switch {
	case err != nil:
		return nil, &Damage{Run: runID, First: index, Last: index, Why: err}
	case r != nil:
		return r, nil
	}
	return nil, fmt.Errorf("%w: run %s has none with index %d", ErrNoRecord, runID, index)
}

// Records reads the records of requests by their indices, in that order, without those that are damaged or not there.
// Many of one block cost little more than one.
func (s *Store) Records(runID string, indices []int) (out []*trace.Record) {
	found, _ := s.find(runID, indices...)
	for _, index := range indices {
		r := found[index]
		if r == nil {
			if row, err := s.row(runID, index); err == nil {
				r = row
			}
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out
}

// row reads a record that is a row; nil if there is none.
func (s *Store) row(runID string, index int) (*trace.Record, error) {
	rows, err := s.db.Query("SELECT "+columns+", "+commitNumber+" FROM record WHERE run_id = ? AND idx = ?", runID, index)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	return new(reader).scan(rows)
}

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
