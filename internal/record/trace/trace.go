// Package trace is the record: every observation of one request, and of the run it
// belongs to. It is the narrow waist of Pitot. Every figure, table and verdict is a
// pure function of traces, and that function cannot tell whether the trace was
// measured, simulated or read from another tool's file.
//
// Instants are nanoseconds since the start of the run on one monotonic clock:
//
//	  due ─────> released ──────> sent ─────────> first byte ──> chunks ──> done
//	schedule   the gate let it  first byte of   of the answer   each with  whole
//	  wants    go: a client     the request                     an instant answer
//	  it       task exists      is written                      and a kind read
//
// Response time runs from due, service time from sent; the time between them is the
// load generator's own queue and is never hidden. A record holds observations, not
// conclusions: two tools that define TTFT differently are both computed from the
// same record.
//
// A failed request is data too. Its record has the failure (Class), the server's
// message (Error), and all measurements until then.
package trace

import (
	"encoding/json"
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/load/grade"
)

// An Instant is a time in nanoseconds since the start of the run, or Never.
type Instant int64

// Never marks an event that did not happen.
const Never Instant = -1

// Happened reports whether t is not Never.
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

// UnmarshalJSON reads the output of MarshalJSON.
func (t *Instant) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Never
		return nil
	}
	return json.Unmarshal(b, (*int64)(t))
}

// A Kind is the content of a chunk; a chunk may carry several things, and one
// without any is a token without visible text (half a character, a special token).
type Kind uint16

// The contents of a chunk, and how it arrived.
const (
	Text      Kind = 1 << iota // visible answer text
	Reasoning                  // text of a reasoning model's thinking
	ToolCall                   // part of a function call
	Role                       // chat's opening chunk
	Finish                     // a finish reason
	Coalesced                  // shares its read, and so its instant, with an event before it
	Bare                       // its choice has no field for output at all
	// Bundled: its read brought several events in one piece, so the server or the
	// network had combined them; or only the end of a stream came with it.
	Bundled
	// Repeated: a token came without new text, but the text so far is repeated, in a
	// protocol that repeats it.
	Repeated
	// Totals: usage came with it, and no text.
	Totals
	// Packed: its read brought at least two outputs a segment of the network, in several, so the
	// server or somebody before it had combined them, however late the client read.
	Packed
	// Elsewhere: its output stands where the clients of vLLM and SGLang do not look: a
	// refusal, a list of parts, details of reasoning, audio.
	Elsewhere
	// Commented: its event begins with a comment, and vLLM's client passes over it.
	Commented
)

// Output reports whether a chunk of this kind carries generated tokens: it holds
// text, reasoning or a tool call, or nothing else explains an empty chunk.
func (k Kind) Output() bool {
	return k&(Text|Reasoning|ToolCall) != 0 || k&(Role|Finish|Bare) == 0
}

// A Chunk is one streamed event that belongs to the answer (its choices are not
// empty). It takes 16 bytes.
//
// The kernel timestamps the last byte that a read returns, so the instant of an
// event that shared its read is known as an interval: it came after At - Slack and
// no later than At.
type Chunk struct {
	At     Instant // when it arrived
	Slack  uint32  // µs by which it may have arrived earlier; 0: At is exact, as far as the record's Stamps allow
	Tokens uint16  // tokens it carries, 0 if unknown, 65535 for more
	Kind   Kind
}

// Lo is the instant before which the chunk cannot have come.
func (c Chunk) Lo() Instant { return c.At - Instant(c.Slack)*1000 }

// Carried limits a number of tokens to the range of a chunk.
func Carried(tokens int) uint16 { return uint16(max(0, min(tokens, math.MaxUint16))) }

// Stamps is the source of a record's timestamps.
type Stamps string

// The sources. Those of a simulation have no name.
const (
	KernelStamps Stamps = "kernel" // when the kernel received the last byte
	UserStamps   Stamps = "user"   // when the client read it
)

// Usage is the server's own token count; zero means it gave none.
type Usage struct {
	Prompt     int `json:"prompt_tokens,omitempty"`
	Completion int `json:"completion_tokens,omitempty"`
	Cached     int `json:"cached_tokens,omitempty"`    // of Prompt, served from a prefix cache
	Reasoning  int `json:"reasoning_tokens,omitempty"` // of Completion
	// CachedReported: the server reported how many are cached, if only that none is. It is
	// not stored: a Cache counts such answers.
	CachedReported bool `json:"-"`
	// Tiers is the origin of Cached, nil if the server did not report it.
	Tiers *CacheTiers `json:"cached_from,omitempty"`
	// At is when a usage-only event came, Never if usage came within chunks or not
	// at all. Some tools read usage only there.
	At Instant `json:"at_ns"`
}

