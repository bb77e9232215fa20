package endpoint

import (
	"bytes"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A growing is the text of an answer in which every event repeats all of it:
//
//	{"text":"The"} {"text":"The Pitot"} {"text":"The Pitot tube"}
//
// Servers may be configured to send pieces instead, under the same name. A text that does
// not begin with the one before it shows that they do, unless texts have grown a few
// times: then it is a text that was cut, as where a stop string was found.
type growing struct {
	text   []byte // so far, as it stands between its quotes
	grown  int    // how often one text began with the one before it
	pieces bool
}

// settledGrowth is how often a text has to grow until it is no coincidence.
const settledGrowth = 3

// take returns what of a text had not been there yet; with again it is all of the
// answer anew.
func (g *growing) take(text []byte) (fresh []byte, again bool) {
	switch {
	case len(text) == 0:
		return nil, false
	case g.pieces:
		return text, false
	case bytes.HasPrefix(text, g.text):
		fresh = text[len(g.text):]
		if len(g.text) > 0 && len(fresh) > 0 {
			g.grown++
		}
		g.text = append(g.text, fresh...)
		return fresh, false
	case g.grown >= settledGrowth || g.grown > 0 && bytes.HasPrefix(g.text, text):
		g.text = append(g.text[:0], text...)
		return text, true
	}
	g.pieces = true
	return text, false
}

// grow finds what an event adds to the text of an answer, and what that makes of the
// event: one that adds neither text nor a token has no output.
func (r *reader) grow(d *delta) {
	if !d.token {
		return
	}
	before, repeats := len(r.growing.text), len(d.raw) > 0
	fresh, again := r.growing.take(d.raw)
	d.bytes = len(fresh)
	if d.raw != nil {
		d.raw, r.spoke = fresh, true
	}
	if again && r.opts.Marker != nil {
		r.answer.Begin(r.opts.Marker)
	}
	if len(fresh) > 0 && (!again || len(fresh) > before) {
		d.kind |= trace.Text
	}
	if r.wanted() {
		if again || r.growing.pieces && r.opts.Recount.Last && len(fresh) > 0 {
			r.text.Reset()
		}
		if again {
			r.output.Reset()
		}
		d.text = unquote(fresh)
	}
	switch {
	case !d.used || d.kind&trace.Text != 0:
	case d.usage.Completion <= r.tokens:
		d.kind |= trace.Bare
	case repeats:
		d.kind |= trace.Repeated
	}
}
