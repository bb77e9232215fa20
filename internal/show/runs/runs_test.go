package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// sample is a request of three tokens: 50 ms to the first, and then 50 ms for both others.
func sample() *trace.Record {
	const ms = trace.Instant(time.Millisecond)
	r := trace.NewRecord(0)
	r.Sent, r.FirstByte, r.Done = ms, 2*ms, 201*ms
	r.Chunks = []trace.Chunk{{At: 51 * ms, Tokens: 1, Kind: trace.Text}, {At: 101 * ms, Tokens: 2, Slack: 20, Kind: trace.Text}}
	r.Text, r.OutputTokens, r.CountedFrom, r.Stamps = "hé", 3, trace.FromUsage, trace.KernelStamps
	trace.InClear().MarkText(r)
	return r
}

// streams are runs with all records in one batch.
func streams(all ...*trace.Trace) Streams {
	return func(yield func(Stream, error) bool) {
		for _, t := range all {
			if !yield(Stream{t, metrics.InMemory(t.Records)}, nil) {
				return
			}
		}
	}
}

func TestExport(t *testing.T) {
	failed := trace.NewRecord(1)
	failed.Class, failed.Error = trace.Reset, "a, \"b\"\n"
	tr := &trace.Trace{Run: trace.Run{ID: "run-1", Kind: trace.Simulated, Started: time.Unix(5, 0).UTC(), End: trace.Never, Plan: trace.Load{Stream: true}, Verdict: &trace.Verdict{Validity: trace.Valid}}, Records: []*trace.Record{sample(), failed}}
	out := map[Format]*bytes.Buffer{}
	for _, f := range []Format{JSON, JSONL, CSV, Parquet} {
		out[f] = new(bytes.Buffer)
		if err := Export(out[f], streams(tr), f, true); err != nil {
			t.Fatal(f, err)
		}
	}
	var whole struct {
		Run     trace.Run
		Records []*trace.Record
	}
	if err := json.Unmarshal(out[JSON].Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tr, &trace.Trace{Run: whole.Run, Records: whole.Records}); diff != "" {
		t.Error("json: " + diff)
	}
	checkLines(t, out[JSONL], tr.Records)
	checkCSV(t, out[CSV])
	checkParquet(t, out[Parquet], tr)
	if !strings.Contains(out[JSON].String(), `"marks"`) {
		t.Error("json has no marks")
	}
	for f := range out {
		marks, without := fmt.Sprintf("%x", string(sample().Marks)), new(bytes.Buffer)
		if err := Export(without, streams(tr), f, false); err != nil || strings.Contains(without.String(), marks) {
			t.Errorf("%s: %v; without marks: %.300s", f, err, without)
		}
	}
	if err := Export(new(bytes.Buffer), streams(tr), "xml", true); err == nil {
		t.Error("xml was written")
	}
}

func checkLines(t *testing.T, b *bytes.Buffer, want []*trace.Record) {
	t.Helper()
	dec := json.NewDecoder(b)
	var got []*trace.Record
	for dec.More() {
		var line json.RawMessage
		r, latencies := new(trace.Record), map[string]any{}
		if err := errors.Join(dec.Decode(&line), json.Unmarshal(line, r), json.Unmarshal(line, &latencies)); err != nil {
			t.Fatal(err)
		}
		if ttft := latencies["ttft_s"]; len(got) == 0 && ttft != 0.05 || len(got) == 1 && ttft != nil {
			t.Errorf("jsonl: record %d has a TTFT of %v", len(got), ttft)
		}
		got = append(got, r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("jsonl: " + diff)
	}
}

func checkCSV(t *testing.T, b *bytes.Buffer) {
	t.Helper()
	rows, err := csv.NewReader(b).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatal(err, rows)
	}
	cell := func(row int, column string) string {
		for i, name := range rows[0] {
			if name == column {
				return rows[row][i]
			}
		}
		t.Fatalf("no column %s", column)
		return ""
	}
	for column, want := range map[string][2]string{
		"index": {"0", "1"}, "sent_ns": {"1000000", ""}, "class": {"", "reset"}, "error": {"", "a, \"b\"\n"},
		"chunk_at_ns": {"51000000 101000000", ""}, "chunk_kinds": {"1 1", ""}, "run": {"run-1", "run-1"}, "ttft_s": {"0.05", ""}, "tpot_s": {"0.025", ""}, "e2el_s": {"0.2", ""},
		"validity": {"valid", "valid"}, "kind": {"simulated", "simulated"}, "stamps": {"kernel", ""}, "chunk_slack_us": {"0 20", ""}, "text": {"hé", ""},
		"defects": {"none", ""}, "marks": {fmt.Sprintf("%x", string(sample().Marks)), ""},
	} {
		if got := [2]string{cell(1, column), cell(2, column)}; got != want {
			t.Errorf("csv %s: %q, want %q", column, got, want)
		}
	}
}

