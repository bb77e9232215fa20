package metrics

import (
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A proxy that buffers holds an answer back until it is whole, or until a buffer is
// full, and passes on many chunks at once:
//
//	server  ──┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼──
//	client  ─────────────────────────┼┼┼┼┼┼┼┼┼┼┼┼──
//
// The first chunk then has the instant of the last, or that of a full buffer, so
// TTFT, TPOT and ITL are the proxy's. A client that reads late sees the same; but what a
// server writes one by one comes in a segment each, which the kernel counts.

// Limits of what counts as held back.
const (
	heldChunks = 4                     // the shortest answer that says something, and chunks at once in one that comes whole
	heldBurst  = 8                     // chunks at once, in the mean, in one that comes in bursts; no engine writes as many
	heldWhole  = 0.95                  // of the service time passed before the first chunk of one that comes whole
	heldLeast  = 20 * time.Millisecond // what an answer must take
	heldShare  = 0.5                   // of the answers
	heldPacked = 0.5                   // of the chunks came in fewer segments than there were, where the kernel tells
)

// Held counts the answers that somebody held back, of those that are long enough to tell.
type Held struct {
	Answers int     `json:"answers"`
	Of      int     `json:"of"`
	Burst   float64 `json:"burst"` // chunks that came at once, in the mean over Answers
}

func (h Held) share() float64 { return over(h.Answers, float64(h.Of)) }

func countHeld(records []*trace.Record) Held {
	var h Held
	chunks, bursts := 0, 0
	for _, r := range records {
		first, last, n := r.Output()
		took := r.Done.Sub(r.Sent)
		if !r.OK() || n < heldChunks || !r.Sent.Happened() || took < heldLeast {
			continue
		}
		h.Of++
		at, packed := instants(r.Chunks)
		if r.Stamps == trace.KernelStamps && float64(packed) < heldPacked*float64(n) {
			continue
		}
		size := over(n, float64(at))
		whole := size >= heldChunks && Between(r.Sent, first) >= heldWhole*Between(r.Sent, last)
		if whole || size >= heldBurst {
			h.Answers, chunks, bursts = h.Answers+1, chunks+n, bursts+at
		}
	}
	h.Burst = over(chunks, float64(bursts))
	return h
}

// instants is how many different ones the output chunks have, and how many of the
// chunks somebody had combined.
func instants(chunks []trace.Chunk) (n, packed int) {
	prev := trace.Never
	for _, c := range chunks {
		if !c.Kind.Output() {
			continue
		}
		if c.At != prev {
			n, prev = n+1, c.At
		}
		if c.Kind&(trace.Packed|trace.Bundled) != 0 {
			packed++
		}
	}
	return n, packed
}

// heldBack reports whether most answers were held back, by somebody else than a client
// that reads late.
func (j *judgement) heldBack() bool {
	return j.s.Run.Plan.Stream && j.s.Held.share() > heldShare && (!j.inUserSpace() || !j.busyUser())
}

// void marks the latencies that depend on when chunks came.
func (s *Summary) void() {
	all := []*Latencies{&s.Service, &s.Steady.Service}
	if s.Response != nil {
		all = append(all, s.Response)
	}
	for _, parts := range [][]Part{s.Tenants, s.Turns} {
		for i := range parts {
			all = append(all, &parts[i].Service)
		}
	}
	for _, l := range all {
		for _, d := range []*Distribution{&l.TTFT, &l.TPOT, &l.ITL} {
			d.Void, d.Bounds = d.N > 0, nil
		}
	}
}
