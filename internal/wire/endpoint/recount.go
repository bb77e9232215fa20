package endpoint

import "github.com/pitot-bench/pitot/internal/record/trace"

// A Recount says which texts of an answer are counted with Options.Count in addition to
// the server's count. The definitions of some clients need that.
type Recount struct {
	Answer    bool // all of its text
	Chunks    bool // the text of each chunk, in place of the server's count of it
	Reasoning bool // reasoning is text like any other, also in stored texts
	Last      bool // where events repeat the text, it is that of the last, also if a server sends pieces
}

// counts reports whether anything is to be counted again.
func (o *Options) counts() bool { return o.Count != nil && (o.Recount.Answer || o.Recount.Chunks) }

// visible is the text of a delta that is recorded and counted again.
func (o *Options) visible(d *delta) string {
	if o.Recount.Reasoning && d.kind&trace.ToolCall == 0 {
		return d.hidden + d.text
	}
	return d.text
}

// recount counts the answer of r again. A chunk without a token in its text keeps its
// count.
func (c *Client) recount(r *reader) {
	if !c.opts.counts() || r.tooLong(&r.text) {
		return
	}
	text := r.text.String()
	if c.opts.Recount.Answer {
		r.rec.Retokenized = c.opts.Count(text)
	}
	if !c.opts.Recount.Chunks {
		return
	}
	begin := 0
	for i, end := range r.ends {
		if end > begin {
			if n := c.opts.Count(text[begin:end]); n > 0 {
				r.rec.Chunks[i].Tokens = trace.Carried(n)
			}
		}
		begin = end
	}
}
