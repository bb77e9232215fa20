package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/runs"
)

// An export is the file that `pitot runs export` writes.
func TestExportsAreThoseOfTheCommandLine(t *testing.T) {
	s := openStore(t)
	run := filled(1)
	run.Labels = &trace.Labels{Tags: []string{"x"}}
	sampled := &telemetry.Set{Sources: []telemetry.Source{{Name: "host", Via: "/proc"}}}
	sampled.Add(telemetry.Value{Key: telemetry.Key{Source: "host", Name: "cpu"}, Kind: telemetry.Gauge, Point: telemetry.Point{At: 1, Value: 3}})
	const n = 1100 // more than are read at a time
	if _, err := s.Import(run, filledRecords(n), sampled); err != nil {
		t.Fatal(err)
	}
	whole, err := s.Load(run.ID)
	if err != nil || len(whole.Records) != n {
		t.Fatal(err, len(whole.Records))
	}
	h := (&Server{Runs: s}).Handler()
	for _, form := range []runs.Format{runs.JSON, runs.JSONL, runs.CSV, runs.Parquet} {
		w := get(h, "runs/"+run.ID+"/export?format="+string(form))
		if want := `attachment; filename="pitot-` + run.ID + `.` + string(form) + `"`; w.Code != 200 || w.Header().Get("Content-Disposition") != want || w.Header().Get("Content-Type") != types[form] {
			t.Errorf("%s: %d %v", form, w.Code, w.Header())
		}
		var want bytes.Buffer
		all := runs.Stream{Trace: whole, Some: metrics.InMemory(whole.Records)}
		if err := runs.Export(&want, func(yield func(runs.Stream, error) bool) { yield(all, nil) }, form, false); err != nil {
			t.Fatal(err)
		}
		if form == runs.Parquet { // its rows lie in other groups
			checkParquet(t, w.Body.Bytes(), want.Bytes(), n)
		} else if !bytes.Equal(w.Body.Bytes(), want.Bytes()) {
			t.Errorf("%s: %d bytes, want %d", form, w.Body.Len(), want.Len())
		}
	}
}

func checkParquet(t *testing.T, got, want []byte, n int) {
	t.Helper()
	type row struct {
		Run   string `parquet:"run"`
		Index int64  `parquet:"index"`
		Done  *int64 `parquet:"done_ns,optional"`
	}
	a, errA := parquet.Read[row](bytes.NewReader(got), int64(len(got)))
	b, errB := parquet.Read[row](bytes.NewReader(want), int64(len(want)))
	if errA != nil || errB != nil || len(a) != n || len(b) != n {
		t.Fatal(errA, errB, len(a), len(b))
	}
	for i := range a {
		if a[i].Run != b[i].Run || a[i].Index != b[i].Index || *a[i].Done != *b[i].Done {
			t.Fatalf("row %d: %+v, want %+v", i, a[i], b[i])
		}
	}
}

