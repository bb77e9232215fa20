package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A piece is what one call of Data brings.
type piece struct {
	text  string
	stamp transport.Stamp
}

// taken is the record of a stream that came in pieces.
func taken(t *testing.T, pieces ...piece) *trace.Record {
	t.Helper()
	rec := trace.NewRecord(0)
	r := &reader{
		readState: readState{opts: &Options{Protocol: Completions, Stream: true}, grammar: grammars[Completions], rec: rec},
		tally:     new(tally), budget: newBudget(new(Options)), servedBy: new(servedBy),
	}
	r.yield = r.event
	r.Head(200, nil)
	for _, p := range pieces {
		if err := r.Data([]byte(p.text), p.stamp); err != nil && !errors.Is(err, transport.ErrEnough) {
			t.Fatal(err)
		}
	}
	r.finish(0, nil)
	return rec
}

// at is the kernel's stamp of a read that emptied the socket: it came between lo and
// at.
func at(seq uint64, lo, at int64) transport.Stamp {
	return transport.Stamp{At: at, User: at + 10_000, Lo: lo, Seq: seq, Kernel: true, Drained: true}
}

// with changes a stamp.
func with(s transport.Stamp, change func(*transport.Stamp)) transport.Stamp {
	change(&s)
	return s
}

const us = 1000

// A settledChunk is a chunk with its instant, which may be earlier by slack.
type settledChunk struct {
	at    trace.Instant
	slack uint32
	kind  trace.Kind
}

// A settleCase is an answer in pieces, and its chunks.
type settleCase struct {
	name   string
	pieces []piece
	want   []settledChunk
}

