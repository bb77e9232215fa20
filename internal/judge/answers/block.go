package answers

import (
	"math"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The pairs of four legs, of which the first two are of the baseline and the others of the change; and the three ways to
// cut them into two pairs, the true one first.
var (
	pairs = [6][2]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}}
	ways  = [3][2]int{{0, 1}, {2, 3}, {4, 5}}
)

// A hazard counts differences.
type hazard struct {
	differ int
	risk   float64 // tokens before the first difference, or before the end
}

func (h hazard) plus(o hazard) hazard { return hazard{h.differ + o.differ, h.risk + o.risk} }

// log is the logarithm of the hazard per token; the ½ keeps it finite.
func (h hazard) log() float64 { return math.Log((float64(h.differ) + 0.5) / max(h.risk, 1)) }

// A block is what the legs of a block come to.
type block struct {
	requests int // that all four answered, and that were compared
	failed   int // left out, since one of the four failed
	prompts  int // left out, since the server counted unlike prompts
	turns    int // left out, since answers of the conversation differed before
	bare     int // left out for lack of marks

	pair    [6]hazard
	early   int       // requests in which both of the baseline differ within the first earlyTokens
	changed [3]int    // requests that agree within both pairs of a way and differ across
	places  []float32 // first differences of requests across the change, in tokens
	visible int       // requests of changed[0] with equal visible text

	length  [4]float64 // sum of the logarithms of the tokens of a request, by leg
	squares float64    // of their differences across the change
	lengths bool       // some differ

	answered, defective [4]int
	inspected           bool
	position            [4]float64
}

// earlyTokens is the place before which answers that are drawn at random differ.
const earlyTokens = 16

// common is where two answers begin to differ, in the unit of risk, and whether they do.
type common struct {
	differ  bool
	place   float64
	visible bool // of those that differ: the visible text is the same
}

// add counts a request that all four legs answered. tokens are those of its answers, 0 if unknown.
func (b *block) add(between *[6]common, tokens *[4]float64) {
	b.requests++
	for i, c := range between {
		at := hazard{risk: c.place}
		if c.differ {
			at.differ = 1
		}
		b.pair[i] = b.pair[i].plus(at)
	}
	if between[0].differ && between[0].place < earlyTokens {
		b.early++
	}
	for k, way := range ways {
		across := between[ways[(k+1)%3][0]]
		if !between[way[0]].differ && !between[way[1]].differ && across.differ {
			b.changed[k]++
			if k == 0 && across.visible {
				b.visible++
			}
		}
	}
	for _, i := range ways[1] {
		if between[i].differ {
			b.places = append(b.places, float32(between[i].place))
		}
	}
	b.addLengths(tokens)
}

func (b *block) addLengths(tokens *[4]float64) {
	var logs [4]float64
	for i, n := range tokens {
		logs[i] = math.Log(max(n, 0.5))
		b.length[i] += logs[i]
		b.lengths = b.lengths || n != tokens[0]
	}
	d := (logs[2] + logs[3] - logs[0] - logs[1]) / 2
	b.squares += d * d
}

// newBlock compares the requests of four legs, two of the baseline first. bytes says that the unit of risk is the byte,
// since some server did not count tokens.
func newBlock(legs [4]*Leg, bytes bool) *block {
	b := &block{inspected: true}
	var at [4]int
	var all [4][]answer
	for i, l := range legs {
		all[i], b.position[i] = l.sorted(), l.Position
		b.answered[i], b.defective[i] = l.Inspected, l.Defective
		b.inspected = b.inspected && l.Inspected > 0
	}
	differed := map[uint32]bool{} // conversations
	for {
		four, ok := next(&at, &all)
		if !ok {
			return b
		}
		b.compare(legs, four, bytes, differed)
	}
}

// next are the answers to the next request that all legs sent.
func next(at *[4]int, all *[4][]answer) (four [4]answer, ok bool) {
	for i := 0; i < 4; {
		if at[i] == len(all[i]) {
			return four, false
		}
		four[i] = all[i][at[i]]
		switch {
		case i > 0 && four[i].index < four[0].index:
			at[i]++
		case i > 0 && four[i].index > four[0].index:
			at[0]++
			i = 0
		default:
			i++
		}
	}
	for i := range at {
		at[i]++
	}
	return four, true
}

// compare counts a request in, or what speaks against it.
func (b *block) compare(legs [4]*Leg, four [4]answer, bytes bool, differed map[uint32]bool) {
	var digests [4]trace.Digest
	for i, a := range four {
		var marked bool
		if digests[i], marked = legs[i].digest(a); !a.ok {
			b.failed++
			return
		} else if !marked {
			b.bare++
			return
		}
	}
	first := four[0]
	for _, a := range four[1:] {
		if a.prompt != first.prompt {
			b.prompts++
			return
		}
	}
	follows := first.session != 0 && first.turn > 0 && !legs[0].Independent
	if follows && differed[first.session] {
		b.turns++
		return
	}
	var between [6]common
	var tokens [4]float64
	for i, a := range four {
		if tokens[i] = float64(a.tokens); bytes {
			tokens[i] = float64(digests[i].Bytes)
		}
	}
	for p, of := range pairs {
		i, j := of[0], of[1]
		between[p] = commonOf(digests[i], digests[j], tokens[i], tokens[j])
		if between[p].differ && first.session != 0 {
			differed[first.session] = true
		}
	}
	b.add(&between, &tokens)
}

// commonOf compares two answers of so many tokens.
func commonOf(a, b trace.Digest, m, n float64) common {
	if a.End == b.End {
		return common{place: (m + n) / 2}
	}
	at := float64(a.Common(b))
	place := (at/max(float64(a.Bytes), 1)*m + at/max(float64(b.Bytes), 1)*n) / 2
	return common{differ: true, place: place, visible: a.Visible == b.Visible}
}
