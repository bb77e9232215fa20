package truth

import "strconv"

// A stream is the answer to one request: what is to be written next, and when.
// One goroutine at a time drives it.
type stream struct {
	*record
	conn *conn
	form form
	plan plan

	perEvent, perWrite int // tokens
	fault              Ending
	limit              int // tokens until the fault, or all of them

	due     int64 // of the next write
	sent    int   // tokens rendered
	stage   stage
	pending Write // the record of the write that is being made
}

// A stage is what a stream writes next.
type stage int

const (
	role stage = iota
	tokens
	usage
	done
	strike
)

// newStream makes the stream that is recorded in rec and ends with a fault, if
// that is not Complete.
func newStream(cfg *Config, c *conn, rec *record, f form, fault Ending) *stream {
	st := &stream{
		record: rec, conn: c, form: f, plan: cfg.plan(f.arrival), fault: fault, limit: f.ask.tokens,
		perEvent: cfg.TokensPerEvent, perWrite: cfg.perWrite(),
	}
	if fault != Complete {
		st.limit = cfg.Faults.after(st.limit)
	}
	writes := 1
	if f.ask.stream {
		const others = 3 // role, usage and the end
		writes = (st.limit+st.perWrite-1)/st.perWrite + others
	}
	rec.writes = make([]Write, writes)
	return st
}

// begin settles when the first write is due of a stream that starts at start.
func (st *stream) begin(start int64) {
	st.due = st.plan.first(start)
	switch {
	case st.form.ask.stream && st.form.dialect == chat && st.limit > 0:
		st.stage = role
	case st.limit == 0:
		st.stage = strike
	default:
		st.stage = tokens
	}
	if st.form.ask.stream && st.form.dialect != generate {
		return
	}
	last := st.plan // a copy, with dice of its own
	due := st.due
	for range (st.limit - 1) / st.perWrite {
		due = last.next(due, due)
	}
	st.form.seconds = float64(due-st.head.Received) / 1e9
	if !st.form.ask.stream {
		st.due = due
	}
}

// gap is the space that render leaves for the size of a chunk.
const gap = 10

// render puts the next write into buf, which it may grow, and notes in pending
// what it says. It returns the buffer and the write, which is empty where the
// connection is to be reset.
func (st *stream) render(buf []byte) (grown, write []byte) {
	st.pending = Write{Planned: st.due}
	if !st.form.ask.stream {
		return st.renderWhole(buf[:0])
	}
	b := append(buf[:0], "          "...)
	switch st.stage {
	case role:
		b = st.form.role(b)
		st.pending.Events = 1
	case tokens:
		b = st.renderTokens(b)
	case usage:
		b = st.form.usage(b)
		st.pending.Events = 1
	case done:
		b = append(b, "data: [DONE]\n\n"...)
		st.pending.Events = 1
	case strike:
		if st.fault == Reset {
			return b, nil
		}
		b = append(b, "0\r\n\r\n"...)
		return b, b[gap:]
	}
	from := chunkSize(b)
	b = append(b, "\r\n"...)
	if st.stage == done {
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

func (st *stream) renderTokens(b []byte) []byte {
	end := min(st.sent+st.perWrite, st.limit)
	st.pending.Tokens = int32(end - st.sent)
	for st.sent < end {
		n := min(st.perEvent, end-st.sent)
		b = st.form.event(b, st.sent, st.sent+n)
		st.sent += n
		st.pending.Events++
	}
	return b
}

// renderWhole renders an answer that is no stream; a truncated one is complete
// for HTTP and not for JSON.
func (st *stream) renderWhole(b []byte) (grown, write []byte) {
	if st.fault == Reset {
		return b, nil
	}
	body := st.form.whole(nil)
	if st.fault == Truncate {
		body = body[:len(body)/2]
	} else {
		st.pending.Tokens = int32(st.form.ask.tokens)
	}
	b = appendHead(b, st.head.Status, "application/json", len(body), st.conn.close)
	b = append(b, body...)
	return b, b
}

// wrote records the write that render made, and moves on to the next, whose
// time is in due: as it was, if that follows at once. It returns the stream's
// end, or Open.
func (st *stream) wrote(before, after int64) Ending {
	st.pending.Before, st.pending.After = before, after
	st.add(st.pending)
	if !st.form.ask.stream {
		return st.fault
	}
	switch st.stage {
	case role:
		st.stage = tokens
	case tokens:
		switch {
		case st.sent == st.form.ask.tokens && st.form.ask.usage:
			st.stage = usage
		case st.sent == st.form.ask.tokens:
			st.stage = done
		default:
			st.due = st.plan.next(st.due, after)
			if st.sent == st.limit {
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
