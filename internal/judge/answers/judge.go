package answers

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Options are how answers are judged.
type Options struct {
	Alpha  float64 // rate of false alarms of all parts together; at an early look less
	Level  float64 // of intervals
	Margin float64 // the ratio of hazards below which answers are the same; 0 for DefaultMargin
}

// DefaultMargin is the ratio of hazards that nobody cares about.
const DefaultMargin = 1.25

// A Verdict is whether answers changed.
type Verdict string

// The verdicts.
const (
	Same       Verdict = "same"
	Changed    Verdict = "changed"
	CannotTell Verdict = "cannot tell"
)

// Reasons for CannotTell.
const (
	TooFewBlocks plan.Code = "sameness.blocks"   // of four legs with the same requests
	Unmarked     plan.Code = "sameness.unmarked" // answers without marks
	OtherKeys    plan.Code = "sameness.keys"     // marks under several keys
	OtherPrompts plan.Code = "sameness.prompts"  // the servers counted other prompt tokens
	LeftOut      plan.Code = "sameness.left-out"
	Random       plan.Code = "sameness.random"
	TooFewDiffer plan.Code = "sameness.few"  // to compare how often
	Undecided    plan.Code = "sameness.open" // neither changed nor shown to be the same
	OneEach      plan.Code = "sameness.one-each"
	NoRestarts   plan.Code = "sameness.no-restarts"
)

// A Part is one of the ways in which answers may change.
type Part string

// The parts.
const (
	Hazard  Part = "hazard"
	Defects Part = "defects"
	Repeat  Part = "repeat"
	Length  Part = "length"
)

// A Result is what is known of the answers of two variants.
type Result struct {
	Verdict Verdict      `json:"verdict"`
	Why     plan.Message `json:"why,omitzero"`    // of CannotTell
	Parts   []Part       `json:"parts,omitempty"` // that changed

	Blocks   int      `json:"blocks,omitempty"`
	Requests int      `json:"requests,omitempty"` // of all blocks, that all four legs of a block answered
	Excluded Excluded `json:"left_out,omitzero"`
	// Unit is that of places and hazards: token, or byte where a server did not count tokens.
	Unit string `json:"unit,omitempty"`
	// Before, After and Across are pairs of answers to one request: of two starts of the baseline, of two of the variant,
	// and of one of each.
	Before Pairs `json:"before"`
	After  Pairs `json:"after"`
	Across Pairs `json:"across"`
	// First is the median place of a difference across, in the unit; 0 where there is none.
	First float64 `json:"first,omitempty"`
	// Altered are the requests that both starts of either variant answer alike, and the variants differently.
	Altered *Altered  `json:"changed,omitempty"`
	Hazard  *Estimate `json:"hazard,omitempty"`  // a ratio: across over between restarts
	Repeat  *Estimate `json:"repeat,omitempty"`  // a ratio: hazard of a restart after over before
	Defects *Defect   `json:"defects,omitempty"` // a difference of shares
	Length  *Estimate `json:"length,omitempty"`  // a ratio of tokens; nil where all are equal
	// Exact: no answer differed between restarts.
	Exact bool `json:"exact,omitempty"`
	// AtMost is the upper end of the hazard across per unit, where no answer differed at all.
	AtMost float64 `json:"at_most,omitempty"`
}

// Excluded are requests that were not compared.
type Excluded struct {
	Failed   int `json:"failed,omitempty"`   // in one of the legs
	Prompts  int `json:"prompts,omitempty"`  // servers counted other prompt tokens
	Turns    int `json:"turns,omitempty"`    // of conversations of which an answer differed before
	Unmarked int `json:"unmarked,omitempty"` // answers without marks
}

// Defected is by how many points the share of defective answers differs; nil if unknown.
func (r *Result) Defected() *Estimate {
	if r.Defects == nil {
		return nil
	}
	return &r.Defects.Estimate
}

// Pairs are pairs of answers to a request.
type Pairs struct {
	Differ int     `json:"differ"`
	Of     int     `json:"of"`
	Risk   float64 `json:"risk"` // tokens, or bytes, until they differ or end
}

// Share is that of those that differ.
func (p Pairs) Share() float64 { return float64(p.Differ) / float64(max(p.Of, 1)) }

// Hazard is how often a difference comes per unit.
func (p Pairs) Hazard() float64 { return float64(p.Differ) / max(p.Risk, 1) }

func (p *Pairs) add(h hazard, of int) {
	p.Differ, p.Of, p.Risk = p.Differ+h.differ, p.Of+of, p.Risk+h.risk
}

// Altered are requests that a change alters each time.
type Altered struct {
	N       int      `json:"n"`
	Visible int      `json:"visible_same,omitempty"` // of N, those with the same visible text
	Chance  float64  `json:"chance"`                 // how many the same pattern has by chance
	Share   Estimate `json:"share"`                  // of N beyond chance, of all requests
}

