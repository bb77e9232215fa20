// Package endpoint speaks the protocols of serving engines: how a request is
// written and what its stream means.
//
// A Client turns a workload request into a body (Encode), sends it, and fills a
// trace.Record with the answer (Send). It sees bytes with instants from package
// transport, finds the events in them, and records the content of each. It draws no
// conclusions: which of the events starts TTFT is up to the definitions in package metrics.
//
// Protocols differ in their grammar alone: a table says for each where it is
// served, how its requests are written and how its answers are read, streamed or
// not. Reasoning text and tool calls are output like any other. A request counts
// as answered only if the server said that it was finished, by an end marker or a
// finish reason, where its protocol has one; everything else is a failure with a
// class of its own. Embeddings and scores have no text: their record has one chunk
// without output, which is the answer.
//
// Server speaks to the other routes of such a server: models, version,
// tokenizer, metrics, profiler.
package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A Transport carries requests; transport.Client is one.
type Transport interface {
	Do(ctx context.Context, req *transport.Request, r transport.Receiver) (transport.Timing, error)
}

// Options say how requests are written and which parts of answers are recorded.
type Options struct {
	Protocol Protocol
	URL      string // of the protocol's route
	Model    string
	Header   http.Header

	Stream          bool
	IncludeUsage    bool // ask for a usage event at the end of the stream
	ContinuousUsage bool // ask for usage in every event
	IgnoreEOS       bool
	// PartsAlways writes a chat message's content as a list of parts even when
	// it is text alone.
	PartsAlways bool
	// MediaFirst puts media ahead of the text in a message.
	MediaFirst bool
	// AsMessages writes the input of an embedding or pooling request as a chat, even when it
	// is text alone.
	AsMessages bool
	// Extra is merged over the body.
	Extra map[string]json.RawMessage
	// NullOmits leaves a member out that is null in Extra or Sampling; otherwise a null is sent.
	NullOmits bool
	// Sampling is merged over the object of sampling parameters, of protocols that
	// have one: generate and tgi.
	Sampling map[string]json.RawMessage

	MaxEvent int // the largest event, in bytes; 0: transport.MaxEvent
	MaxBody  int // the largest answer in one piece, in bytes; 0: MaxBody

	KeepText bool // keep the answers' text in the records
	// Marker marks the answers in the records, and finds their defects; nil: neither.
	Marker  *trace.Marker
	Recount Recount
	// Count gives the number of tokens in an answer without usage from its
	// server: of its text, reasoning and tool calls. nil when there is no
	// tokenizer. It is called after the request.
	Count func(text string) int
	// Secrets are hidden in all that a record keeps of a server's or client's words.
	Secrets *secret.Set
}

// A Client sends requests of one protocol to one URL.
type Client struct {
	transport Transport
	opts      Options
	grammar   *grammar
	fixed     []field           // the body fields that are alike for all requests
	nested    []field           // those in the object of sampling parameters
	fixedSize int               // of both in a body
	shared    *transport.Header // of requests without headers of their own
	tally     tally
	budget    *budget
	servedBy  servedBy
	bodies    freeBodies
	sent      func(body []byte)      // gives one back
	readers   sync.Pool              // *reader
	elsewhere atomic.Pointer[string] // where a redirect led
}

// New returns a Client; the error is a body field that cannot be encoded.
func New(t Transport, opts Options) (*Client, error) {
	c := &Client{transport: t, opts: opts, grammar: grammars[opts.Protocol]}
	if c.grammar == nil {
		return nil, fmt.Errorf("protocol %q: must be one of %v", opts.Protocol, Protocols())
	}
	c.opts.Stream = opts.Stream && !c.grammar.silent
	c.budget, c.sent = newBudget(&opts), c.bodies.put
	c.readers.New = func() any {
		r := new(reader)
		r.yield = r.event
		return r
	}
	c.shared = transport.NewHeader(c.headerFields(nil))
	var err error
	if c.fixed, err = fields(c.grammar.fixed(&c.opts), opts.Extra, opts.NullOmits); err != nil {
		return nil, err
	}
	if c.grammar.nest != "" {
		c.nested, err = fields(c.grammar.parameters(&c.opts), opts.Sampling, opts.NullOmits)
	}
	c.fixedSize = sizeOf(c.fixed) + sizeOf(c.nested)
	return c, err
}

// errorText is how much of a server's words for an error a record keeps, shortText how much of what should be a word or
// a number, in bytes.
const (
	errorText = 1 << 10
	shortText = 64
)

// Send sends a body made by Encode and fills rec with what happens. It returns
// when the answer has been read or the attempt is over; a failure is in rec.
// The body belongs to the client from then on, which may write another one in its place.
func (c *Client) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	r, timing, err := c.exchange(ctx, c.opts.URL, req, body, rec)
	if moved(rec.Status) {
		r, timing, err = c.follow(ctx, req, r, timing, err)
	}
	rec.ID = req.ID
	rec.Dialed, rec.Connected = trace.Instant(timing.Dialed), trace.Instant(timing.Connected)
	rec.Sent, rec.FirstByte = trace.Instant(timing.Sent), trace.Instant(timing.FirstByte)
	rec.Redials = timing.Redials
	if rec.Resent = timing.FirstSent != transport.Never; rec.Resent {
		rec.FirstSent = trace.Instant(timing.FirstSent)
	}
	c.describe(req, rec)
	r.finish(timing.Done, err)
	c.settle(r, req)
	if req.Question != nil && rec.OK() {
		rec.Grade = req.Question.Grade(rec.Text, slices.Contains(limitReasons, rec.FinishReason))
	}
	if !c.opts.KeepText && !req.Followed {
		rec.Text = ""
	}
	rec.Text = strings.ToValidUTF8(rec.Text, "\uFFFD") // exports are UTF-8
	if cap(rec.Chunks) > 2*len(rec.Chunks) {           // an answer may end long before its limit
		rec.Chunks = append([]trace.Chunk(nil), rec.Chunks...)
	}
	r.keepCharge()
	*r = reader{readState: readState{yield: r.yield}}
	c.readers.Put(r)
}