func checkParquet(t *testing.T, b *bytes.Buffer, tr *trace.Trace) {
	t.Helper()
	rows, err := parquet.Read[row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(rows) != 2 {
		t.Fatal(err, rows)
	}
	for i, r := range tr.Records {
		_, want := newRow(&tr.Run, r).fields()
		_, got := rows[i].fields()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error("parquet: " + diff)
		}
	}
	if rows[1].SentNS != nil {
		t.Error("parquet: an instant that never was")
	}
}

// Tables hold the requests of several runs, and an error of one ends the table.
func TestExportOfSeveral(t *testing.T) {
	a := &trace.Trace{Run: trace.Run{ID: "a"}, Records: []*trace.Record{sample()}}
	b := &trace.Trace{Run: trace.Run{ID: "b"}, Records: []*trace.Record{sample(), sample()}}
	var out bytes.Buffer
	if err := Export(&out, streams(a, b), CSV, false); err != nil || strings.Count(out.String(), "\nb,") != 2 || strings.Count(out.String(), "\nrun,") != 0 {
		t.Errorf("%v: %s", err, out.String())
	}
	broken := func(yield func(Stream, error) bool) { yield(Stream{}, io.ErrUnexpectedEOF) }
	for _, f := range []Format{JSON, JSONL, CSV, Parquet} {
		if err := Export(io.Discard, broken, f, false); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestSummary(t *testing.T) {
	all := []Run{
		{Listing: store.Listing{ID: "a", Name: "n", Kind: trace.Measured, Started: time.Unix(5, 0), Records: 4, Failed: 1, Rate: 2.5, Labels: trace.Labels{Tags: []string{"fast"}, Remark: "as before"}}, Figures: []trace.ReportedFigure{{Name: "ttft.p99", Value: 0.25}, {Name: "goodput", Value: math.NaN()}}},
		{Listing: store.Listing{ID: "b", Kind: trace.Imported, Requests: 7, Failed: -1}, Figures: []trace.ReportedFigure{{Name: "tpot.mean", Value: 3}}},
	}
	var lines, table, columns bytes.Buffer
	if err := errors.Join(Summary(&lines, all, JSONL, words.In("en")), Summary(&table, all, CSV, words.In("en")), Summary(&columns, all, Parquet, words.In("en"))); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(lines.String(), "\n"); !strings.Contains(got[0], `"rate":2.5,"max_concurrency":0,"requests":4,"failed":1,"tags":"fast","remark":"as before","ttft.p99":0.25,"goodput":null}`) || !strings.Contains(got[1], `"requests":7,"failed":null,"tags":"","remark":"","tpot.mean":3}`) {
		t.Error(got)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[0][12:], " ") != "requests failed tags remark ttft.p99 goodput tpot.mean" || strings.Join(rows[2][12:], " ") != "7      3" {
		t.Error(err, rows)
	}
	read := parquet.NewGenericReader[any](bytes.NewReader(columns.Bytes()))
	defer read.Close()
	back := make([]parquet.Row, 3)
	if n, err := read.ReadRows(back); n != 2 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(n, err)
	}
	for i, c := range read.Schema().Columns() {
		value := back[0][i].String()
		if want, ok := map[string]string{"run": "a", "failed": "1", "ttft.p99": "0.25", "tpot.mean": "<null>", "started": "1970-01-01T00:00:05Z"}[c[0]]; ok && value != want {
			t.Errorf("%s is %s, want %s", c[0], value, want)
		}
	}
	var none bytes.Buffer
	if err := Summary(&none, nil, JSON, words.In("en")); err != nil || none.String() != "[]\n" {
		t.Errorf("%v: %q", err, none.String())
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.parquet": Parquet, "b.CSV": CSV, "x/y.jsonl": JSONL, "c.json": JSON, "c.txt": "", "csv": ""} {
		if got := FormatOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "24h": now.Add(-24 * time.Hour), "7d": now.Add(-7 * 24 * time.Hour), "2026-03-01": time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"2026-03-01T05:06": time.Date(2026, 3, 1, 5, 6, 0, 0, time.UTC), "0s": now,
	} {
		if got, err := Since(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-3h", "-3d", "d", "9999999999999d", "2026-13-01"} {
		if got, err := Since(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
