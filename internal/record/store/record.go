package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// columns of a record, in the order of values and scan: those that most records have, and those that few do.
const (
	columns = usual + ", " + rare
	usual   = `idx, request_id, prompt_tokens, want_tokens,
	due_ns, free_ns, released_ns, dialed_ns, connected_ns, sent_ns, first_byte_ns, done_ns,
	status, finish_reason, usage_prompt, usage_completion, usage_at_ns,
	output_tokens, counted_from, stamps, chunks`
	rare = `usage_cached, usage_reasoning, class, error, redials, text,
	tenant, session, turn, vision_tokens, cached_from, accept_length, asides, inputs, audio_s, retokenized, resent, first_sent_ns, quirks, server_times`
	without = `0, 0, '', '', 0, '', '', '', 0, 0, '', 0, 0, 0, 0, 0, 0, 0, '', ''` // no values of rare
)

var (
	insertRecord = "INSERT INTO record (run_id, seq, " + columns + ") VALUES (?, ?" + marks(columns) + ")"
	insertUsual  = "INSERT INTO record (run_id, seq, " + columns + ") VALUES (?, ?" + marks(usual) + ", " + without + ")"
)

// An inserter inserts records of a run. It calls SQLite's driver itself: database/sql would
// convert and copy every one of the values, which takes a third of the time. A value that is bound
// costs more than one in the statement: records without rare ones have their own.
type inserter struct {
	conn   driver.ConnPrepareContext
	stmts  map[string]driver.Stmt
	args   []driver.NamedValue
	chunks []byte
}

// insertRecords calls do with an inserter on a connection that has begun a transaction.
func insertRecords(conn *sql.Conn, do func(*inserter) error) error {
	return conn.Raw(func(raw any) error {
		i := inserter{conn: raw.(driver.ConnPrepareContext), stmts: map[string]driver.Stmt{}}
		defer func() {
			for _, s := range i.stmts {
				_ = s.Close()
			}
		}()
		return do(&i)
	})
}

// exec executes a statement, which is prepared once.
func (i *inserter) exec(text string, args []driver.NamedValue) error {
	ctx := context.Background()
	if i.stmts[text] == nil {
		s, err := i.conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		i.stmts[text] = s
	}
	_, err := i.stmts[text].(driver.StmtExecContext).ExecContext(ctx, args)
	return err
}

// insert inserts a record with its number in the run.
func (i *inserter) insert(runID string, seq int, r *trace.Record) error {
	usual := i.bind(runID, seq, r)
	if slices.ContainsFunc(i.args[usual:], isSet) {
		return i.exec(insertRecord, i.args)
	}
	return i.exec(insertUsual, i.args[:usual])
}

// bind makes the arguments of insertRecord, of which the first are those of insertUsual.
func (i *inserter) bind(runID string, seq int, r *trace.Record) (usual int) {
	i.chunks = trace.AppendChunks(i.chunks[:0], r.Chunks)
	if i.chunks == nil {
		i.chunks = []byte{}
	}
	i.args = i.args[:0]
	i.text(runID).int(seq, r.Index).text(r.ID).int(r.PromptTokens, r.WantTokens)
	i.time(r.Due, r.Free, r.Released, r.Dialed, r.Connected, r.Sent, r.FirstByte, r.Done)
	i.int(r.Status).text(r.FinishReason).int(r.Usage.Prompt, r.Usage.Completion).time(r.Usage.At)
	i.int(r.OutputTokens).text(string(r.CountedFrom), string(r.Stamps)).add(i.chunks)
	usual = len(i.args)
	i.int(r.Usage.Cached, r.Usage.Reasoning).text(string(r.Class), r.Error).int(r.Redials).text(r.Text)
	i.text(r.Tenant, r.Session).int(r.Turn, r.VisionTokens).text(inJSON(r.Usage.Tiers)).add(r.Accept).int(r.OtherLines, r.Inputs)
	i.add(r.AudioSeconds).int(r.Retokenized).add(r.Resent).add(int64(r.FirstSent)).text(quirks(r.Quirks), inJSON(r.Server))
	return usual
}

// isSet reports whether a value of a rare column is not the one without which it is written.
func isSet(v driver.NamedValue) bool {
	return v.Value != int64(0) && v.Value != "" && v.Value != 0.0 && v.Value != false
}

func (i *inserter) add(v driver.Value) *inserter {
	i.args = append(i.args, driver.NamedValue{Ordinal: len(i.args) + 1, Value: v})
	return i
}

func (i *inserter) int(values ...int) *inserter {
	for _, v := range values {
		i.add(int64(v))
	}
	return i
}

func (i *inserter) text(values ...string) *inserter {
	for _, v := range values {
		i.add(v)
	}
	return i
}

// time adds instants, NULL for trace.Never.
func (i *inserter) time(values ...trace.Instant) *inserter {
	for _, v := range values {
		if v.Happened() {
			i.add(int64(v))
		} else {
			i.add(nil)
		}
	}
	return i
}

// inJSON is empty for nil.
func inJSON[T any](v *T) string {
	if v == nil {
		return ""
	}
	b, _ := json.Marshal(v) // finite numbers and a string: cannot fail
	return string(b)
}

// quirks returns JSON, empty for none.
func quirks(q trace.Quirks) string {
	if q == (trace.Quirks{}) {
		return ""
	}
	b, _ := json.Marshal(q) // numbers and a string: cannot fail
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