func TestExportsThatCannotBe(t *testing.T) {
	s := openStore(t)
	fill(t, s, 1)
	h := (&Server{Runs: s}).Handler()
	for path, want := range map[string]int{
		"runs/nope/export": 404, "runs/" + filled(0).ID + "/export?format=xlsx": 400, "runs/%2e%2e/export": 404, "runs/%22/export": 404,
	} {
		if w := get(h, path); w.Code != want || w.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestNamesOfFilesAreClean(t *testing.T) {
	for id, want := range map[string]string{
		"20260101-000000-abcd": "20260101-000000-abcd", "a b/c": "a-b-c", `a";b`: "a--b", "../../etc": "etc", "a\r\nX: y": "a--X--y", "é": "", strings.Repeat("x", 200): strings.Repeat("x", 100),
	} {
		if got := cleanName(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

// An export that breaks off is no whole file.
func TestABrokenExportIsNoWholeFile(t *testing.T) {
	s := openStore(t)
	fill(t, s, 1)
	h := (&Server{Runs: s}).Handler()
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("panic %v", err)
		}
	}()
	h.ServeHTTP(&deaf{httptest.NewRecorder()}, httptest.NewRequest("GET", "http://127.0.0.1:7070/api/runs/"+filled(0).ID+"/export?format=csv", nil))
	t.Error("it ended as if nothing had happened")
}

// A deaf writer takes no body.
type deaf struct{ *httptest.ResponseRecorder }

func (*deaf) Write([]byte) (int, error) { return 0, http.ErrHandlerTimeout }

func sparklinesOf(t *testing.T, h http.Handler, query string) map[string][]float64 {
	t.Helper()
	w := get(h, "sparks?"+query)
	var all []struct {
		ID     string
		Values []float64
	}
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || w.Code != 200 {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	out := map[string][]float64{}
	for _, one := range all {
		out[one.ID] = one.Values
	}
	return out
}

func TestSparklines(t *testing.T) {
	s := openStore(t)
	run := filled(1) // one request of 128 tokens in 2 s every 20 ms
	if _, err := s.Import(run, filledRecords(1000), nil); err != nil {
		t.Fatal(err)
	}
	empty := filled(2)
	if _, err := s.Import(empty, nil, nil); err != nil {
		t.Fatal(err)
	}
	h := (&Server{Runs: s}).Handler()
	for range 2 { // computed, remembered
		all := sparklinesOf(t, h, "id="+run.ID+"&id="+empty.ID+"&id=nope&id="+run.ID)
		values := all[run.ID]
		if len(all) != 2 || len(values) != 40 || all[empty.ID] == nil || len(all[empty.ID]) != 0 {
			t.Fatalf("%v", all)
		}
		if mid := values[20]; mid < 0.9*6400 || mid > 1.1*6400 {
			t.Errorf("%v tokens/s, want about 6400", mid)
		}
		sum := 0.0
		for _, v := range values {
			sum += v * (21.98 / 40)
		}
		if sum < 0.95*128_000 || sum > 1.05*128_000 {
			t.Errorf("%v tokens, want about 128000", sum)
		}
	}
	if all := sparklinesOf(t, h, ""); len(all) != 0 {
		t.Errorf("%v", all)
	}
	if w := get(h, "sparks?"+strings.Repeat("id=a&", manySparks+1)); w.Code != 400 {
		t.Errorf("%d", w.Code)
	}
}

// 200 sparklines of runs without snapshots, each of 1000 requests.
func BenchmarkSparks(b *testing.B) {
	s := openStore(b)
	query := "sparks?"
	for i := range manySparks {
		run := filled(i)
		if _, err := s.Import(run, filledRecords(1000), nil); err != nil {
			b.Fatal(err)
		}
		query += "id=" + run.ID + "&"
	}
	for b.Loop() {
		if w := get((&Server{Runs: s}).Handler(), query); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/op")
}

// Figures that are not stored are computed beside the answer, and told to who listens.
func TestMissingFiguresAreComputed(t *testing.T) {
	s := openStore(t)
	fill(t, s, 3)
	computed := make(chan string, 10)
	server := &Server{Runs: s, Figures: func(tr *trace.Trace) []trace.ReportedFigure {
		computed <- tr.Run.ID
		return []trace.ReportedFigure{{Name: "ttft.mean", Value: 0.5}, {Name: "other", Value: 1}}
	}}
	h := server.Handler()
	if first := listed(t, h, "limit=3").Rows[2]; len(first.Figures) != 0 {
		t.Errorf("%v before they are computed", first.Figures)
	}
	if id := <-computed; id != filled(0).ID {
		t.Errorf("the figures of %s were computed", id)
	}
	server.Close()
	if got := listed(t, h, "limit=3").Rows[2].Figures; len(got) != 1 || got["ttft.mean"] != 0.5 {
		t.Errorf("%v", got)
	}
	if len(computed) != 0 {
		t.Error("the figures of other runs were computed")
	}
	if stored, err := s.FiguresOf([]string{filled(0).ID}, metrics.Pitot, metrics.Version); err != nil || stored[filled(0).ID]["ttft.mean"] != 0.5 {
		t.Errorf("%v: %v", err, stored)
	}
}

// While a run is measured nothing is written, and large runs are left alone.
func TestFiguresAreRememberedWhileARunIsMeasured(t *testing.T) {
	s := openStore(t)
	fill(t, s, 1)
	live := filled(5)
	live.Status = trace.Running
	if _, err := s.Import(live, nil, nil); err != nil {
		t.Fatal(err)
	}
	computed := make(chan string, 10)
	server := &Server{Runs: s, Figures: func(tr *trace.Trace) []trace.ReportedFigure {
		computed <- tr.Run.ID
		return []trace.ReportedFigure{{Name: "ttft.mean", Value: 0.5}}
	}}
	h := server.Handler()
	listed(t, h, "")
	<-computed
	server.Close()
	if got := listed(t, h, "").Rows[1].Figures["ttft.mean"]; got != 0.5 {
		t.Errorf("%v", got)
	}
	if stored, err := s.FiguresOf([]string{filled(0).ID}, metrics.Pitot, metrics.Version); err != nil || len(stored) != 0 {
		t.Errorf("%v: %v", err, stored)
	}
}
