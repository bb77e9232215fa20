package answers

import (
	"math"
	"math/rand/v2"
)

// A world is what experiments on answers are made in. Near ties come along an answer as a Poisson process, of a rate that
// differs between prompts; at each the gap between two tokens is uniform, and noise of the start decides when the gap is
// smaller than it. The change is an offset that all starts of the variant share.
type world struct {
	name     string
	blocks   int
	requests int
	ties     float64 // in an answer, in the mean
	noise    float64 // share of the ties at which a leg's noise is larger than the gap
	change   float64 // offset of the variant, in units of the noise
	noisier  float64 // noise of the variant over that of the baseline; 0 for 1
	kernels  float64 // two offsets that starts choose from, apart by as many units of the noise
	grows    float64 // by which share the noise has grown in the last leg of a block

	broken     [2]float64 // share of the answers that are, of both variants
	varies     float64    // by which share it does from start to start
	open       bool       // the model ends its answers: another answer has another length
	longer     float64    // logarithm
	everywhere bool       // a broken answer differs from all others
}

const meanTokens = 256

// judge makes an experiment and judges it.
func (w world) judge(rng *rand.Rand, o Options) Result {
	var blocks []*block
	for i := range w.blocks {
		blocks = append(blocks, w.block(rng, i))
	}
	return judge(blocks, o)
}

// A start is a leg of a block.
type start struct{ noise, offset, broken, longer float64 }

func (w world) starts(rng *rand.Rand) (all [4]start) {
	order := []int{0, 3, 1, 2} // the places in time of both legs before, and of both after
	if rng.IntN(2) == 0 {
		order = []int{1, 2, 0, 3}
	}
	for i := range all {
		variant := i / 2
		s := start{noise: w.noise * (1 + w.grows*float64(order[i])/3), broken: w.broken[variant] * math.Exp(w.varies*rng.NormFloat64())}
		if variant == 1 {
			s.offset, s.longer = w.change*w.noise, w.longer
			if w.noisier > 0 {
				s.noise *= w.noisier
			}
		}
		if w.kernels > 0 && rng.IntN(2) == 0 {
			s.offset += w.kernels * w.noise
		}
		all[i] = s
	}
	return all
}

func (w world) block(rng *rand.Rand, number int) *block {
	b := &block{inspected: true}
	legs := w.starts(rng)
	for i := range legs {
		b.position[i], b.answered[i] = float64(4*number+[]int{1, 4, 2, 3}[i]), w.requests
	}
	for range w.requests {
		w.request(rng, b, &legs)
	}
	return b
}

// request adds one: ties are walked until all legs differ or the answer ends.
func (w world) request(rng *rand.Rand, b *block, legs *[4]start) {
	length := meanTokens * math.Exp(0.47*rng.NormFloat64()-0.11) // coefficient of variation 0.5
	rate := w.ties / meanTokens * rng.ExpFloat64()               // 1
	var between [6]common
	for i := range between {
		between[i].place = length
	}
	open := 6
	differ := func(at float64, how *[4]int) {
		for i, p := range pairs {
			if !between[i].differ && how[p[0]] != how[p[1]] {
				between[i], open = common{differ: true, place: at}, open-1
			}
		}
	}
	var broken [4]int
	for i, s := range legs {
		if rng.Float64() < s.broken {
			broken[i] = i + 1
			b.defective[i]++
		}
	}
	cut := math.Inf(1) // where broken answers break
	if w.everywhere && broken != [4]int{} {
		cut = length * rng.Float64()
	}
	for at := rng.ExpFloat64() / rate; at < min(length, cut) && open > 0; at += rng.ExpFloat64() / rate {
		gap := 2*rng.Float64() - 1
		var how [4]int
		for i, s := range legs {
			if gap+s.offset+s.noise*rng.NormFloat64() > 0 {
				how[i] = 1
			}
		}
		differ(at, &how)
	}
	if cut < length {
		differ(cut, &broken)
	}
	tokens := lengths(rng, length, w.open, &between)
	for i, s := range legs {
		tokens[i] = math.Round(tokens[i] * math.Exp(s.longer))
	}
	b.add(&between, &tokens)
}

// lengths are those of four answers: of equal ones, if lengths are open, the same.
func lengths(rng *rand.Rand, length float64, open bool, between *[6]common) (of [4]float64) {
	of = [4]float64{length, length, length, length}
	if !open {
		return of
	}
	for i := 1; i < 4; i++ {
		of[i] = length * math.Exp(0.4*rng.NormFloat64())
		for p, legs := range pairs {
			if legs[1] == i && !between[p].differ {
				of[i] = of[legs[0]]
			}
		}
	}
	return of
}
