package apiserver

import (
	"sync"
	"time"
)

// A Truth is what /pitot/truth tells: what the server really wrote, and when.
// Instants are nanoseconds on the server's monotonic clock since its start.
type Truth struct {
	// StartUnix is the start on the wall clock, in nanoseconds since 1970, so
	// that another process can line its own instants up.
	StartUnix int64 `json:"start_unix_ns"`
	// Open is how many requests have not ended. They are not among Requests:
	// a request appears when its response is complete.
	Open int `json:"open"`
	// The oldest requests are dropped when there are too many of them, or of
	// their writes.
	DroppedRequests int `json:"dropped_requests"`
	DroppedWrites   int `json:"dropped_writes"`
	// Requests holds the generation requests in the order in which they ended.
	Requests []TruthRequest `json:"requests"`
}

// A TruthRequest is one generation request and its response. The last five
// fields are parallel: one element per write. A write is a Write and a Flush of
// the response, the headers' included; Before and After were read around them.
// Over HTTP/1.1 that is around the system call. Over HTTP/2 it is around the
// hand-over to the connection's own goroutine, which may write the frame later
// than After. What ends a body, the last chunk or END_STREAM, is sent after
// the handler has ended and is no write here.
type TruthRequest struct {
	ID           string   `json:"id"`            // the x-request-id, the request_id, or one made up
	Endpoint     string   `json:"endpoint"`      // "completions", "chat", "generate", "responses" ...: the API
	Protocol     string   `json:"protocol"`      // "HTTP/1.1" or "HTTP/2.0"
	Status       int      `json:"status"`        // HTTP status; 0 if none was sent
	Received     int64    `json:"received"`      // when the handler got it
	PromptTokens int      `json:"prompt_tokens"` // text and images
	Images       int      `json:"images"`
	OutputTokens int      `json:"output_tokens"` // written
	FinishReason string   `json:"finish_reason"` // as written; empty if none was
	Faults       []string `json:"faults"`        // that took effect
	ClientGone   bool     `json:"client_gone"`   // it left before the end

	Before []int64 `json:"before"`
	After  []int64 `json:"after"`
	Tokens []int   `json:"tokens"` // the tokens with text that the write completed
	Events []int   `json:"events"` // server-sent events it completed
	Bytes  []int   `json:"bytes"`  // of body
}

// A record is a TruthRequest with its writes in little memory. Only the request's handler writes
// it, until it is published.
type record struct {
	TruthRequest
	writes []write
}

// A write takes 24 bytes.
type write struct {
	before, after int64
	bytes         uint32
	counts        uint32 // tokens · 256 + events
}

// maxWriteEvents is how many events a write can count; of tokens it is MaxContext.
const maxWriteEvents = 1<<8 - 1

func (r *record) add(before, after time.Duration, tokens, events, bytes int) {
	r.OutputTokens += tokens
	r.writes = append(r.writes, write{
		before: int64(before), after: int64(after),
		bytes: uint32(bytes), counts: uint32(tokens)<<8 | uint32(events),
	})
}

// published is the record with its writes as they are published.
func (r *record) published() TruthRequest {
	t, n := r.TruthRequest, len(r.writes)
	t.Faults = append([]string{}, t.Faults...) // a list, and not null
	t.Before, t.After = make([]int64, n), make([]int64, n)
	t.Tokens, t.Events, t.Bytes = make([]int, n), make([]int, n), make([]int, n)
	for i, w := range r.writes {
		t.Before[i], t.After[i] = w.before, w.after
		t.Tokens[i], t.Events[i], t.Bytes[i] = int(w.counts>>8), int(w.counts&255), int(w.bytes)
	}
	return t
}

// A truthLog keeps the newest records, within a number of requests and of
// writes. Its lock is held for a few instructions; published records do not
// change, so a reader works on a copy of the list of them.
type truthLog struct {
	maxRequests, maxWrites int

	mu              sync.Mutex
	opened          int
	records         []*record // oldest first
	writes          int       // in records
	droppedRequests int
	droppedWrites   int
}

// open announces a request with a record that will be published.
func (l *truthLog) open() {
	l.mu.Lock()
	l.opened++
	l.mu.Unlock()
}

// publish adds a finished record and drops the oldest beyond the limits.
func (l *truthLog) publish(r *record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened--
	l.records = append(l.records, r)
	l.writes += len(r.writes)
	for len(l.records) > l.maxRequests || l.writes > l.maxWrites {
		oldest := l.records[0]
		l.records[0] = nil
		l.records = l.records[1:]
		l.writes -= len(oldest.writes)
		l.droppedRequests++
		l.droppedWrites += len(oldest.writes)
	}
}

// snapshot is the log without its records, and a copy of the list of them.
func (l *truthLog) snapshot() (Truth, []*record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Truth{
		Open:            l.opened,
		DroppedRequests: l.droppedRequests,
		DroppedWrites:   l.droppedWrites,
	}, append([]*record(nil), l.records...)
}

// clear forgets the finished requests and what was dropped.
func (l *truthLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.writes = nil, 0
	l.droppedRequests, l.droppedWrites = 0, 0
}
