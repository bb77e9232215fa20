package comparison

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// worths are the verdicts on accuracy in a word.
var worths = map[answers.Worth]struct {
	code plan.Code
	tone doc.Tone
}{
	answers.NotWorse:     {"worth.not-worse", doc.Good},
	answers.Better:       {"worth.better", doc.Good},
	answers.Worse:        {"worth.worse", doc.Bad},
	answers.NoChange:     {"worth.no-change", doc.Neutral},
	answers.WorthUnknown: {"worth.unknown", doc.Unclear},
}

// gradedLead is the verdict on accuracy in a word.
func (w Phrases) gradedLead(load compare.Workload, variant int) (string, doc.Tone) {
	r := load.Variants[variant].Graded
	if same := load.Layout != nil && load.Layout.Same; same && (r.Verdict == answers.Worse || r.Verdict == answers.Better) {
		return w.Word("sameness.alarm"), doc.Unclear
	}
	of := worths[r.Verdict]
	return w.Word(of.code, "margin", r.Margin), of.tone
}

// gradedParts are the accuracies, their difference, and what else is known of the answers.
func (w Phrases) gradedParts(r answers.Graded) []string {
	places := 1
	if r.Change.Low != nil && *r.Change.High-*r.Change.Low < 0.005 {
		places = 2
	}
	points := func(v float64, signed string) string {
		said := strconv.FormatFloat(100*v, 'f', places, 64)
		if strings.Trim(said, "-0.") == "" {
			return strings.TrimPrefix(said, "-")
		}
		if v > 0 {
			said = signed + said
		}
		return said
	}
	change, low, high := "", "", ""
	if r.Questions > 0 {
		change = points(r.Change.Value, "+")
	}
	if r.Change.Low != nil {
		low, high = points(*r.Change.Low, "+"), points(*r.Change.High, "+")
	}
	all := []string{w.Word("worth.change", "before", points(r.Before, ""), "after", points(r.After, ""), "change", change, "low", low, "high", high)}
	if r.Questions > 0 {
		all = append(all, w.Word("worth.flips", "wrong", r.ToWrong, "right", r.ToRight, "of", r.Questions))
	}
	if !r.Why.IsZero() {
		all = append(all, w.Say(r.Why))
	}
	if r.Cut[0]+r.Cut[1] > 0 {
		all = append(all, w.Word("worth.cut", "before", r.Cut[0], "after", r.Cut[1], "matters", r.CutMatters()))
	}
	return all
}

// together says what load and answers come to.
func (w Phrases) together(v compare.Variant) string {
	t, why := *v.Together, ""
	if t.Answers == answers.CannotTell {
		why = w.Say(v.Answers.Why)
	}
	worth := map[answers.Worth]plan.Code{
		answers.NotWorse: "not-worse", answers.Better: "not-worse", answers.Worse: "worse", answers.NoChange: "worth-unknown", answers.WorthUnknown: "worth-unknown",
	}[t.Graded]
	same := map[answers.Verdict]plan.Code{answers.Same: "same", answers.Changed: "changed", answers.CannotTell: "unknown"}[t.Answers]
	var all []string
	add := func(codes ...plan.Code) {
		for _, c := range codes {
			if c != "" {
				all = append(all, w.Word("together."+c, "why", why))
			}
		}
	}
	switch {
	case t.Load == compare.Faster && worth == "worse":
		add("faster-worse")
	case t.Load == compare.Faster && worth == "not-worse" && same == "":
		add("faster-not-worse")
	case t.Load == compare.Faster && worth == "not-worse":
		add("faster-not-worse-" + same)
	case t.Load == compare.Faster && same == "":
		add("faster", worth)
	case t.Load == compare.Faster:
		add("faster-"+same, worth)
	default:
		add(map[compare.LoadVerdict]plan.Code{
			compare.FasterAndSlower: "mixed", compare.NotFaster: "not-faster", compare.SpeedUnknown: "speed-unknown",
		}[t.Load])
		if same != "" {
			add("answers-" + same)
		}
		add(worth)
	}
	return w.Join("stop", all...)
}

func togetherTone(t compare.Together) doc.Tone {
	open := t.Answers == answers.CannotTell || t.Graded == answers.WorthUnknown || t.Graded == answers.NoChange || t.Load == compare.SpeedUnknown
	shown := t.Graded == answers.NotWorse || t.Graded == answers.Better
	switch {
	case t.Graded == answers.Worse || t.Answers == answers.Changed && !shown:
		return doc.Bad
	case open:
		return doc.Unclear
	case t.Load == compare.Faster && t.Answers != answers.Changed:
		return doc.Good
	}
	return doc.Neutral
}
