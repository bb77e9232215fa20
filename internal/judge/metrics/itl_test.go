package metrics

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Three chunks of one read and two read as they came: gaps of 10 ms at the engine.
func TestGapsOfMergedChunksHaveBounds(t *testing.T) {
	r := answered(0, 0, 0, 5, 20, 50, 50, 50, 60)
	r.Stamps = trace.KernelStamps
	for i := 1; i < 3; i++ {
		r.Chunks[i].Slack = 28_000 // the socket had been empty at 22 ms
	}
	d := Summarize(run(1000, r), Options{Percentiles: []float64{100}}).Service.ITL
	want := Distribution{
		N: 4, Mean: .01, Std: math.Sqrt(600) / 2e3, Min: 0, Median: .005, Max: .03, Percentiles: []Percentile{{P: 100, Value: .03, Short: true}}, Invalid: true,
		Bounds: &Bounds{
			Share: .4,
			Low:   Quantiles{N: 4, Median: .001, Percentiles: []float64{.01}, Max: .01},  // 2, 0, 0, 10 ms
			High:  Quantiles{N: 4, Median: .028, Percentiles: []float64{.03}, Max: .030}, // 30, 28, 28, 10 ms
			Exact: Quantiles{N: 1, Median: .01, Percentiles: []float64{.01}, Max: .01},   // the last
		},
	}
	if diff := cmp.Diff(want, d, exact); diff != "" {
		t.Error(diff)
	}
}

func TestTheFirstChunkMayHaveComeEarlier(t *testing.T) {
	r := answered(0, 5, 10, 2, 60, 60)
	r.Stamps, r.Chunks[0].Slack = trace.KernelStamps, 20_000
	s := Summarize(run(1000, r), Options{Percentiles: []float64{50}})
	want := &Bounds{
		Share: 1,
		Low:   Quantiles{N: 1, Median: .03, Percentiles: []float64{.03}, Max: .03},
		High:  Quantiles{N: 1, Median: .05, Percentiles: []float64{.05}, Max: .05},
		Exact: Quantiles{Percentiles: []float64{0}},
	}
	if diff := cmp.Diff(want, s.Service.TTFT.Bounds, exact); diff != "" {
		t.Error(diff)
	}
	if b := s.Response.TTFT.Bounds; b.Low.Max != .035 || math.Abs(b.High.Max-.055) > 1e-12 {
		t.Errorf("response: %+v", b)
	}
}

// The time per token depends on the ends of an answer, and on nothing between them.
func TestTheEndsOfAnAnswerMayHaveComeEarlier(t *testing.T) {
	r := answered(0, 0, 10, 5, 60, 60, 80, 100)
	r.Stamps, r.Chunks[0].Slack, r.Chunks[2].Slack, r.Chunks[3].Slack = trace.KernelStamps, 8_000, 5_000, 12_000
	want := &Bounds{ // 40 ms for 4 tokens; from 28 to 48
		Share: 1,
		Low:   Quantiles{N: 1, Median: .007, Percentiles: []float64{.007}, Max: .007},
		High:  Quantiles{N: 1, Median: .012, Percentiles: []float64{.012}, Max: .012},
		Exact: Quantiles{Percentiles: []float64{0}},
	}
	d := Summarize(run(1000, r), Options{Percentiles: []float64{50}}).Service.TPOT
	if diff := cmp.Diff(want, d.Bounds, exact); diff != "" || d.Median != .01 {
		t.Errorf("%v: %s", d.Median, diff)
	}
	r.Chunks[0].Slack, r.Chunks[3].Slack = 0, 0
	if d := Summarize(run(1000, r), Options{}).Service.TPOT; d.Bounds != nil {
		t.Errorf("a chunk between the ends: %+v", d.Bounds)
	}
}

func TestBoundsAreGivenWhereTheyMatter(t *testing.T) {
	for _, tt := range []struct {
		merged           int // of 2000 chunks
		bounded, invalid bool
	}{{0, false, false}, {2, false, false}, {3, true, false}, {20, true, false}, {21, true, true}} {
		tr := healthy()
		merged(tt.merged)(tr)
		s := Summarize(tr, Options{})
		for name, d := range map[string]Distribution{"service": s.Service.ITL, "response": s.Response.ITL} {
			if (d.Bounds != nil) != tt.bounded || d.Invalid != tt.invalid {
				t.Errorf("%d merged, %s: bounds %v, invalid %v", tt.merged, name, d.Bounds != nil, d.Invalid)
			}
		}
		if s.Service.ITL.Mean != .015 {
			t.Errorf("%d merged: the mean is %v", tt.merged, s.Service.ITL.Mean)
		}
	}
}

