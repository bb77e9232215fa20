package web

import (
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// shown is a page of a store.
func shown(t testing.TB, s *store.Store) http.Handler {
	t.Helper()
	server := &Server{Runs: s, File: "runs.db", Version: "test", Figures: known.Figures}
	t.Cleanup(server.Close)
	return server.Handler()
}

// answered reads an answer.
func answered[T any](t *testing.T, h http.Handler, path string) (found T) {
	t.Helper()
	w := get(h, path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &found); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return found
}

// wholeCourse asks until all records were read.
func wholeCourse(t *testing.T, h http.Handler, id string) view.Course {
	t.Helper()
	for {
		c := answered[view.Course](t, h, "runs/"+id+"/course")
		if c.Read == c.Records {
			return c
		}
	}
}

// streamed is a record with chunks; each seventh failed.
func streamed(i int) *trace.Record {
	r := trace.NewRecord(i)
	at := trace.Instant(i) * trace.Instant(20*time.Millisecond)
	r.ID, r.PromptTokens, r.OutputTokens, r.CountedFrom = fmt.Sprint("q-", i), 10+i, 5, trace.FromUsage
	r.Due, r.Released, r.Sent, r.FirstByte, r.Done = at, at, at, at+5e6, at+80e6
	if i%7 == 3 {
		r.Class, r.Status, r.Error, r.OutputTokens = trace.HTTP, 503, "too many requests", 0
		return r
	}
	for j := range 5 {
		r.Chunks = append(r.Chunks, trace.Chunk{At: at + trace.Instant(10+10*j)*1e6, Kind: trace.Text, Tokens: 1})
	}
	return r
}

// written stores the records of a run from..to, and what the run is by then.
func written(t *testing.T, w *store.Writer, run trace.Run, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		w.Append(streamed(i))
	}
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
}

// aRun is one of n requests in a store.
func aRun(t *testing.T, s *store.Store, id string, n int) (trace.Run, *store.Writer) {
	t.Helper()
	spec := &plan.Spec{
		Version: plan.Version, Target: plan.Target{URL: "http://gpu1:8000"}, Request: plan.Request{Protocol: "chat", Model: "m", Stream: true}, Requests: n,
		Load: []plan.Stream{{Arrival: plan.Typed{Kind: "poisson", Settings: json.RawMessage(`{"rate":50}`)}, Dataset: plan.Typed{Kind: "random"}}},
	}
	run := trace.Run{
		ID: id, Kind: trace.Measured, Status: trace.Complete, Started: firstStart, End: trace.Instant(n) * 20e6,
		Plan: trace.Load{Dialect: "pitot", URL: "http://gpu1:8000", Model: "m", Protocol: "chat", Stream: true, Requests: n, Rate: 50, Spec: spec},
	}
	last := trace.Snapshot{At: trace.Never}
	w, err := s.Create(run, store.Owner{Progress: func() trace.Snapshot { return last }})
	if err != nil {
		t.Fatal(err)
	}
	return run, w
}

func TestThePageOfARun(t *testing.T) {
	s := openStore(t)
	run, w := aRun(t, s, "run-1", 2200)
	w.Sample([]telemetry.Source{{Name: "server", Every: time.Second}}, samples(44))
	written(t, w, run, 0, 2200)
	h := shown(t, s)
	c := wholeCourse(t, h, "run-1")
	if c.Running || c.Seconds != 44 || len(c.Distributions) != 4 || c.Distributions[0].N != 2200-314 || len(c.Failed) != 314 || len(c.Strips) != 1 || len(c.Strips[0].Lines[0].X) < 40 {
		t.Errorf("%d in %v s: %d failed, strips %+v", c.Read, c.Seconds, len(c.Failed), c.Strips)
	}
	r := answered[view.Run](t, h, "runs/run-1?lang=zh")
	if len(r.Figures) < 20 || len(r.Failures) != 1 || r.Failures[0].Count != 314 || r.Requests.Failed != 314 || len(r.Commands) != 3 || r.Spec == "" || r.Verdict.Headline == "" {
		t.Errorf("%+v", r)
	}
	list := answered[view.Records](t, h, "runs/run-1/requests?limit=3&sort=-prompt&class=ok")
	if list.Total != 2200-314 || len(list.Rows) != 3 || list.Rows[0].Index != 2199 || list.Rows[0].TTFT == nil || list.Rows[0].All != 5 || len(list.Rows[0].Chunks) != 0 {
		t.Errorf("%+v", list)
	}
	q := answered[view.Request](t, h, "runs/run-1/requests/10")
	if q.Class != "http" || q.Failure == "" || q.Error != "too many requests" {
		t.Errorf("%+v", q)
	}
	if q := answered[view.Request](t, h, "runs/run-1/requests/11"); len(q.Chunks) != 5 || *q.E2EL != 0.08 {
		t.Errorf("%+v", q)
	}
	reports := answered[view.Reports](t, h, "runs/run-1/reports")
	if len(reports.Reports) != 3 || !strings.Contains(reports.Reports[0].Text, "1886 ok, 314 failed") || !strings.Contains(reports.Reports[1].Text, "Serving Benchmark Result") {
		t.Errorf("%+v", reports)
	}
	checkRows(t, get(h, "runs/run-1/rows?most=600&from=10&until=30").Body.Bytes())
}

