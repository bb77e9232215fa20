package metrics

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A head is what figures need of a record once its chunks have been seen: some forty bytes in heads.
type head struct {
	due, released, sent, done trace.Instant
	first, last               trace.Instant // of the chunks of output; Never without any
	firstLo, lastLo           trace.Instant // when these may have come at the earliest
	begun                     trace.Instant // when the answer was under way, see begun
	behind                    trace.Instant // how long after it could have been sent it was, the set-up included
	setup                     trace.Instant // of a new connection
	prompt, tokens            int           // of the answer
	streamed                  int           // of its tokens
	output, merged            int           // chunks of output, and of them the merged ones
	size                      int           // tokens to compute until the answer is under way, see wait
	turn, tenant              int
	ok, inSession             bool
	connected, resent         bool
}

// newHead is that of a record with these chunks.
func newHead(r *trace.Record, c Chunks, stream bool) head {
	first, last, n := r.Ends()
	h := head{
		due: r.Due, released: r.Released, sent: r.Sent, done: r.Done, first: first.At, last: last.At, firstLo: first.At, lastLo: last.At,
		behind: r.Sent - max(r.Due, r.Free), setup: r.Connected - r.Dialed, prompt: PromptTokens(r), tokens: r.OutputTokens, streamed: r.Streamed(), output: n, merged: c.Merged,
		size: max(1, r.PromptTokens-max(0, r.Usage.Cached)), turn: r.Turn, begun: r.Done,
		ok: r.OK(), inSession: r.Session != "", connected: r.Connected.Happened(), resent: r.Resent,
	}
	if n > 0 {
		h.firstLo, h.lastLo = earliest(r, first), earliest(r, last)
	}
	if r.Resent {
		h.behind = r.FirstSent - max(r.Due, r.Free)
	}
	if stream {
		h.begun = begun(r)
	} else {
		h.size += max(0, r.OutputTokens)
	}
	return h
}

// latencies are those of PitotLatencies.
func (h *head) latencies(stream bool) (ttft, perToken, e2el float64) {
	ttft, perToken = math.NaN(), math.NaN()
	if h.output > 0 && stream {
		ttft = Between(h.sent, h.first)
		if v, ok := h.tpot(h.first, h.last); ok {
			perToken = v
		}
	}
	return ttft, perToken, Between(h.sent, h.done)
}

// tpot is the time per output token after the first, with these instants for the ends of the stream; ok is false for a
// request that has no second token to wait for.
func (h *head) tpot(first, last trace.Instant) (v float64, ok bool) {
	if h.streamed < 2 || h.output < 2 {
		return 0, false
	}
	return Between(first, last) / float64(h.streamed-1), true
}

// lateness is that of Lateness.
func (h *head) lateness() (late float64, sent bool) {
	if !h.sent.Happened() || !h.due.Happened() {
		return 0, false
	}
	late = h.behind.Seconds()
	if h.connected && !h.resent {
		late -= h.setup.Seconds()
	}
	return max(0, late), true
}

const headValues = 19

// values are those of a head. Instants count from its release, which makes them small.
func (h *head) values() [headValues]int64 {
	flags := 0
	for i, is := range []bool{h.ok, h.inSession, h.connected, h.resent} {
		if is {
			flags |= 1 << i
		}
	}
	zero := h.released
	return [headValues]int64{
		int64(zero), int64(h.due - zero), int64(h.sent - zero), int64(h.first - zero), int64(h.last - zero), int64(h.done - zero), int64(h.begun - h.first),
		int64(h.firstLo - h.first), int64(h.lastLo - h.last), int64(h.behind - h.sent + h.due), int64(h.setup),
		int64(h.streamed), int64(h.output - h.streamed), int64(h.merged), int64(h.size), int64(h.turn), int64(h.tenant<<4 | flags), int64(h.prompt), int64(h.tokens - h.streamed),
	}
}

// set is the inverse of values.
func (h *head) set(v *[headValues]int64) {
	at := func(i int) trace.Instant { return trace.Instant(v[i]) }
	zero, flags := at(0), v[16]
	*h = head{
		released: zero, due: at(1) + zero, sent: at(2) + zero, first: at(3) + zero, last: at(4) + zero, done: at(5) + zero,
		setup: at(10), streamed: int(v[11]), output: int(v[12] + v[11]), merged: int(v[13]), size: int(v[14]), turn: int(v[15]), tenant: int(flags >> 4),
		prompt: int(v[17]), tokens: int(v[18] + v[11]),
		ok: flags&1 != 0, inSession: flags&2 != 0, connected: flags&4 != 0, resent: flags&8 != 0,
	}
	h.begun, h.firstLo, h.lastLo, h.behind = h.first+at(6), h.first+at(7), h.last+at(8), at(9)+h.sent-h.due
}

// heads are those of the records of a run, in order. Full blocks are packed: the least value of each
// field, and the differences from it in as few bytes as the largest needs. The heads after the last full block are not packed.
type heads struct {
	packed      []headBlock
	recent      []head
	n, answered int // all, and those that were sent and succeeded
}

// headsInBlock is how many a block has.
const headsInBlock = 1 << 10

type headBlock struct {
	least [headValues]int64
	width [headValues]uint8 // bytes a value
	data  []byte            // of one value after the other, with eight bytes behind the last
}

func (a *heads) add(h head) {
	if len(a.recent) == headsInBlock {
		a.packed = append(a.packed, pack(a.recent))
		a.recent = a.recent[:0]
	}
	a.recent = append(a.recent, h)
	if a.n++; h.ok && h.sent.Happened() {
		a.answered++
	}
}

// all yields each head, valid until the next one.
func (a *heads) all(yield func(*head) bool) {
	var some []head
	for i := range a.packed {
		if some == nil {
			some = make([]head, headsInBlock)
		}
		a.packed[i].unpack(some)
		for k := range some {
			if !yield(&some[k]) {
				return
			}
		}
	}
	for k := range a.recent {
		if !yield(&a.recent[k]) {
			return
		}
	}
}

func pack(some []head) (b headBlock) {
	rows := make([][headValues]int64, len(some))
	for i := range some {
		rows[i] = some[i].values()
	}
	size := 0
	for k := range headValues {
		least, most := rows[0][k], rows[0][k]
		for i := range rows {
			least, most = min(least, rows[i][k]), max(most, rows[i][k])
		}
		b.least[k], b.width[k] = least, uint8((bits.Len64(uint64(most)-uint64(least))+7)/8)
		size += int(b.width[k]) * len(some)
	}
	b.data = make([]byte, size+8)
	at := 0
	for k, width := range b.width {
		for i := range rows {
			if width > 0 { // what is written too much is overwritten by the next one
				var all [8]byte
				binary.LittleEndian.PutUint64(all[:], uint64(rows[i][k])-uint64(b.least[k]))
				copy(b.data[at:at+int(width)], all[:])
			}
			at += int(width)
		}
	}
	return b
}

func (b *headBlock) unpack(into []head) {
	rows := make([][headValues]int64, len(into))
	at := 0
	for k, width := range b.width {
		mask := uint64(math.MaxUint64) >> (64 - 8*uint(width)) // 0 without a byte
		for i := range rows {
			rows[i][k] = int64(uint64(b.least[k]) + binary.LittleEndian.Uint64(b.data[at:])&mask)
			at += int(width)
		}
	}
	for i := range into {
		into[i].set(&rows[i])
	}
}
