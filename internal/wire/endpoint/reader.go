package endpoint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A reader turns one response into a record. It is the transport's Receiver.
type reader struct {
	readState
	tally    *tally          // of all the client's streams
	url      string          // that was asked
	header   http.Header     // of the answer, shared with others
	body     []byte          // of an answer that is no event stream; of a stream its beginning, until the first event
	text     strings.Builder // visible, if it is recorded
	output   strings.Builder // visible or not, if its tokens are counted here
	ends     []int           // of the chunks in text, if each is counted
	tiers    *trace.CacheTiers
	unread   unread
	growing  growing // the text, of a protocol that repeats it
	packed   bool    // the answer is no JSON, and a header tells its usage
	failed   string  // the server's error inside the stream
	budget   *budget // of all the client's streams
	free     int     // bytes that the answer may hold without it
	charged  int     // of it
	servedBy *servedBy
	request  transport.Request
}

// readState is what every read needs, in as few cache lines as it takes: of a stream that speaks again after a
// while, none is in the cache.
type readState struct {
	rec     *trace.Record
	grammar *grammar
	opts    *Options
	chunks  []trace.Chunk               // of the record
	stamps  trace.Stamps                // likewise
	yield   func(transport.Event) error // event, as one value for all of the stream
	read    transport.Stamp             // of the read under way
	from    int                         // its first chunk
	shared  int                         // events that it completed
	// outputs are those of them with output. Of several the transport is asked
	// whether they came as a bundle.
	outputs       int
	segments      int  // in which the read came, 0 if it is unknown
	ofLast        bool // the last of them is a chunk
	asked, bundle bool
	keep          bool // the text of the answer
	spoke         bool // it has text, if only an empty one
	answer        trace.Answer
	ended         bool
	form          form
	events        transport.Events
	seen          int // events with data
	tokens        int // by continuous usage, so far
	usages        int // chunks that had usage
	bytes         int // of output, as it stands in the events
	empties       int // tokens of chunks of output that have none
	unweighed     int // bytes since the last weigh
	talliedAt     int64
	tallied       int // tokens of this answer that the tally has
	talliedTo     int // chunks in which they came
}

// Hot implements transport.Warm.
func (r *reader) Hot() transport.Span { return transport.SpanOf(&r.readState) }

// Prefetch implements transport.Warm: the next chunk is written into a line of its own.
func (r *reader) Prefetch() {
	if n := len(r.chunks); n < cap(r.chunks) {
		transport.SpanOf(&r.chunks[:n+1][n]).Prefetch()
	}
}

// Output implements transport.Warm.
func (r *reader) Output(seq uint64) bool { return r.outputs > 0 && r.read.Seq == seq }

// A form is how a body is to be read.
type form int

const (
	unknown     form = iota // nothing but blanks came so far
	eventStream             // server-sent events
	document                // anything else
	compressed              // not to be read
)

// errMalformed wraps the fault of an answer.
var errMalformed = errors.New("malformed answer")

// Head notes the status.
func (r *reader) Head(status int, header http.Header) {
	r.rec.Status = status
	r.header = header
	r.servedBy.note(header)
	switch {
	case compression(header) != "":
		r.form = compressed
	case status != http.StatusOK || !r.opts.Stream:
		r.form = document
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		r.rec.Quirks.RetryAfter = header.Get("Retry-After")
	}
	if r.grammar.silent && status == http.StatusOK &&
		strings.HasPrefix(header.Get("Content-Type"), "application/octet-stream") {
		r.packed = true
		r.body = append(r.body, header.Get("Metadata")...)
	}
}

// Data takes a piece of the body.
func (r *reader) Data(p []byte, s transport.Stamp) error {
	if s.Seq != r.read.Seq {
		r.settle()
		r.begin(s)
	}
	if r.unweighed += len(p); r.unweighed >= weighEvery {
		if err := r.weigh(); err != nil {
			return err
		}
	}
	switch r.form {
	case unknown:
		r.form = sniff(p)
	case compressed:
		return r.refuseCompressed()
	}
	if r.form != document {
		err := r.events.Feed(p, s, r.yield)
		if room := errorText - len(r.body); r.seen == 0 && room > 0 {
			r.body = append(r.body, p[:min(room, len(p))]...)
		}
		if r.outputs > 1 && !r.asked {
			r.asked = true
			r.bundle, r.segments = s.Coalesced()
		}
		if s.At-r.talliedAt >= tallyEvery {
			r.tallyChunks(s.At)
		}
		return err
	}
	if r.packed {
		return nil
	}
	return r.storeBody(p)
}