func samples(n int) (all []telemetry.Value) {
	for i := range n {
		all = append(all, telemetry.Value{Key: telemetry.Key{Source: "server", Name: telemetry.ServerWaiting}, Point: telemetry.Point{At: time.Duration(i) * time.Second, Value: float64(i % 9)}})
	}
	return all
}

// checkRows wants requests from 10 s to 30 s of 2200 in 44 s, at most 600 of them.
func checkRows(t *testing.T, b []byte) {
	t.Helper()
	var header view.RowsHeader
	n := binary.LittleEndian.Uint32(b[4:])
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	if header.Every != 2 || header.N < 480 || header.N > 510 || header.Next != 2200 || len(b) != 8+int(n)+4*header.N*len(header.Columns) {
		t.Errorf("%+v in %d bytes", header, len(b))
	}
}

// A run that goes on is read on with each question.
func TestThePageOfARunUnderWay(t *testing.T) {
	s := openStore(t)
	run, w := aRun(t, s, "run-1", 300)
	run.Status, run.End = trace.Running, trace.Never
	h := shown(t, s)
	if c := answered[view.Course](t, h, "runs/run-1/course"); !c.Running || c.Read != 0 {
		t.Errorf("%+v", c)
	}
	for n := 100; n <= 200; n += 100 {
		written(t, w, run, n-100, n)
		if c := answered[view.Course](t, h, "runs/run-1/course"); !c.Running || c.Read != n {
			t.Errorf("%d of %d", c.Read, n)
		}
	}
	r := answered[view.Run](t, h, "runs/run-1")
	if i := slices.IndexFunc(r.Figures, func(f view.Figure) bool { return f.Name == "requests.ok" }); i < 0 || *r.Figures[i].Value != 171 || !strings.HasPrefix(r.Verdict.Headline, "Running") {
		t.Errorf("%+v", r.Figures)
	}
	run.Status, run.End = trace.Complete, 6e9
	written(t, w, run, 200, 300)
	if c := wholeCourse(t, h, "run-1"); c.Running || c.Read != 300 || c.Seconds != 6 {
		t.Errorf("at its end %d, %v", c.Read, c.Running)
	}
}