// An Estimate is a figure with its interval.
type Estimate struct {
	Value    float64  `json:"value"`
	Low      *float64 `json:"low,omitempty"` // nil: nothing is known of it
	High     *float64 `json:"high,omitempty"`
	P        *float64 `json:"p,omitempty"`        // of Student's test
	Exact    *float64 `json:"exact_p,omitempty"`  // of the exchange of legs
	Adjusted *float64 `json:"adjusted,omitempty"` // corrected over all parts
	upper    float64  // one-sided end at the level of Alpha
}

// A Defect is by how much the share of defective answers differs.
type Defect struct {
	Estimate
	Before Count `json:"before"`
	After  Count `json:"after"`
}

// A Count is how many of some.
type Count struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

// Share is N of Of.
func (c Count) Share() float64 { return float64(c.N) / float64(max(c.Of, 1)) }

// Limits beyond which there is no verdict.
const (
	leastBlocks  = 2
	exactBlocks  = 3 // from which on the exact tests have to agree
	mostLeftOut  = 0.05
	mostPrompts  = 0.01
	mostEarly    = 0.9
	leastDiffer  = 10 // pairs of answers, between restarts, from which on a ratio can be told to be near 1
	guardedAlpha = 0.05
	// leastRatio is the smallest ratio of hazards that is a change. A variant that is r times as noisy, and has the same
	// answers otherwise, has a ratio of √((1+r²)/2) / ((1+r)/2): 1.01 of 1.3, and 1.05 of 2.
	leastRatio = 1.1
)

// Judge compares the legs of an experiment of two variants. A block counts if two legs of either sent the same requests,
// each to a server of its own. false: there are no answers to compare.
func Judge(legs []*Leg, o Options) (Result, bool) {
	if r, ok := comparable(legs); !ok || !r.Why.IsZero() {
		return r, ok
	}
	bytes, blocks := !counted(legs), []*block{}
	for _, of := range quads(legs) {
		blocks = append(blocks, newBlock(of, bytes))
	}
	r := judge(blocks, o)
	if bytes {
		r.Unit = "byte"
	}
	return r, true
}

// quads are the legs of each block that counts, those of the baseline first.
func quads(legs []*Leg) (all [][4]*Leg) {
	type place struct {
		block    int
		requests uint64
	}
	by, order := map[place]*[2][]*Leg{}, []place{}
	for _, l := range legs {
		at := place{l.Block, l.Requests}
		if by[at] == nil {
			by[at], order = new([2][]*Leg), append(order, at)
		}
		same := func(o *Leg) bool { return o.Start == l.Start }
		if of := &by[at][l.Variant]; !slices.ContainsFunc(*of, same) {
			*of = append(*of, l)
		}
	}
	for _, at := range order {
		if a, b := by[at][0], by[at][1]; len(a) == 2 && len(b) == 2 {
			all = append(all, [4]*Leg{a[0], a[1], b[0], b[1]})
		}
	}
	return all
}

// Describe counts how many answers of two variants differ, where nothing says how much a restart changes; why is what
// it lacks. false: no two runs of them sent the same requests, or there are no answers.
func Describe(before, after []*Leg, why plan.Message) (Result, bool) {
	all := slices.Concat(before, after)
	r, ok := comparable(all)
	if !ok || !r.Why.IsZero() {
		return r, ok
	}
	bytes := !counted(all)
	if r.Why, r.Unit = why, "token"; bytes {
		r.Unit = "byte"
	}
	r.Before.compare(before, before, bytes)
	r.After.compare(after, after, bytes)
	r.Across.compare(before, after, bytes)
	return r, r.Across.Of > 0
}

// compare adds the pairs of answers of runs: each with the next one of the others that sent the same requests.
func (p *Pairs) compare(some, others []*Leg, bytes bool) {
	taken := map[*Leg]bool{}
	for i, a := range some {
		for k, b := range others {
			if b == a || taken[b] || b.Requests != a.Requests || &some[0] == &others[0] && k < i {
				continue
			}
			taken[b] = true
			block := newBlock([4]*Leg{a, a, b, b}, bytes)
			p.add(block.pair[2], block.requests)
			break
		}
	}
}

// comparable says why marks cannot be compared; false: there are none at all.
func comparable(legs []*Leg) (r Result, ok bool) {
	r.Verdict = CannotTell
	answered, unmarked := 0, 0
	for _, l := range legs {
		answered, unmarked = answered+l.Answered, unmarked+l.Unmarked
		if l.Key != legs[0].Key && l.Unmarked < l.Answered {
			r.Why = plan.Msg(OtherKeys)
		}
	}
	if answered == unmarked {
		return r, false
	}
	if float64(unmarked) > mostLeftOut*float64(answered) {
		r.Why = plan.Msg(Unmarked, "n", unmarked, "of", answered)
	}
	return r, true
}

// counted reports whether the tokens of all answers are known.
func counted(legs []*Leg) bool {
	return !slices.ContainsFunc(legs, func(l *Leg) bool { return l.uncounted })
}