// sniff tells an event stream from JSON and HTML by how it begins. Servers and
// what stands before them are not to be trusted with the Content-Type.
func sniff(p []byte) form {
	p = bytes.TrimLeft(p, " \t\r\n")
	switch {
	case len(p) == 0:
		return unknown
	case p[0] == '{' || p[0] == '[' || p[0] == '<':
		return document
	}
	return eventStream
}

// begin takes up another read.
func (r *reader) begin(s transport.Stamp) {
	r.read, r.from, r.shared, r.outputs, r.segments = s, len(r.chunks), 0, 0, 0
	r.ofLast, r.asked, r.bundle = false, false, false
	switch {
	case s.Kernel:
		r.stamps = trace.KernelStamps
	case r.stamps == "":
		r.stamps = trace.UserStamps
	}
}

// settle says of the chunks of the read under way, now that all of it is known, how
// well their instants are. The stamp is that of the last byte: only a chunk that
// ends there, in a read that left nothing in the socket, has an instant of its own.
// The last output of a stream mostly shares its read with what closes the stream
// (an empty chunk with the finish reason, usage, [DONE]): a server sends these
// together, which is no fault of the client's.
func (r *reader) settle() {
	chunks := r.chunks[min(r.from, len(r.chunks)):]
	whole := r.read.Drained && !r.events.Trailing() // nothing came but these events
	closing := whole                                // what follows carries no output
	packed := !r.bundle && r.segments > 0 && r.outputs >= 2*r.dataSegments()
	for i := len(chunks) - 1; i >= 0; i-- {
		c := &chunks[i]
		c.Slack = slack(r.read, r.bundle || whole && r.ofLast && i == len(chunks)-1)
		if r.bundle || r.shared > 1 && closing && c.Slack > 0 {
			c.Kind |= trace.Bundled
		}
		if packed && c.Kind.Output() {
			c.Kind |= trace.Packed
		}
		closing = closing && !c.Kind.Output()
	}
	r.from = len(r.chunks)
}

// dataSegments are those that brought the outputs of the read under way. Where all of the answer
// came in it, one may have brought nothing but the end.
func (r *reader) dataSegments() int {
	before := r.chunks[:min(r.from, len(r.chunks))]
	if !r.ended || r.segments < 2 || slices.ContainsFunc(before, isOutput) {
		return r.segments
	}
	return r.segments - 1
}

// slack is how much earlier than its stamp a chunk may have come, in µs: nothing if
// the kernel's stamp is its own.
func slack(s transport.Stamp, own bool) uint32 {
	if own && s.Kernel {
		return 0
	}
	return uint32(min((max(0, s.At-s.Lo)+999)/1000, math.MaxUint32))
}

// event notes one event of the stream.
func (r *reader) event(e transport.Event) error {
	r.seen++
	r.ofLast = false
	if e.Stamp.Seq == r.read.Seq {
		r.shared++
	}
	data := bytes.TrimSpace(e.Data)
	switch {
	case e.Failed():
		r.fail(cmp.Or(errorEvent(data), "an error event without words"))
		return nil
	case len(data) == 0 || string(e.Name) == "ping":
		return nil
	case string(data) == "[DONE]":
		r.ended = true
		r.rec.Done = trace.Instant(e.Stamp.At)
		return transport.ErrEnough
	}
	var d delta
	var err error
	if g := r.grammar; !g.usual.scan(&d, r.wanted(), data) {
		d, err = g.event(data)
		r.budget.drop(len(data) - r.free) // it was copied
	}
	if err != nil {
		return fmt.Errorf("%w: event %d: %w", errMalformed, r.seen, err)
	}
	r.fail(d.err)
	if r.grammar.repeat {
		r.grow(&d)
	}
	how := trace.Kind(0)
	if e.Coalesced {
		how |= trace.Coalesced
	}
	if e.Commented {
		how |= trace.Commented
	}
	r.note(&d, e.Stamp, how)
	if d.last {
		r.ended = true
		r.rec.Done = trace.Instant(e.Stamp.At)
		return transport.ErrEnough
	}
	return nil
}