// CacheTiers counts cached prompt tokens by storage tier.
type CacheTiers struct {
	Device  int    `json:"device"`
	Host    int    `json:"host"`
	Storage int    `json:"storage,omitempty"`
	Backend string `json:"storage_backend,omitempty"` // the name of the storage
}

// Source is the source of a token count.
type Source string

// Sources of a token count, best first.
const (
	FromUsage     Source = "usage"     // the server's usage
	FromTokenizer Source = "tokenizer" // the answer's text, tokenized here
	FromChunks    Source = "chunks"    // one token per output chunk: an assumption
)

// A Record holds every observation of one request.
type Record struct {
	Index int    `json:"index"`        // position in the workload, from 0
	ID    string `json:"id,omitempty"` // x-request-id sent, if any

	Tenant  string `json:"tenant,omitempty"`  // if there are several
	Session string `json:"session,omitempty"` // its conversation, if any
	Turn    int    `json:"turn,omitempty"`    // its place there, from 0

	PromptTokens int `json:"prompt_tokens"`           // as counted by the workload
	VisionTokens int `json:"vision_tokens,omitempty"` // of these, the media's
	WantTokens   int `json:"want_tokens"`             // requested output tokens, 0 = no limit
	// Inputs counts the texts to be embedded or scored, 0 for other requests.
	Inputs       int     `json:"inputs,omitempty"`
	AudioSeconds float64 `json:"audio_s,omitempty"` // of the audio to transcribe, 0 if unknown

	Due      Instant `json:"due_ns"`      // scheduled
	Free     Instant `json:"free_ns"`     // when the gate had a place for it, Never without a gate
	Released Instant `json:"released_ns"` // when the driver released it
	// Dialed and Connected enclose the wait for a new connection: DNS, TCP and TLS
	// together; Never if the request found an idle one.
	Dialed    Instant `json:"dialed_ns"`
	Connected Instant `json:"connected_ns"`
	Sent      Instant `json:"sent_ns"`       // just before its first byte was written
	FirstByte Instant `json:"first_byte_ns"` // of the response head
	Done      Instant `json:"done_ns"`       // end of the answer, or of the attempt

	Stamps Stamps  `json:"stamps,omitempty"` // of the chunks and the first byte
	Chunks []Chunk `json:"-"`
	Text   string  `json:"text,omitempty"` // the answer, when the run keeps text
	// Marks are of all of its output, be text kept or not.
	Marks   Marks   `json:"marks,omitempty"`
	Defects Defects `json:"defects,omitempty"` // of the answer, if it was inspected
	// Grade is that of an answer to a question; none if the request failed.
	Grade grade.Grade `json:"grade,omitempty"`

	Status       int    `json:"status,omitempty"` // HTTP status, 0 if none came
	FinishReason string `json:"finish_reason,omitempty"`
	Usage        Usage  `json:"usage"`
	OutputTokens int    `json:"output_tokens"`
	CountedFrom  Source `json:"counted_from,omitempty"`
	// Retokenized is the number of tokens of the visible text by the tokenizer, if
	// requested in addition to the server's count; else 0.
	Retokenized int `json:"retokenized,omitempty"`

	Class Class  `json:"class,omitempty"` // how it failed, empty if it did not
	Error string `json:"error,omitempty"` // the first kilobyte of the server's message, or the client's error
	// Redials counts connections that the server had closed while idle and that
	// were replaced before any byte of the request was written.
	Redials int `json:"redials,omitempty"`
	// Resent says that the request left twice, since the server closed its first,
	// reused connection without a byte of an answer. FirstSent is when it left first,
	// 0 if it left once; all other instants are those of the second time.
	Resent    bool    `json:"resent,omitempty"`
	FirstSent Instant `json:"first_sent_ns,omitzero"`
	// OtherLines counts the lines of the stream that some clients cannot read:
	// comments, event names, and data without a space after the colon.
	OtherLines int `json:"asides,omitempty"`
	// Quirks are what was odd about the answer.
	Quirks Quirks `json:"quirks,omitzero"`
	// Accept is the mean number of tokens per step of speculative decoding for this
	// request, as the server reports; 0 if it does not.
	Accept float64 `json:"accept_length,omitempty"`
	// Server is what the server says of its own time, nil if it does not: vLLM does with
	// --enable-per-request-metrics.
	Server *ServerTimes `json:"server,omitempty"`
}

