package web

import (
	"flag"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// To look at a large store with the program: go test ./internal/show/web -run FillStore -fill FILE.
var (
	fillFile = flag.String("fill", "", "file of a new store for TestFillStore")
	fillRuns = flag.Int("fill-runs", 10_000, "number of its runs")
	fillMore = flag.Int("fill-requests", 0, "number of requests of one more run, with 64 chunks each")
)

func TestFillStore(t *testing.T) {
	if *fillFile == "" {
		t.Skip("no -fill")
	}
	s, err := store.Open(*fillFile)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fill(t, s, *fillRuns)
	if *fillMore > 0 {
		run := filled(*fillRuns)
		run.Status, run.End, run.Plan.Requests = trace.Complete, trace.Instant(*fillMore)*50e6, *fillMore
		if _, err := s.Import(run, longRecords(*fillMore), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// longRecords are requests of 20 per second with 64 chunks each, of which one in 1000 fails. Each
// 5000 s the server stands still for 2 s.
func longRecords(n int) iter.Seq2[*trace.Record, error] {
	return func(yield func(*trace.Record, error) bool) {
		for i := range n {
			r := trace.NewRecord(i)
			at := trace.Instant(i) * 50e6
			r.Due, r.Released, r.Sent, r.FirstByte, r.Done = at, at, at, at+20e6, at+600e6
			r.PromptTokens, r.OutputTokens, r.CountedFrom, r.Stamps = 256, 64, trace.FromUsage, trace.KernelStamps
			if i%1000 == 7 {
				r.Class, r.Error = trace.Timeout, "no answer within 60 s"
			}
			for j := range 64 {
				due := at + trace.Instant(20+9*j)*1e6 + trace.Instant(i*7919*j%997)*1000
				if since := due % 5000e9; since < 2e9 && due > 5000e9 {
					due += 2e9 - since + trace.Instant(j)*1000
				}
				r.Chunks = append(r.Chunks, trace.Chunk{At: due, Kind: trace.Text, Tokens: 1})
			}
			r.Done = max(r.Done, r.Chunks[63].At+5e6)
			if !yield(r, nil) {
				return
			}
		}
	}
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var (
	filledModels = []string{"Qwen/Qwen3-8B", "meta-llama/Llama-3.1-70B-Instruct", "deepseek-ai/DeepSeek-V3"}
	firstStart   = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// filled is the i-th run of a large store: one an hour, of 3 models and 20 loads, one in 10 with
// a remark and tags, one in 7 doubtful, one in 50 interrupted, half of them in experiments of 8.
func filled(i int) trace.Run {
	rate := float64(1 + i%20)
	run := trace.Run{
		ID:   fmt.Sprintf("%s-%04x", firstStart.Add(time.Duration(i)*time.Hour).Format("20060102-150405"), i*7919%65536),
		Name: fmt.Sprintf("nightly / %d", i%100), Kind: trace.Measured, Status: trace.Complete, Started: firstStart.Add(time.Duration(i) * time.Hour), End: trace.Instant(time.Minute),
		Verdict: &trace.Verdict{Validity: trace.Valid},
		Plan: trace.Load{
			Dialect: "pitot", URL: "http://127.0.0.1:8000", Model: filledModels[i%3], Stream: true, Requests: 2, Rate: rate,
			Workload: plan.Text("random, 256 tokens in, 128 out"), Arrival: plan.Text(fmt.Sprintf("Poisson at %g requests/s", rate)),
		},
	}
	if i%2 == 0 {
		run.Leg = &trace.Leg{Experiment: fmt.Sprintf("ab-%d", i/16), Variant: "after", Block: 1, Position: 1}
	}
	if i%7 == 0 {
		run.Verdict.Validity = trace.Doubtful
	}
	if i%50 == 0 {
		run.Status, run.Kind = trace.Interrupted, trace.Simulated
	}
	if i%10 == 0 {
		run.Labels = &trace.Labels{Tags: []string{fmt.Sprintf("gpu-%d", i%40), "release"}, Remark: fmt.Sprintf("after driver update number %d", i)}
	}
	return run
}

func filledRecords(n int) iter.Seq2[*trace.Record, error] {
	return func(yield func(*trace.Record, error) bool) {
		for i := range n {
			r := trace.NewRecord(i)
			at := trace.Instant(i) * trace.Instant(20*time.Millisecond)
			r.Due, r.Released, r.Sent, r.FirstByte, r.Done = at, at, at, at+trace.Instant(50*time.Millisecond), at+trace.Instant(2*time.Second)
			r.OutputTokens = 128
			if !yield(r, nil) {
				return
			}
		}
	}
}

// fill stores n runs, the first of them without figures.
func fill(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		run := filled(i)
		if _, err := s.Import(run, filledRecords(2), nil); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		figures := make([]trace.ReportedFigure, 0, 60)
		for j, name := range store.Listed() {
			figures = append(figures, trace.ReportedFigure{Name: name, Value: float64((i*7919+j)%1000) / 1000})
		}
		if i == 1 {
			figures[0].Value = math.NaN()
		}
		for j := len(figures); j < 60; j++ {
			figures = append(figures, trace.ReportedFigure{Name: fmt.Sprintf("other.%d", j), Value: float64(j)})
		}
		tr := &trace.Trace{Run: run, Records: make([]*trace.Record, 2)}
		if err := s.StoreFigures(tr, metrics.Pitot, metrics.Version, figures); err != nil {
			t.Fatal(err)
		}
	}
}
