package steps

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// Found is an engine as its steps show it.
type Found struct {
	Cost   engine.Costs // linear, or with a table of the time by the number of sequences; with jitter
	Spread engine.Costs // standard deviations of the costs, from blocks of 2 s drawn anew

	Budget       int  // tokens of a step
	BudgetSeen   bool // prompts waited for it; else it is assumed, and at least Longest
	Longest      int  // tokens of the longest step, where the budget was not seen
	MaxSequences int  // 0: not reached
	MostRunning  int  // streams at once
	MostContext  int  // tokens behind them, together

	Delay time.Duration // of a request until the engine knows it
	Chunk time.Duration // of the server's work for each token that it sends

	Steps, Rows, Prefills int     // steps seen; those with a known duration; of them with prompts
	Miss                  float64 // share of steps that could not be seen
	Late, Early, Over     float64 // shares of first tokens and of prompt tokens that the schedule does not explain
	Off, OffPrefill       float64 // median relative error of the duration of a step, without and with prompts
}

// What is not an engine that is modelled here.
var (
	// ErrPrefillFirst is an engine that stops decoding for prompts, as SGLang does.
	ErrPrefillFirst = errors.New("prompts stop those that decode, as SGLang's do: such an engine cannot be fitted yet")
	// ErrBlurred is what stamps cannot resolve.
	ErrBlurred = errors.New("its steps cannot be told apart")
)

// A TooLittleError is a fit to steps that are too few, or too much alike.
type TooLittleError struct{ What string }

func (e *TooLittleError) Error() string { return e.What }

// The least that costs are fitted to, and a budget is taken from: with twice as much, that share
// of the first tokens would have come sooner.
const (
	leastEarly    = 0.02
	leastRows     = 200
	leastPrefills = 30
	mostMiss      = 0.3
)

// Fit finds the engine behind legs. Its errors are ErrPrefillFirst, ErrBlurred and TooLittleError.
func Fit(legs []Leg) (*Found, error) {
	logs := make([]*log, 0, len(legs))
	f := &Found{}
	alone, open := 0.0, false
	for _, leg := range legs {
		if len(leg.Streams) == 0 {
			continue
		}
		l := see(leg)
		logs = append(logs, l)
		weight := float64(len(l.steps))
		f.Steps += len(l.steps)
		f.Miss += weight * l.miss
		alone += weight * l.alone
		open = open || leg.Limit == 0
		for k := range l.steps {
			f.MostRunning = max(f.MostRunning, l.steps[k].decodes+len(l.steps[k].firsts))
			f.MostContext = max(f.MostContext, int(l.steps[k].context))
		}
	}
	f.Miss /= float64(max(1, f.Steps))
	switch {
	case alone/float64(max(1, f.Steps)) > 0.5:
		return nil, ErrPrefillFirst
	case f.Miss > mostMiss:
		return nil, fmt.Errorf("%w: %.0f %% of successive tokens of a stream are not in successive steps", ErrBlurred, 100*f.Miss)
	}
	f.MaxSequences = limit(logs, f.MostRunning)
	if err := f.fit(logs, open); err != nil {
		return nil, err
	}
	f.Chunk = chunk(logs)
	return f, nil
}

// budgets are tried in turn.
func budgets() (out []int) {
	for b := 256; b <= 16384; b *= 2 {
		out = append(out, b)
	}
	return out
}

// delays are tried for each budget.
var delays = []time.Duration{
	0, 300 * time.Microsecond, 600 * time.Microsecond, time.Millisecond, 1500 * time.Microsecond, 2 * time.Millisecond, 2700 * time.Microsecond,
	3500 * time.Microsecond, 5 * time.Millisecond, 7 * time.Millisecond, 10 * time.Millisecond, 14 * time.Millisecond, 20 * time.Millisecond,
}

// A try is a schedule with what it explains.
type try struct {
	schedule
	rows              []row
	bends             []float64 // of a table; nil: costs are linear
	c                 coefficients
	weights           []float64
	late, early, over float64
	score             float64
}

