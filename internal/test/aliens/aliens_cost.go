package aliens

import (
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// Padded replays captured graphs for steps without prompts, one for each size of the batch.
func Padded(seed uint64) *Alien {
	return newAlien(habits{
		law: paddedLaw, sequences: 128, chunk: 512, prompts: 4, noise: 0.03, stall: 0.015, drift: 0.03,
		request: 1200 * time.Microsecond, token: 40 * time.Microsecond,
	}, seed)
}

// Lagged plans each step while the one before it runs, so what comes meanwhile waits for one step
// more, and reserves room for an answer before it begins.
func Lagged(seed uint64) *Alien {
	return newAlien(habits{
		law: laggedLaw, sequences: 96, reserve: 90_000, chunk: 1024, prompts: 2, ahead: true, noise: 0.04, stall: 0.02, drift: 0.03,
		request: 900 * time.Microsecond, token: 90 * time.Microsecond,
	}, seed)
}

// Experts is a mixture of experts, with a prefix cache. Its frontend works for each token of a
// prompt.
func Experts(seed uint64) *Alien {
	return newAlien(habits{
		law: expertsLaw, sequences: 72, chunk: 768, shared: true, prompts: 4, even: true, caching: true, noise: 0.025, stall: 0.01, drift: 0.03,
		request: 700 * time.Microsecond, promptToken: 1500 * time.Nanosecond, token: 60 * time.Microsecond,
	}, seed)
}

// Timed gives each step as many tokens of prompts as keep it short, those of the shortest prompt
// first, and looks for requests only now and then. Its model attends to a window of tokens.
func Timed(seed uint64) *Alien {
	return newAlien(habits{
		law: timedLaw, sequences: 110, chunk: 2048, prompts: 8, within: 0.021, shortest: true, gather: 12 * time.Millisecond, window: 384,
		noise: 0.03, stall: 0.012, drift: 0.03, request: 500 * time.Microsecond, token: 30 * time.Microsecond,
	}, seed)
}

// Drafting decodes with three draft tokens, of which the first is accepted with a probability; the
// next with 0.94 of the probability of the one before. Some requests are easier than others: theirs is up
// to 6 % higher or lower.
func Drafting(accept float64) func(seed uint64) *Alien {
	return func(seed uint64) *Alien {
		return newAlien(habits{
			law: draftingLaw, sequences: 100, chunk: 640, prompts: 3, drafts: 3, accept: accept, noise: 0.03, stall: 0.01, drift: 0.03,
			request: 800 * time.Microsecond, token: 45 * time.Microsecond,
		}, seed)
	}
}

// Named are the aliens with their names, to be made with a seed.
var Named = []struct {
	Name string
	New  func(seed uint64) engine.Model
}{
	{"padded", func(seed uint64) engine.Model { return Padded(seed) }},
	{"lagged", func(seed uint64) engine.Model { return Lagged(seed) }},
	{"experts", func(seed uint64) engine.Model { return Experts(seed) }},
	{"timed", func(seed uint64) engine.Model { return Timed(seed) }},
}

// padded is the size of the graph for n sequences: 1, 2, 4, then multiples of 8.
func padded(n int) int {
	switch {
	case n <= 2:
		return n
	case n <= 4:
		return 4
	}
	return tiled(n, 8)
}

// tiled is the least multiple of a tile that holds n.
func tiled(n, tile int) int { return (n + tile - 1) / tile * tile }

func paddedLaw(b batch) float64 {
	attention := 0.9e-6 * math.Pow(float64(b.context), 0.75)
	if b.prompt == 0 {
		return 5.2e-3 + 34e-6*float64(padded(b.decodes)) + attention
	}
	computing := 26e-6 * float64(tiled(b.prompt+b.decodes, 64))
	return 2.3e-3 + max(5.2e-3, computing) + attention + 1.1e-9*b.pairs
}

func laggedLaw(b batch) float64 {
	attention := 38e-9 * float64(b.context)
	memory := 7.5e-3 + 0.6e-3*math.Sqrt(float64(b.decodes))
	if b.prompt == 0 {
		return memory + attention
	}
	computing := 29e-6 * float64(tiled(b.prompt+b.decodes, 128))
	return 1.5e-3 + max(memory, computing) + attention + 1.6e-9*b.pairs
}

// draftingLaw drafts with a small model, one token after the other, and verifies in tiles of 32.
func draftingLaw(b batch) float64 {
	drafting, attention := 0.0, 27e-9*float64(b.context)
	if b.drafted > 0 {
		drafting = 3 * (0.75e-3 + 3e-6*float64(b.decodes))
	}
	computing := 22e-6 * float64(tiled(b.prompt+b.decodes+b.drafted, 32))
	return 0.8e-3 + drafting + math.Hypot(5.1e-3, computing) + attention + 1.2e-9*b.pairs
}

// falling is how much likelier a draft is accepted than the one after it; easier, how far requests
// differ from one another.
const falling, easier = 0.94, 0.06

// accepted is how many drafts of a step are accepted.
func (a *Alien) accepted(j *job) (n int) {
	if a.drafts == 0 {
		return 0
	}
	if j.luck == 0 {
		j.luck = 1 + easier*(2*a.dice.Float64()-1)
	}
	for n < a.drafts && a.dice.Float64() < a.accept*j.luck*math.Pow(falling, float64(n)) {
		n++
	}
	return n
}

// expertsLaw reads an expert if any token of the step needs it, with a chance of one in twelve
// for each token.
func expertsLaw(b batch) float64 {
	unread := math.Pow(1-1.0/12, float64(b.decodes+b.prompt))
	memory := 3e-3 + 15e-3*(1-unread)
	computing := 24e-6 * float64(b.decodes+b.prompt)
	return math.Hypot(memory, computing) + 30e-9*float64(b.context) + 0.7e-9*b.pairs
}

// timedLaw has kernels for 32 sequences each. Prompts are computed before those that decode, with
// a start of their own.
func timedLaw(b batch) float64 {
	t := 5.6e-3 + 1.1e-3*float64(tiled(b.decodes, 32)/32) + 24e-6*float64(b.decodes) + 85e-9*float64(b.context)
	if b.prompt > 0 {
		t += 1.9e-3 + 21e-6*float64(b.prompt) + 1.4e-9*b.pairs
	}
	return t
}

// The period of the drift, and stalls.
const (
	driftOver  = 40 * time.Second
	stallMean  = 25e-3 // s
	stallSigma = 0.5   // of the logarithm
)

// duration of a step that begins at now. Noise is skewed: a step is never much faster than its
// law, and sometimes much slower.
func (a *Alien) duration(b batch, now time.Duration) time.Duration {
	t := a.law(b) * (1 - a.noise + a.noise*a.dice.ExpFloat64())
	t *= 1 + a.drift*math.Sin(2*math.Pi*now.Seconds()/driftOver.Seconds()+a.phase)
	if a.dice.Float64() < a.stall {
		t += stallMean * math.Exp(stallSigma*a.dice.NormFloat64()-stallSigma*stallSigma/2)
	}
	return time.Duration(t * 1e9)
}
