package metrics

import (
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A proxy that buffers holds an answer back until it is complete, or until a buffer is full, and
// passes on many chunks at once:
//
//	server  ──┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼──
//	client  ─────────────────────────┼┼┼┼┼┼┼┼┼┼┼┼──
//
// The first chunk then has the instant of the last, or that of a full buffer, so
// TTFT, TPOT and ITL are the proxy's. A client that reads late sees the same; but single
// writes of a server come in a segment each, which the kernel counts.
//
// A server that only pretends to stream, and a parser that waits for the end of a tool call,
// send few chunks, or one of many tokens. Some engines may do the same with a short answer, so
// that this is only a doubt.

// Limits of what counts as held back.
const (
	bufferedChunks  = 4                     // the shortest answer that counts; least chunks at once, all at its end
	bufferedBurst   = 8                     // chunks at once, in the mean, of bursts; no engine writes as many
	bufferedAtEnd   = 0.95                  // of the service time before the first chunk, of an answer all at its end
	bufferedMinTime = 20 * time.Millisecond // what an answer must take
	bufferedShare   = 0.5                   // of the answers
	bufferedPacked  = 0.5                   // of the chunks came in fewer segments than there were, where the kernel tells

	unstreamedChunks = 3                      // at once, in the mean, where an answer comes in one or a few reads
	unstreamedTokens = 4                      // of an answer in fewer chunks; an engine's first step gives one
	unstreamedGap    = 100 * time.Microsecond // between chunks that come at once; no engine is as fast
	fewReads         = 6                      // in which an answer comes that is held back until a buffer is full
	burstGap         = 80 * time.Millisecond  // between them; the steps of an engine are shorter
)

// Buffering counts the answers that were held back, of those that are long enough to tell.
type Buffering struct {
	Answers int     `json:"answers"`
	Of      int     `json:"of"`
	Burst   float64 `json:"burst"` // chunks that came at once, in the mean over Answers
	// Unstreamed are the answers that came in one or a few reads, of UnstreamedOf for which that is known;
	// those of Answers are among them.
	Unstreamed   int `json:"whole,omitempty"`
	UnstreamedOf int `json:"whole_of,omitempty"`
}

func (h Buffering) share() float64           { return over(h.Answers, float64(h.Of)) }
func (h Buffering) unstreamedShare() float64 { return over(h.Unstreamed, float64(h.UnstreamedOf)) }

// A bufferCount counts the answers that were held back, with their chunks and the instants at which those came.
type bufferCount struct {
	Buffering
	chunks, bursts int
}

func (h *bufferCount) add(r *trace.Record) {
	if !r.OK() || !r.Sent.Happened() || r.Done.Sub(r.Sent) < bufferedMinTime {
		return
	}
	a := arrivalOf(r)
	if a.n == 0 || a.n < unstreamedChunks && r.Streamed() < unstreamedTokens {
		return
	}
	held := a.n >= bufferedChunks && a.isBuffered()
	if h.UnstreamedOf++; held || a.isUnstreamed() {
		h.Unstreamed++
	}
	if a.n < bufferedChunks {
		return
	}
	if h.Of++; held {
		h.Answers, h.chunks, h.bursts = h.Answers+1, h.chunks+a.n, h.bursts+a.at
	}
}

func (h *bufferCount) buffering() Buffering {
	b := h.Buffering
	b.Burst = over(h.chunks, float64(h.bursts))
	return b
}

// An arrival is how an answer came: its chunks of output, the instants that they have, and the
// times to the first and the last of them.
type arrival struct {
	n, at       int
	late        bool // the client read it late, so that its instants say nothing
	first, last float64
}

func arrivalOf(r *trace.Record) arrival {
	first, last, n := r.Output()
	at, packed := instants(r.Chunks)
	return arrival{
		n: n, at: at, first: Between(r.Sent, first), last: Between(r.Sent, last),
		late: at < n && r.Stamps == trace.KernelStamps && float64(packed) < bufferedPacked*float64(n),
	}
}

func (a arrival) size() float64 { return over(a.n, float64(a.at)) }

// atEnd: all of it came when nearly all of the time had passed.
func (a arrival) atEnd() bool { return a.first >= bufferedAtEnd*a.last }

// isBuffered: it came all at its end, or in bursts that no engine writes.
func (a arrival) isBuffered() bool {
	return !a.late && (a.size() >= bufferedChunks && a.atEnd() || a.size() >= bufferedBurst)
}

// isUnstreamed: it came all at its end, or in a few reads at long intervals.
func (a arrival) isUnstreamed() bool {
	if a.late {
		return false
	}
	gap := over(a.last-a.first, float64(a.at-1)) // 0 of one instant
	switch {
	case a.atEnd():
		return a.at == 1 || gap < unstreamedGap.Seconds()
	default:
		return a.at <= fewReads && a.size() >= unstreamedChunks && gap >= burstGap.Seconds()
	}
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
	return j.s.Run.Plan.Stream && j.s.Buffering.share() > bufferedShare && (!j.inUserSpace() || !j.busyUser())
}

// arriveUnstreamed reports whether most answers came in one or a few reads. The embedded engine
// does not count: no proxy lies in between, and it writes tokens together when it is late.
func (j *judgement) arriveUnstreamed() bool {
	return j.s.Run.Plan.Stream && j.s.Buffering.unstreamedShare() > bufferedShare && !j.worker && !j.s.Run.Env.Embedded && (!j.inUserSpace() || !j.busyUser())
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
