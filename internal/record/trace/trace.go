// Package trace is the record: everything observed of one request, and of the
// run it belongs to. It is the narrow waist of Pitot. Every figure, table and
// verdict is a pure function of traces, and what computes it cannot tell
// whether the trace was measured, simulated or read from another tool's file.
//
// Instants are nanoseconds since the start of the run on one monotonic clock:
//
//	  due ─────> released ──────> sent ─────────> first byte ──> chunks ──> done
//	schedule   the gate let it  first byte of   of the answer   each with  whole
//	  wants    go: a client     the request                     an instant answer
//	  it       task exists      is written                      and a kind read
//
// Response time runs from due, service time from sent; what lies between them
// is the load generator's own queue and is never hidden. A record holds what
// was seen, not what is concluded: two tools that define TTFT differently are
// both computed from the same record.
//
// A failed request is data too. Its record says how it failed (Class), what the
// server said (Error), and everything measured until then.
package trace

import (
	"encoding/json"
	"math"
	"time"
)

// An Instant is a time in nanoseconds since the start of the run, or Never.
type Instant int64

// Never marks something that did not happen.
const Never Instant = -1

// Happened reports whether t is an instant at all.
func (t Instant) Happened() bool { return t >= 0 }

// Seconds is t in seconds; meaningless for Never.
func (t Instant) Seconds() float64 { return float64(t) / 1e9 }

// Sub is the time from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// MarshalJSON writes nanoseconds, or null for Never.
func (t Instant) MarshalJSON() ([]byte, error) {
	if !t.Happened() {
		return []byte("null"), nil
	}
	return json.Marshal(int64(t))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Instant) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Never
		return nil
	}
	return json.Unmarshal(b, (*int64)(t))
}

// A Kind says what a chunk carried; a chunk may carry several things, and one
// that names none is a token without visible text (half a character, a special
// token).
type Kind uint16

// The things a chunk can carry, and how it came.
const (
	Text      Kind = 1 << iota // visible answer text
	Reasoning                  // text of a reasoning model's thinking
	ToolCall                   // part of a function call
	Role                       // the speaker's role: chat's opening chunk
	Finish                     // a finish reason
	Coalesced                  // met another event ahead of it in the same read: shares its instant
	Bare                       // its choice has no field for output at all
	// Bundled: its read brought several events that came in one piece, so the
	// server or the network had put them together; or only what closes a stream came
	// with it.
	Bundled
	// Retold: a token came and no fresh text, but the text so far is told once more, by a
	// protocol that repeats it.
	Retold
	// Totals: usage came with it, and no text.
	Totals
)

// Output reports whether a chunk of this kind carries generated tokens: it
// holds text, reasoning or a tool call, or nothing that would explain an empty
// chunk otherwise.
func (k Kind) Output() bool {
	return k&(Text|Reasoning|ToolCall) != 0 || k&(Role|Finish|Bare) == 0
}

// A Chunk is one streamed event that belongs to the answer (its choices are not
// empty). It takes 16 bytes.
//
// The kernel stamps the last byte that a read returns, so the instant of an event
// that shared its read is known as an interval: it came after At - Slack and no
// later than At.
type Chunk struct {
	At     Instant // when it had come
	Slack  uint32  // µs by which it may have come earlier; 0: At is exact, as far as the record's Stamps go
	Tokens uint16  // tokens it carries, 0 if the server did not say, 65535 for more
	Kind   Kind
}

// Lo is the instant before which the chunk cannot have come.
func (c Chunk) Lo() Instant { return c.At - Instant(c.Slack)*1000 }

// Carried is a number of tokens as a chunk can hold it.
func Carried(tokens int) uint16 { return uint16(max(0, min(tokens, math.MaxUint16))) }

// Stamps says whose instants a record's chunks have.
type Stamps string

// Whose instants they can be. Those of a simulation have no name.
const (
	KernelStamps Stamps = "kernel" // when the kernel received the last byte
	UserStamps   Stamps = "user"   // when the client got round to reading it
)

// Usage is the server's own token count; a zero means it gave none.
type Usage struct {
	Prompt     int `json:"prompt_tokens,omitempty"`
	Completion int `json:"completion_tokens,omitempty"`
	Cached     int `json:"cached_tokens,omitempty"`    // of Prompt, served from a prefix cache
	Reasoning  int `json:"reasoning_tokens,omitempty"` // of Completion
	// Tiers says from where Cached came, nil if the server did not.
	Tiers *CacheTiers `json:"cached_from,omitempty"`
	// At is when a usage-only event came, Never if usage came within chunks or
	// not at all. Some tools read usage only there.
	At Instant `json:"at_ns"`
}

// CacheTiers are cached prompt tokens by where they were kept.
type CacheTiers struct {
	Device  int    `json:"device"`
	Host    int    `json:"host"`
	Storage int    `json:"storage,omitempty"`
	Backend string `json:"storage_backend,omitempty"` // the name of the storage
}

// Source says where a token count comes from.
type Source string

