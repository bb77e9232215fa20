package apiserver

import (
	"math/rand/v2"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// An answer is the text of one response: words like "bag" and "tolemi", made
// of tokens that encode back to themselves, so that a client that counts the
// tokens of the text finds as many as were sent. It is drawn from the
// prompt alone, so the same prompt gets the same answer from every start, unless it varies.
type answer struct {
	v       *vocabulary
	dice    rand.PCG
	begun   bool
	inWord  bool    // the last token may be continued
	written int     // bytes so far
	visible int     // bytes after which nothing more is shown; negative for no limit
	last    string  // token
	known   []int32 // the tokens that answer a question, before all others
	variation
}

// newAnswer is that to a prompt, by its hash.
func newAnswer(v *vocabulary, prompt uint64) answer {
	return answer{v: v, dice: arrival.Dice(0, "answer", prompt), visible: -1}
}

// hashIDs is FNV-1a over the ids' four bytes.
func hashIDs(ids []int32) uint64 {
	h := uint64(14695981039346656037)
	for _, id := range ids {
		for shift := 0; shift < 32; shift += 8 {
			h = (h ^ uint64(byte(id>>shift))) * 1099511628211
		}
	}
	return h
}

// token is the next token's text. The first has no leading space; half of the
// words go on after their first token.
func (a *answer) token() string {
	if len(a.known) > 0 {
		id := a.known[0]
		a.known, a.begun = a.known[1:], true
		return a.v.text[id]
	}
	if a.turns() {
		a.dice = arrival.Dice(0, "answer", a.path)
	}
	u := a.dice.Uint64()
	if a.loops {
		u, a.inWord = 0, false
	}
	if a.inWord && u&1 == 1 {
		a.inWord = false
		return a.v.tails[(u>>1)%uint64(len(a.v.tails))]
	}
	t := a.v.starts[(u>>1)%uint64(len(a.v.starts))]
	if !a.begun {
		t = t[1:]
	}
	a.begun, a.inWord = true, true
	return t
}

// Next is the visible text of the next token. The text is letters and spaces and needs
// no escaping in JSON.
func (a *answer) Next() string {
	t := a.token()
	a.last = t
	room := a.visible - a.written
	a.written += len(t)
	if a.visible >= 0 && room < len(t) {
		return t[:max(room, 0)]
	}
	return t
}

// ID is that of the token that Next gave last.
func (a *answer) ID() int32 { return a.v.first(a.last) }

// appendText appends the visible text of the next n tokens.
func (a *answer) appendText(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, a.Next()...)
	}
	return dst
}

// A stopping is where a stop string ends an answer.
type stopping struct {
	tokens  int    // tokens until the one that completes the string
	visible int    // bytes of the text that are shown
	reason  string // the string
}

// stop finds the first stop string within limit tokens that ends beyond the
// first minTokens; it may begin in them. a itself does not advance.
//
// vLLM holds text back until it can be no part of a stop string. Here the
// answer is known beforehand, so the text before a match is shown at once.
func (a answer) stop(stops []string, include bool, minTokens, limit int) (stopping, bool) {
	var text []byte
	ends := make([]int, limit)
	from := 0
	for i := range limit {
		text = a.appendText(text, 1)
		ends[i] = len(text)
		if i < minTokens {
			from = len(text)
		}
	}
	best, found := stopping{}, -1
	for _, s := range stops {
		begin := max(from-len(s)+1, 0)
		at := strings.Index(string(text[begin:]), s)
		if at < 0 || found >= 0 && begin+at+len(s) >= found {
			continue
		}
		found = begin + at + len(s)
		best.visible, best.reason = begin+at, s
	}
	if found < 0 {
		return stopping{}, false
	}
	if include {
		best.visible = found
	}
	for best.tokens = 1; ends[best.tokens-1] < found; {
		best.tokens++
	}
	return best, true
}
