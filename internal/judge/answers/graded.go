package answers

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// MostQuestions is the index of a request from which on its grade is not compared.
const MostQuestions = 1 << 20

// Grades are those of a leg by the index of the request, 0 for one that failed or is no question.
type Grades []grade.Grade

// Add counts a request in.
func (g *Grades) Add(r *trace.Record) {
	if r.Index < 0 || r.Index >= MostQuestions || len(*g) == 0 && r.Grade == 0 {
		return
	}
	for len(*g) <= r.Index {
		*g = append(*g, 0)
	}
	(*g)[r.Index] = r.Grade
}

// Worth is whether answers are worse.
type Worth string

// The verdicts. NoChange: neither better nor worse is shown, and nobody asked within how many points.
const (
	NotWorse     Worth = "not worse"
	Better       Worth = "better"
	Worse        Worth = "worse"
	NoChange     Worth = "no change shown"
	WorthUnknown Worth = "cannot tell"
)

// Reasons for WorthUnknown.
const (
	TheseStarts    plan.Code = "worth.starts" // p
	OtherQuestions plan.Code = "worth.other-questions"
	NotAnswered    plan.Code = "worth.left-out" // n, of
	NotShown       plan.Code = "worth.open"     // margin, more
)

// A Graded is what is known of the accuracy of two variants. Shares are of 1.
type Graded struct {
	Verdict Worth        `json:"verdict"`
	Why     plan.Message `json:"why,omitzero"` // of WorthUnknown
	Before  float64      `json:"before"`       // accuracy
	After   float64      `json:"after"`
	Change  Estimate     `json:"change"` // without an interval where what a start does is not known
	// Margin is the loss that is accepted; 0 if nobody said.
	Margin    float64    `json:"not_worse,omitempty"`
	Questions int        `json:"questions"` // that both variants were asked
	ToWrong   int        `json:"to_wrong"`  // of these
	ToRight   int        `json:"to_right"`
	Cut       [2]float64 `json:"cut"` // share of the answers, before and after
}

// CutMatters reports whether so many answers are cut that accuracy depends on their limit.
func (g *Graded) CutMatters() bool {
	return max(g.Cut[0], g.Cut[1]) > 0.02 || math.Abs(g.Cut[1]-g.Cut[0]) > 0.01
}

// GradeOptions are how grades are judged.
type GradeOptions struct {
	Level     float64 // of the interval
	Margin    float64 // the loss that is accepted, as a share of 1; 0 for none
	Restarted bool    // legs of a variant in a block have a server start each
}

// JudgeGrades judges the accuracy of two variants; false where one has no graded answers.
func JudgeGrades(legs []*Leg, o GradeOptions) (r Graded, ok bool) {
	scores := ScoresOf(legs, grade.Grade.Right)
	before, _, some := ShareOf(scores, false, o.Level)
	after, _, others := ShareOf(scores, true, o.Level)
	if !hasScores(scores, false) || !hasScores(scores, true) {
		return r, false
	}
	cut := ScoresOf(legs, grade.Grade.Cut)
	c, judged := JudgeAccuracy(scores)
	r = Graded{Verdict: WorthUnknown, Margin: o.Margin, Before: before, After: after, Questions: c.Questions, ToWrong: c.ToWrong, ToRight: c.ToRight}
	r.Cut[0], _, _ = ShareOf(cut, false, o.Level)
	r.Cut[1], _, _ = ShareOf(cut, true, o.Level)
	if c.Questions == 0 {
		r.Why = plan.Msg(OtherQuestions)
		return r, true
	}
	r.Before, r.After, r.Change.Value = c.Before, c.After, c.After-c.Before
	worst := slices.MaxFunc(legs, func(a, b *Leg) int { return cmp.Compare(a.failing(), b.failing()) })
	switch {
	case worst.failing() > mostLeftOut:
		r.Why = plan.Msg(NotAnswered, "n", worst.Failed, "of", worst.Failed+worst.Answered)
	case !o.Restarted || !judged || !some || !others:
		r.Why = plan.Msg(TheseStarts, "p", McNemar(c.ToWrong, c.ToRight))
	default:
		r.decide(c, o)
	}
	return r, true
}

// decide is the verdict by the interval.
func (g *Graded) decide(c Accuracy, o GradeOptions) {
	in := c.Interval(o.Level)
	g.Change = Estimate{Value: c.Value, Low: &in.Low, High: &in.High}
	switch {
	case in.Low > 0:
		g.Verdict = Better
	case o.Margin > 0 && in.Low > -o.Margin:
		g.Verdict = NotWorse
	case in.High < 0:
		g.Verdict = Worse
	case o.Margin > 0:
		g.Why = plan.Msg(NotShown, "margin", o.Margin, "more", c.more(o.Level, o.Margin))
	default:
		g.Verdict = NoChange
	}
}

// ScoresOf are shares of the answers of legs. Questions of several sets have places of their own.
func ScoresOf(legs []*Leg, is func(grade.Grade) bool) (all []Scores) {
	sizes, from, end := map[uint64]int{}, map[uint64]int{}, 0
	for _, l := range legs {
		sizes[l.Set] = max(sizes[l.Set], len(l.Grades))
	}
	for _, l := range legs {
		at, ok := from[l.Set]
		if !ok {
			at, from[l.Set] = end, end
			end += sizes[l.Set]
		}
		s := Scores{After: l.Variant != 0, Block: l.Block, Of: make([]float64, at+sizes[l.Set])}
		for i := range s.Of {
			s.Of[i] = math.NaN()
		}
		for i, g := range l.Grades {
			switch {
			case g == 0:
			case is(g):
				s.Of[at+i] = 1
			default:
				s.Of[at+i] = 0
			}
		}
		all = append(all, s)
	}
	return all
}

// failing is the share of the requests that failed.
func (l *Leg) failing() float64 { return float64(l.Failed) / float64(max(1, l.Failed+l.Answered)) }

func hasScores(legs []Scores, after bool) bool {
	for _, l := range legs {
		if l.After == after && !math.IsNaN(l.accuracy()) {
			return true
		}
	}
	return false
}
