package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A fragment is some text of one part of an answer.
type fragment struct {
	part trace.Part
	text string
}

// partOf is the part of an answer that a field of a kind belongs to; the names of calls are no fields of their own.
func partOf(kind trace.Kind) trace.Part {
	switch kind {
	case trace.Text:
		return trace.VisiblePart
	case trace.Reasoning:
		return trace.ReasoningPart
	}
	return trace.ToolInputPart
}

// mark adds the text of a delta to the marks of the answer. Thoughts come before the text of the same event.
func (r *reader) mark(d *delta) {
	r.spoke = r.spoke || len(d.pieces) > 0 || d.kind&trace.Bare == 0 && !r.grammar.repeat
	r.markQuoted(trace.ReasoningPart, d.thought)
	r.markQuoted(trace.VisiblePart, d.raw)
	for _, p := range d.pieces {
		r.answer.AddString(p.part, p.text)
	}
}

// markQuoted adds a text as it stands between its quotes. It does not allocate.
func (r *reader) markQuoted(part trace.Part, raw []byte) {
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			r.answer.Add(part, raw)
			return
		}
		r.answer.Add(part, raw[:n])
		char, size := unescape(raw[n:])
		var some [utf8.UTFMax]byte
		r.answer.Add(part, utf8.AppendRune(some[:0], char))
		raw = raw[n+size:]
	}
}

// unescape is the character of the escape that b begins with, and its size; of two that encode one character, of both.
// Half of a character is U+FFFD, with the escape after it, as where texts are stored.
func unescape(b []byte) (char rune, size int) {
	size = escapeLen(b)
	switch size {
	case 0:
		return utf8.RuneError, len(b) // not in JSON
	case 2:
		if i := strings.IndexByte("bfnrt", b[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), size
		}
		return rune(b[1]), size
	}
	char, rest := codeUnit(b), b[size:]
	if utf16.IsSurrogate(char) && bytes.HasPrefix(rest, []byte(`\u`)) && escapeLen(rest) == size {
		return utf16.DecodeRune(char, codeUnit(rest)), 2 * size
	}
	return char, size
}

// codeUnit is the number in an escape of UTF-16.
func codeUnit(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n)
}

// limitReasons are the finish reasons of an answer that ended at a limit of its length.
var limitReasons = []string{"length", "max_tokens", "max_output_tokens"}

// limitNames are the fields of a request that limit the length of its answer.
var limitNames = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens"}

// Open reports whether a request leaves the length of its answer to the model.
func (c *Client) Open(req *workload.Request) bool {
	open := req.OutputTokens == 0
	for _, fields := range []map[string]json.RawMessage{c.opts.Extra, c.opts.Sampling, req.Extra} {
		open = open && !slices.ContainsFunc(limitNames, func(name string) bool { return fields[name] != nil })
	}
	return open
}

// settleMarks gives the record the marks and the defects of its answer. Several answers at a time have none, and nothing
// is known of one that failed or has no text by its form.
func (c *Client) settleMarks(r *reader, req *workload.Request) {
	rec := r.rec
	marks, defects := r.answer.End(slices.Contains(limitReasons, rec.FinishReason), c.Open(req))
	if rec.OK() && rec.Quirks.Choices < 2 && r.spoke {
		rec.Marks, rec.Defects = marks, defects
	}
}
