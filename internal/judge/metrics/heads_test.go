package metrics

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestPackedHeadsAreThoseThatWereAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := func() trace.Instant {
			return trace.Instant(rapid.SampledFrom([]int64{-1, 0, 1, 255, 1e9, 1 << 62, -1 << 62}).Draw(t, "instant"))
		}
		some := make([]head, headsInBlock)
		for i := range some {
			some[i] = head{released: trace.Instant(i) * 1000, due: trace.Never, ok: i%3 > 0, resent: i%5 == 0, turn: i % 7}
		}
		for i := range rapid.SliceOfN(rapid.IntRange(0, headsInBlock-1), 0, 20).Draw(t, "places") {
			some[i] = head{
				due: any(), released: any(), sent: any(), done: any(), first: any(), last: any(), firstLo: any(), lastLo: any(), begun: any(), behind: any(), setup: any(),
				prompt: int(any()), tokens: 7, streamed: int(any()), output: 3, merged: 1, size: int(any()), turn: 2, tenant: 1 << 40, connected: true, inSession: true,
			}
		}
		var all heads
		for _, h := range some {
			all.add(h)
		}
		all.add(head{}) // packs those before it
		var got []head
		for h := range all.all {
			got = append(got, *h)
		}
		if !slices.Equal(got, append(some, head{})) {
			t.Fatal("other heads came out")
		}
	})
}

// many is a run of n requests of 40 tokens at 100 a second, with latencies by chance. Some fail, and some chunks were read late.
func many(n int) *trace.Trace {
	dice := rand.New(rand.NewPCG(1, 2))
	tr := run(0)
	for i := range n {
		r := trace.NewRecord(i)
		r.Due = trace.Instant(i) * 10 * ms
		r.Released, r.Sent = r.Due+1000, r.Due+1000+trace.Instant(dice.IntN(50_000))
		r.OutputTokens, r.CountedFrom, r.WantTokens, r.PromptTokens, r.Stamps = 40, trace.FromUsage, 40, 100+dice.IntN(100), trace.KernelStamps
		at := r.Sent + 30*ms
		for range 40 {
			at += trace.Instant(dice.ExpFloat64() * float64(10*ms))
			r.Chunks = append(r.Chunks, trace.Chunk{At: at, Kind: trace.Text, Tokens: 1})
		}
		if dice.IntN(100) == 0 {
			r.Chunks[20].Slack = 500
		}
		if r.Done = at; dice.IntN(50) == 0 {
			r.Class = trace.Reset
		}
		tr.Records = append(tr.Records, r)
		tr.Run.End = max(tr.Run.End, r.Done)
	}
	return tr
}

// The figures of many requests, which are never in memory together, are those of sorted lists, to the last bit.
func TestFiguresOfManyRequestsAreExact(t *testing.T) {
	tr := many(20_000)
	batches := func(yield func([]*trace.Record, error) bool) {
		for some := range slices.Chunk(tr.Records, 777) {
			if !yield(some, nil) {
				return
			}
		}
	}
	s, err := SummarizeRecords(tr, batches, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Summarize(tr, Options{}), s); diff != "" {
		t.Errorf("in one batch: %s", diff)
	}
	var ttft, tpot, e2el, gaps, late []float64
	for _, r := range tr.Records {
		if l, ok := Lateness(r); ok {
			late = append(late, l)
		}
		if !r.OK() {
			continue
		}
		a, b, c := PitotLatencies(r, true)
		ttft, tpot, e2el, gaps = append(ttft, a), append(tpot, b), append(e2el, c), append(gaps, PitotGaps(r)...)
	}
	for name, of := range map[string]struct {
		got  Distribution
		want []float64
	}{"TTFT": {s.Service.TTFT, ttft}, "TPOT": {s.Service.TPOT, tpot}, "ITL": {s.Service.ITL, gaps}, "E2EL": {s.Service.E2EL, e2el}, "lateness": {s.Health.Lateness, late}} {
		sorted := stats.Sort(of.want)
		if of.got.N != len(sorted) || of.got.Median != sorted.Median() || of.got.Max != sorted.Max() || name != "ITL" && of.got.Mean != stats.Mean(of.want) {
			t.Errorf("%s: %+v", name, of.got)
		}
		for _, p := range of.got.Percentiles {
			if p.Value != sorted.Percentile(p.P) {
				t.Errorf("%s: P%v is %v, want %v", name, p.P, p.Value, sorted.Percentile(p.P))
			}
		}
	}
	if s.Concurrency != CountConcurrency(tr.Records) || !s.Steady.Found() || s.Steady.Service.ITL.N == 0 || s.Steady.Service.TTFT.MeanInterval == nil {
		t.Errorf("%+v, %+v", s.Concurrency, s.Steady)
	}
}

