package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// What a run has lost is found, whatever it is, and is no damage any more once the store is repaired.
func TestWhatIsLostIsFound(t *testing.T) {
	const of2 = " WHERE run_id = 'run-2'"
	for name, tt := range map[string]struct {
		change, want string
		noted        bool // of the run, when it is read
	}{
		"half of the records": {"DELETE FROM record" + of2 + " AND idx % 2", "30 records of run run-2 are lost: they are missing", true},
		"all records":         {"DELETE FROM record" + of2, "60 records of run run-2 are lost", true},
		"last record":         {"DELETE FROM record" + of2 + " AND idx = 59", "1 records of run run-2 are lost", true},
		"count":               {"UPDATE run SET records = 10 WHERE id = 'run-2'", "run run-2 is damaged: it has 60 records and not 10", true},
		"chunks":              {"UPDATE record SET chunks = x''" + of2 + " AND idx < 30", "it has 270 bytes of chunks and not 540", true},
		"texts":               {"UPDATE record SET text = ''" + of2, "it has 0 bytes of text and not 17700", true},
		"tokens":              {"UPDATE record SET output_tokens = 1" + of2, "output tokens and not", true},
		"blocks":              {"DELETE FROM block" + of2, "60 records of run run-2 are lost", true},
		"heads":               {"UPDATE block SET heads = x'01'" + of2, "records 0 to 59 of run run-2 are damaged", true},
		"chunks of a block":   {"UPDATE block SET chunks = zeroblob(100)" + of2, "records 0 to 59 of run run-2 are damaged", true},
		"texts of a block":    {"UPDATE block SET texts = substr(texts, 2)" + of2, "records 0 to 59 of run run-2 are damaged", true},
		"directory":           {"UPDATE block SET low = 5, high = 6" + of2, "run run-2 is damaged: its directory has records 5 to 6 where 0 to 59 are", true},
		"counts of a block":   {"UPDATE block SET tokens = 1, count = 2, bytes = 3" + of2, "it has 3 bytes of text and not 17700, 2 chunks and not 120, 1 output tokens and not 120", true},
		"samples":             {"DELETE FROM telemetry_block" + of2, "samples and not", true},
		"series":              {"DELETE FROM telemetry_series" + of2, "telemetry of run run-2 is damaged", true},
		"sources":             {"DELETE FROM telemetry_source" + of2, "sources and not", true},
		"progress":            {"DELETE FROM snapshot" + of2, "it has 0 snapshots and not", true},
		"line":                {"DELETE FROM run WHERE id = 'run-2'", "run run-2 is damaged: its line in the list is lost", false},
		"line and records": {
			"DELETE FROM run WHERE id = 'run-2'; DELETE FROM record" + of2 + "; DELETE FROM run_body" + of2, "run run-2 is damaged: its line in the list is lost", false,
		},
		"progress without a line": {
			"DELETE FROM snapshot WHERE run_id <> 'run-3'; DELETE FROM run WHERE id = 'run-3'; DELETE FROM record; DELETE FROM block; DELETE FROM run_body; DELETE FROM telemetry_block",
			"run run-3 is damaged: its line in the list is lost", false,
		},
		"experiment": {"INSERT INTO experiment VALUES ('e', 'x', 1, 1, '{')", `the description of experiment "e" is no JSON`, false},
		"search":     {"INSERT INTO search VALUES ('s', 'sweep', 'x', 1, 1, '[]', '')", `the description of search "s" is no JSON`, false},
	} {
		t.Run(name, func(t *testing.T) {
			file := threeRuns(t)
			if strings.Contains(tt.change, " record ") {
				inRows(t, file)
			}
			execute(t, file, tt.change)
			s := openFile(t, file)
			h, err := s.Check(nil)
			if err != nil || h.Err() == nil || !strings.Contains(h.String(), tt.want) {
				t.Fatalf("%v: %s, want %s", err, h, tt.want)
			}
			if got, err := s.Load("run-2"); tt.noted && (err != nil || len(LeftOut(got)) == 0) {
				t.Errorf("%v: nothing is noted of the run", err)
			}
			if _, err := Repair(file, nil); err != nil {
				t.Fatal(err)
			}
			again := openFile(t, file)
			if h, err := again.Check(nil); err != nil || h.Err() != nil {
				t.Errorf("repaired: %v, %s", err, h)
			}
			if got, err := again.Load("run-2"); tt.noted && (err != nil || len(LeftOut(got)) == 0) {
				t.Errorf("repaired: %v: nothing is noted of the run", err)
			}
		})
	}
}

// A run that lost its line in the list, and not its description, is repaired whole.
func TestARunWithoutItsLineIsRepaired(t *testing.T) {
	file := threeRuns(t)
	execute(t, file, "DELETE FROM run WHERE id = 'run-2'")
	if _, err := Repair(file, nil); err != nil {
		t.Fatal(err)
	}
	got, err := openFile(t, file).Load("base-2")
	if err != nil || len(got.Records) != 60 || got.Run.Status != trace.Complete || got.Run.Plan.Requests != 60 {
		t.Errorf("%v: %+v", err, got)
	}
}

// A store that lost a table has what was in the others.
func TestALostTableIsMadeAgain(t *testing.T) {
	file := threeRuns(t)
	execute(t, file, "DROP TABLE snapshot; DROP INDEX block_directory")
	if _, err := Open(file); !errors.As(err, new(*MissingError)) {
		t.Fatalf("error %v", err)
	}
	found, err := Repair(file, nil)
	if err != nil || !strings.Contains(found.String(), `the database is damaged: it has lost its table "snapshot", index "block_directory"`) {
		t.Fatalf("%v: %s", err, found)
	}
	if h, err := openFile(t, file).Check(nil); err != nil || h.Err() != nil || h.Records != 180 {
		t.Errorf("%v: %s", err, h)
	}
}

// Runs that are under way, that were interrupted or killed, that went on, that were imported, and that older versions
// stored have no damage.
func TestNoDamageIsSeenWhereThereIsNone(t *testing.T) {
	files := []string{threeRuns(t), filepath.Join(t.TempDir(), "runs.db"), unpack(t, oldest, "")}
	s := openFile(t, files[1])
	if _, err := s.Import(imported(), records(sample(0), sample(1)), nil); err != nil {
		t.Fatal(err)
	}
	for _, status := range []trace.Status{trace.Running, trace.Interrupted, Killed} {
		run := newRun(string(status), "", 1)
		run.Plan.Requests, run.Status = 100, status
		w, err := s.Create(run, Owner{})
		if err != nil {
			t.Fatal(err)
		}
		w.Append(sample(3))
		w.Sample(reads(1))
		if err := w.flush(patient, true); err != nil {
			t.Fatal(err)
		}
		if status != trace.Running {
			w.end()
			w.done.Wait()
		} else {
			t.Cleanup(func() { _ = w.Finish(run) })
		}
		if status == trace.Interrupted {
			if err := w.Finish(run); err != nil {
				t.Fatal(err)
			}
			again, err := s.Reopen(run.ID, Owner{})
			if err != nil {
				t.Fatal(err)
			}
			again.Append(sample(4))
			if err := again.Finish(run); err != nil {
				t.Fatal(err)
			}
			if err := w.Finish(run); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, file := range files {
		if h, err := openFile(t, file).Check(nil); err != nil || h.Err() != nil {
			t.Errorf("%s: %v, %s", file, err, h)
		}
	}
}