// ServerTimes are a server's own times of a request, in seconds; nil for those that it does not
// know.
type ServerTimes struct {
	Queue *float64 `json:"queue_s"` // until it was scheduled
	TTFT  *float64 `json:"ttft_s"`  // from then on
}

// Quirks are what was odd about an answer; of most nothing was.
type Quirks struct {
	// Choices is how many answers came for the one request, 0 for one.
	Choices int `json:"choices,omitempty"`
	// Strays counts the events on which vLLM's client fails: those with a field other than
	// data, without a space after its colon, or with content that is no text.
	Strays int `json:"strays,omitempty"`
	// Unread names a member of the events that Pitot does not know, and with which came
	// output tokens by the server's count.
	Unread string `json:"unread,omitempty"`
	// Unseen is how many output tokens, at least, the server counts beyond those that its
	// text can hold, where all of it was read.
	Unseen int `json:"unseen,omitempty"`
	// UsageElsewhere: the server's count stood where the clients of vLLM and SGLang do not look.
	UsageElsewhere bool `json:"usage_aside,omitempty"`
	// RetryAfter is the header of that name in an answer that refused the request for now.
	RetryAfter string `json:"retry_after,omitempty"`
}

// NewRecord returns a record of a request to which nothing has happened.
func NewRecord(index int) *Record {
	return &Record{
		Index: index,
		Due:   Never, Free: Never, Released: Never, Dialed: Never, Connected: Never,
		Sent: Never, FirstByte: Never, Done: Never,
		Usage: Usage{At: Never},
	}
}

// Merged reports whether c, one of r's chunks, has no timestamp of its own because
// the client read late: its gaps are caused by the client. Of n chunks in one read
// n-1 are merged.
func (r *Record) Merged(c Chunk) bool {
	return c.Kind&Bundled == 0 && (c.Slack > 0 || r.Stamps != KernelStamps && c.Kind&Coalesced != 0)
}

// Unanswered reports whether the request failed because the server closed its reused
// connection as it was sent: within a second and without a byte of an answer.
func (r *Record) Unanswered() bool {
	return (r.Class == Closed || r.Class == Reset) && !r.Resent && !r.Dialed.Happened() && r.Sent.Happened() &&
		!r.FirstByte.Happened() && r.Done.Sub(r.Sent) < time.Second
}

// OK reports whether the request got a complete answer.
func (r *Record) OK() bool { return r.Class == "" }

// Ends returns the first and the last chunk that carry generated tokens, and the number
// of such chunks. Both are at Never if there is none.
func (r *Record) Ends() (first, last Chunk, n int) {
	first.At, last.At = Never, Never
	end := 0
	for i := range r.Chunks {
		if !r.Chunks[i].Kind.Output() {
			continue
		}
		if n++; n == 1 {
			first = r.Chunks[i]
		}
		end = i
	}
	if n > 0 {
		last = r.Chunks[end]
	}
	return first, last, n
}

// Output returns the instants of the Ends, and the number of chunks.
func (r *Record) Output() (first, last Instant, n int) {
	f, l, n := r.Ends()
	return f.At, l.At, n
}

// Map applies change to each text in the record that comes from a server or a plan.
func (r *Record) Map(change func(string) string) {
	for _, text := range []*string{&r.ID, &r.Tenant, &r.Session, &r.Text, &r.FinishReason, &r.Error, &r.Quirks.Unread, &r.Quirks.RetryAfter} {
		*text = change(*text)
	}
	if tiers := r.Usage.Tiers; tiers != nil {
		tiers.Backend = change(tiers.Backend)
	}
}

// Rebase moves the record to a clock with its zero at the given instant of the
// original clock.
func (r *Record) Rebase(zero Instant) {
	for _, t := range []*Instant{
		&r.Due, &r.Free, &r.Released, &r.Dialed, &r.Connected, &r.Sent, &r.FirstByte, &r.Done, &r.Usage.At,
	} {
		if t.Happened() {
			*t -= zero
		}
	}
	if r.Resent {
		r.FirstSent -= zero
	}
	for i := range r.Chunks {
		r.Chunks[i].At -= zero
	}
}