// judge decides what blocks show.
func judge(blocks []*block, o Options) Result {
	if o.Margin == 0 {
		o.Margin = DefaultMargin
	}
	r := Result{Verdict: CannotTell, Blocks: len(blocks), Unit: "token"}
	early := 0
	for _, b := range blocks {
		r.count(b)
		early += b.early
	}
	r.First = median(blocks)
	r.Exact = r.Before.Differ+r.After.Differ == 0
	differ := r.Before.Differ + r.After.Differ + r.Across.Differ
	if differ == 0 && r.Across.Risk > 0 {
		r.AtMost = 3 / r.Across.Risk
	}
	if r.Why = r.obstacle(early); !r.Why.IsZero() {
		return r
	}
	r.estimate(blocks, o)
	r.conclude(o, differ)
	return r
}

// Found reports whether a part changed.
func (r *Result) Found(part Part) bool { return slices.Contains(r.Parts, part) }

// Countable reports whether enough answers differ between restarts to tell how often.
func (r *Result) Countable() bool { return r.Before.Differ+r.After.Differ >= leastDiffer }

// count adds the counts of a block.
func (r *Result) count(b *block) {
	r.Requests += b.requests
	r.Excluded.Failed += b.failed
	r.Excluded.Prompts += b.prompts
	r.Excluded.Turns += b.turns
	r.Excluded.Unmarked += b.bare
	r.Before.add(b.pair[0], b.requests)
	r.After.add(b.pair[1], b.requests)
	for _, h := range b.pair[2:] {
		r.Across.add(h, b.requests)
	}
}

// obstacle is why there can be no verdict.
func (r *Result) obstacle(early int) plan.Message {
	all := r.Requests + r.Excluded.Failed + r.Excluded.Prompts + r.Excluded.Unmarked
	share := func(n int) float64 { return float64(n) / float64(max(all, 1)) }
	switch {
	case r.Blocks < leastBlocks:
		return plan.Msg(TooFewBlocks, "blocks", r.Blocks)
	case share(r.Excluded.Unmarked) > mostLeftOut || all == 0:
		return plan.Msg(Unmarked, "n", r.Excluded.Unmarked, "of", all)
	case share(r.Excluded.Prompts) > mostPrompts:
		return plan.Msg(OtherPrompts, "n", r.Excluded.Prompts, "of", all)
	case share(r.Excluded.Failed) > mostLeftOut:
		return plan.Msg(LeftOut, "n", r.Excluded.Failed, "of", all)
	case float64(early) > mostEarly*float64(r.Requests):
		return plan.Msg(Random, "n", early, "of", r.Requests, "tokens", earlyTokens)
	}
	return plan.Message{}
}

// estimate makes the figures.
func (r *Result) estimate(blocks []*block, o Options) {
	r.estimateHazard(blocks, o)
	r.estimateRepeat(blocks, o)
	r.estimateAltered(blocks, o)
	r.estimateDefects(blocks, o)
	r.estimateLength(blocks, o)
	judged, all := r.judged(), 0.0
	for _, p := range judged {
		all += p.part.weight()
	}
	for _, p := range judged {
		adjusted := min(1, *p.of.P*all/p.part.weight())
		p.of.Adjusted = &adjusted
	}
}

// A judgedPart is a part with its estimate.
type judgedPart struct {
	part Part
	of   *Estimate
}

// weight is by how much of the level a part is judged: more of it where harm is seen first.
func (p Part) weight() float64 {
	if p == Hazard || p == Defects {
		return 2
	}
	return 1
}

// judged are the parts with a test. Each is tested at its share of the level (Bonferroni): where the noise of the variants
// differs, repeatability is found, and with the level that Holm's second step would leave to the hazard this one would
// be called changed in 8 to 11 %.
func (r *Result) judged() []judgedPart {
	return slices.DeleteFunc([]judgedPart{{Hazard, r.Hazard}, {Defects, r.Defected()}, {Repeat, r.Repeat}, {Length, r.Length}},
		func(p judgedPart) bool { return p.of == nil || p.of.P == nil })
}

// conclude finds the parts that changed, and the verdict.
func (r *Result) conclude(o Options, differ int) {
	open := false
	for _, p := range r.judged() {
		agrees := r.Blocks < exactBlocks || p.of.Exact == nil || *p.of.Exact <= guardedAlpha
		harmless := p.part == Repeat && p.of.Value < 1 || p.part == Hazard && p.of.Value < leastRatio
		switch {
		case harmless:
		case *p.of.Adjusted <= o.Alpha && agrees:
			r.Parts = append(r.Parts, p.part)
		case *p.of.P <= guardedAlpha:
			open = true
		}
	}
	switch {
	case r.Parts != nil:
		r.Verdict = Changed
	case !open && (differ == 0 || r.Countable() && r.Hazard.upper < o.Margin):
		r.Verdict = Same
	case !r.Countable():
		r.Why = plan.Msg(TooFewDiffer, "n", differ)
	default:
		r.Why = plan.Msg(Undecided, "margin", o.Margin)
	}
}

// median is that of the places of differences across the change.
func median(blocks []*block) float64 {
	var all []float32
	for _, b := range blocks {
		all = append(all, b.places...)
	}
	if all == nil {
		return 0
	}
	slices.Sort(all)
	return float64(all[len(all)/2])
}
