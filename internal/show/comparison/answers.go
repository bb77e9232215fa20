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
		if v.Answers == nil {
			continue
		}
		of := func(said string) string {
			if len(load.Variants) > 2 {
				return w.Of(doc.Clean(v.Name), said)
			}
			return said
		}
		lead, tone := w.answersLead(load, i)
		if w.lead != nil {
			lead = w.lead(lead)
		}
		l := w.line("label.answers", of(w.Of(lead, w.Join("stop", w.answersParts(load, i)...))))
		l.Tone = tone
		if lines = append(lines, l); v.Together != nil {
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
		return w.Word("answers.alarm"), doc.Unclear
	case r.Verdict == answers.Changed:
		return w.Word("answers.changed"), doc.Bad
	case r.Verdict == answers.Same && same:
		return w.Word("answers.restarts"), doc.Neutral
	case r.Verdict == answers.Same:
		return w.Word("answers.same"), doc.Good
	}
	return w.Word("answers.unknown"), doc.Unclear
}

// answersParts are what the verdict rests on, what a restart does, and why there is none.
func (w Phrases) answersParts(load compare.Workload, variant int) (parts []string) {
	r := *load.Variants[variant].Answers
	add := func(when bool, code plan.Code, args ...any) {
		if when {
			parts = append(parts, w.Word(code, append(args, "bytes", r.Unit == "byte")...))
		}
	}
	judged := r.Hazard != nil || r.AtMost > 0
	add(!r.Why.IsZero(), r.Why.Code, pairsOf(r.Why.Args)...)
	add(r.AtMost > 0 && judged && r.Blocks > 0, "answers.none-differ", "requests", r.Requests, "every", math.Floor(1/r.AtMost))
	if h := r.Hazard; h != nil {
		add(true, "answers.altered", "n", r.Altered.N, "of", r.Requests, "chance", math.Round(r.Altered.Chance), "visible", r.Altered.Visible)
		add(h.Low != nil && (r.Countable() || changed(r, answers.Hazard)) && !r.Exact, "answers.hazard", "ratio", ratio(*h), "first", math.Round(r.First))
	}
	add(r.Across.Of > 0 && !judged, "answers.differ", "n", r.Across.Differ, "of", r.Across.Of)
	add(r.Exact && r.Across.Differ > 0 && r.Before.Of > 0, "answers.exact", "first", math.Round(r.First))
	add(!r.Exact && r.Before.Of+r.After.Of > 0, "answers.floor", "before", r.Before.Share(), "after", r.After.Share())
	add(r.Repeat != nil && r.Repeat.P != nil && *r.Repeat.Adjusted <= 1-w.c.Level, "answers.repeat", "ratio", ratioOf(r.Repeat))
	add(r.Length != nil && changed(r, answers.Length), "answers.length", "ratio", ratioOf(r.Length))
	if d := r.Defects; d != nil {
		add(d.Before.N+d.After.N > 0, "answers.defects", "n", d.After.N, "of", d.After.Of, "before", d.Before.N, "from", d.Before.Of)
	}
	add(changed(r, answers.Hazard) && r.Blocks < 3, "answers.starts")
	e := r.Excluded
	add(judged && e.Failed+e.Prompts+e.Turns+e.Unmarked > 0, "answers.excluded", "n", e.Failed+e.Prompts+e.Turns+e.Unmarked)
	return parts
}

// changed reports whether a part did.
func changed(r answers.Result, part answers.Part) bool {
	for _, p := range r.Parts {
		if p == part {
			return true
		}
	}
	return false
}

// pairsOf are the arguments of a message as they are given.
func pairsOf(args map[string]any) (all []any) {
	for name, value := range args {
		all = append(all, name, value)
	}
	return all
}

// ratio is an estimate with its interval, with as many digits as that supports.
func ratio(e answers.Estimate) string {
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

func ratioOf(e *answers.Estimate) string {
	if e == nil {
		return ""
	}
	return ratio(*e)
}

// together says what load and answers come to.
func (w Phrases) together(v compare.Variant) string {
	why := ""
	if v.Together.Answers == answers.CannotTell {
		why = w.Say(v.Answers.Why)
	}
	if v.Together.Load == compare.Faster {
		return w.Word(map[answers.Verdict]plan.Code{
			answers.Same: "together.faster-same", answers.Changed: "together.faster-changed", answers.CannotTell: "together.faster-unknown",
		}[v.Together.Answers], "why", why)
	}
	of := map[answers.Verdict]plan.Code{
		answers.Same: "together.answers-same", answers.Changed: "together.answers-changed", answers.CannotTell: "together.answers-unknown",
	}[v.Together.Answers]
	speed := map[compare.LoadVerdict]plan.Code{
		compare.FasterAndSlower: "together.mixed", compare.NotFaster: "together.not-faster", compare.SpeedUnknown: "together.speed-unknown",
	}[v.Together.Load]
	return w.Join("stop", w.Word(speed), w.Word(of))
}

func togetherTone(t compare.Together) doc.Tone {
	switch {
	case t.Answers == answers.Changed:
		return doc.Bad
	case t.Answers == answers.CannotTell || t.Load == compare.SpeedUnknown:
		return doc.Unclear
	case t.Load == compare.Faster:
		return doc.Good
	}
	return doc.Neutral
}

// answersChecks are the answers of a variant for continuous integration: changed ones fail.
func (w Phrases) answersChecks(load compare.Workload, variant int) (all []check) {
	r := load.Variants[variant].Answers
	if r == nil || load.Layout == nil {
		return nil
	}
	outcome := map[answers.Verdict]compare.Outcome{
		answers.Same: compare.Pass, answers.Changed: compare.Fail, answers.CannotTell: compare.Inconclusive,
	}[r.Verdict]
	if load.Layout.Same && outcome == compare.Fail {
		outcome = compare.Inconclusive
	}
	lead, _ := w.answersLead(load, variant)
	said := w.Of(lead, w.Join("stop", w.answersParts(load, variant)...))
	return []check{{nameOfCheck("answers", load.Variants[variant].Name), bounded(said, 2*saidColumns), outcome}}
}