// exchange sends a body to a URL and reads the answer.
func (c *Client) exchange(
	ctx context.Context, url string, req *workload.Request, body []byte, rec *trace.Record,
) (*reader, transport.Timing, error) {
	r := c.readers.Get().(*reader)
	r.opts, r.grammar, r.rec, r.events.Limit = &c.opts, c.grammar, rec, c.opts.MaxEvent
	r.keep = c.opts.KeepText || req.Followed || req.Question != nil || c.opts.counts()
	r.url, r.tally, r.budget, r.free, r.servedBy = url, &c.tally, c.budget, c.allowed(req), &c.servedBy
	if c.opts.Marker != nil && !c.grammar.silent {
		r.answer.Begin(c.opts.Marker)
	}
	if c.opts.Stream {
		r.chunks = make([]trace.Chunk, 0, room(req.OutputTokens))
	}
	r.request = transport.Request{
		Method: http.MethodPost, URL: url, Header: c.header(req), ID: req.ID, Body: body, Sent: c.sent,
	}
	timing, err := c.transport.Do(ctx, &r.request, r)
	return r, timing, err
}

// room is the expected number of chunks of an answer of n tokens: one per token, one with the role,
// and one with the finish reason; 0 if its length is unknown.
func room(n int) int {
	if n <= 0 {
		return 0
	}
	return min(n, 1<<16) + 2
}

// header returns the header of a request, without its id.
func (c *Client) header(req *workload.Request) *transport.Header {
	if len(req.Header) == 0 {
		return c.shared
	}
	return transport.NewHeader(c.headerFields(req.Header))
}

// headerFields returns those of every request, with its own.
func (c *Client) headerFields(own map[string]string) http.Header {
	h := c.opts.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	for name, value := range c.grammar.header {
		if h.Get(name) == "" {
			h.Set(name, value)
		}
	}
	switch {
	case c.grammar.multipart:
		h.Set("Content-Type", formType)
	case h.Get("Content-Type") == "":
		h.Set("Content-Type", "application/json")
	}
	if key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok && c.opts.Protocol == Messages &&
		h.Get("X-Api-Key") == "" {
		h.Set("X-Api-Key", key) // where Anthropic's servers look for it
	}
	for name, value := range own {
		h.Set(name, value)
	}
	return h
}

// describe notes what the request was of that its answer does not tell.
func (c *Client) describe(req *workload.Request, rec *trace.Record) {
	switch {
	case c.opts.Protocol == Rerank:
		rec.Inputs = max(0, len(req.Batch)-1)
	case c.grammar.silent:
		rec.Inputs = max(1, len(req.Batch))
	case c.opts.Protocol == Transcription && len(req.Media) > 0:
		if whole, err := req.Unspooled(); err == nil {
			rec.AudioSeconds = cmp.Or(whole.Media[0].Seconds, workload.WAVSeconds(whole.Media[0].Data))
		}
	}
}

// settle counts the output tokens and cuts the texts to the part that the record keeps.
func (c *Client) settle(r *reader, req *workload.Request) {
	rec := r.rec
	_, _, chunks := rec.Output()
	switch {
	case r.credible(max(chunks, c.requestedTokens(req))):
		rec.OutputTokens, rec.CountedFrom = rec.Usage.Completion, trace.FromUsage
	case chunks == 0, !c.opts.Stream && c.opts.Count == nil:
		rec.OutputTokens, rec.CountedFrom = 0, "" // an unstreamed answer says nothing of its tokens
	case c.opts.Count != nil && !r.tooLong(&r.output):
		rec.OutputTokens, rec.CountedFrom = c.opts.Count(r.output.String()), trace.FromTokenizer
	default:
		rec.OutputTokens, rec.CountedFrom = chunks, trace.FromChunks
	}
	r.settleQuirks()
	if rec.Refused() { // its chunks' counts are refused, too
		for i := range rec.Chunks {
			rec.Chunks[i].Tokens = 0
		}
	}
	r.tallyUp(rec.OutputTokens)
	c.recount(r)
	c.settleMarks(r, req)
	rec.Text = r.text.String()
	rec.Map(c.opts.Secrets.Hide)
	rec.Error = FirstKilobyte(rec.Error)
	for _, text := range []*string{&rec.FinishReason, &rec.Quirks.Unread, &rec.Quirks.RetryAfter} {
		*text = beginning(*text, shortText)
	}
}

// FirstKilobyte is the beginning of a server's words, in valid UTF-8.
func FirstKilobyte(s string) string { return beginning(s, errorText) }

// beginning is that of a text, in valid UTF-8. Secrets have been hidden in it: half of one is none that is known.
func beginning(s string, cut int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= cut {
		return s
	}
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