// Sources of a token count, best first.
const (
	FromUsage     Source = "usage"     // the server's usage
	FromTokenizer Source = "tokenizer" // the answer's text, tokenized here
	FromChunks    Source = "chunks"    // one token for each output chunk: an assumption
)

// A Record is everything observed of one request.
type Record struct {
	Index int    `json:"index"`        // position in the workload, from 0
	ID    string `json:"id,omitempty"` // x-request-id sent, if any

	Tenant  string `json:"tenant,omitempty"`  // whose request it is, where there are several
	Session string `json:"session,omitempty"` // the conversation, if it is of one
	Turn    int    `json:"turn,omitempty"`    // its place there, from 0

	PromptTokens int `json:"prompt_tokens"`           // as the workload counted them
	VisionTokens int `json:"vision_tokens,omitempty"` // of these, those of media
	WantTokens   int `json:"want_tokens"`             // output tokens asked for, 0 = no limit
	// Inputs counts the texts to be embedded or scored, 0 for other requests.
	Inputs       int     `json:"inputs,omitempty"`
	AudioSeconds float64 `json:"audio_s,omitempty"` // of the sound to be transcribed, 0 if not known

	Due      Instant `json:"due_ns"`      // when the schedule wanted it
	Free     Instant `json:"free_ns"`     // when the gate had a place for it, Never without a gate
	Released Instant `json:"released_ns"` // when the driver let it go
	// Dialed and Connected enclose the wait for a connection while a new one was
	// set up, DNS, TCP and TLS together; Never if the request found an idle one.
	Dialed    Instant `json:"dialed_ns"`
	Connected Instant `json:"connected_ns"`
	Sent      Instant `json:"sent_ns"`       // just before its first byte was written
	FirstByte Instant `json:"first_byte_ns"` // of the response head
	Done      Instant `json:"done_ns"`       // end of the answer, or of the attempt

	Stamps Stamps  `json:"stamps,omitempty"` // of the chunks and the first byte
	Chunks []Chunk `json:"-"`
	Text   string  `json:"text,omitempty"` // the answer, when the run keeps text

	Status       int    `json:"status,omitempty"` // HTTP status, 0 if none came
	FinishReason string `json:"finish_reason,omitempty"`
	Usage        Usage  `json:"usage"`
	OutputTokens int    `json:"output_tokens"`
	CountedFrom  Source `json:"counted_from,omitempty"`
	// Retokenized is how many tokens the visible text has by the tokenizer, where that
	// was asked for beside the server's count; else 0.
	Retokenized int `json:"retokenized,omitempty"`

	Class Class  `json:"class,omitempty"` // how it failed, empty if it did not
	Error string `json:"error,omitempty"` // the first kilobyte of what the server said, or the client's error
	// Redials counts connections that the server had closed while idle and that
	// were replaced before anything of the request was written.
	Redials int `json:"redials,omitempty"`
	// Asides counts the lines of the stream that are neither data nor blank, comments
	// and the names of events, and data without a blank after the colon: there are
	// clients that cannot read them.
	Asides int `json:"asides,omitempty"`
	// Accept is the mean number of tokens a step of speculative decoding gave this
	// request, as the server says; 0 if it does not.
	Accept float64 `json:"accept_length,omitempty"`
}

// NewRecord is a record of a request to which nothing has happened.
func NewRecord(index int) *Record {
	return &Record{
		Index: index,
		Due:   Never, Free: Never, Released: Never, Dialed: Never, Connected: Never,
		Sent: Never, FirstByte: Never, Done: Never,
		Usage: Usage{At: Never},
	}
}

// Merged reports whether c, one of r's chunks, has no instant of its own since the
// client was late to read it: its gaps are the client's doing. Of n chunks in one
// read n-1 are.
func (r *Record) Merged(c Chunk) bool {
	return c.Kind&Bundled == 0 && (c.Slack > 0 || r.Stamps != KernelStamps && c.Kind&Coalesced != 0)
}

// OK reports whether the request got a whole answer.
func (r *Record) OK() bool { return r.Class == "" }

// Output yields the instants bounds of the output chunks: the first and the
// last chunk that carry generated tokens, and how many there are. Both are
// Never if there is none.
func (r *Record) Output() (first, last Instant, n int) {
	first, last = Never, Never
	for _, c := range r.Chunks {
		if !c.Kind.Output() {
			continue
		}
		if n == 0 {
			first = c.At
		}
		last = c.At
		n++
	}
	return first, last, n
}

// Rebase moves the record to a clock whose zero is the given instant of the
// clock it was taken on.
func (r *Record) Rebase(zero Instant) {
	for _, t := range []*Instant{
		&r.Due, &r.Free, &r.Released, &r.Dialed, &r.Connected, &r.Sent, &r.FirstByte, &r.Done, &r.Usage.At,
	} {
		if t.Happened() {
			*t -= zero
		}
	}
	for i := range r.Chunks {
		r.Chunks[i].At -= zero
	}
}