// An instant is exact if its chunk is the last one of a read, and the read
// left nothing behind; else it is an interval.
func TestInstantsAreExactOrBounded(t *testing.T) {
	a, b := text("a"), text("b")
	finish := "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n"
	for _, tt := range []settleCase{
		{
			"each in a read of its own",
			[]piece{{a, at(1, 0, 500*us)}, {b, at(2, 510*us, 900*us)}},
			[]settledChunk{{500 * us, 0, 0}, {900 * us, 0, 0}},
		},
		{
			"two in one read",
			[]piece{{a + b, at(1, 100*us, 500*us)}},
			[]settledChunk{{500 * us, 400, 0}, {500 * us, 0, trace.Coalesced}},
		},
		{
			"two pieces of one read",
			[]piece{{a, at(1, 100*us, 500*us)}, {b, at(1, 100*us, 500*us)}},
			[]settledChunk{{500 * us, 400, 0}, {500 * us, 0, trace.Coalesced}},
		},
		{
			"with the usage behind it",
			[]piece{{a + counted + end, at(1, 100*us, 500*us)}},
			[]settledChunk{{500 * us, 400, trace.Bundled}},
		},
		{
			"two with the usage behind them",
			[]piece{{a + b + counted, at(1, 100*us, 500*us)}},
			[]settledChunk{{500 * us, 400, 0}, {500 * us, 400, trace.Coalesced | trace.Bundled}},
		},
		{
			"with an empty chunk behind it",
			[]piece{{a + finish, at(1, 100*us, 500*us)}},
			[]settledChunk{{500 * us, 400, trace.Bundled}, {500 * us, 0, trace.Coalesced | trace.Finish | trace.Bare}},
		},
		{
			"with the beginning of the usage behind it",
			[]piece{{a + counted[:9], at(1, 100*us, 500*us)}},
			[]settledChunk{{500 * us, 400, 0}},
		},
		{
			"with the beginning of the next",
			[]piece{{a + b[:10], at(1, 100*us, 500*us)}, {b[10:], at(2, 510*us, 900*us)}},
			[]settledChunk{{500 * us, 400, 0}, {900 * us, 0, 0}},
		},
		{"with a comment behind it", []piece{{a + ": ping\n\n", at(1, 100*us, 500*us)}}, []settledChunk{{500 * us, 400, 0}}},
		{
			"a read that the buffer cut", []piece{{
				a, with(at(1, 100*us, 500*us), func(s *transport.Stamp) { s.Drained = false }),
			}}, []settledChunk{{500 * us, 400, 0}},
		},
		{
			"its empty line comes later",
			[]piece{{a[:len(a)-1], at(1, 100*us, 500*us)}, {"\n", at(2, 510*us, 900*us)}},
			[]settledChunk{{500 * us, 0, 0}},
		},
		{
			"a part of a microsecond counts as one",
			[]piece{{a + b, at(1, 499_999, 501_000)}},
			[]settledChunk{{501_000, 2, 0}, {501_000, 0, trace.Coalesced}},
		},
		{
			"a read without a stamp",
			[]piece{{a, with(at(1, 100*us, 500*us), func(s *transport.Stamp) { s.Kernel = false })}},
			[]settledChunk{{500 * us, 400, 0}},
		},
		{
			"no stamps at all",
			[]piece{{a + b, transport.Stamp{At: 500 * us, User: 500 * us, Lo: 500 * us, Seq: 1}}},
			[]settledChunk{{500 * us, 0, 0}, {500 * us, 0, trace.Coalesced}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []settledChunk
			for _, c := range taken(t, tt.pieces...).Chunks {
				got = append(got, settledChunk{c.At, c.Slack, c.Kind &^ trace.Text})
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(settledChunk{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARecordSaysWhoseStampsItHas(t *testing.T) {
	kernel, user := at(1, 0, 5), transport.Stamp{At: 7, User: 7, Lo: 7, Seq: 2}
	if got := taken(t, piece{text("a"), user}, piece{text("b"), kernel}).Stamps; got != trace.KernelStamps {
		t.Errorf("%q", got)
	}
	if got := taken(t, piece{text("a"), user}).Stamps; got != trace.UserStamps {
		t.Errorf("%q", got)
	}
}

// What a chunk costs from the bytes of its read to its place in the record.
func BenchmarkChunk(b *testing.B) {
	event := []byte("data: " + events[0] + "\n\n")
	for _, marker := range []*trace.Marker{nil, testMarker} {
		b.Run(fmt.Sprintf("marked=%v", marker != nil), func(b *testing.B) {
			r := benchReader(marker)
			b.ReportAllocs()
			b.SetBytes(int64(len(event)))
			for i := uint64(1); b.Loop(); i++ {
				if r.chunks = r.chunks[:0]; r.Data(event, transport.Stamp{At: int64(i), Seq: i, Kernel: true, Drained: true}) != nil {
					b.Fatal("an event was refused")
				}
				r.from, r.talliedTo = 0, 0
			}
		})
	}
}

// The same for streams on all processors at once, each with a chunk every 20 ms.
func BenchmarkStreams(b *testing.B) {
	event := []byte("data: " + events[0] + "\n\n")
	const streams = 256
	for _, marker := range []*trace.Marker{nil, testMarker} {
		b.Run(fmt.Sprintf("marked=%v", marker != nil), func(b *testing.B) {
			shared, index := new(tally), atomic.Int64{}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var readers [streams]*reader
				for i := range readers {
					readers[i] = benchReader(marker)
					readers[i].tally, readers[i].rec.Index = shared, int(index.Add(1))
					readers[i].chunks = make([]trace.Chunk, 0, 1)
				}
				for i := uint64(0); pb.Next(); i++ {
					r, n := readers[i%streams], i/streams+1
					if r.chunks = r.chunks[:0]; r.Data(event, transport.Stamp{
						At: int64(n) * 20e6, Seq: n, Kernel: true, Drained: true,
					}) != nil {
						b.Error("an event was refused")
					}
					r.from, r.talliedTo = 0, 0
				}
			})
		})
	}
}

func benchReader(marker *trace.Marker) *reader {
	r := &reader{
		readState: readState{
			opts: &Options{Protocol: Completions, Stream: true, Marker: marker}, grammar: grammars[Completions], rec: new(trace.Record),
			chunks: make([]trace.Chunk, 0, 1<<12),
		}, tally: new(tally), budget: newBudget(new(Options)), servedBy: new(servedBy),
	}
	r.yield = r.event
	if marker != nil {
		r.answer.Begin(marker)
	}
	r.Head(200, nil)
	return r
}

func TestAChunkDoesNotAllocate(t *testing.T) {
	event := []byte("data: " + events[0] + "\n\n")
	r := benchReader(testMarker)
	r.answer.Add(trace.VisiblePart, bytes.Repeat([]byte("tube "), 4000)) // it has room for its marks
	r.answer.Begin(testMarker)
	seq := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		seq++
		_ = r.Data(event, transport.Stamp{At: int64(seq), Seq: seq, Kernel: true, Drained: true})
	}); n != 0 || len(r.chunks) != 1001 {
		t.Errorf("%v allocations a chunk, want 0, and %d chunks", n, len(r.chunks))
	}
}

// Short answers to requests without much of a limit do not keep the room of long ones.
func TestARecordKeepsNoMoreRoomThanItNeeds(t *testing.T) {
	c, err := New(canned(text("a")+end), Options{Protocol: Completions, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 1, 2, 100_000} {
		rec := trace.NewRecord(0)
		c.Send(t.Context(), &workload.Request{OutputTokens: limit}, nil, rec)
		if len(rec.Chunks) != 1 || cap(rec.Chunks) > 4 {
			t.Errorf("limit %d: %d chunks, and room for %d", limit, len(rec.Chunks), cap(rec.Chunks))
		}
	}
}
