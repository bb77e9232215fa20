package calibrate

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
)

type try struct {
	stepsSchedule
	rows              []row
	form              form
	c                 coefficients
	weights           []float64
	late, early, over float64 // shares of first tokens, and of prompt tokens
	score             float64 // of the unexplained rest
}

// attempt replays all legs by a schedule, and finds costs of a form in some rounds from costs near
// them, if any are known; 0: none.
func attempt(logs []*steplog, s stepsSchedule, f form, near *coefficients, rounds int) *try {
	t := &try{stepsSchedule: s, form: f}
	streams, tokens, block := 0, 0, 0
	for _, l := range logs {
		r := l.replay(s, math.Inf(1))
		rows := l.rows(s, r, block)
		if l.joined > manyJoined && !s.ahead {
			rows = l.streamRows(rows, false)
		}
		t.rows = append(t.rows, rows...)
		block += blocksOf(l)
		streams += len(l.Streams)
		t.late += float64(r.late)
		t.early += float64(r.early)
		// Where prompts are computed again, the tokens do not add up.
		if !slices.ContainsFunc(l.steps, func(at step) bool { return s.near(&at) }) {
			tokens += r.prompts
			t.over += r.over
		}
	}
	t.late /= float64(max(1, streams))
	t.early /= float64(max(1, streams))
	t.over /= float64(max(1, tokens))
	if len(t.rows) == 0 || rounds == 0 {
		return t
	}
	t.c, t.weights = regress(t.rows, &t.form, near, rounds)
	sum, n := 0.0, 0
	for i := range t.rows {
		if r := &t.rows[i]; r.asked {
			sum += min(1, math.Abs(r.y/max(1e-6, t.c.of(&t.form, r))-1))
			n++
		}
	}
	t.score = sum / float64(max(1, n)) * (1 + 10*max(0, t.over-0.005)) * (1 + 5*t.late) * (1 + 2*t.early)
	return t
}

// blocksOf is how many blocks of time a leg takes, an even number.
func blocksOf(l *steplog) int { return 2 + int(l.steps[len(l.steps)-1].end/(2*blockLength))*2 }

func legOf(logs []*steplog) func(block int) int {
	return func(block int) (leg int) {
		for leg < len(logs)-1 && block >= blocksOf(logs[leg]) {
			block -= blocksOf(logs[leg])
			leg++
		}
		return leg
	}
}

// Of two schedules the simpler one is taken unless the other leaves this share unexplained.
const better = 0.985

// A kind of schedule is given up if it leaves so many times more unexplained with all budgets up to
// the usual one.
const hopeless = 1.5

// budgets are tried in turn.
var budgets = []int{256, 512, 1024, 2048, 4096, 8192, 16384}

// delays are tried for each budget.
var delays = []time.Duration{
	0, 300 * time.Microsecond, 600 * time.Microsecond, time.Millisecond, 1500 * time.Microsecond, 2 * time.Millisecond, 2700 * time.Microsecond,
	3500 * time.Microsecond, 5 * time.Millisecond, 7 * time.Millisecond, 10 * time.Millisecond, 14 * time.Millisecond, 20 * time.Millisecond,
}

// A searcher finds the schedule that explains most of what was seen.
type searcher struct {
	logs []*steplog
	// weights of the logs when delays are looked for: in a closed loop requests come right
	// after a step, and many delays explain them.
	weights []float64
	form    form          // of costs, with which schedules are compared
	near    *coefficients // of that form; from there a few rounds of a regression are enough
}

func newSearcher(logs []*steplog) *searcher {
	s := &searcher{logs: logs, weights: make([]float64, len(logs))}
	for i, l := range logs {
		if s.weights[i] = 1; l.Limit > 0 {
			s.weights[i] = 0.1
		}
	}
	return s
}

// unexplained is how many first tokens came too late or too early for a schedule; counting
// stops beyond most.
func (s *searcher) unexplained(w stepsSchedule, most float64) (n float64) {
	for i, l := range s.logs {
		r := l.replay(w, (most-n)/s.weights[i])
		if n += s.weights[i] * float64(r.late+r.early); n > most {
			break
		}
	}
	return n
}

// best is the schedule that explains most first tokens; of those that explain nearly as many the
// first.
func (s *searcher) best(all iter.Seq[stepsSchedule]) (best stepsSchedule) {
	least := math.Inf(1)
	for w := range all {
		if n := s.unexplained(w, better*least); n < better*least {
			best, least = w, n
		}
	}
	return best
}

// shares of a delay are tried as work: of requests that come together each waits for the work on
// those before it.
var shares = []float64{0, 0.1, 0.2, 0.4, 0.7, 1}