// Without slack there is nothing to bound gaps with, and yet they are wrong.
func TestMergedInUserSpaceThereAreNoBounds(t *testing.T) {
	tr := healthy()
	spoil(userStamps(200), merged(30))(tr)
	if d := Summarize(tr, Options{}).Service.ITL; d.Bounds != nil || !d.Invalid {
		t.Errorf("%+v", d)
	}
}

// read is a client that reads a stream of the given arrivals at the given instants,
// in microseconds: the kernel stamps the last that had come, and what came with it
// has come since the read before.
func read(arrivals, reads []trace.Instant) (chunks []trace.Chunk) {
	const us = 1000
	next, emptied := 0, trace.Instant(0)
	for _, at := range append(reads, arrivals[len(arrivals)-1]) {
		from := next
		for next < len(arrivals) && arrivals[next] <= at {
			next++
		}
		for i := from; i < next; i++ {
			stamp := arrivals[next-1]
			c := trace.Chunk{At: stamp * us, Kind: trace.Text}
			if i < next-1 {
				c.Slack = uint32(stamp - emptied)
			}
			if i > from {
				c.Kind |= trace.Coalesced
			}
			chunks = append(chunks, c)
		}
		emptied = max(emptied, at)
	}
	return chunks
}

// Whenever the client reads, each true gap and each figure of them lies within the
// bounds, and the sums are right but for the first chunk.
func TestTrueGapsLieWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rise := func(steps []int) (at []trace.Instant) {
			now := trace.Instant(0)
			for _, s := range steps {
				now += trace.Instant(s)
				at = append(at, now)
			}
			return at
		}
		arrivals := rise(rapid.SliceOfN(rapid.IntRange(1, 50), 2, 60).Draw(t, "gaps"))
		reads := rise(rapid.SliceOfN(rapid.IntRange(1, 200), 0, 60).Draw(t, "pauses"))
		record := trace.NewRecord(0)
		record.Sent, record.Due, record.Released, record.Stamps = 0, 0, 0, trace.KernelStamps
		record.Chunks = read(arrivals, reads)
		truth := trace.NewRecord(0)
		for _, at := range arrivals {
			truth.Chunks = append(truth.Chunks, trace.Chunk{At: at * 1000, Kind: trace.Text})
		}
		want := asMeasured.gaps(nil, truth.Chunks)
		low, high := atLeast.gaps(nil, record.Chunks), atMost.gaps(nil, record.Chunks)
		for i, gap := range want {
			if gap < low[i] || gap > high[i] {
				t.Fatalf("gap %d of %v, read at %v: %d, bounds %d and %d", i, arrivals, reads, gap, low[i], high[i])
			}
		}
		truly := DistributeGaps([]*trace.Record{truth}, []float64{10, 90, 99})
		sample := newGapSample([]float64{10, 90, 99}, func(*trace.Record) bool { return true })
		_ = InMemory([]*trace.Record{record}).read(sample)
		got := sample.distribution()
		if got.Bounds == nil {
			return
		}
		within := func(v, low, high float64) {
			if v < low-1e-12 || v > high+1e-12 {
				t.Fatalf("%v is not within %v and %v", v, low, high)
			}
		}
		within(truly.Median, got.Bounds.Low.Median, got.Bounds.High.Median)
		for i, p := range truly.Percentiles {
			within(p.Value, got.Bounds.Low.Percentiles[i], got.Bounds.High.Percentiles[i])
		}
	})
}

// Ten million chunks, as many as 500 streams of 50 tokens/s give in seven minutes.
func BenchmarkSummarize(b *testing.B) {
	tr := run(0)
	for i := range trace.Instant(10_000) {
		r := trace.NewRecord(int(i))
		r.Due, r.Released, r.Sent, r.OutputTokens, r.Stamps = i*ms, i*ms, i*ms, 1000, trace.KernelStamps
		for k := range trace.Instant(1000) {
			r.Chunks = append(r.Chunks, trace.Chunk{At: i*ms + 50*ms + k*20*ms + (i*k*7919)%ms, Kind: trace.Text})
		}
		r.Done = r.Chunks[999].At
		tr.Run.End = max(tr.Run.End, r.Done)
		tr.Records = append(tr.Records, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		Summarize(tr, Options{})
	}
}
