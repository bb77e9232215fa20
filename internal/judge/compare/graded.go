package compare

import (
	"encoding/json"
	"hash/fnv"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Graded reports whether a run has graded answers.
func (r *ComparedRun) Graded() bool {
	for _, f := range r.figures {
		if f.Name == figure.Accuracy {
			return true
		}
	}
	return false
}

// gradeOptions are those of one of so many verdicts that hold together.
func (t *table) gradeOptions(shares int) answers.GradeOptions {
	l := t.out.Layout
	return answers.GradeOptions{Level: 1 - (1-t.o.nominal(t.o.Level))/float64(shares), Margin: t.o.NotWorse, Restarted: l != nil && l.Restarted}
}

// questionsOf names the questions of a run: a file that is sent in its order has the same ones whatever the seed is, and
// others are those of equal requests.
func questionsOf(run trace.Run, requests uint64) uint64 {
	if run.Plan.Spec == nil || len(run.Plan.Spec.Load) != 1 || len(run.Plan.Spec.Load[0].Mix) > 0 {
		return requests
	}
	file := run.Plan.Spec.Load[0].Dataset
	var settings struct {
		Shuffle bool `json:"shuffle"`
	}
	if file.Kind != "custom" || json.Unmarshal(file.Settings, &settings) != nil || settings.Shuffle {
		return requests
	}
	h := fnv.New64a()
	_, _ = h.Write(file.Settings)
	return h.Sum64()
}

// gradedFigures are those of which a start and questions have noise that runs do not show, so that no estimator of runs
// judges them.
var gradedFigures = map[string]func(grade.Grade) bool{
	figure.Accuracy:       grade.Grade.Right,
	figure.GradedCut:      grade.Grade.Cut,
	figure.GradedUnparsed: func(g grade.Grade) bool { return !g.Parsed() },
}

// gradedGate judges a gate on one of these.
func (t *table) gradedGate(r GateResult, variant int) GateResult {
	legs, got, o := t.graded[variant], t.out.Variants[variant].Graded, t.gradeOptions(1)
	if r.Why = plan.Msg("gate.no-answers"); got == nil {
		return r
	}
	scores := answers.ScoresOf(legs, gradedFigures[r.Gate.Name])
	value, in, known := answers.ShareOf(scores, true, o.Level)
	if r.Gate.Points {
		c, ok := answers.JudgeAccuracy(scores)
		if value, known, r.Plain = c.After-c.Before, ok, true; ok {
			in = c.Interval(o.Level)
		}
	}
	switch why := got.Why; {
	case why.Code == answers.NotAnswered || why.Code == answers.OtherQuestions && r.Gate.Points:
		r.Why = why
	case !known || !o.Restarted:
		r.Value, r.Why = value, plan.Msg("gate.no-starts")
	default:
		r.Value, r.Interval = value, &Interval{Low: in.Low, High: in.High, Level: o.Level}
		r.byInterval()
	}
	return r
}
