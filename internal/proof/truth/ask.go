package truth

import (
	"cmp"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// answer is what a request gets that arrived as number n. One that asks for more than
// text gets the text.
func (c *Config) answer(q *phrase.Request, n uint64) (phrase.Answer, *phrase.Error) {
	a := q.Answer()
	a.ID = cmp.Or(a.ID, fmt.Sprintf("%016x", arrival.Scramble(c.Seed)^n))
	a.Model, a.Created, a.Source = cmp.Or(a.Model, c.Model), time.Now().Unix(), newScript(n)
	a.PromptTokens, a.Tokens, a.Finish = promptTokens(&q.Prompt), c.OutputTokens, "length"
	switch {
	case q.Limited && q.MaxTokens > MaxTokens:
		return a, q.TooMany(q.MaxTokens, MaxTokens)
	case q.Limited:
		a.Tokens = q.MaxTokens
	case !q.IgnoreEOS:
		a.Finish = "stop"
	}
	a.MaxTokens = a.Tokens
	return a, nil
}

// promptTokens are as many as ids, or words.
func promptTokens(p *phrase.Prompt) int {
	n := len(p.IDs) + words(p.Text)
	for _, m := range p.Messages {
		n += words(m.Text)
	}
	return n
}

// words counts the runs of other bytes than white space.
func words(s string) (n int) {
	inside := false
	for i := range len(s) {
		blank := s[i] == ' ' || '\t' <= s[i] && s[i] <= '\r'
		if !blank && !inside {
			n++
		}
		inside = !blank
	}
	return n
}
