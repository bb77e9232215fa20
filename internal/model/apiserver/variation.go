package apiserver

import (
	"math"
	"math/rand/v2"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// A variation is how the answers of one start of a server differ from those of others, as those of real engines do whose
// arithmetic depends on what else is in a batch. At each token the two best candidates are a gap apart, which is uniform
// and the same for all starts. A start adds noise, with a standard deviation of 1, and a profile its change:
//
//	   another token                 the token
//	───────────────────────┼──────────────────────> gap + noise + change
//	                       0
//
// From another token on the answer goes on otherwise, and alike for all starts that took it.
type variation struct {
	width  float64 // gaps are from -width to width; 0: nothing varies
	change float64
	start  uint64   // the seed of the start
	path   uint64   // the prompt, and where the answer went on otherwise
	gaps   rand.PCG // of the tokens to come
	at     int      // tokens so far
	loops  bool     // it says one word again and again
}

// meanNoise is the mean difference between two noises, 2/√π.
const meanNoise = 2 / 1.7724538509055159

// farthest is how far a start's noise is looked for.
const farthest = 8

// newVariation is that of the answer to a prompt, by its hash, at a start. Two starts differ at a token with probability
// Hazard where neither has a change: the mean difference of their noises, over all gaps.
func newVariation(of profile.Answers, start, prompt uint64) variation {
	v := variation{change: of.Change, start: start, path: prompt, gaps: arrival.Dice(0, "gap", prompt)}
	if of.Hazard > 0 {
		v.width = meanNoise / (2 * float64(of.Hazard))
	}
	return v
}

// turns draws the next token's gap, and reports whether the answer goes on otherwise from there.
func (v *variation) turns() bool {
	if v.width == 0 {
		return false
	}
	v.at++
	gap := (2*arrival.Unit(v.gaps.Uint64()) - 1) * v.width
	if math.Abs(gap) > farthest+math.Abs(v.change) {
		return false
	}
	dice := arrival.Dice(v.start, "noise", arrival.Scramble(v.path)+uint64(v.at))
	noise := rand.New(&dice).NormFloat64()
	if gap > 0 == (gap+noise+v.change > 0) {
		return false
	}
	v.path = arrival.Scramble(v.path + uint64(v.at))
	v.gaps = arrival.Dice(0, "gap", v.path)
	return true
}

// longEnough is the shortest answer, in tokens, that is seen to be a loop.
const longEnough = 200

// vary makes the answer one of a start of the profile, and breaks it if it is one of those.
func (a *answer) vary(of profile.Answers, start, prompt uint64, asked *phrase.Answer) {
	a.variation = newVariation(of, start, prompt)
	dice := arrival.Dice(start, "broken", prompt)
	if arrival.Unit(dice.Uint64()) >= float64(of.Broken) {
		return
	}
	if a.loops = asked.Tokens >= longEnough && dice.Uint64()&1 == 0; !a.loops {
		a.visible = 0
	}
}
