package verify

import (
	"math"
	"testing"

	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Four tokens written 10 ms apart, each in 4 µs, and what a client made of them.
func fourTokens(chunks ...trace.Chunk) ([]*trace.Record, []*truth.Request) {
	const ms = 1_000_000
	q := &truth.Request{ID: "a", Received: 5 * ms}
	for i := range int64(4) {
		before := (15 + 10*i) * ms
		q.Writes = append(q.Writes, truth.Write{Before: before, After: before + 4000, Tokens: 1, Events: 1})
	}
	q.Writes = append(q.Writes, truth.Write{Before: 46 * ms, After: 46*ms + 4000, Events: 1})
	return []*trace.Record{{ID: "a", Sent: 0, Chunks: chunks}}, []*truth.Request{q}
}

// Instants of the client count from its own start: here 5 ms after the server's.
func chunkAt(us int64, slack uint32) trace.Chunk {
	return trace.Chunk{At: trace.Instant(us * 1000), Slack: slack, Kind: trace.Text}
}

func TestPrecision(t *testing.T) {
	for _, tt := range []struct {
		name       string
		chunks     []trace.Chunk
		exact      int
		worst      float64 // error of a gap between exact chunks, µs
		ttft, held float64
	}{
		{"each exact", []trace.Chunk{chunkAt(10_001, 0), chunkAt(20_003, 0), chunkAt(30_001, 0), chunkAt(40_002, 0)}, 4, 2, 1, 1},
		{"two in one read, within bounds", []trace.Chunk{chunkAt(10_001, 0), chunkAt(30_002, 10_500), chunkAt(30_002, 0), chunkAt(40_002, 0)}, 3, 0, 1, 1},
		{"two in one read, bounds too narrow", []trace.Chunk{chunkAt(10_001, 0), chunkAt(30_002, 5000), chunkAt(30_002, 0), chunkAt(40_002, 0)}, 3, 0, 1, 1. / 3},
		{"one called exact that is not", []trace.Chunk{chunkAt(10_001, 0), chunkAt(20_003, 0), chunkAt(33_001, 0), chunkAt(40_002, 0)}, 4, 2999, 1, 1. / 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := precision(fourTokens(tt.chunks...))
			if p == nil || p.Answers != 1 || p.Chunks != 4 || p.Exact != tt.exact {
				t.Fatalf("%+v", p)
			}
			if got := p.Gap.Max * 1e6; math.Abs(got-tt.worst) > 0.01 {
				t.Errorf("the worst gap is off by %v µs, want %v", got, tt.worst)
			}
			if got := p.TTFT.Max * 1e6; math.Abs(got-tt.ttft) > 0.01 {
				t.Errorf("the first token is off by %v µs, want %v", got, tt.ttft)
			}
			if math.Abs(p.InBounds-tt.held) > 1e-9 {
				t.Errorf("%v of the gaps lie within their bounds, want %v", p.InBounds, tt.held)
			}
		})
	}
}

// Answers that are not the server's writes one by one are not compared.
func TestPrecisionOfWhatCannotBeCompared(t *testing.T) {
	whole := []trace.Chunk{chunkAt(10_000, 0), chunkAt(20_000, 0), chunkAt(30_000, 0), chunkAt(40_000, 0)}
	for name, change := range map[string]func(*trace.Record, *truth.Request){
		"another id":     func(r *trace.Record, _ *truth.Request) { r.ID = "b" },
		"a chunk short":  func(r *trace.Record, _ *truth.Request) { r.Chunks = r.Chunks[:3] },
		"failed":         func(r *trace.Record, _ *truth.Request) { r.Class = trace.Reset },
		"bundled writes": func(_ *trace.Record, q *truth.Request) { q.Writes[1].Events = 2 },
	} {
		records, requests := fourTokens(whole...)
		change(records[0], requests[0])
		if p := precision(records, requests); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := precision(nil, nil); p != nil {
		t.Errorf("nothing: %+v", p)
	}
}