// attempt replays all legs by a schedule.
func attempt(logs []*log, s schedule, rounds int) try {
	t := try{schedule: s}
	streams, tokens, block := 0, 0, 0
	for _, l := range logs {
		r := l.replay(s)
		t.rows = append(t.rows, l.rows(r, block)...)
		block += 2 + int(l.steps[len(l.steps)-1].end/(2*time.Second))
		streams += len(l.Streams)
		tokens += r.prompts
		t.late += float64(r.late)
		t.early += float64(r.early)
		t.over += r.over
	}
	t.late /= float64(max(1, streams))
	t.early /= float64(max(1, streams))
	t.over /= float64(max(1, tokens))
	if len(t.rows) == 0 || rounds == 0 {
		return t
	}
	t.c, t.weights = regress(t.rows, rounds)
	sum, n := 0.0, 0
	for i := range t.rows {
		if r := &t.rows[i]; r.asked {
			sum += min(1, math.Abs(r.y/max(1e-6, t.c.of(r.x))-1))
			n++
		}
	}
	t.score = sum / float64(max(1, n)) * (1 + 10*max(0, t.over-0.005)) * (1 + 5*t.late)
	return t
}

// fit finds the schedule that explains most, and then the costs.
func (f *Found) fit(logs []*log, open bool) error {
	asked := logs
	if open { // in a closed loop requests come right after a step, and any delay explains them
		asked = slices.DeleteFunc(slices.Clone(logs), func(l *log) bool { return l.Limit > 0 })
	}
	arrivals := func(budget int, delays []time.Duration) schedule {
		best, least := schedule{}, math.Inf(1)
		for _, d := range delays {
			s := schedule{budget, f.MaxSequences, d}
			if t := attempt(asked, s, 0); t.late+t.early < least {
				best, least = s, t.late+t.early
			}
		}
		return best
	}
	var best try
	for _, b := range budgets() {
		t := attempt(logs, arrivals(b, delays), 4)
		if len(t.rows) < leastRows {
			return &TooLittleError{fmt.Sprintf("only %d steps followed one another, and it takes %d: more requests at once, or longer answers", len(t.rows), leastRows)}
		}
		if best.rows == nil || t.score < 0.985*best.score {
			best = t
		}
	}
	twice := best.schedule
	twice.budget *= 2
	f.BudgetSeen = attempt(logs, twice, 0).early-best.early > leastEarly
	for _, factor := range []float64{0.625, 0.75, 0.875, 1.25, 1.5, 1.75} {
		if !f.BudgetSeen {
			break
		}
		s := best.schedule
		s.budget = int(float64(s.budget) * factor)
		if t := attempt(logs, s, 4); t.score < 0.985*best.score {
			best = t
		}
	}
	var finer []time.Duration
	for i := range 19 {
		finer = append(finer, time.Duration(float64(best.delay)*(0.6+0.05*float64(i))))
	}
	best = attempt(logs, arrivals(best.budget, finer), 12)
	best.bend()
	return f.take(logs, best)
}

// bend takes a table in place of a cost of each sequence, if that leaves less unexplained.
func (t *try) bend() {
	rows, bends := tabled(t.rows)
	if rows == nil {
		return
	}
	c, weights := regress(rows, 12)
	if off(rows, c) < mostOff*off(t.rows, t.c) {
		t.rows, t.bends, t.c, t.weights = rows, bends, c, weights
	}
}

// mostOff is the share of the error of linear costs that a table may leave.
const mostOff = 0.9

// off is the median size of the relative errors.
func off(rows []row, c coefficients) float64 {
	sizes := make([]float64, len(rows))
	for i := range rows {
		sizes[i] = math.Abs(rows[i].y/max(1e-6, c.of(rows[i].x)) - 1)
	}
	return median(sizes)
}