// fail notes the server's words for an error, if they are the first.
func (r *reader) fail(words string) { r.failed = cmp.Or(r.failed, words) }

// wanted tells whether anybody wants the text of the answer.
func (r *reader) wanted() bool { return r.keep || r.opts.Count != nil }

// note adds what a delta says to the record, and how it came.
func (r *reader) note(d *delta, s transport.Stamp, how trace.Kind) {
	at := trace.Instant(s.At)
	chunk := trace.Chunk{At: at, Kind: d.kind | how}
	if d.used {
		chunk.Tokens = r.use(d, at)
	}
	if d.tiers != nil {
		r.tiers = d.tiers
	}
	if d.server != nil {
		r.rec.Server = d.server
	}
	if d.finish != "" {
		r.rec.FinishReason = d.finish
	}
	if d.accept > 0 {
		r.rec.Accept = d.accept
	}
	r.rec.Quirks.Choices = max(r.rec.Quirks.Choices, d.choices)
	if d.strays {
		r.rec.Quirks.Strays++
	}
	if d.tokens > 0 {
		chunk.Tokens = trace.Carried(d.tokens)
	}
	if d.unread != "" && chunk.Kind&trace.Finish == 0 {
		r.unread.note(d.unread, d.token && chunk.Kind.Output(), chunk.Tokens > 0)
	}
	if !d.token {
		return
	}
	if r.bytes += d.bytes; d.bytes == 0 && chunk.Kind.Output() {
		r.empties += max(1, int(chunk.Tokens))
	}
	if d.used && d.usage.Completion > 0 && chunk.Tokens == 0 &&
		chunk.Kind&(trace.Text|trace.Reasoning|trace.ToolCall) == 0 && !r.grammar.repeat {
		chunk.Kind |= trace.Totals
	}
	if r.opts.Marker != nil {
		r.mark(d)
	}
	if r.keep {
		r.write(&r.text, r.opts.visible(d))
	}
	if r.opts.Recount.Chunks {
		r.ends = append(r.ends, r.text.Len())
	}
	if r.opts.Count != nil {
		r.write(&r.output, d.hidden)
		r.write(&r.output, d.text)
	}
	if s.Seq != r.read.Seq { // its data ended an earlier read, and only its empty line is of this one
		chunk.Slack = slack(s, s.Drained)
		r.from++
	}
	if r.ofLast = s.Seq == r.read.Seq; r.ofLast && chunk.Kind.Output() {
		r.outputs++
	}
	r.add(chunk)
}

// use takes a delta's usage and returns how many tokens it is the first to
// count: those of its chunk, if every chunk before it had usage too.
func (r *reader) use(d *delta, at trace.Instant) (fresh uint16) {
	u := d.usage
	if u.Completion > r.tokens && r.usages == len(r.chunks) {
		fresh = trace.Carried(u.Completion - r.tokens)
	}
	r.tokens = max(r.tokens, u.Completion)
	if d.token {
		r.usages++
	} else {
		u.At = at
	}
	if u.Prompt == 0 { // reported before the answer began, in protocols that report it separately
		was := &r.rec.Usage
		u.Prompt, u.Cached = was.Prompt, max(u.Cached, was.Cached)
		u.CachedReported = u.CachedReported || was.CachedReported
	}
	if u.Completion > 0 || r.rec.Usage.Completion == 0 { // zeros do not replace a count
		r.rec.Usage, r.rec.Quirks.UsageElsewhere = u, d.usageElsewhere
	}
	return fresh
}