// delayed is a schedule with the delay, of some, and the share of that as work that explain arrivals
// best.
func (s *searcher) delayed(w stepsSchedule, delays []time.Duration) stepsSchedule {
	return s.best(func(yield func(stepsSchedule) bool) {
		for _, whole := range delays {
			for _, share := range shares {
				w.work = time.Duration(share * float64(whole))
				w.delay = whole - w.work
				if !yield(w) || whole == 0 {
					break
				}
			}
		}
	})
}

// try finds the costs under a schedule with an unknown delay.
func (s *searcher) try(w stepsSchedule, delays []time.Duration, rounds int) *try {
	return attempt(s.logs, s.delayed(w, delays), s.form, s.near, rounds)
}

// schedules are the kinds of schedules to choose from, the simplest first.
func schedules(like stepsSchedule) []stepsSchedule {
	if like.first {
		return []stepsSchedule{like}
	}
	var all []stepsSchedule
	for _, beside := range []bool{false, true} {
		for _, async := range []bool{false, true} {
			w := like
			w.promptBudget, w.async = beside, async
			if async || !like.ahead {
				all = append(all, w)
			}
		}
	}
	return all
}

// usual is a budget that is neither small nor large.
const stepsUsual = 2048

// bent takes the form of costs that fits best under a usual schedule.
func (s *searcher) bent(w stepsSchedule) {
	w.budget = stepsUsual
	s.form, s.near = form{}, nil
	if t := s.try(w, delays, 12); len(t.rows) >= leastRows {
		t.bend()
		s.form, s.near = t.form, &t.c
	}
}

// find searches budget, delay and kind for the best schedule like the one given, and reports
// whether prompts waited for its budget.
func (s *searcher) find(like stepsSchedule) (best *try, budget bool, err error) {
	s.bent(like)
	for _, w := range schedules(like) {
		var own *try
		for _, w.budget = range budgets {
			if own != nil && best != nil && w.budget > stepsUsual && own.score > hopeless*best.score {
				break
			}
			t := s.try(w, delays, 4)
			if len(t.rows) < leastRows {
				return nil, false, &TooLittleError{fmt.Sprintf("only %d steps followed one another, and it takes %d: more requests at once, or longer answers", len(t.rows), leastRows)}
			}
			if own == nil || t.score < better*own.score {
				own = t
			}
		}
		if best == nil || own.score < better*best.score {
			best = own
		}
	}
	around := best.stepsSchedule
	for _, factor := range []float64{0.625, 0.75, 0.875, 1.25, 1.5, 1.75} {
		w := around
		w.budget = int(float64(w.budget) * factor)
		if t := attempt(s.logs, w, s.form, s.near, 4); t.score < better*best.score {
			best = t
		}
	}
	twice := best.stepsSchedule
	twice.budget *= 2
	budget = attempt(s.logs, twice, s.form, nil, 0).early-best.early > leastEarly
	whole := (best.work + best.delay).Seconds()
	var finer []time.Duration
	for i := range 19 {
		finer = append(finer, time.Duration(whole*(0.6+0.05*float64(i))*float64(time.Second)))
	}
	best = s.try(best.stepsSchedule, finer, 12)
	best.form = form{}
	best.c, best.weights = regress(best.rows, &best.form, nil, 12)
	best.bend()
	return best, budget, nil
}

// bend takes tables in place of linear costs where those leave less unexplained than as many
// more numbers would by chance.
func (t *try) bend() {
	sigma := spreads(t.rows, offs(t.rows, &t.form, &t.c))
	least := t.lost(sigma)
	asked := func(at func(*row) float64, which func(*row) bool) func(*row) (float64, bool) {
		return func(r *row) (float64, bool) { return at(r), which(r) }
	}
	decodes, tokens := func(r *row) float64 { return r.decodes }, func(r *row) float64 { return r.tokens }
	all, mixed := func(*row) bool { return true }, (*row).prefills
	for _, table := range []struct {
		of    func(*form) *[]float64
		knots []float64
	}{
		{func(f *form) *[]float64 { return &f.decode }, bends(decodeKnots[:], t.rows, asked(decodes, all))},
		{func(f *form) *[]float64 { return &f.mixed }, bends(mixedKnots[:], t.rows, asked(decodes, mixed))},
		{func(f *form) *[]float64 { return &f.tokens }, bends(tokenKnots[:], t.rows, asked(tokens, mixed))},
	} {
		if table.knots == nil {
			continue
		}
		with := *t
		*table.of(&with.form) = table.knots
		with.c, with.weights = regress(t.rows, &with.form, nil, 12)
		price := 2 * float64(len(table.knots)) * math.Log(float64(len(t.rows)))
		if lost := with.lost(sigma); lost < least-price {
			*t, least = with, lost
		}
	}
}

// lost is the sum of the squares of errors in standard deviations, of each at most 9.
func (t *try) lost(sigma [2]float64) (lost float64) {
	for i, off := range offs(t.rows, &t.form, &t.c) {
		z := off / sigma[t.rows[i].kind()]
		lost += min(z*z, 9)
	}
	return lost
}
