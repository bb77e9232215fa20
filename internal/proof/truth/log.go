package truth

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A Log is what a server did: every request since it was made.
// Instants are nanoseconds of Config.Clock.
type Log struct {
	Requests []Request // in the order in which they arrived

	// Lateness is Before - Planned of the writes with tokens. Those are left out
	// that the client delayed, since it had not read what was written before.
	Lateness  trace.Lag
	WriteTime trace.Lag // After - Before of the writes that were not blocked
	// WriteCPU is the sum of the times in WriteTime. Such a write does not wait, so
	// that this is the time of a processor for it, and for processes that
	// preempted the server.
	WriteCPU time.Duration
}

// A Request is one generation request and its answer.
type Request struct {
	ID           string // the header x-request-id, the body's rid or request_id, or one made up
	Path         string
	Stream       bool
	Received     int64 // when its last byte arrived
	Kernel       bool  // Received is the kernel's stamp, and not that of the read
	Status       int   // of HTTP
	PromptTokens int   // token ids or words
	Wanted       int   // tokens of the full answer
	Tokens       int   // of it, written
	// Writes are those of the body: what goes ahead of the tokens (a chat's role), the
	// tokens, the usage and the end. A response that is no stream is one write. They
	// share memory with the server and must not be changed.
	Writes []Write
	Ended  Ending
}

// A Write is one system call that wrote events. The last has the end of the
// response with it. One that found the socket full is Blocked: it took several
// calls, and its bracket is as wide as the wait.
type Write struct {
	Planned, Before, After int64
	Tokens                 int32
	Events                 uint16
	Blocked                bool
}

// Ending is how a request ended.
type Ending int

// The endings.
const (
	Open       Ending = iota // it has not
	Complete                 // all of its answer was written
	HTTP500                  // by a fault
	Reset                    // by a fault
	Truncate                 // by a fault
	ClientGone               // a write found that the client had left
	Refused                  // it asked for what the server does not do
	Stopped                  // the server was stopped
)

func (e Ending) String() string {
	return [...]string{"open", "complete", "http-500", "reset", "truncate", "client gone", "refused", "stopped"}[e]
}

// A record is a Request in the making. One goroutine at a time adds to it, and
// Log may read it meanwhile: a write is not touched after it was counted.
type record struct {
	head   Request // without what the others hold
	writes []Write // as many as there can be
	n      atomic.Int32
	ended  atomic.Int32
}

func (r *record) end(e Ending) { r.ended.Store(int32(e)) }

// request is r as far as it came.
func (r *record) request() Request {
	out := r.head
	out.Ended = Ending(r.ended.Load())
	out.Writes = slices.Clip(r.writes[:r.n.Load()])
	for i := range out.Writes {
		out.Tokens += int(out.Writes[i].Tokens)
	}
	return out
}

func newLog(records []*record) Log {
	var log Log
	var late, took []int64
	for _, r := range records {
		req := r.request()
		log.Requests = append(log.Requests, req)
		delayed := int64(0) // until when the client held the stream up
		for _, w := range req.Writes {
			if w.Tokens > 0 && w.Planned >= delayed {
				late = append(late, w.Before-w.Planned)
			}
			if w.Blocked {
				delayed = w.After
				continue
			}
			took = append(took, w.After-w.Before)
			log.WriteCPU += time.Duration(w.After - w.Before)
		}
	}
	log.Lateness, log.WriteTime = transport.Spread(late), transport.Spread(took)
	return log
}
