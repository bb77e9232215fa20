//go:build unix

package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// cpu is the processor time of this process, in nanoseconds.
func cpu() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(0, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// noisyRun are n requests of tokens each at 200 a second.
func noisyRun(n, tokens int) (all []*trace.Record) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		r := trace.NewRecord(i)
		at := trace.Instant(i) * 5_000_000
		r.Due, r.Released, r.Sent, r.FirstByte = at, at+trace.Instant(random.IntN(1e5)), at+2e5+trace.Instant(random.IntN(1e5)), at+2e8+trace.Instant(random.IntN(5e7))
		r.PromptTokens, r.WantTokens, r.OutputTokens, r.Usage.Prompt, r.Usage.Completion, r.Status = 100+random.IntN(20), tokens, tokens, 100, tokens, 200
		r.FinishReason, r.Stamps, r.CountedFrom = "length", trace.KernelStamps, trace.FromUsage
		at = r.FirstByte
		for range tokens {
			r.Chunks = append(r.Chunks, trace.Chunk{At: at, Tokens: 1, Kind: trace.Text})
			at += 8_300_000 + trace.Instant(random.NormFloat64()*40_000)
		}
		r.Done = at
		all = append(all, r)
	}
	return all
}

// Writes a run of 100 flushes, and reads it.
func BenchmarkFlush(b *testing.B) {
	for _, bb := range []struct{ flush, tokens int }{{50, 4}, {50, 64}, {100, 128}, {5000, 4}} {
		b.Run(fmt.Sprintf("%dx%d", bb.flush, bb.tokens), func(b *testing.B) {
			s, err := Open(filepath.Join(b.TempDir(), "runs.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			w, err := s.Create(newRun("run-1", "", 1), Owner{Progress: func() trace.Snapshot { return trace.Snapshot{At: 1} }})
			if err != nil {
				b.Fatal(err)
			}
			w.end()
			w.done.Wait()
			w.running = true
			const flushes = 100
			all := noisyRun(bb.flush*flushes, bb.tokens)
			start, n := cpu(), 0
			for i := range flushes {
				for _, r := range all[i*bb.flush : (i+1)*bb.flush] {
					w.Append(r)
				}
				if err := w.flush(brief, false); err != nil {
					b.Fatal(err)
				}
				n += bb.flush
			}
			if err := w.Finish(newRun("run-1", "", 1)); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric((cpu()-start)/float64(n)/1000, "µs/request")
			b.ReportMetric((cpu()-start)/float64(flushes)/1000, "µs/flush")
			start = cpu()
			t, err := s.Load("run-1")
			if err != nil || len(t.Records) != n {
				b.Fatal(err)
			}
			b.ReportMetric((cpu()-start)/float64(n)/1000, "µs/read")
		})
	}
}

// Reads a run of 30 000 requests in every way.
func BenchmarkReads(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const n = 30000
	all := noisyRun(n, 64)
	start := cpu()
	if _, err := s.Import(newRun("run-1", "", 1), func(yield func(*trace.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric((cpu()-start)/n/1000, "µs/import")
	all = nil
	runtime.GC()
	for b.Loop() {
		start = cpu()
		for i := range 500 {
			if _, err := s.Record("run-1", i*7919%n); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((cpu()-start)/500/1000, "µs/Record")
		start = cpu()
		m := 0
		for some, err := range s.EachRecord("run-1") {
			if err != nil {
				b.Fatal(err)
			}
			m += len(some)
		}
		b.ReportMetric((cpu()-start)/float64(m)/1000, "µs/EachRecord")
		start = cpu()
		for next, more := 0, true; more; {
			if next, more, err = s.Scan("run-1", next, 2000, func(*trace.Record) {}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((cpu()-start)/n/1000, "µs/Scan")
		start = cpu()
		if some, err := s.Outlines("run-1", 400); err != nil || len(some) < 300 {
			b.Fatal(err, len(some))
		}
		b.ReportMetric((cpu()-start)/1000, "µs/Outlines")
	}
}
