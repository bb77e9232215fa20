// Package endpoint speaks the protocols of serving engines: how a request is
// written and what its stream means.
//
// A Client turns a workload request into a body (Encode), sends it, and fills a
// trace.Record with what came back (Send). It sees bytes with instants from
// package transport, finds the events in them, and notes for each what it
// carried. It draws no conclusions: which of the events starts TTFT is up to
// the definitions in package metrics.
//
// The protocols are OpenAI's completions and chat completions, streamed or not.
// Reasoning text and tool calls are output like any other. A request counts as
// answered only if the server said that it was finished, by an end marker or a
// finish reason; everything else is a failure with a class of its own.
//
// Server speaks to the other routes of such a server: models, version,
// tokenizer, metrics, profiler.
package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/trace"
	"github.com/pitot-bench/pitot/internal/transport"
	"github.com/pitot-bench/pitot/internal/workload"
)

// A Protocol is a way of asking for text.
type Protocol string

// The protocols.
const (
	Completions   Protocol = "completions"   // POST /v1/completions
	Chat          Protocol = "chat"          // POST /v1/chat/completions
	Responses     Protocol = "responses"     // POST /v1/responses, OpenAI's newer one
	Messages      Protocol = "messages"      // POST /v1/messages, Anthropic's
	Generate      Protocol = "generate"      // POST /generate, SGLang's own
	TGI           Protocol = "tgi"           // POST /generate_stream or /generate of text-generation-inference
	TRT           Protocol = "trt"           // POST /v2/models/ensemble/generate_stream of Triton with TensorRT-LLM
	Truss         Protocol = "truss"         // POST /v1/models/model:predict
	Embeddings    Protocol = "embeddings"    // POST /v1/embeddings
	Pooling       Protocol = "pooling"       // POST /pooling, vLLM's own
	Rerank        Protocol = "rerank"        // POST /v1/rerank
	Transcription Protocol = "transcription" // POST /v1/audio/transcriptions, multipart
)

// Path is where the protocol is usually served.
func (p Protocol) Path() string {
	if p == Chat {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

// A Transport carries requests; transport.Client is one.
type Transport interface {
	Do(ctx context.Context, req *transport.Request, r transport.Receiver) (transport.Timing, error)
}

// Options say how requests are written and what of the answers is kept.
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
	// Extra is merged over the body; a null stays in it.
	Extra map[string]json.RawMessage

	KeepText bool // keep the answers' text in the records
	// Count gives the number of tokens in an answer whose server reports no
	// usage: of its text, reasoning and tool calls. nil when there is no
	// tokenizer. It is called after the request.
	Count func(text string) int
	// Secrets are replaced wherever a server's or client's words repeat them.
	Secrets []string
}

// A Client sends requests of one protocol to one URL.
type Client struct {
	transport Transport
	opts      Options
	fixed     []field // the body fields that are alike for all requests
}

// New returns a Client; the error is a body field that cannot be encoded.
func New(t Transport, opts Options) (*Client, error) {
	fixed, err := fixedFields(opts)
	if err != nil {
		return nil, err
	}
	return &Client{transport: t, opts: opts, fixed: fixed}, nil
}

// errorText is how much of a server's words a record keeps, in bytes.
const errorText = 1 << 10

// Send sends a body made by Encode and fills rec with what happens. It returns
// when the answer has been read or the attempt is over; a failure is in rec.
func (c *Client) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	r := &reader{opts: &c.opts, rec: rec, keep: c.opts.KeepText || req.Followed}
	r.yield = r.event
	if c.opts.Stream {
		rec.Chunks = make([]trace.Chunk, 0, room(req.OutputTokens))
	}
	timing, err := c.transport.Do(ctx, &transport.Request{
		Method: http.MethodPost,
		URL:    c.opts.URL,
		Header: c.header(req.ID),
		Body:   body,
	}, r)
	rec.ID = req.ID
	rec.Dialed, rec.Connected = trace.Instant(timing.Dialed), trace.Instant(timing.Connected)
	rec.Sent, rec.FirstByte = trace.Instant(timing.Sent), trace.Instant(timing.FirstByte)
	rec.Redials = timing.Redials
	r.finish(timing.Done, err)
	c.settle(r)
	if cap(rec.Chunks) > 2*len(rec.Chunks) { // an answer may end long before its limit
		rec.Chunks = append([]trace.Chunk(nil), rec.Chunks...)
	}
}

// room is how many chunks an answer of n tokens is expected to have, 0 for one whose
// length is not known: one a token, the speaker's, and one with the finish reason.
func room(n int) int {
	if n <= 0 {
		return 0
	}
	return min(n, 1<<16) + 2
}

func (c *Client) header(id string) http.Header {
	h := c.opts.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	if id != "" {
		h.Set("X-Request-Id", id)
	}
	return h
}

// settle counts the output tokens and cuts the texts to what is kept.
func (c *Client) settle(r *reader) {
	rec := r.rec
	_, _, chunks := rec.Output()
	switch {
	case rec.Usage.Completion > 0:
		rec.OutputTokens, rec.CountedFrom = rec.Usage.Completion, trace.FromUsage
	case chunks == 0, !c.opts.Stream && c.opts.Count == nil:
		rec.OutputTokens, rec.CountedFrom = 0, "" // a whole answer says nothing of its tokens
	case c.opts.Count != nil:
		rec.OutputTokens, rec.CountedFrom = c.opts.Count(r.output.String()), trace.FromTokenizer
	default:
		rec.OutputTokens, rec.CountedFrom = chunks, trace.FromChunks
	}
	rec.Text = r.text.String()
	rec.Error = Redact(rec.Error, c.opts.Secrets)
}

// Hide replaces secrets in s, the longest first.
func Hide(s string, secrets []string) string {
	longest := slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	for _, secret := range longest {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return s
}

// Redact hides secrets in s and keeps its first kilobyte.
func Redact(s string, secrets []string) string {
	s = strings.ToValidUTF8(Hide(s, secrets), "\uFFFD")
	if len(s) <= errorText {
		return s
	}
	cut := errorText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
