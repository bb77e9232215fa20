package experiments

import (
	"fmt"
	"io"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Ending writes what an experiment saw beside the change, and what it cost.
func Ending(w io.Writer, j *experiment.Journal, out *experiment.Outcome, same bool, lang *words.Language) error {
	say := func(code plan.Code, args ...any) { fmt.Fprintln(w, lang.Word(code, args...)) }
	if !j.Ended.IsZero() {
		fmt.Fprintln(w, lang.Say(j.Ended))
	}
	if lost := len(j.With(experiment.Failed)); lost > 0 {
		say("experiment.lost-legs", "legs", lost)
		for _, l := range j.With(experiment.Failed) {
			say("experiment.leg-why", "leg", l.Position, "why", l.Why, "log", l.Log)
		}
	}
	legs, runs := j.With(experiment.Done), 0
	for _, l := range legs {
		runs += len(l.Runs)
	}
	first, later := startTimes(j)
	say("experiment.cost", "legs", len(legs), "blocks", j.Blocks(), "runs", runs, "spent", rounded(j.Spent), "ready", rounded(sum(first)+sum(later)))
	if n := len(first) + len(later); n > 0 {
		say("experiment.starts", "starts", n, "cold", rounded(mean(first)), "warm", rounded(mean(later)))
	}
	if same {
		for _, workload := range out.Comparison.Workloads {
			for _, line := range worthwhile(workload, out.Comparison, j.BlockTime(), lang) {
				fmt.Fprintln(w, line)
			}
		}
	}
	return nil
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
