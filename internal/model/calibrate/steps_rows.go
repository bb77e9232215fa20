package calibrate

import (
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A row is a step of which the duration and the work are known.
type row struct {
	y                              float64 // s
	decodes, context, tokens, pair float64
	next                           float64       // prompt tokens of the step that is launched meanwhile, if that is seen
	end                            time.Duration // in its leg
	block                          int           // 2 s of a leg
	pace                           float64       // of the host, as a share of the usual one; 0: not known
	launched                       float64       // prompts of that step
	mean                           bool          // of the steps of a stream, not of one step
	asked                          bool          // a request waited, or had its first token in it
}

func (r *row) prefills() bool { return r.tokens+r.next > 0 }

// kind tells steps with prompts from others: one is rare, and would be all outliers.
func (r *row) kind() int {
	if r.prefills() {
		return 1
	}
	return 0
}

// blockLength is that of the time that is drawn anew.
const blockLength = 2 * time.Second

// rows are the steps that began when the one before ended: others were under way across it.
// Those near the capacity of memory are left out: there streams are computed again.
func (l *steplog) rows(s stepsSchedule, r *replayed, block int) (rows []row) {
	for k := 1; k < len(l.steps); k++ {
		at, y := &l.steps[k], l.steps[k].end-l.steps[k-1].end
		whole := at.decodes > 0 && float64(at.decodes) >= 0.98*float64(at.active) || s.first && at.decodes == 0 && at.active > 0
		if !whole || y < 100*time.Microsecond || s.near(at) {
			continue
		}
		one := row{
			y: y.Seconds(), end: at.end,
			decodes: float64(at.decodes), context: at.context, tokens: r.tokens[k], pair: r.pairs[k],
			block: block + int(at.end/blockLength), asked: r.waiting[k] || len(at.firsts) > 0,
		}
		if s.ahead && k+1 < len(l.steps) {
			one.next, one.launched = r.tokens[k+1], float64(len(l.steps[k+1].firsts))
			one.asked = one.asked || one.next > 0
		}
		rows = append(rows, one)
	}
	return rows
}

// The columns of a regression: linear costs, then the segments of tables.
const (
	perStep = iota
	perSequence
	perContext
	perPrefill
	perToken
	perPair
	perLaunch
	perLaunchToken
	decodeSegments
	mixedStep     = decodeSegments + len(decodeKnots) - 1
	mixedSegments = mixedStep + 1
	tokenSegments = mixedSegments + len(mixedKnots) - 1
	columns       = tokenSegments + len(tokenKnots) - 1
)

// Where tables may bend.
var (
	decodeKnots = [...]float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
	mixedKnots  = [...]float64{0, 1, 4, 16, 64, 256}
	tokenKnots  = [...]float64{0, 64, 128, 256, 512, 1024, 2048, 4096, 8192}
)

// A form says which costs are tables, and where they bend; nil: the cost is linear. The
// first knot of each is implied.
type form struct {
	decode []float64 // a step by its sequences that decode
	mixed  []float64 // a step with prompts by those; nil: as without prompts
	tokens []float64 // what prompts add, by their tokens
}

func (f *form) x(r *row, x *[columns]float64) {
	*x = [columns]float64{perContext: r.context, perPair: r.pair}
	switch {
	case r.tokens > 0 && f.mixed != nil:
		x[mixedStep] = 1
		segments(x[mixedSegments:tokenSegments], mixedKnots[0], f.mixed, r.decodes)
	case f.decode != nil:
		x[perStep] = 1
		segments(x[decodeSegments:mixedStep], decodeKnots[0], f.decode, r.decodes)
	default:
		x[perStep], x[perSequence] = 1, r.decodes
	}
	if r.next > 0 {
		x[perLaunch], x[perLaunchToken] = 1, r.next
	}
	if r.tokens == 0 {
		return
	}
	if f.mixed == nil {
		x[perPrefill] = 1
	}
	if f.tokens == nil {
		x[perToken] = r.tokens
		return
	}
	segments(x[tokenSegments:columns], tokenKnots[0], f.tokens, r.tokens)
}

// segments are how much of each segment of a table lies below at; the last goes on.
func segments(x []float64, from float64, knots []float64, at float64) {
	for j, knot := range knots {
		x[j] = max(0, (at-from)/(knot-from))
		if j < len(knots)-1 {
			x[j] = min(1, x[j])
		}
		from = knot
	}
}

// leastBehind is the number of steps that a segment of a table is known from.
const leastBehind = 25

// bends are the knots that rows can distinguish: enough rows lie behind the one before. They are
// nil if there are fewer than two.
func bends(knots []float64, rows []row, at func(*row) (float64, bool)) (out []float64) {
	from := knots[0]
	for _, knot := range knots[1:] {
		n := 0
		for i := range rows {
			if v, ok := at(&rows[i]); ok && v > from && v <= knot {
				n++
			}
		}
		if n >= leastBehind {
			out, from = append(out, knot), knot
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// A coefficients is the cost of each column, in seconds.
type coefficients [columns]float64

func (c *coefficients) of(f *form, r *row) (y float64) {
	var x [columns]float64
	f.x(r, &x)
	for j, v := range x {
		y += c[j] * v
	}
	return y
}

func (c *coefficients) costs(f *form) engine.Costs {
	out := engine.Costs{
		Step: engine.Seconds(c[perStep]), Sequence: engine.Seconds(c[perSequence]), ContextToken: engine.Seconds(c[perContext]),
		Prefill: engine.Seconds(c[perPrefill]), PrefillToken: engine.Seconds(c[perToken]), PrefillPair: engine.Seconds(c[perPair]),
	}
	if f.decode != nil {
		out.DecodeTable = points(decodeKnots[0], c[perStep], f.decode, c[decodeSegments:])
		out.Step, out.Sequence = 0, 0
	}
	if f.mixed != nil {
		out.MixedTable = points(mixedKnots[0], c[mixedStep], f.mixed, c[mixedSegments:])
	}
	if f.tokens != nil {
		out.PrefillTable = points(tokenKnots[0], c[perPrefill], f.tokens, c[tokenSegments:])
		out.Prefill, out.PrefillToken = 0, 0
	}
	return out
}

// points are those of a table: the sum at each knot.
func points(from, base float64, knots, added []float64) []engine.Point {
	out := []engine.Point{{At: from, Time: engine.Seconds(base)}}
	for j, knot := range knots {
		base += added[j]
		out = append(out, engine.Point{At: knot, Time: engine.Seconds(base)})
	}
	return out
}
