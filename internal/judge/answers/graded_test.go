package answers

import (
	"math"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// graded is a leg of n questions of a set, the given ones answered wrong.
func graded(variant, block int, set uint64, n int, wrong ...int) *Leg {
	l := &Leg{Variant: variant, Block: block, Set: set, Answered: n}
	for i := range n {
		l.Grades.Add(&trace.Record{Index: i, Grade: grade.Of(true, grade.Marked)})
	}
	for _, i := range wrong {
		l.Grades[i] = grade.Of(false, grade.None)
	}
	return l
}

// blocks are legs of two blocks; those after answer the given questions wrong.
func blocksOf(n int, second uint64, wrong ...int) []*Leg {
	var all []*Leg
	for b, set := range []uint64{1, second} {
		all = append(all, graded(0, b, set, n), graded(1, b, set, n, wrong...), graded(1, b, set, n, wrong...), graded(0, b, set, n))
	}
	return all
}

func TestJudgeGrades(t *testing.T) {
	many := make([]int, 30)
	for i := range many {
		many[i] = i
	}
	failing := blocksOf(100, 1)
	failing[2].Failed = 10
	other := []*Leg{graded(0, 0, 1, 50), graded(0, 0, 1, 50), graded(1, 0, 2, 50), graded(1, 0, 2, 50)}
	o := GradeOptions{Level: 0.95, Margin: 0.01, Restarted: true}
	for _, c := range []struct {
		name      string
		legs      []*Leg
		o         GradeOptions
		want      Worth
		why       string
		questions int
	}{
		{"alike, enough", blocksOf(1000, 1), o, NotWorse, "", 1000},
		{"alike, too few", blocksOf(100, 1), o, WorthUnknown, string(NotShown), 100},
		{"alike, fresh questions in each block", blocksOf(300, 2), o, NotWorse, "", 600},
		{"alike, no margin", blocksOf(100, 1), GradeOptions{Level: 0.95, Restarted: true}, NoChange, "", 100},
		{"worse", blocksOf(1000, 1, many...), o, Worse, "", 1000},
		{"no restarts", blocksOf(1000, 1, many...), GradeOptions{Level: 0.95}, WorthUnknown, string(TheseStarts), 1000},
		{"one each", []*Leg{graded(0, 0, 1, 50), graded(1, 0, 1, 50, 1)}, o, WorthUnknown, string(TheseStarts), 50},
		{"failing", failing, o, WorthUnknown, string(NotAnswered), 100},
		{"other questions", other, o, WorthUnknown, string(OtherQuestions), 0},
	} {
		r, ok := JudgeGrades(c.legs, c.o)
		if !ok || r.Verdict != c.want || string(r.Why.Code) != c.why || r.Questions != c.questions || math.IsNaN(r.Before+r.After+r.Change.Value) {
			t.Errorf("%s: %+v, %t", c.name, r, ok)
		}
	}
	if _, ok := JudgeGrades([]*Leg{graded(0, 0, 1, 5), {Variant: 1}}, o); ok {
		t.Error("a variant without grades is judged")
	}
	better := blocksOf(1000, 1, many...)
	for _, l := range better {
		l.Variant = 1 - l.Variant
	}
	if r, _ := JudgeGrades(better, o); r.Verdict != Better || r.ToRight != 30 || r.Before != 0.97 {
		t.Errorf("%+v", r)
	}
}

func TestGradesOfRequests(t *testing.T) {
	var g Grades
	for _, r := range []trace.Record{{Index: -1, Grade: 1}, {Index: MostQuestions, Grade: 1}, {Index: 0}, {Index: 2, Grade: 1}, {Index: 4}} {
		g.Add(&r)
	}
	if len(g) != 5 || g[2] != 1 || g[4] != 0 {
		t.Errorf("%v", g)
	}
	// 1 of 10 and the reverse: 2 * (1 + 10)/1024.
	if p := McNemar(1, 9); math.Abs(p-22.0/1024) > 1e-12 || McNemar(9, 1) != p || McNemar(0, 0) != 1 || McNemar(3, 3) != 1 {
		t.Errorf("McNemar %v", p)
	}
}
