package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A tokenCount counts the tokens of the requests that succeeded.
type tokenCount struct {
	all     Tokens
	fixed   fixedCount
	prompts PromptCount // sums
}

func (c *tokenCount) add(r *trace.Record) {
	if r.OK() {
		c.all.count(r)
		c.fixed.add(r)
		c.prompt(r)
	}
}

func (c *tokenCount) tokens() Tokens {
	t := c.all
	t.Fixed, t.Prompts = c.fixed.length(), c.prompts.mean()
	return t
}

// PromptTokens is the length of a prompt: by the server's count, else by the workload's.
func PromptTokens(r *trace.Record) int { return cmp.Or(r.Credible().Prompt, r.PromptTokens) }

// TokensByChunk are the output tokens of a record, failed ones too, with the instants at which they
// came. A chunk that does not say how many it carries has its share of the answer's; none, if there
// are others that do.
func TokensByChunk(r *trace.Record) iter.Seq2[trace.Instant, float64] {
	return func(yield func(trace.Instant, float64) bool) {
		share := perChunk(r)
		for i := range r.Chunks {
			c := &r.Chunks[i]
			if c.Kind.Output() && !yield(c.At, cmp.Or(float64(c.Tokens), share)) {
				return
			}
		}
	}
}

// perChunk is how many tokens a chunk of r carries that does not say so.
func perChunk(r *trace.Record) float64 {
	chunks := 0
	for i := range r.Chunks {
		if r.Chunks[i].Tokens > 0 {
			return 0
		}
		if r.Chunks[i].Kind.Output() {
			chunks++
		}
	}
	return float64(cmp.Or(r.OutputTokens, chunks)) / float64(max(1, chunks))
}

// count adds an answer.
func (t *Tokens) count(r *trace.Record) {
	input := PromptTokens(r)
	if r.Doubted() {
		t.Refused++
	}
	if r.Refused() && r.CountedFrom != trace.FromTokenizer {
		t.Lost++
	}
	t.quirks(r)
	t.Input += input
	t.Output += r.OutputTokens
	t.Inputs += r.Inputs
	t.Audio += r.AudioSeconds
	switch from := r.CountedFrom; {
	case r.Refused() && from != "": // reported with Refused
	case from == trace.FromTokenizer:
		t.Tokenized++
	case from == trace.FromChunks:
		t.Assumed++
	case from == "":
		if _, _, chunks := r.Output(); chunks > 0 {
			t.OutputUnknown++
		}
	}
	if input == 0 {
		t.InputUnknown++
	}
	wanted := r.WantTokens * max(1, r.Quirks.Choices)
	switch {
	case r.CountedFrom == "" && len(r.Chunks) > 0, r.CountedFrom == trace.FromChunks: // who knows
	case r.OutputTokens < wanted && r.Grade == 0: // an answer to a question ends by itself
		t.Short++
	case wanted > 0 && r.OutputTokens > wanted && (r.CountedFrom != trace.FromTokenizer || r.OutputTokens > 2*wanted):
		t.Long++ // a text may have a few more tokens than the ids it was made of
		if r.OutputTokens > wanted+endMarks && r.Quirks.Choices < 2 {
			t.Beyond++
		}
	}
}

// endMarks are the tokens that a server may count beyond those that it was asked for: the end of
// a text, the end of a turn.
const endMarks = 2

// quirks adds what was odd about an answer.
func (t *Tokens) quirks(r *trace.Record) {
	if n := r.Hidden(); n > 0 {
		t.Hidden, t.HiddenIn = t.Hidden+n, t.HiddenIn+1
	}
	q := r.Quirks
	if q.Unread != "" {
		t.Unread, t.UnreadName = t.Unread+1, cmp.Or(t.UnreadName, q.Unread)
	}
	if q.Unseen > 0 {
		t.Unseen++
	}
	t.Choices = max(t.Choices, q.Choices)
}

// limited are the finish reasons of an answer that ended at its limit.
var limited = []string{"length", "max_tokens", "max_output_tokens", "max_length", "MAX_TOKENS"}

// A fixedCount finds Tokens.Fixed: at least two answers, counted by the server. An answer that is shorter
// than requested and ended by itself proves no limit; one that ended for an unknown reason does
// only where different lengths were requested.
type fixedCount struct {
	n, tokens, wanted       int
	differ, shorter, others bool // others: not all answers are as long
}

func (c *fixedCount) add(r *trace.Record) {
	if r.WantTokens == 0 {
		return
	}
	if c.n++; c.n == 1 {
		c.tokens, c.wanted = r.OutputTokens, r.WantTokens
	}
	byItself := r.OutputTokens < r.WantTokens && r.FinishReason != "" && !slices.Contains(limited, r.FinishReason)
	if r.CountedFrom != trace.FromUsage || r.OutputTokens != c.tokens || byItself || r.Quirks.Choices > 1 ||
		c.tokens >= r.WantTokens && c.tokens <= r.WantTokens+endMarks {
		c.others = true
	}
	c.differ, c.shorter = c.differ || r.WantTokens != c.wanted, c.shorter || r.OutputTokens < r.WantTokens && r.FinishReason == ""
}

func (c *fixedCount) length() int {
	if c.others || c.n < 2 || c.shorter && !c.differ {
		return 0
	}
	return c.tokens
}

// Prompts that the server counts otherwise by less than this are left unsaid: a token that
// begins a text, the marks of a chat.
const (
	minPromptShare  = 0.10
	minPromptTokens = 16 // in the mean
)

// prompt adds the counts of both, in first turns: a later one has answers before it.
func (c *tokenCount) prompt(r *trace.Record) {
	if counted := r.Credible().Prompt; r.Turn == 0 && counted > 0 && r.PromptTokens > 0 {
		c.prompts.Requests++
		c.prompts.Asked += float64(r.PromptTokens)
		c.prompts.Counted += float64(counted)
	}
}

// mean holds the means of both against each other; nil where they hardly differ.
func (c PromptCount) mean() *PromptCount {
	if c.Requests == 0 {
		return nil
	}
	c.Asked, c.Counted = c.Asked/float64(c.Requests), c.Counted/float64(c.Requests)
	if off := math.Abs(c.Counted - c.Asked); off < minPromptTokens || off < minPromptShare*c.Asked {
		return nil
	}
	return &c
}
