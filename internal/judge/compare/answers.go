package compare

import (
	"encoding/json"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// ObserveAnswers has a run keep what is needed of its answers, from records with their marks.
func (r *ComparedRun) ObserveAnswers(records metrics.Records) error {
	l := new(answers.Leg)
	for some, err := range records {
		if err != nil {
			return err
		}
		for _, one := range some {
			l.Add(one)
		}
	}
	r.answers = l
	return nil
}

// legOf are the answers of a run as those of a leg.
func (t *table) legOf(v *variant, r *ComparedRun) *answers.Leg {
	l := *r.answers
	if l.Variant, l.Requests = v.column, r.requests; r.origin().Detail == trace.Recorded {
		l.Requests = r.run.Plan.Seed
	}
	l.Independent, l.Key, l.Set = independent(r.run), r.run.MarkedBy, questionsOf(r.run, l.Requests)
	if leg := r.run.Leg; leg != nil {
		l.Block, l.Start, l.Position = leg.Block, leg.ServerStart, float64(r.at)
	}
	return &l
}

// judgeAnswers judges those of a variant against those of the baseline.
func (t *table) judgeAnswers(v *variant) {
	if t.o.NoAnswers {
		return
	}
	var legs [2][]*answers.Leg
	for i, of := range []*variant{t.variants[0], v} {
		for _, r := range of.runs {
			if r.answers != nil {
				legs[i] = append(legs[i], t.legOf(of, r))
			}
		}
	}
	if legs[0] == nil || legs[1] == nil {
		return
	}
	for _, l := range legs[1] {
		l.Variant = 1
	}
	var r answers.Result
	var ok bool
	switch l := t.out.Layout; {
	case l != nil && l.Restarted && len(t.variants) == 2:
		alpha := (1 - t.o.nominal(t.o.Level)) / float64(t.shares())
		r, ok = answers.Judge(slices.Concat(legs[0], legs[1]), answers.Options{Alpha: alpha, Level: t.o.nominal(t.o.Level)})
	case len(legs[0]) == 1 && len(legs[1]) == 1:
		r, ok = answers.Describe(legs[0], legs[1], plan.Msg(answers.OneEach))
	default:
		r, ok = answers.Describe(legs[0], legs[1], plan.Msg(answers.NoRestarts))
	}
	if ok {
		t.out.Variants[v.column].Answers = &r
	}
	all := slices.Concat(legs[0], legs[1])
	if g, ok := answers.JudgeGrades(all, t.gradeOptions(t.shares())); ok {
		t.out.Variants[v.column].Graded = &g
		if t.graded == nil {
			t.graded = map[int][]*answers.Leg{}
		}
		t.graded[v.column] = all
	}
}

// A Together is a verdict on load and answers at once. Each part has its own level: that both are shown is wrong only if
// one of them is (intersection-union), so nothing is corrected.
type Together struct {
	Load    LoadVerdict     `json:"load"`
	Answers answers.Verdict `json:"answers,omitempty"` // empty: without marks
	Graded  answers.Worth   `json:"graded,omitempty"`  // empty: no graded answers
}

// A LoadVerdict is whether a variant is faster, by the figures that people look at first.
type LoadVerdict string

// The verdicts.
const (
	Faster          LoadVerdict = "faster"
	FasterAndSlower LoadVerdict = "faster and slower" // by figure
	NotFaster       LoadVerdict = "not faster"
	SpeedUnknown    LoadVerdict = "unknown"
)

// together is the verdict on a variant; nil of an A/A experiment.
func (w *Workload) together(variant int) *Together {
	v := w.Variants[variant]
	if v.Answers == nil && v.Graded == nil || !v.Tally.Basis.Decides() || w.Layout != nil && w.Layout.Same {
		return nil
	}
	seen := map[Verdict]bool{}
	for _, i := range v.Tally.Main {
		verdict := w.Rows[i].Cells[variant].Change.Verdict
		if w.Rows[i].Cells[variant].Change.Small {
			verdict = Same
		}
		seen[verdict] = true
	}
	out := &Together{Load: NotFaster}
	if v.Answers != nil {
		out.Answers = v.Answers.Verdict
	}
	if v.Graded != nil {
		out.Graded = v.Graded.Verdict
	}
	switch {
	case seen[Better] && seen[Worse]:
		out.Load = FasterAndSlower
	case seen[Better]:
		out.Load = Faster
	case seen[CannotTell] && !seen[Worse]:
		out.Load = SpeedUnknown
	}
	return out
}

// Gates may be on answers, which are figures of two variants and not of a run.
const (
	answersHazard  = "answers.hazard"
	answersRepeat  = "answers.repeat"
	answersLength  = "answers.length"
	answersChanged = "answers.changed"
)

// answerFigures are these by name.
var answerFigures = map[string]figure.Figure{
	answersHazard:         {Name: answersHazard, Unit: ratioUnit, Better: figure.Lower},
	answersRepeat:         {Name: answersRepeat, Unit: ratioUnit, Better: figure.Lower},
	answersLength:         {Name: answersLength, Unit: ratioUnit, Better: figure.Neither},
	answersChanged:        {Name: answersChanged, Unit: figure.Share, Better: figure.Lower},
	figure.AnswersDefects: {Name: figure.AnswersDefects, Unit: figure.Share, Better: figure.Lower},
}

// GateFigure is the figure of a gate.
func GateFigure(name string) figure.Figure {
	if f, ok := answerFigures[name]; ok {
		return f
	}
	return figure.Lookup(name)
}

// ratioUnit is that of a figure of the variant over that of the baseline.
const ratioUnit figure.Unit = "x"

// answersGate judges a gate on the answers of a variant.
func (t *table) answersGate(r GateResult, variant int) GateResult {
	got := t.out.Variants[variant].Answers
	if r.Why = plan.Msg("gate.no-answers"); variant == 0 || got == nil {
		return r
	}
	if r.Why = got.Why; r.Why.IsZero() {
		r.Why = plan.Msg("gate.no-answers")
	}
	var e *answers.Estimate
	switch r.Gate.Name {
	case answersHazard:
		e = got.Hazard
	case answersRepeat:
		e = got.Repeat
	case answersLength:
		e = got.Length
	case answersChanged:
		if got.Altered != nil {
			e = &got.Altered.Share
		}
	case figure.AnswersDefects:
		e = got.Defected()
	}
	none := got.Hazard == nil && got.AtMost > 0 // differs
	if r.Gate.Name == figure.AnswersDefects {
		none = got.Defects != nil && got.Defects.Before.N+got.Defects.After.N == 0
	}
	switch {
	case none:
		r.Value = map[figure.Unit]float64{ratioUnit: 1}[answerFigures[r.Gate.Name].Unit]
		r.exactly(plan.Msg("gate.constant"))
	case e != nil && e.Low != nil:
		r.Value, r.Interval, r.Plain = e.Value, &Interval{Low: *e.Low, High: *e.High, Level: t.o.nominal(t.o.Level)}, r.Gate.Points
		r.byInterval()
	case e != nil:
		r.Value = e.Value
	}
	return r
}

// independent reports whether no prompt of a run has an answer of it.
func independent(run trace.Run) bool {
	if run.Plan.Spec == nil {
		return false
	}
	recorded := func(d plan.Typed) bool {
		var settings struct {
			History string `json:"history"`
		}
		return json.Unmarshal(d.Settings, &settings) == nil && settings.History == "recorded"
	}
	for _, stream := range run.Plan.Spec.Load {
		live := slices.ContainsFunc(stream.Mix, func(p plan.Part) bool { return !recorded(p.Dataset) })
		if live || len(stream.Mix) == 0 && !recorded(stream.Dataset) {
			return false
		}
	}
	return true
}
