package comparison

import (
	"math"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// answers are what is known of the answers of each variant beside those of the baseline, and what load and answers
// come to.
func (w Phrases) answers(load compare.Workload) (lines doc.Lines) {
	for i, v := range load.Variants {
		of := func(said string) string {
			if len(load.Variants) > 2 {
				return w.Of(doc.Clean(v.Name), said)
			}
			return said
		}
		add := func(label plan.Code, lead string, tone doc.Tone, parts []string) {
			if w.lead != nil {
				lead = w.lead(lead)
			}
			l := w.line(label, of(w.Of(lead, w.Join("stop", parts...))))
			l.Tone = tone
			lines = append(lines, l)
		}
		if v.Answers != nil {
			lead, tone := w.answersLead(load, i)
			add("label.answers", lead, tone, w.answersParts(load, i))
		}
		if v.Graded != nil {
			lead, tone := w.gradedLead(load, i)
			add("label.graded", lead, tone, w.gradedParts(*v.Graded))
		}
		if v.Together != nil {
			lines = append(lines, doc.Line{Label: w.Word("label.together"), Text: of(w.together(v)), Tone: togetherTone(*v.Together)})
		}
	}
	return lines
}

// answersLead is the verdict in a word.
func (w Phrases) answersLead(load compare.Workload, variant int) (string, doc.Tone) {
	same := load.Layout != nil && load.Layout.Same
	switch r := load.Variants[variant].Answers; {
	case r.Verdict == answers.Changed && same:
		return w.Word("sameness.alarm"), doc.Unclear
	case r.Verdict == answers.Changed:
		return w.Word("sameness.changed"), doc.Bad
	case same && restartsOnly(*r):
		return w.Word("sameness.restarts"), doc.Neutral
	case r.Verdict == answers.Same:
		return w.Word("sameness.same"), doc.Good
	}
	return w.Word("sameness.unknown"), doc.Unclear
}

// restartsOnly reports whether nothing is to be said of an A/A experiment but what restarts do.
func restartsOnly(r answers.Result) bool {
	return r.Verdict == answers.Same || r.Why.Code == answers.Undecided || r.Why.Code == answers.TooFewDiffer
}

// answersParts are what the verdict rests on, those that changed first, what a restart does, and why there is no verdict.
func (w Phrases) answersParts(load compare.Workload, variant int) []string {
	r := *load.Variants[variant].Answers
	var changed, rest []string
	add := func(when bool, part answers.Part, code plan.Code, args ...any) {
		switch said := w.Word(code, append(args, "bytes", r.Unit == "byte")...); {
		case !when:
		case r.Found(part):
			changed = append(changed, said)
		default:
			rest = append(rest, said)
		}
	}
	judged := r.Hazard != nil || r.AtMost > 0
	add(r.Across.Of > 0 && !judged, "", "sameness.differ", "n", r.Across.Differ, "of", r.Across.Of)
	if same := load.Layout != nil && load.Layout.Same; !r.Why.IsZero() && (!same || !restartsOnly(r)) {
		rest = append(rest, w.Say(r.Why))
	}
	add(r.AtMost > 0 && r.Blocks > 0, "", "sameness.none-differ", "requests", r.Requests, "every", math.Floor(1/max(r.AtMost, 1e-12)))
	if h := r.Hazard; h != nil {
		add(true, answers.Hazard, "sameness.altered", "n", r.Altered.N, "of", r.Requests, "chance", math.Round(r.Altered.Chance), "visible", r.Altered.Visible)
		add(h.Low != nil && (r.Countable() || r.Found(answers.Hazard)) && !r.Exact, answers.Hazard, "sameness.hazard", "ratio", ratio(h), "first", math.Round(r.First))
		add(r.Found(answers.Hazard) && r.Blocks < 3, answers.Hazard, "sameness.starts")
	}
	add(r.Exact && r.Across.Differ > 0 && r.Before.Of > 0, "", "sameness.exact", "first", math.Round(r.First))
	add(!r.Exact && r.Before.Of+r.After.Of > 0, "", "sameness.floor", "before", r.Before.Share(), "after", r.After.Share(), "every", math.Round((r.Before.Risk+r.After.Risk)/float64(max(1, r.Before.Differ+r.After.Differ))))
	add(r.Repeat != nil && r.Repeat.Adjusted != nil && *r.Repeat.Adjusted <= 1-w.c.Level, answers.Repeat, "sameness.repeat", "ratio", ratio(r.Repeat))
	add(r.Found(answers.Length), answers.Length, "sameness.length", "ratio", ratio(r.Length))
	if d := r.Defects; d != nil {
		add(d.Before.N+d.After.N > 0, answers.Defects, "sameness.defects", "n", d.After.N, "of", d.After.Of, "before", d.Before.N, "from", d.Before.Of)
	}
	e := r.Excluded
	add(judged && e.Failed+e.Prompts+e.Turns+e.Unmarked > 0, "", "sameness.excluded", "n", e.Failed+e.Prompts+e.Turns+e.Unmarked)
	return append(changed, rest...)
}

// ratio is an estimate with its interval, with as many digits as that supports; "" for nil.
func ratio(e *answers.Estimate) string {
	if e == nil {
		return ""
	}
	places := 1
	if e.Value < 10 && e.Low != nil && *e.High-*e.Low < 0.5 {
		places = 2
	}
	say := func(v float64) string {
		if v >= 1000 {
			return ">1000"
		}
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	if e.Low == nil {
		return say(e.Value)
	}
	return say(e.Value) + " [" + say(*e.Low) + ", " + say(*e.High) + "]"
}

// briefAnswers are they, cut.
func (w Phrases) briefAnswers(load compare.Workload) doc.Lines {
	lines := w.answers(load)
	for i := range lines {
		lines[i].Text = doc.Cut(lines[i].Text, 2*saidColumns)
	}
	return lines
}

// answersChecks are the answers of a variant for continuous integration: changed and worse ones fail.
func (w Phrases) answersChecks(load compare.Workload, variant int) (all []check) {
	v := load.Variants[variant]
	if load.Layout == nil {
		return nil
	}
	add := func(what, lead string, outcome compare.Outcome, parts []string) {
		if load.Layout.Same && outcome == compare.Fail {
			outcome = compare.Inconclusive
		}
		all = append(all, check{nameOfCheck(what, v.Name), bounded(w.Of(lead, w.Join("stop", parts...)), 2*saidColumns), outcome})
	}
	if v.Answers != nil {
		lead, _ := w.answersLead(load, variant)
		add("answers", lead, map[answers.Verdict]compare.Outcome{
			answers.Same: compare.Pass, answers.Changed: compare.Fail, answers.CannotTell: compare.Inconclusive,
		}[v.Answers.Verdict], w.answersParts(load, variant))
	}
	if v.Graded != nil {
		lead, _ := w.gradedLead(load, variant)
		add("graded", lead, map[answers.Worth]compare.Outcome{
			answers.NotWorse: compare.Pass, answers.Better: compare.Pass, answers.Worse: compare.Fail,
			answers.NoChange: compare.Inconclusive, answers.WorthUnknown: compare.Inconclusive,
		}[v.Graded.Verdict], w.gradedParts(*v.Graded))
	}
	return all
}