// take keeps what the best schedule says.
func (f *Found) take(logs []*log, t try) error {
	f.Rows, f.Budget, f.Late, f.Early, f.Over = len(t.rows), t.budget, t.late, t.early, t.over
	var clean, prefill, signed []float64
	longest := 0.0
	for i := range t.rows {
		r := &t.rows[i]
		off := r.y/max(1e-6, t.c.of(r.x)) - 1
		switch {
		case r.prefills():
			f.Prefills++
			prefill = append(prefill, math.Abs(off))
			longest = max(longest, r.x[perToken]+r.x[perSequence])
		case !r.asked:
			signed = append(signed, off)
			fallthrough
		default:
			clean = append(clean, math.Abs(off))
		}
	}
	if f.Prefills < leastPrefills {
		return &TooLittleError{fmt.Sprintf("only %d steps had prompts beside others that decode, and it takes %d: several requests at once, of different lengths", f.Prefills, leastPrefills)}
	}
	if !f.BudgetSeen {
		f.Longest = int(longest)
	}
	f.Cost, f.Spread = t.c.costs(t.bends), spread(t.rows, t.weights).costs(nil)
	f.Cost.Jitter = jitter(signed)
	f.Off, f.OffPrefill = median(clean), median(prefill)
	f.Delay = idleDelay(logs, t)
	return nil
}

// jitter is the coefficient of variation of steps, less what comes from the delivery of
// tokens: that makes one step longer and the next one shorter.
func jitter(off []float64) float64 {
	if len(off) < 2 {
		return 0
	}
	size := make([]float64, len(off))
	for i, x := range off {
		size[i] = math.Abs(x)
	}
	sigma := 1.48 * median(size)
	sum, n := 0.0, 0
	for i := 1; i < len(off); i++ {
		if math.Abs(off[i]) < 6*sigma && math.Abs(off[i-1]) < 6*sigma {
			sum += off[i] * off[i-1]
			n++
		}
	}
	noise := max(0, -sum/float64(max(1, n)))
	return math.Sqrt(max(0, sigma*sigma-2*noise))
}

// idleDelay is what the first token of a request to an idle engine takes beyond its step, or
// the delay of the schedule if there is no such request.
func idleDelay(logs []*log, t try) time.Duration {
	var over []float64
	for _, l := range logs {
		for i, s := range l.Streams {
			k := l.first[i]
			n := float64(s.Prompt - s.Cached)
			if n > float64(t.budget) || k == 0 || l.steps[k].active > 0 || len(l.steps[k].firsts) > 1 || l.steps[k-1].last > s.Sent+time.Millisecond {
				continue
			}
			step := t.c.of([columns]float64{perStep: 1, perPrefill: 1, perToken: n, perPair: n * (float64(s.Cached) + n/2)})
			over = append(over, (s.At[0]-s.Sent).Seconds()-step)
		}
	}
	if len(over) < 3 {
		return t.delay
	}
	return time.Duration(max(0, median(over)) * float64(time.Second))
}

// limit is the largest number of streams that ran at once, if that many did so often while
// others waited, and the client was not what held it; else 0.
func limit(logs []*log, most int) int {
	n := 0
	for _, l := range logs {
		if l.Limit > 0 && l.Limit <= most {
			continue
		}
		first := make([]int, len(l.steps)+1) // requests sent and not begun
		for i, s := range l.Streams {
			sent, _ := slices.BinarySearchFunc(l.steps, s.Sent, func(s step, at time.Duration) int { return int(s.end - at) })
			if sent < l.first[i] {
				first[sent]++
				first[l.first[i]]--
			}
		}
		waiting := 0
		for k := range l.steps {
			waiting += first[k]
			if waiting > 0 && l.steps[k].decodes+len(l.steps[k].firsts) == most {
				n++
			}
		}
	}
	if n < 15 {
		return 0
	}
	return most
}

// chunk is the time between two tokens of a step: by how much a step of more tokens is wider.
func chunk(logs []*log) time.Duration {
	wide := map[int][]float64{}
	for _, l := range logs {
		for _, s := range l.steps {
			if n := s.decodes + len(s.firsts); n >= 4 {
				wide[n] = append(wide[n], (s.last - s.end).Seconds())
			}
		}
	}
	var n, sx, sy, sxx, sxy float64
	for _, size := range slices.Sorted(maps.Keys(wide)) {
		widths := wide[size]
		x, y, w := float64(size), median(widths), float64(len(widths))
		n, sx, sy, sxx, sxy = n+w, sx+w*x, sy+w*y, sxx+w*x*x, sxy+w*x*y
	}
	if d := n*sxx - sx*sx; d > 0 {
		return time.Duration(max(0, (n*sxy-sx*sy)/d) * float64(time.Second))
	}
	return 0
}
