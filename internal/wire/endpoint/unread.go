package endpoint

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An unread describes members of an answer with unknown names, in chunks that have no other output.
// Some are about the answer: those that also occur in chunks with output, and those with which the
// server's count of tokens does not grow.
type unread struct {
	name   string // of the first such member
	about  string // a member that occurred in a chunk with output
	chunks int
	grew   bool // the count grew with one of them
}

func (u *unread) note(name string, alongside, grew bool) {
	switch {
	case alongside:
		u.about = name
		return
	case u.name == "" || grew && !u.grew:
		u.name = name
	}
	u.chunks++
	u.grew = u.grew || grew
}

// isOutput reports whether it is output, of an answer with so many tokens in the chunks that were
// read, and so many bytes.
func (u *unread) isOutput(tokens, chunks, bytes int) bool {
	return u.name != "" && (u.grew || u.name != u.about && tokens > chunks && (u.chunks > 1 || 2*tokens > bytes))
}

// settleQuirks says what of an answer was not read, and what of its tokens not seen. An answer
// in one piece has no times that it could be missing from.
func (r *reader) settleQuirks() {
	rec, n := r.rec, r.rec.OutputTokens
	if i := slices.IndexFunc(r.chunks, isOutput); r.grammar.repeat && rec.Usage.Reasoning > 0 && i >= 0 {
		r.chunks[i].Kind |= trace.Reasoning // the text has the thoughts in it
	}
	first, last, chunks := rec.Output()
	if rec.CountedFrom != trace.FromUsage || !r.opts.Stream {
		return
	}
	if r.unread.isOutput(n, chunks, r.bytes) {
		rec.Quirks.Unread = r.unread.name
		return
	}
	if unseen := n - rec.Hidden() - r.bytes - r.empties; unseen > spareTokens && r.allRead() && last > first {
		rec.Quirks.Unseen = unseen
	}
}

func isOutput(c trace.Chunk) bool { return c.Kind.Output() }

// allRead reports whether text alone explains the tokens: the server removes the marks of a tool
// call, and other answers are not recorded.
func (r *reader) allRead() bool {
	calls := func(c trace.Chunk) bool { return c.Kind&trace.ToolCall != 0 }
	return r.rec.Quirks.Choices < 2 && r.unread.name == "" && !slices.ContainsFunc(r.chunks, calls)
}
