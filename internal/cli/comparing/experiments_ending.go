package comparing

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Ending writes why an experiment ended, which legs it lost, and its cost. Of a lost leg it has one line with its
// cause, and below all of them what to do; with all what it did to the figures too.
func Ending(w io.Writer, j *experiment.Journal, lang *words.Language, all bool) error {
	say := func(code plan.Code, args ...any) { fmt.Fprintln(w, lang.Word(code, args...)) }
	if !j.Ended.IsZero() && j.Looks.Most > 1 {
		fmt.Fprintln(w, lang.Say(j.Ended))
	}
	lost := j.With(experiment.Failed)
	if len(lost) > 0 {
		say("experiment.lost-legs", "legs", len(lost))
	}
	shown := lost
	if len(lost) > mostLost && !all {
		shown = lost[:mostLost]
	}
	for _, l := range shown {
		if all {
			say("experiment.leg-why", "leg", LegName(j, l), "why", l.Why, "log", l.Log)
		} else {
			say("experiment.leg-why", "leg", LegName(j, l), "why", cause(l, lang))
		}
	}
	if rest := len(lost) - len(shown); rest > 0 {
		say("experiment.lost-more", "legs", rest)
	}
	if remedies := Remedies(lost); len(remedies) > 0 && !all {
		say("report.remedy", "remedies", remedies)
	}
	fmt.Fprintln(w, lang.Say(cost(j)))
	if m := starts(j); all && !m.IsZero() {
		fmt.Fprintln(w, lang.Say(m))
	}
	return nil
}

// mostLost is how many failed legs are named, unless all are asked for.
const mostLost = 5

// NoVerdict is why an experiment was given up: all legs of the missing variants failed, or one leg after the other.
func NoVerdict(missing []string, j *experiment.Journal, lost *experiment.LostError) metrics.Explanation {
	e := metrics.Explanation{Causes: []plan.Message{lost.Message()}}
	last := []*experiment.Leg{lost.Leg}
	if missing != nil {
		e.Causes, last = []plan.Message{plan.Msg("experiment.no-leg", "variants", missing)}, nil
	}
	for _, name := range missing {
		for _, l := range slices.Backward(j.With(experiment.Failed)) {
			if l.Variant == name {
				last = append(last, l)
				break
			}
		}
	}
	for _, l := range last {
		why := metrics.ExplainLoss(l.Why)
		e.Causes = append(e.Causes, plan.Msg("note.lost-leg", "leg", LegName(j, l), "variant", l.Variant, "why", why.Causes[0]))
		e.Effects = append(e.Effects, why.Effects...)
	}
	e.Remedies = Remedies(last)
	return e
}

// Remedies are what to do about legs that failed, each once.
func Remedies(lost []*experiment.Leg) (all []plan.Message) {
	for _, l := range lost {
		for _, m := range metrics.ExplainLoss(l.Why).Remedies {
			if !slices.ContainsFunc(all, func(o plan.Message) bool { return o.Code == m.Code }) {
				all = append(all, m)
			}
		}
	}
	return all
}

// cost is the number of legs of an experiment, and how long it took.
func cost(j *experiment.Journal) plan.Message {
	legs, runs, confirms := j.With(experiment.Done), 0, map[int]bool{}
	for _, l := range legs {
		runs += len(l.Runs)
		if l.Confirms {
			confirms[l.Block] = true
		}
	}
	first, later := startTimes(j)
	return plan.Msg("experiment.cost", "legs", len(legs), "blocks", j.Blocks(), "confirms", len(confirms), "runs", runs, "spent", rounded(j.Spent), "ready", rounded(sum(first)+sum(later)))
}

// starts are how many servers were started, and how long that took; zero if none was.
func starts(j *experiment.Journal) plan.Message {
	first, later := startTimes(j)
	if len(first) == 0 {
		return plan.Message{}
	}
	return plan.Msg("experiment.starts", "starts", len(first)+len(later), "cold", rounded(mean(first)), "warm", rounded(mean(later)))
}

// startTimes are the times that servers took until they answered: the first of each variant,
// which may compile and fill caches, and later ones.
func startTimes(j *experiment.Journal) (first, later []time.Duration) {
	seen := map[string]bool{}
	for _, l := range j.Legs {
		if l.Ready == 0 {
			continue
		}
		if seen[l.Variant] {
			later = append(later, l.Ready)
		} else {
			first = append(first, l.Ready)
		}
		seen[l.Variant] = true
	}
	return first, later
}

func sum(all []time.Duration) (total time.Duration) {
	for _, d := range all {
		total += d
	}
	return total
}

func mean(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return sum(all) / time.Duration(len(all))
}