// A run that is removed while it is shown is gone, and another one of its name is another one.
func TestARunThatIsRemoved(t *testing.T) {
	s := openStore(t)
	run, w := aRun(t, s, "run-1", 50)
	written(t, w, run, 0, 50)
	h := shown(t, s)
	if c := wholeCourse(t, h, "run-1"); c.Read != 50 {
		t.Errorf("%d records", c.Read)
	}
	if err := s.Remove("run-1"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "/course", "/rows", "/requests", "/requests/3", "/reports"} {
		if w := get(h, "runs/run-1"+path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	run, w = aRun(t, s, "run-1", 20)
	written(t, w, run, 0, 20)
	if c := wholeCourse(t, h, "run-1"); c.Read != 20 || c.Records != 20 {
		t.Errorf("%d of %d records", c.Read, c.Records)
	}
}

func TestRunsOfOtherTools(t *testing.T) {
	s := openStore(t)
	run := trace.Run{ID: "table-1", Kind: trace.Imported, Status: trace.Complete, End: trace.Never, Plan: trace.Load{Stream: true}}
	run.Origin = &trace.Origin{Tool: "vllm", Detail: trace.Table, Figures: []trace.ReportedFigure{{Name: "requests.ok", Value: 9}, {Name: "ttft.mean", Value: 0.5, Step: 1e-5}}}
	if _, err := s.Import(run, filledRecords(0), nil); err != nil {
		t.Fatal(err)
	}
	run.ID, run.Origin = "undated-1", &trace.Origin{Tool: "vllm", Detail: trace.Undated}
	if _, err := s.Import(run, filledRecords(9), nil); err != nil {
		t.Fatal(err)
	}
	h := shown(t, s)
	r := answered[view.Run](t, h, "runs/table-1")
	if len(r.Figures) != 2 || r.Figures[1].Text != "500.0" || !strings.Contains(r.Figures[1].Definition, "gate") || !strings.HasPrefix(r.Verdict.Headline, "Imported from vllm") || len(r.Commands) != 0 || r.Seconds != nil {
		t.Errorf("%+v", r)
	}
	if c := wholeCourse(t, h, "table-1"); c.Records != 0 || !c.Undated || len(c.Distributions) != 0 {
		t.Errorf("%+v", c)
	}
	if reports := answered[view.Reports](t, h, "runs/table-1/reports"); len(reports.Reports) != 1 || reports.Reports[0].Dialect != "vllm" || !strings.Contains(reports.Reports[0].Text, "500.00") {
		t.Errorf("%+v", reports)
	}
	if c := wholeCourse(t, h, "undated-1"); c.Records != 9 || !c.Undated || len(c.Distributions) != 1 || len(c.Series) != 0 {
		t.Errorf("%+v", c)
	}
	if q := answered[view.Request](t, h, "runs/undated-1/requests/3"); *q.E2EL != 2 {
		t.Errorf("%+v", q)
	}
}

// damagedRows adds two records that cannot be read to a run, as stores of version 13 have records.
const damagedRows = `INSERT INTO record (run_id, idx, seq, request_id, prompt_tokens, want_tokens, status, finish_reason, usage_prompt,
	usage_completion, usage_cached, usage_reasoning, output_tokens, counted_from, class, error, redials, text, chunks)
	SELECT 'run-1', value, 0, '', 0, 0, 200, '', 0, 0, 0, 0, 0, '', '', '', 0, '', x'ff' FROM json_each('[50, 51]')`

func TestDamagedRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, id := range []string{"run-1", "run-2"} {
		run, w := aRun(t, s, id, 50)
		written(t, w, run, 0, 50)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, change := range []string{damagedRows, "UPDATE run SET records = 52 WHERE id = 'run-1'", "UPDATE run_body SET body = '{' WHERE run_id = 'run-2'"} {
		if _, err := db.Exec(change); err != nil {
			t.Fatal(err)
		}
	}
	h := shown(t, s)
	c := answered[view.Course](t, h, "runs/run-1/course")
	if c.Read != 50 || c.Records != 52 || c.Running {
		t.Errorf("%d of %d records", c.Read, c.Records)
	}
	if list := answered[view.Records](t, h, "runs/run-1/requests"); list.Total != 50 || len(list.Rows) != 50 {
		t.Errorf("%d of %d", len(list.Rows), list.Total)
	}
	if w := get(h, "runs/run-1/requests/50"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "record 50 of run run-1 is damaged") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if r := answered[view.Run](t, h, "runs/run-1"); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "2") {
		t.Errorf("%v", r.Notes)
	}
	for _, path := range []string{"", "/course", "/requests/3"} {
		if w := get(h, "runs/run-2"+path); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "run run-2 is damaged") || !strings.Contains(w.Body.String(), "pitot runs repair") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestQuestionsOfARunThatCannotBe(t *testing.T) {
	s := openStore(t)
	run, w := aRun(t, s, "run-1", 5)
	written(t, w, run, 0, 5)
	h := shown(t, s)
	for path, want := range map[string]int{
		"/rows?from=x": 400, "/rows?until=-1": 400, "/rows?since=-1": 400, "/rows?most=few": 400, "/requests?sort=price": 400, "/requests?limit=-1": 400, "/requests?offset=a": 400,
		"/requests/x": 400, "/requests/7": 404, "/requests?limit=100000": 200,
	} {
		if w := get(h, "runs/run-1"+path); w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := get(h, "runs/run-9/course"); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Many ask at once while runs are read, and more runs than are kept.
func TestManyQuestionsAtOnce(t *testing.T) {
	s := openStore(t)
	for i := range mostDigests + 4 {
		run := filled(i)
		run.ID = fmt.Sprint("many-", i)
		if _, err := s.Import(run, filledRecords(20), nil); err != nil {
			t.Fatal(err)
		}
	}
	server := &Server{Runs: s, File: "runs.db"}
	h := server.Handler()
	var all sync.WaitGroup
	for worker := range 3 {
		all.Go(func() {
			for i := range mostDigests + 4 {
				id := fmt.Sprint("runs/many-", (i*7+worker)%(mostDigests+4))
				for _, path := range []string{"/course", "/rows"} {
					if w := get(h, id+path); w.Code != 200 {
						t.Errorf("%s%s: %d %s", id, path, w.Code, w.Body)
					}
				}
			}
		})
	}
	all.Wait()
	if n := len(server.read.followed); n > mostDigests {
		t.Errorf("%d digests are kept", n)
	}
	server.Close()
	if w := get(h, "runs/many-1/course"); w.Code == 200 {
		t.Error("a server that was closed reads a run")
	}
}
