package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// threeRuns is a closed store of three runs of 60 records each, some of them with long texts.
func threeRuns(t *testing.T) (file string) {
	t.Helper()
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	for n := 1; n <= 3; n++ {
		run := newRun(fmt.Sprint("run-", n), fmt.Sprint("base-", n), int64(n))
		run.Status, run.End, run.Plan.Requests = trace.Complete, 900, 60
		w, err := s.Create(run, Owner{Progress: func() trace.Snapshot { return trace.Snapshot{At: 7, Released: n} }})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			r := sample(i)
			r.Text = strings.Repeat("x", 10*i)
			w.Append(r)
		}
		w.Sample(reads(n))
		if err := w.Finish(run); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.file
}

// told are damages in words, without their causes.
func told(all []*Damage) (out []string) {
	for _, d := range all {
		what, _, _ := strings.Cut(d.Error(), ":")
		out = append(out, what)
	}
	return out
}

func TestDamageIsToldAndPassedOver(t *testing.T) {
	file := inRows(t, threeRuns(t))
	s := openFile(t, file)
	execute(t, file, "UPDATE run_body SET body = substr(body, 1, 50) WHERE run_id = 'run-1'")
	execute(t, file, "UPDATE record SET chunks = x'ff' WHERE run_id = 'run-2' AND idx IN (17, 40)")
	execute(t, file, "UPDATE record SET cached_from = '{' WHERE run_id = 'run-2' AND idx = 41")
	h, err := s.Check(nil)
	want := []string{"run run-1 is damaged", "record 17 of run run-2 is damaged", "record 40 of run run-2 is damaged", "record 41 of run run-2 is damaged"}
	if diff := cmp.Diff(want, told(h.Damage)); err != nil || diff != "" || h.Runs != 3 || h.Records != 177 || h.Err() == nil {
		t.Errorf("%v: %+v %s", err, h, diff)
	}
	got, err := s.Load("run-2")
	if err != nil || len(got.Records) != 57 || got.Records[17].Index != 18 {
		t.Fatalf("%v: %+v", err, got)
	}
	if n := LeftOut(got); len(n) != 1 || n[0].Args["records"] != 3.0 || n[0].Args["run"] != "run-2" {
		t.Errorf("noted %+v", n)
	}
	if _, err := s.Load("run-1"); !errors.As(err, new(*Damage)) || !strings.Contains(err.Error(), "`pitot runs repair`") {
		t.Errorf("error %v", err)
	}
	if got, _ := scanFrom(t, s, "run-2", 0); len(got) != 57 {
		t.Errorf("%d records", len(got))
	}
}

func TestRepairKeepsWhatCanBeRead(t *testing.T) {
	file := inRows(t, threeRuns(t))
	execute(t, file, "UPDATE run_body SET body = 'x' WHERE run_id = 'run-1'")
	execute(t, file, "UPDATE record SET chunks = x'ff' WHERE run_id IN ('run-1', 'run-2') AND idx = 17")
	found, err := Repair(file, nil)
	if err != nil || len(found.Damage) != 3 {
		t.Fatalf("%v: %+v", err, found)
	}
	if old := openFile(t, found.DamagedFile); filepath.Dir(found.DamagedFile) != filepath.Dir(file) {
		t.Errorf("kept as %s", found.DamagedFile)
	} else if h, err := old.Check(nil); err != nil || len(h.Damage) != 3 {
		t.Errorf("%v: kept %+v", err, h)
	}
	s := openFile(t, file)
	if h, err := s.Check(nil); err != nil || h.Err() != nil || h.Runs != 3 || h.Records != 178 {
		t.Errorf("%v: %+v", err, h)
	}
	first, err := s.Load("base-1")
	if err != nil || first.Run.ID != "run-1" || first.Run.Status != trace.Complete || first.Run.End != 900 || first.Run.Plan.Requests != 60 || !first.Run.Started.Equal(time.Unix(1, 0)) {
		t.Errorf("%v: %+v", err, first)
	}
	if n := first.Run.Notes; len(n) != 2 || n[0].Code != rebuilt || n[1].Code != trace.Damaged {
		t.Errorf("noted %+v", n)
	}
	third, err := s.Load("run-3")
	if err != nil || len(third.Records) != 60 || third.Run.Notes != nil {
		t.Errorf("%v: %+v", err, third)
	}
	if p, err := s.Snapshots("run-3", trace.Never, 9); err != nil || len(p) != 1 || p[0].Released != 3 {
		t.Errorf("%v: %+v", err, p)
	}
	list, err := s.List(Filter{})
	if err != nil || len(list) != 3 || list[0].ID != "run-3" || list[2].Records != 59 {
		t.Errorf("%v: %+v", err, list)
	}
	if again, err := Repair(file, nil); err != nil || again.DamagedFile != "" || !strings.HasSuffix(again.String(), "3 runs, 178 records, 10 samples: no damage") {
		t.Errorf("%v: %+v", err, again)
	}
}

// pages are those of a database that say which tables there are, counted from 1.
func pages(t *testing.T, database []byte) (schema []int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "whole.db")
	if err := os.WriteFile(file, database, 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := openFile(t, file).db.Query("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		schema = append(schema, 0)
		if err := rows.Scan(&schema[len(schema)-1]); err != nil {
			t.Fatal(err)
		}
	}
	return schema
}

// Any page but those of the schema may be lost: each run that is still there has the records that are,
// and a repaired store has no damage.
func TestRepairOfLostPages(t *testing.T) {
	whole, err := os.ReadFile(threeRuns(t))
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	schema := pages(t, whole)
	least, opened := 180, 0
	for at := page; at < len(whole); at += 5 * page {
		file := filepath.Join(t.TempDir(), "lost.db")
		lost := bytes.Clone(whole)
		copy(lost[at:at+page], bytes.Repeat([]byte{0xa5}, page))
		if err := os.WriteFile(file, lost, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Repair(file, nil); err != nil {
			if at < 3*page || slices.Contains(schema, at/page+1) { // tables of the schema
				continue
			}
			t.Errorf("page %d: %v", at/page, err)
			continue
		}
		h, err := openFile(t, file).Check(nil)
		if err != nil || h.Err() != nil {
			t.Errorf("page %d: %v, %v", at/page, err, h)
		}
		opened++
		least = min(least, h.Records)
	}
	if opened < len(whole)/page/6 || least == 180 {
		t.Errorf("%d of %d opened, at least %d records", opened, len(whole)/page, least)
	}
}

func TestRepairWaitsForRuns(t *testing.T) {
	file := threeRuns(t)
	s := openFile(t, file)
	if err := s.insert(newRun("run-4", "", 4)); err != nil {
		t.Fatal(err)
	}
	execute(t, file, "UPDATE run_body SET body = 'x' WHERE run_id = 'run-1'")
	if _, err := Repair(file, nil); err == nil || !strings.Contains(err.Error(), "is writing a run") {
		t.Errorf("error %v", err)
	}
	if _, err := Repair(file+"x", nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v", err)
	}
}
