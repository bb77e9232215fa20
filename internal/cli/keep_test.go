package cli

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// on runs a command line on a store.
func on(t *testing.T, store, args string) (code int, stdout, stderr string) {
	t.Helper()
	sess, out, errs := process(t, nil, append(strings.Fields(args), "--store", store)...)
	code = Run(sess)
	return code, out.String(), errs.String()
}

// damagedRow adds a record with index 3 that cannot be read to runs, as stores of version 13 have records.
const damagedRow = `INSERT INTO record (run_id, idx, seq, request_id, prompt_tokens, want_tokens, status, finish_reason, usage_prompt,
	usage_completion, usage_cached, usage_reasoning, output_tokens, counted_from, class, error, redials, text, chunks)
	SELECT id, 3, 0, '', 0, 0, 200, '', 0, 0, 0, 0, 0, '', '', '', 0, '', x'ff' FROM run`

// Damage is told by the run's id, and stops nothing but that run.
func TestDamageIsPassedOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	for i, name := range []string{"a-1", "a-2", "a-3", "b"} {
		if code, _, errs := on(t, file, fmt.Sprintf("sim -q -n 3 --seed %d --name %s", i, name)); code != exitOK {
			t.Fatal(errs)
		}
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA foreign_keys = 1; UPDATE run_body SET body = 'x' WHERE run_id IN (SELECT id FROM run WHERE name = 'a-1'); DELETE FROM computed;" +
		damagedRow + " WHERE name = 'a-2'; UPDATE run SET records = 4, tally = '' WHERE name = 'a-2'"); err != nil {
		t.Fatal(err)
	}
	const body, record = " is damaged: invalid character", "one record of run "
	for _, tt := range []struct {
		args   string
		code   int
		stdout string
		stderr []string
	}{
		{"runs list -f ttft.p99", exitOK, "a-1", []string{body}},
		{"compare a-* b", exitOK, "2 runs", []string{body, record}},
		{"runs report a-1", exitFailed, "", []string{body}},
		{"runs report a-2", exitOK, "SIMULATED", []string{record}},
		{"runs export a-2 -f jsonl", exitOK, "{", []string{record}},
		{"runs check", exitFailed, "record 3 of run ", []string{"the store is damaged; `pitot runs repair`"}},
		{"runs repair", exitOK, "repaired; the damaged store is " + file + ".damaged-", nil},
		{"runs check", exitOK, "4 runs, 12 records: no damage", nil},
		{"compare a-* b", exitOK, "a-*", []string{record}},
		{"runs report a-1", exitOK, "it was rebuilt from", nil},
		{"runs rm a-1 a-2", exitOK, "removed", nil},
	} {
		code, out, errs := on(t, file, tt.args)
		if code != tt.code || !strings.Contains(out, tt.stdout) || tt.stderr == nil && errs != "" {
			t.Errorf("%s: exit code %d: %s%s", tt.args, code, out, errs)
		}
		for _, want := range tt.stderr {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: said %q, want %q", tt.args, errs, want)
			}
		}
	}
}
