package apiserver

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// solve makes the answer to one of the generated questions right with a probability, or else nearly so. It follows from the
// prompt, and from where the start goes on otherwise, so that starts differ in some. full: the answer goes on behind it.
func (a *answer) solve(v *vocabulary, prompt string, right float64, full bool, asked *phrase.Answer) {
	text, ok := grade.Solve(prompt)
	if !ok || a.loops || a.visible == 0 {
		return
	}
	for range len(v.encode(nil, text)) {
		a.turns()
	}
	dice := arrival.Dice(0, "right", a.path)
	if arrival.Unit(dice.Uint64()) >= right {
		text = nearly(text, dice.Uint64())
	}
	a.known = v.encode(nil, text)
	if full {
		return
	}
	asked.Tokens, asked.Finish, asked.Stop = len(a.known), "stop", ""
	if asked.Tokens > asked.MaxTokens {
		asked.Tokens, asked.Finish = asked.MaxTokens, "length"
	}
}

// nearly is a wrong answer: another digit, or a word less.
func nearly(text string, dice uint64) string {
	if n, err := strconv.Atoi(text); err == nil {
		return strconv.Itoa(n + 1 + int(dice%9))
	}
	words := strings.Fields(text)
	i := int(dice % uint64(len(words)))
	return strings.Join(append(words[:i:i], words[i+1:]...), " ")
}
