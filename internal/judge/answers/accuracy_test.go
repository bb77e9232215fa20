package answers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A quiz makes experiments on questions that are answered right with probability 0.9.
type quiz struct {
	questions, blocks int
	flips             float64 // share of the answers that the change turns round, evenly
	noise             float64 // share of the answers that a start turns round
	starts            float64 // standard deviation of what a start does to accuracy
	loss              float64 // what the change takes from accuracy
	fresh             bool    // other questions in each block
}

// legs are those of one experiment, A B B A in each block.
func (w quiz) legs(rng *rand.Rand) (out []Scores) {
	base, changed := w.truth(rng)
	for b := range w.blocks {
		if w.fresh && b > 0 {
			base, changed = w.truth(rng)
		}
		for _, after := range []bool{false, true, true, false} {
			from, scores := base, make([]float64, 0, w.questions*w.blocks)
			if after {
				from = changed
			}
			for range b * w.questions {
				if w.fresh {
					scores = append(scores, math.NaN())
				}
			}
			worse := rng.NormFloat64() * w.starts
			for _, right := range from {
				if rng.Float64() < w.noise {
					right = rng.Float64() < 0.9
				}
				if worse > 0 && right && rng.Float64() < worse/0.9 {
					right = false
				} else if worse < 0 && !right && rng.Float64() < -worse/0.1 {
					right = true
				}
				scores = append(scores, map[bool]float64{true: 1}[right])
			}
			out = append(out, Scores{After: after, Block: b, Of: scores})
		}
	}
	return out
}

// truth has the answers of the server without noise, before and after the change.
func (w quiz) truth(rng *rand.Rand) (before, after []bool) {
	for range w.questions {
		right := rng.Float64() < 0.9
		before = append(before, right)
		u := rng.Float64()
		switch {
		case right && u < (w.flips/2+w.loss)/0.9:
			right = false
		case !right && u < w.flips/2/0.1:
			right = true
		}
		after = append(after, right)
	}
	return before, after
}

// share is that of n experiments in which f holds.
func (w quiz) share(n int, seed uint64, f func(Accuracy) bool) float64 {
	rng, count := rand.New(rand.NewPCG(seed, 43)), 0
	for range n {
		if c, ok := JudgeAccuracy(w.legs(rng)); ok && f(c) {
			count++
		}
	}
	return float64(count) / float64(n)
}

func alarm(c Accuracy) bool      { return !c.Interval(level).Holds(0) }
func shownWorse(c Accuracy) bool { return c.Interval(level).High < 0 }
func notWorse(c Accuracy) bool   { return c.Interval(level).Low > -0.01 }

func TestRatesOfAccuracy(t *testing.T) {
	n := 100
	if *long {
		n = 2000
	}
	for _, c := range []struct {
		name   string
		world  quiz
		event  func(Accuracy) bool
		lo, hi float64
	}{
		{"false alarm, same 200, deterministic, 2 % flip", quiz{questions: 200, blocks: 3, flips: 0.02}, alarm, 0, 0.07},
		{"false alarm, same 200, noise, 5 % flip", quiz{questions: 200, blocks: 3, flips: 0.05, noise: 0.05}, alarm, 0, 0.09},
		{"false alarm, same 200, starts 0.9 pt", quiz{questions: 200, blocks: 3, flips: 0.02, starts: 0.009}, alarm, 0, 0.07},
		{"false alarm, same 1319, deterministic, 2 % flip", quiz{questions: 1319, blocks: 3, flips: 0.02}, alarm, 0, 0.07},
		{"false alarm, same 1319, starts 0.9 pt", quiz{questions: 1319, blocks: 3, flips: 0.02, starts: 0.009}, alarm, 0, 0.07},
		{"false alarm, same 1319, starts 0.9 pt, no flips", quiz{questions: 1319, blocks: 3, starts: 0.009}, alarm, 0, 0.07},
		{"false alarm, fresh 200, starts 0.9 pt", quiz{questions: 200, blocks: 3, flips: 0.05, starts: 0.009, fresh: true}, alarm, 0, 0.07},
		{"found worse, 1319, -2 pt", quiz{questions: 1319, blocks: 3, flips: 0.02, loss: 0.02, starts: 0.0035}, shownWorse, 0.85, 1},
		{"shown not worse, 1319, none", quiz{questions: 1319, blocks: 3, flips: 0.02, starts: 0.0035}, notWorse, 0.6, 0.95},
		{"shown not worse wrongly, 1319, -1 pt", quiz{questions: 1319, blocks: 3, flips: 0.02, loss: 0.01, starts: 0.0035}, notWorse, 0, 0.07},
		{"shown not worse wrongly, 100 questions of which 1 % break", quiz{questions: 100, blocks: 3, loss: 0.01}, notWorse, 0, 0.01},
	} {
		got := c.world.share(n, 5, c.event)
		t.Logf("%-62s %5.1f %%", c.name, 100*got)
		if slack := 2.6 * math.Sqrt(c.hi*(1-c.hi)/float64(n)); got > c.hi+slack || got < c.lo-0.08 {
			t.Errorf("%s: %.1f %%, want %.0f to %.0f %%", c.name, 100*got, 100*c.lo, 100*c.hi)
		}
	}
}

func TestAccuracyByHand(t *testing.T) {
	legs := []Scores{
		{Of: []float64{1, 1, 0, 1}},
		{After: true, Of: []float64{1, 0, 0, 1}},
		{After: true, Of: []float64{1, 0, 1, 1}},
		{Of: []float64{1, 1, 0, 1}},
	}
	c, ok := JudgeAccuracy(legs)
	// d = 0, -1, ½, 0: mean -1/8, variance 0.395833; legs after 0.5 and 0.75: s² = 1/32 over 2 legs.
	v := 0.3958333333333333/4 + 0.03125/2
	if !ok || c.Value != -0.125 || math.Abs(c.Error-math.Sqrt(v)) > 1e-12 || c.ToWrong != 1 || c.ToRight != 1 || c.Questions != 4 {
		t.Errorf("%+v, %t", c, ok)
	}
	if _, ok := JudgeAccuracy(legs[:2]); ok {
		t.Error("one start each is judged")
	}
	same := []Scores{{Of: []float64{1, 1}}, {Of: []float64{1, 1}}, {After: true, Of: []float64{1, 1}}, {After: true, Of: []float64{1, 1}}}
	if c, _ := JudgeAccuracy(same); c.Interval(level).Low > -1 {
		t.Errorf("two questions without a change show %+v", c.Interval(level))
	}
}

func TestWilsonAndQuestions(t *testing.T) {
	// Newcombe (1998), table II: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
	for _, c := range []struct {
		right, n int
		lo, hi   float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		if in := Wilson(c.right, c.n); math.Abs(in.Low-c.lo) > 1e-4 || math.Abs(in.High-c.hi) > 1e-4 {
			t.Errorf("%d of %d: %v", c.right, c.n, in)
		}
	}
	if got := Questions(0.02, 0.01); got != 1570 {
		t.Errorf("%d questions", got)
	}
}
