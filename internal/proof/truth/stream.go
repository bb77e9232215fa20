package truth

import (
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// A stream is the answer to one request: its next write, and when that is due.
// One goroutine at a time drives it.
type stream struct {
	*record
	conn     *conn
	protocol *phrase.Protocol
	out      *phrase.Writer // of the answer, streamed or not
	plan     plan
	arrival  uint64 // of the request

	fault Ending
	limit int // tokens until the fault, or all of them

	due     int64 // of the next write
	stage   stage
	pending *Write // the record of the write that is being made, not yet counted
}

// A stage is what a stream writes next.
type stage int

const (
	opening stage = iota // what goes ahead of the tokens
	tokens
	usage
	done
	strike
)

// newStream makes the stream of the answer to the request that arrived as number n. It
// is recorded in rec and ends with a fault, if that is not Complete.
func newStream(cfg *Config, c *conn, rec *record, p *phrase.Protocol, a phrase.Answer, n uint64, fault Ending) *stream {
	st := &stream{
		record: rec, conn: c, protocol: p, out: p.Stream(a), plan: cfg.plan(n), arrival: n, fault: fault, limit: a.Tokens,
	}
	if fault != Complete {
		st.limit /= 2
	}
	writes := 1
	if rec.head.Stream {
		const others = 3 // the opening, the usage and the end
		writes = st.limit + others
	}
	rec.writes = make([]Write, writes)
	return st
}

// begin settles when the first write is due.
func (st *stream) begin() {
	st.due = st.plan.first(st.head.Received)
	switch {
	case st.limit == 0:
		st.stage = strike
	case st.protocol.Opens():
		st.stage = opening
	default:
		st.stage = tokens
	}
	if st.head.Stream && !st.protocol.Timed {
		return
	}
	last := st.plan // a copy, with dice of its own
	due := st.due
	for range st.limit - 1 {
		due = last.next(due, due)
	}
	st.out.Elapsed = time.Duration(due - st.head.Received) // as planned
	if !st.head.Stream {
		st.due = due
	}
}

// gap is the space that render leaves for the size of a chunk.
const gap = 10

// render puts the next write into buf, which it may grow, and notes its content in
// pending. It returns the buffer and the write, which is empty if the connection
// has to be reset.
func (st *stream) render(buf []byte) (grown, write []byte) {
	st.pending = &st.writes[st.n.Load()]
	*st.pending = Write{Planned: st.due}
	if !st.head.Stream {
		return st.renderUnstreamed(buf[:0])
	}
	b := append(buf[:0], "          "...)
	st.out.Events = 0
	switch st.stage {
	case opening:
		b = st.out.Begin(st.out.Accept(b))
	case tokens:
		st.pending.Tokens = 1
		b = st.out.Event(b, 1, st.out.Sent+1 == st.out.Tokens)
	case usage:
		b = st.out.Total(b)
	case done:
		b = st.out.End(b, true)
	case strike:
		if st.fault == Reset {
			return b, nil
		}
	}
	st.pending.Events = uint16(st.out.Events)
	from := gap
	if len(b) > gap {
		from = chunkSize(b)
		b = append(b, "\r\n"...)
	}
	if st.stage >= done {
		b = append(b, "0\r\n\r\n"...)
	}
	return b, b[from:]
}

// chunkSize writes the size of the chunk b[gap:] before it and returns where
// it begins.
func chunkSize(b []byte) int {
	var digits [gap]byte
	size := append(strconv.AppendInt(digits[:0], int64(len(b)-gap), 16), "\r\n"...)
	return gap - copy(b[gap-len(size):gap], size)
}

// renderUnstreamed renders an answer that is no stream; a truncated one is complete
// for HTTP and not for JSON.
func (st *stream) renderUnstreamed(b []byte) (grown, write []byte) {
	if st.fault == Reset {
		return b, nil
	}
	r := st.protocol.Unstreamed(st.out.Answer)
	if st.fault == Truncate {
		r.Body = r.Body[:len(r.Body)/2]
	} else {
		st.pending.Tokens = int32(st.out.Tokens)
	}
	b = appendHead(b, r.Status, r.MediaType, len(r.Body), st.conn.close)
	b = append(b, r.Body...)
	return b, b
}

// wrote records the write that render made, and moves on to the next; due holds
// its time, unchanged if that follows at once. It returns the stream's
// end, or Open.
func (st *stream) wrote(before, after int64) Ending {
	st.pending.Before, st.pending.After = before, after
	st.n.Add(1)
	if !st.head.Stream {
		return st.fault
	}
	switch st.stage {
	case opening:
		st.stage = tokens
	case tokens:
		switch {
		case st.out.Sent == st.out.Tokens && st.out.Usage:
			st.stage = usage
		case st.out.Sent == st.out.Tokens:
			st.stage = done
		default:
			st.due = st.plan.next(st.due, after)
			if st.out.Sent == st.limit {
				st.stage = strike
			}
		}
	case usage:
		st.stage = done
	default:
		return st.fault
	}
	return Open
}
