package calibrate

import "math"

// A step that is launched before the tokens of the one before it are sent has the cost of its launch in the gap
// before those. Prompts whose launch takes the host longer than the device needs for the step under way so
// lengthen the step before the one with their first token:
//
//	       launch of k+1 with a prompt
//	├──────────────────────────────┤
//	F(k-1)                         F(k)   F(k+1), with the first token
//
// aheadSigma standard errors, and aheadShare of a step, are what that must be beyond what steps vary by; aheadScore
// is the share of the errors of a regression that may be left with it.
const (
	leastIsolated = 30
	aheadSigma    = 3
	aheadShare    = 0.03
	aheadScore    = 0.985
)

// launchesAhead reports whether steps with prompts are launched before the tokens of the step before are sent,
// and take their time then. best is what explains most otherwise. In the steps before prompts that came by
// themselves the time that decoding does not explain is far from 0, and a regression with both explains more.
func (s *searcher) launchesAhead(best *try) bool {
	if best.first {
		return false
	}
	var before []float64
	longest := 0.0
	for _, l := range s.logs {
		next, pace := l.beforePrompts(best.budget)
		before, longest = append(before, next...), max(longest, pace)
	}
	if len(before) < leastIsolated {
		return false
	}
	sd := math.Sqrt(variance(before) / float64(len(before)))
	if median(before) < max(1.25*aheadSigma*sd, aheadShare*longest) {
		return false
	}
	w := best.stepsSchedule
	w.async, w.ahead = true, true
	t := attempt(s.logs, s.delayed(w, delays), s.form, nil, 12)
	with := t.relative()
	for i := range t.rows {
		t.rows[i].next = 0
	}
	t.c, t.weights = regress(t.rows, &t.form, nil, 12)
	return with < aheadScore*t.relative()
}

// relative is the sum of the sizes of the errors, in shares of all time.
func (t *try) relative() float64 {
	off, all := 0.0, 0.0
	for i := range t.rows {
		off += math.Abs(t.rows[i].y - t.c.of(&t.form, &t.rows[i]))
		all += t.rows[i].y
	}
	return off / max(all, math.SmallestNonzeroFloat64)
}

// beforePrompts are the times, in seconds, by which steps last longer than decoding explains if the next step has
// the first tokens of prompts of at most budget tokens, and they themselves have none; and the median step.
func (l *steplog) beforePrompts(budget int) (next []float64, pace float64) {
	firsts := func(k int) int {
		if k < 0 || k >= len(l.steps) {
			return 0
		}
		return len(l.steps[k].firsts)
	}
	var plain, before []row
	for k := 1; k < len(l.steps); k++ {
		at := &l.steps[k]
		if at.decodes == 0 || float64(at.decodes) < 0.98*float64(at.active) {
			continue
		}
		one := row{y: (at.end - l.steps[k-1].end).Seconds(), decodes: float64(at.decodes), context: at.context}
		switch {
		case one.y <= 0:
		case firsts(k-1)+firsts(k)+firsts(k+1) == 0:
			plain = append(plain, one)
		case firsts(k) == 0 && firsts(k-1) == 0 && l.fits(k+1, budget):
			before = append(before, one)
		}
	}
	if len(plain) < leastIsolated {
		return nil, 0
	}
	f := form{decode: bends(decodeKnots[:], plain, func(r *row) (float64, bool) { return r.decodes, true })}
	c, _ := regress(plain, &f, nil, 12)
	for i := range before {
		next = append(next, before[i].y-c.of(&f, &before[i]))
	}
	return next, paceOf(plain)
}

// fits reports whether all first tokens of a step are of prompts that one step has room for.
func (l *steplog) fits(k, budget int) bool {
	if k >= len(l.steps) {
		return false
	}
	for _, i := range l.steps[k].firsts {
		if s := &l.Streams[i]; s.Prompt-s.Cached > budget {
			return false
		}
	}
	return true
}
