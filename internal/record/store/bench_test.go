package store

import (
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The store of the benchmarks: runs with a few kilobytes of text besides their
// records, and one run with very many records.
const (
	manyRuns    = 10_000
	manyRecords = 1_000_000
)

func many(n int) iter.Seq2[*trace.Record, error] {
	return func(yield func(*trace.Record, error) bool) {
		for i := range n {
			if !yield(sample(i), nil) {
				return
			}
		}
	}
}

func bigStore(b *testing.B) *Store {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for i := range manyRuns {
		run := newRun(fmt.Sprintf("20261122-%06d-%04x", i, i*7919%65536), fmt.Sprintf("nightly / %d", i%100), int64(i+1))
		run.Status, run.End = trace.Complete, 1000
		run.Plan.Workload, run.Plan.Arrival = plan.Text("random, 256 tokens in, 128 out"), plan.Text("Poisson at 10 requests/s")
		run.Env.Profile = &trace.Profile{Name: "p", Text: strings.Repeat("costs: [1, 2, 3]\n", 200)}
		run.Verdict = &trace.Verdict{Validity: trace.Valid}
		n := 2
		if i == manyRuns/2 {
			n = manyRecords
		}
		if _, err := s.Import(run, many(n), nil); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// List all of 10 000 runs, list the newest 20, and find one; one of the runs has a
// million records.
func BenchmarkList(b *testing.B) {
	s := bigStore(b)
	for _, bb := range []struct {
		name string
		f    Filter
		want int
	}{
		{"all", Filter{}, manyRuns},
		{"newest", Filter{Limit: 20}, 20},
		{"pattern", Filter{Match: "nightly / 1?"}, manyRuns / 10},
		{"find", Filter{}, 0},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if bb.want == 0 {
					if _, err := s.Find("nightly / 7"); err != nil {
						b.Fatal(err)
					}
				} else if list, err := s.List(bb.f); err != nil || len(list) != bb.want {
					b.Fatal(err, len(list))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/op")
		})
	}
}
