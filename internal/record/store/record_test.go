package store

import (
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A record without rare columns is stored as a statement with all of them stores it, value for value and type for
// type; each rare column alone makes a record one that needs them.
func TestTheShorterStatementStoresTheSame(t *testing.T) {
	s := open(t)
	if _, err := s.Import(newRun("long", "", 1), those(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(newRun("short", "", 1), those(), nil); err != nil {
		t.Fatal(err)
	}
	err := s.changeOn(patient, func(conn *sql.Conn, _ *sql.Tx) error {
		return insertRecords(conn, func(i *inserter) error {
			if err := i.insert("short", 1, plain()); err != nil {
				return err
			}
			if i.stmts[insertUsual] == nil || i.stmts[insertRecord] != nil {
				t.Error("a plain record was stored with all columns")
			}
			i.bind("long", 1, plain())
			return i.exec(insertRecord, i.args)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for column := range strings.SplitSeq("seq, "+columns, ",") {
		var values []string
		for _, run := range []string{"short", "long"} {
			var kind, value string
			if err := s.db.QueryRow(fmt.Sprintf("SELECT typeof(%[1]s), quote(%[1]s) FROM record WHERE run_id = ?", column), run).Scan(&kind, &value); err != nil {
				t.Fatal(err)
			}
			values = append(values, kind+" "+value)
		}
		if values[0] != values[1] {
			t.Errorf("%s: %s, in the longer form %s", column, values[0], values[1])
		}
	}
}

func those(records ...*trace.Record) func(func(*trace.Record, error) bool) {
	return func(yield func(*trace.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestEachRareColumnIsStored(t *testing.T) {
	s := open(t)
	for i, change := range []func(*trace.Record){
		func(r *trace.Record) { r.Usage.Cached = 1 },
		func(r *trace.Record) { r.Usage.Reasoning = 1 },
		func(r *trace.Record) { r.Class = trace.Reset },
		func(r *trace.Record) { r.Error = "e" },
		func(r *trace.Record) { r.Redials = 1 },
		func(r *trace.Record) { r.Text = "t" },
		func(r *trace.Record) { r.Tenant = "t" },
		func(r *trace.Record) { r.Session = "s" },
		func(r *trace.Record) { r.Turn = 1 },
		func(r *trace.Record) { r.VisionTokens = 1 },
		func(r *trace.Record) { r.Usage.Tiers = &trace.CacheTiers{Host: 1} },
		func(r *trace.Record) { r.Accept = 0.5 },
		func(r *trace.Record) { r.OtherLines = 1 },
		func(r *trace.Record) { r.Inputs = 1 },
		func(r *trace.Record) { r.AudioSeconds = 0.5 },
		func(r *trace.Record) { r.Retokenized = 1 },
		func(r *trace.Record) { r.Resent = true },
		func(r *trace.Record) { r.FirstSent = -1 },
		func(r *trace.Record) { r.Quirks.Choices = 3 },
		func(r *trace.Record) {
			r.Quirks = trace.Quirks{Strays: 1, Unread: "audio", Unseen: 2, UsageElsewhere: true, RetryAfter: "7"}
		},
		func(r *trace.Record) { r.Server = &trace.ServerTimes{Queue: new(float64)} },
	} {
		r := plain()
		change(r)
		id := fmt.Sprint("run-", i)
		if _, err := s.Import(newRun(id, "", 1), those(r), nil); err != nil {
			t.Fatal(err)
		}
		got, err := s.Record(id, 0)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%d: %+v, %v; it was %+v", i, got, err, r)
		}
	}
}
