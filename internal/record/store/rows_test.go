package store

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// inRows makes rows of the blocks of a store, as version 13 wrote them.
func inRows(t *testing.T, file string) string {
	t.Helper()
	s := openFile(t, file)
	defer s.Close()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	insert := "INSERT INTO record (run_id, seq, " + columns + ") VALUES (?, ?" + marks(columns) + ")"
	for _, id := range s.ids() {
		records, _, _, err := s.readRecords(id)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			if _, err := tx.Exec(insert, append([]any{id, i + 1}, row(r)...)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	execute(t, file, "DELETE FROM block; VACUUM")
	for _, id := range s.ids() {
		s.seal(id, patient)
	}
	return file
}

// row are the values of columns.
func row(r *trace.Record) []any {
	at := func(t trace.Instant) any { return sql.Null[int64]{V: int64(t), Valid: t.Happened()} }
	text := func(v any) string {
		b, _ := json.Marshal(v)
		return strings.TrimPrefix(strings.TrimPrefix(string(b), "null"), "{}")
	}
	return []any{
		r.Index, r.ID, r.PromptTokens, r.WantTokens,
		at(r.Due), at(r.Free), at(r.Released), at(r.Dialed), at(r.Connected), at(r.Sent), at(r.FirstByte), at(r.Done),
		r.Status, r.FinishReason, r.Usage.Prompt, r.Usage.Completion, at(r.Usage.At),
		r.OutputTokens, string(r.CountedFrom), string(r.Stamps), append([]byte{}, trace.AppendChunks(nil, r.Chunks)...),
		r.Usage.Cached, r.Usage.Reasoning, string(r.Class), r.Error, r.Redials, r.Text,
		r.Tenant, r.Session, r.Turn, r.VisionTokens, text(r.Usage.Tiers), r.Accept, r.OtherLines, r.Inputs, r.AudioSeconds, r.Retokenized,
		r.Resent, int64(r.FirstSent), text(r.Quirks), text(r.Server),
	}
}