// finish closes the record: done and the error are the transport's.
func (r *reader) finish(done int64, err error) {
	broken := false
	if err == nil && r.form == eventStream {
		broken, err = r.events.End(r.read, isCompleteEvent, r.yield)
		if errors.Is(err, transport.ErrEnough) {
			err = nil
		}
	}
	r.settle()
	if r.rec.OtherLines = r.events.OtherLines(); r.opts.Protocol != TRT { // its clients expect no blank
		r.rec.OtherLines += r.events.Tight()
	}
	if broken {
		r.rec.OtherLines++
	}
	if r.grammar.ends == "[DONE]" {
		r.rec.OtherLines += r.rec.Quirks.Strays
		r.rec.Quirks.Strays += r.events.Fields() + r.events.Tight()
	}
	if err == nil && r.form == document && r.rec.Status == http.StatusOK {
		err = r.readUnstreamed()
	}
	if r.tiers != nil {
		r.rec.Usage.Tiers = r.tiers
	}
	if !r.rec.Done.Happened() || err != nil {
		r.rec.Done = trace.Instant(done)
	}
	r.rec.Chunks, r.rec.Stamps = r.chunks, r.stamps
	r.rec.Class, r.rec.Error = r.verdict(err, broken)
}

// comments tells whether a stream without events was one at all: it begins with a
// comment or a field.
func comments(body []byte) bool {
	name, _, ok := bytes.Cut(bytes.TrimSpace(body), []byte(":"))
	return ok && slices.Contains([]string{"", "event", "id", "retry", "data"}, string(name))
}

// isCompleteEvent tells whether the data of a last line without an end is all there.
func isCompleteEvent(data []byte) bool {
	return string(data) == "[DONE]" || plan.Check(data) == nil && gjson.ValidBytes(data)
}

// readUnstreamed reads an answer that came in one piece.
func (r *reader) readUnstreamed() error {
	d, err := r.grammar.answer(r.body)
	if r.packed {
		d, err = packedPooling(r.body), nil
	}
	if line, _, more := bytes.Cut(r.body, []byte("\n")); err != nil && more { // an error, and what closes a stream
		if first, odd := r.grammar.answer(line); odd == nil && first.err != "" {
			d, err = first, nil
		}
	}
	switch {
	case err == nil && d.err != "":
		r.failed = d.err
		return nil
	case r.opts.Stream:
		return fmt.Errorf("%w: %s", errMalformed, r.notAStream())
	case !r.packed && comments(r.body) && bytes.Contains(r.body, []byte("data: {")):
		return fmt.Errorf("%w: asked for a whole answer, got an event stream: %s", errMalformed, begin(r.body))
	case err != nil:
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	r.rec.Done = trace.Instant(r.read.At)
	r.ended = d.token
	if r.grammar.repeat {
		r.grow(&d)
	}
	r.note(&d, r.read, 0)
	return nil
}

// givenUp are the finish reasons of a server that did not finish.
var givenUp = []string{"abort", "aborted", "error", "failed"}

// verdict is the class of the record, and its error text. The words of the server
// explain more than the end of the connection after them.
func (r *reader) verdict(err error, broken bool) (trace.Class, string) {
	switch {
	case r.rec.Status != 0 && r.rec.Status != http.StatusOK:
		return trace.HTTP, r.refusal()
	case r.failed != "":
		return trace.StreamError, r.failed
	case err != nil:
		return classify(err), strings.TrimPrefix(err.Error(), errMalformed.Error()+": ") // the class says it
	case r.form == eventStream && r.seen == 0 && !comments(r.body):
		return trace.Malformed, r.notAStream()
	case broken:
		return trace.Truncated, "the stream ended within an event"
	case slices.Contains(givenUp, r.rec.FinishReason):
		return trace.StreamError, "the server gave the request up: finish reason " + r.rec.FinishReason
	case r.grammar.silent && !r.ended:
		return trace.Empty, "a complete answer without a single result"
	case !r.ended && r.rec.FinishReason == "" && (r.grammar.ends != "" || !r.opts.Stream):
		return trace.Truncated, "neither " + cmp.Or(r.grammar.ends, "an answer") + " nor a finish reason came"
	case len(r.chunks) == 0:
		return trace.Empty, "a complete answer without anything that protocol " + string(r.opts.Protocol) + " calls output"
	}
	return "", ""
}
