package truth

import "time"

// A Log is what a server did: every request since it was made, or since Reset.
// Instants are nanoseconds on the monotonic clock.
type Log struct {
	Requests []Request // in the order in which they arrived

	Lateness  Quantiles     // of writes: Before - Planned
	WriteTime Quantiles     // After - Before
	CPU       time.Duration // of the thread that writes, since Serve or Reset; 0 where it is not known
}

// Quantiles are of durations, and zero without any.
type Quantiles struct{ P50, P99, Max time.Duration }

// A Request is one generation request and its answer.
type Request struct {
	ID           string // the header x-request-id, the body's rid or request_id, or one made up
	Path         string
	Stream       bool
	Received     int64 // when its last byte arrived
	Kernel       bool  // Received is the kernel's stamp, and not that of the read
	Status       int   // of HTTP
	PromptTokens int   // token ids or words
	Wanted       int   // tokens of the whole answer
	Tokens       int   // of it, written
	// Writes are those of the body: tokens, a chat's role, usage and the end.
	// They share memory with the server and must not be changed.
	Writes []Write
	Ended  Ending
}

// A Write is one system call that wrote events. One that found the socket full
// is Blocked: it took several calls, and its bracket is as wide as the wait.
type Write struct {
	Planned, Before, After int64
	Tokens                 int32
	Events                 uint16
	Blocked                bool
}

// Ending is how a request ended.
type Ending int

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

// String is the name of e.
func (e Ending) String() string {
	return [...]string{"open", "complete", "http-500", "reset", "truncate", "client gone", "refused", "stopped"}[e]
}
