package trace

// MostTokens is more than any model takes or gives for one text.
const MostTokens = 10 << 20

// MaxCount limits the counts that a server reports, so that their sum over a run does not overflow.
const MaxCount = 1_000_000_000_000

// Refused reports whether the server counted the tokens of the answer as no server can: as
// less than none, or as more than its text can hold. Its count stays in Usage; OutputTokens
// has another one.
func (r *Record) Refused() bool { return r.Usage.Completion != 0 && r.CountedFrom != FromUsage }

// Doubted reports whether a count of the server's, of the answer or of the prompt, is in no
// figure.
func (r *Record) Doubted() bool { return r.Refused() || r.Credible().Prompt != r.Usage.Prompt }

// Credible is the server's usage with impossible counts as 0: negative ones, those of a
// refused answer, of prompts longer than there are, and of parts larger than their total.
func (r *Record) Credible() Usage {
	u := r.Usage
	if r.Refused() {
		u.Completion = 0
	}
	u.Prompt = zeroBeyond(u.Prompt, MostTokens*max(1, r.Inputs))
	u.Cached = zeroBeyond(u.Cached, u.Prompt)
	u.Reasoning = zeroBeyond(u.Reasoning, u.Completion)
	return u
}

// Hidden is how many of the output tokens were never streamed: those of reasoning, by the
// server's count, where no reasoning came. A chunk of text has a token at least.
func (r *Record) Hidden() int {
	n, spoken := r.Credible().Reasoning, 0
	if n == 0 {
		return 0
	}
	for i := range r.Chunks {
		switch kind := r.Chunks[i].Kind; {
		case kind&Reasoning != 0:
			return 0
		case kind&(Text|ToolCall) != 0:
			spoken++
		}
	}
	return max(0, min(n, r.OutputTokens-spoken))
}

// Streamed is how many output tokens came in the chunks.
func (r *Record) Streamed() int { return r.OutputTokens - r.Hidden() }

// zeroBeyond is n, or 0 if it is beyond the limit.
func zeroBeyond(n, limit int) int {
	if n < 0 || n > limit {
		return 0
	}
	return n
}