// A request takes some fifty bytes, however many chunks it has.
func TestHeadsAreSmall(t *testing.T) {
	x, err := observe(many(2*headsInBlock+1), InMemory(many(2*headsInBlock+1).Records), Options{}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, b := range x.heads.packed {
		size += len(b.data)
	}
	if each := size / (2 * headsInBlock); len(x.heads.packed) != 2 || each > 50 {
		t.Errorf("%d blocks, %d bytes a request", len(x.heads.packed), each)
	}
}

// An error of reading is that of the summary.
func TestAnErrorOfReadingEndsTheSummary(t *testing.T) {
	broken := errors.New("broken")
	tr := many(600) // whose gaps take two passes
	for pass := range 2 {
		read := 0
		_, err := SummarizeRecords(tr, func(yield func([]*trace.Record, error) bool) {
			if read++; yield(tr.Records, nil) && read > pass {
				yield(nil, broken)
			}
		}, Options{})
		if !errors.Is(err, broken) {
			t.Errorf("in pass %d: %v", pass, err)
		}
	}
}

// Ten million requests from a source that makes them anew for each pass: -benchtime 1x prints the time, and the memory that the
// system gave. Most of the time goes with the chunks.
func BenchmarkTenMillionRequests(b *testing.B) {
	for _, chunks := range []int{4, 100} {
		b.Run(fmt.Sprintf("%d chunks each", chunks), func(b *testing.B) {
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			for b.Loop() {
				tr := run(0)
				tr.Run.End = 10_000_000 * ms
				s, err := SummarizeRecords(tr, made(10_000_000, chunks), Options{})
				if err != nil || s.Requests.OK != 10_000_000 {
					b.Fatal(err, s.Requests)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB")
		})
	}
}

// A run that is removed, or grows, between two passes has no figures.
func TestARunThatChangesIsAnError(t *testing.T) {
	tr := many(600)
	for _, later := range [][]*trace.Record{nil, tr.Records[1:], append(tr.Records, tr.Records[0])} {
		records := tr.Records
		_, err := SummarizeRecords(tr, func(yield func([]*trace.Record, error) bool) {
			yield(records, nil)
			records = later
		}, Options{})
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%d records later: %v", len(later), err)
		}
	}
}

// made are n requests at 1000 a second with so many chunks each.
func made(n, chunks int) Records {
	return func(yield func([]*trace.Record, error) bool) {
		dice := rand.New(rand.NewPCG(3, 4))
		some := make([]*trace.Record, 1000)
		for i := range some {
			some[i] = trace.NewRecord(0)
			some[i].Chunks = make([]trace.Chunk, chunks)
			some[i].CountedFrom, some[i].Stamps = trace.FromUsage, trace.KernelStamps
		}
		for i := range n {
			r := some[i%len(some)]
			r.Index, r.OutputTokens, r.WantTokens, r.PromptTokens = i, chunks, chunks, 100+dice.IntN(900)
			r.Due = trace.Instant(i) * ms
			r.Released, r.Sent = r.Due+1000, r.Due+1000+trace.Instant(dice.IntN(50_000))
			at := r.Sent + 30*ms + trace.Instant(dice.IntN(int(20*ms)))
			for k := range r.Chunks {
				r.Chunks[k] = trace.Chunk{At: at, Kind: trace.Text, Tokens: 1}
				at += 8*ms + trace.Instant(dice.Uint64()>>42) // up to 4.2 ms
			}
			if r.Done = at; i%len(some) == len(some)-1 && !yield(some, nil) {
				return
			}
		}
	}
}
