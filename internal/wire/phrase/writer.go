package phrase

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// A Source gives the tokens of an answer, one after the other.
type Source interface {
	Next() string // the text of the next token, as it stands in a JSON string
	ID() int32    // of the token that Next gave last
}

// An Answer holds the plain values of an answer. The server sets values that it learns later in the
// Writer, at the latest before the event that contains them.
type Answer struct {
	ID      string // of the request
	Model   string
	Created int64 // in seconds since 1970
	Source  Source

	PromptTokens int
	Cached       int    // of them, found in a prefix cache; negative: not reported
	MaxTokens    int    // as asked for
	Tokens       int    // of the answer
	Finish       string // length or stop
	Stop         string // the stop string that ended it, if one did

	Usage      bool   // usage is reported at the end, and in an answer that is no stream
	Continuous bool   // every event reports it too
	Details    bool   // TGI: how the answer ended
	Plain      bool   // a transcription is a text, without JSON
	LineEnd    string // of streams; "\n" if empty

	Elapsed time.Duration // SGLang: from the request to the last token
	Steps   int           // SGLang: of speculative decoding; 0: not reported
	Seconds float64       // of the audio that was transcribed

	Pooled *Pooled // what was made of texts
}

// Answer is the answer to q, as far as q settles it: its id, its model if it names one,
// and the details that it asks for.
func (q *Request) Answer() Answer {
	return Answer{
		ID: q.ID, Model: q.Model, Cached: -1,
		Usage: q.Usage || !q.Stream, Continuous: q.Continuous, Details: q.Details, Plain: q.Plain,
	}
}

// A Writer appends the events of one stream to a buffer.
type Writer struct {
	Answer
	Sent   int // tokens written so far
	Events int // since it was last set to 0

	protocol          *Protocol
	id                string // of the answer, as JSON
	end               string // of an event
	head              string
	open, close, last string // around the text of an event

	shown    []byte // the text so far, where events repeat it
	ids      []byte // and the ids, with commas
	sequence int    // of the next event, where they are numbered
}

// A frame is what stands around the text of an event:
//
//	data: {"id":…,"model":…,"choices":[ ┃ {"index":0,"text":" ┃ The ┃ ","finish_reason":null…}] ┃ } ⏎⏎
//	└───────────── head ──────────────┘ ┃ └───── open ──────┘ ┃ text ┃ └──────── close ────────┘
//
// All events have the head, and those that have one have room for a usage. In the last
// event with text, last stands for close.
type frame struct{ head, open, close, last string }

// Stream makes the writer of an answer. Where events have no usage, none is reported.
func (p *Protocol) Stream(a Answer) *Writer {
	if a.LineEnd == "" {
		a.LineEnd = "\n"
	}
	w := p.writer(a)
	w.end = a.LineEnd + a.LineEnd
	if p.frame != nil {
		f := p.frame(w)
		w.head, w.open, w.close, w.last = f.head, f.head+f.open, f.close, f.last
	}
	w.Usage, w.Continuous = a.Usage && w.head != "", a.Continuous && w.head != ""
	if p.event == nil && !w.Continuous {
		w.close, w.last = w.close+"}"+w.end, w.last+"}"+w.end
	}
	return w
}

func (p *Protocol) writer(a Answer) *Writer {
	return &Writer{Answer: a, protocol: p, id: quote(p.prefix + a.ID)}
}

// Accept appends what says that the request is taken.
func (w *Writer) Accept(dst []byte) []byte { return w.maybe(w.protocol.accept, dst) }

// Begin appends what goes ahead of the first token.
func (w *Writer) Begin(dst []byte) []byte { return w.maybe(w.protocol.begin, dst) }

func (w *Writer) maybe(words func(*Writer, []byte) []byte, dst []byte) []byte {
	if words == nil {
		return dst
	}
	return words(w, dst)
}

