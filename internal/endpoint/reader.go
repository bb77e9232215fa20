package endpoint

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/pitot-bench/pitot/internal/trace"
	"github.com/pitot-bench/pitot/internal/transport"
)

// A reader turns one response into a record. It is the transport's Receiver.
type reader struct {
	opts   *Options
	rec    *trace.Record
	events transport.Events
	body   []byte // of an answer that is not an event stream
	last   int64  // instant of the last read
	text   strings.Builder
	tokens int // by continuous usage, so far
	ended  bool
	stream bool
	failed string // the server's error inside the stream
}

// errMalformed wraps what is wrong with an answer.
var errMalformed = errors.New("malformed answer")

// maxBody bounds an answer that is not streamed.
const maxBody = 256 << 20

// Head notes the status and how the body is to be read.
func (r *reader) Head(status int, header http.Header) {
	r.rec.Status = status
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	r.stream = status == http.StatusOK && r.opts.Stream && media != "application/json"
}

// Data takes a read of the body.
func (r *reader) Data(p []byte, at int64) error {
	r.last = at
	if r.stream {
		return r.events.Feed(p, at, r.event)
	}
	if len(r.body)+len(p) > maxBody {
		return fmt.Errorf("%w: larger than %d MiB", errMalformed, maxBody>>20)
	}
	r.body = append(r.body, p...)
	return nil
}

// event notes one event of the stream.
func (r *reader) event(e transport.Event) error {
	if string(e.Data) == "[DONE]" {
		r.ended = true
		r.rec.Done = trace.Instant(e.At)
		return transport.ErrEnough
	}
	d, err := decode(r.opts.Protocol, false, e.Data)
	if err != nil {
		return fmt.Errorf("%w: event %d: %w", errMalformed, len(r.rec.Chunks)+1, err)
	}
	if d.err != "" && r.failed == "" {
		r.failed = d.err
	}
	r.note(d, trace.Instant(e.At), e.Coalesced)
	return nil
}

// note adds what a delta says to the record.
func (r *reader) note(d delta, at trace.Instant, coalesced bool) {
	chunk := trace.Chunk{At: at, Kind: d.kind}
	if coalesced {
		chunk.Kind |= trace.Coalesced
	}
	if d.usage != nil {
		if d.usage.Completion > r.tokens {
			chunk.Tokens = int32(d.usage.Completion - r.tokens)
			r.tokens = d.usage.Completion
		}
		r.rec.Usage = *d.usage
		if !d.token {
			r.rec.Usage.At = at
		}
	}
	if !d.token {
		return
	}
	if d.finish != "" {
		r.rec.FinishReason = d.finish
	}
	if r.opts.KeepText || r.opts.Count != nil {
		r.text.WriteString(d.text)
	}
	r.rec.Chunks = append(r.rec.Chunks, chunk)
}

// finish closes the record: done and the error are the transport's.
func (r *reader) finish(done int64, err error) {
	broken := false
	if err == nil && r.stream {
		broken, err = r.events.End(r.last, r.event)
		if errors.Is(err, transport.ErrEnough) {
			err = nil
		}
	}
	if err == nil && !r.stream && r.rec.Status == http.StatusOK {
		err = r.whole()
	}
	if !r.rec.Done.Happened() || err != nil {
		r.rec.Done = trace.Instant(done)
	}
	r.rec.Class, r.rec.Error = r.verdict(err, broken)
}

// whole reads an answer that came in one piece.
func (r *reader) whole() error {
	d, err := decode(r.opts.Protocol, true, r.body)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errMalformed, err)
	case d.err != "":
		r.failed = d.err
		return nil
	case r.opts.Stream:
		return fmt.Errorf("%w: asked for an event stream, got %.200q", errMalformed, r.body)
	}
	r.rec.Done = trace.Instant(r.last)
	r.ended = d.token
	r.note(d, r.rec.Done, false)
	return nil
}

// verdict is the class of the record, and in whose words.
func (r *reader) verdict(err error, broken bool) (trace.Class, string) {
	switch {
	case err != nil && r.rec.Status != 0 && r.rec.Status != http.StatusOK:
		return trace.HTTP, string(r.body)
	case err != nil:
		return classify(err), err.Error()
	case r.rec.Status != http.StatusOK:
		return trace.HTTP, string(r.body)
	case r.failed != "":
		return trace.StreamError, r.failed
	case broken:
		return trace.Truncated, "the stream ended within an event"
	case !r.ended && r.rec.FinishReason == "":
		return trace.Truncated, "the stream ended without [DONE] or a finish reason"
	case len(r.rec.Chunks) == 0:
		return trace.Empty, "a complete answer without a single choice"
	}
	return "", ""
}