// Event appends the event of the next n tokens; last is whether the answer ends with
// them.
func (w *Writer) Event(dst []byte, n int, last bool) []byte {
	w.Events++
	if w.protocol.event != nil {
		return append(w.protocol.event(w, dst, n, last), w.end...)
	}
	dst = append(dst, w.open...)
	for range n { // as tokens does
		dst = append(dst, w.Source.Next()...)
	}
	w.Sent += n
	end := w.close
	if last {
		end = w.last
	}
	dst = append(dst, end...)
	if w.Continuous {
		dst = append(appendUsage(dst, w.PromptTokens, w.Sent), '}')
		dst = append(dst, w.end...)
	}
	return dst
}

func (w *Writer) tokens(dst []byte, n int) []byte {
	w.Sent += n
	for range n {
		dst = append(dst, w.Source.Next()...)
	}
	return dst
}

// Total appends the event that tells the usage, if it is asked for.
func (w *Writer) Total(dst []byte) []byte {
	if !w.Usage {
		return dst
	}
	dst = append(append(dst, w.head...), ']')
	dst = appendUsage(dst, w.PromptTokens, w.Sent)
	if w.Cached >= 0 && !w.protocol.Form { // a transcription has no such details
		dst = appendCached(dst, w.Cached)
	}
	return w.closeEvent(dst)
}

// closeEvent ends the object of an event, and the event.
func (w *Writer) closeEvent(dst []byte) []byte {
	w.Events++
	return append(append(dst, '}'), w.end...)
}

// End appends what follows the last token, with the mark of the end or without it.
func (w *Writer) End(dst []byte, mark bool) []byte {
	dst = w.maybe(w.protocol.conclude, dst)
	if mark && w.protocol.Marked {
		dst = w.line(dst, done)
	}
	return dst
}

// Fail appends the end of a stream after a failed generation.
func (w *Writer) Fail(dst []byte) []byte {
	dst = w.line(dst, w.protocol.failure)
	if w.protocol.Marked {
		dst = w.line(dst, done)
	}
	return dst
}

// Comment appends lines that are no event.
func (w *Writer) Comment(dst []byte, text string) []byte {
	return w.Break(append(append(dst, ": "...), text...))
}

// Break ends an event that was cut.
func (w *Writer) Break(dst []byte) []byte { return append(dst, w.end...) }

const done = "data: [DONE]"

func (w *Writer) line(dst []byte, text string) []byte {
	w.Events++
	return w.Break(append(dst, text...))
}

// named appends an event with a name and an object as its data.
func (w *Writer) named(dst []byte, name, format string, args ...any) []byte {
	w.Events++
	dst = append(append(append(dst, "event: "...), name...), "\ndata: {"...)
	return append(append(fmt.Appendf(dst, format, args...), '}'), w.end...)
}

// identity opens the object of an answer or event.
func (w *Writer) identity(object string) string {
	return `{"id":` + w.id + `,"object":"` + object + `","created":` + strconv.FormatInt(w.Created, 10) + `,"model":` +
		quote(w.Model)
}

// quote is s as a JSON string.
func quote(s string) string { return string(marshal(s)) }

// marshal is for strings, numbers, and lists and maps of them, which always can be.
func marshal(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}

// orNull is s as a JSON string, or null.
func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return quote(s)
}

// appendUsage appends a usage as a further member of an object; the order of its
// fields is vLLM's.
func appendUsage(dst []byte, prompt, tokens int) []byte {
	dst = appendInt(dst, `,"usage":{"prompt_tokens":`, prompt)
	dst = appendInt(dst, `,"total_tokens":`, prompt+tokens)
	dst = appendInt(dst, `,"completion_tokens":`, tokens)
	return append(dst, '}')
}

func appendInt(dst []byte, name string, v int) []byte {
	return strconv.AppendInt(append(dst, name...), int64(v), 10)
}

// appendCached adds to the usage at the end of dst how much of the prompt was
// cached: vLLM with --enable-prompt-tokens-details, but 0 is reported too.
func appendCached(dst []byte, cached int) []byte {
	dst = appendInt(dst[:len(dst)-1], `,"prompt_tokens_details":{"cached_tokens":`, cached)
	return append(dst, '}', '}')
}
