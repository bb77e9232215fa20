package comparing

import (
	"context"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/session"
)

// WarnBusy says, before the first of many runs, that other programs use this machine so much that runs may be invalid,
// and what to do about it.
func WarnBusy(sess *session.Session) {
	if f := doctor.Neighbours(context.Background()); f.Verdict == doctor.Warn {
		fmt.Fprintln(sess.Stderr, sess.Word("stage.busy-machine", "load", f.Value, "advice", f.Advice))
	}
}

// WarnDrawn says, before the first run, that servers may draw answers at random, which then cannot be compared.
func WarnDrawn(sess *session.Session, p *experiment.CheckedExperiment) {
	drawn := func(l experiment.VariantLoad) bool {
		engine := l.Spec.Target.Simulated || l.Spec.Target.URL == "" && l.Spec.Target.Engine != nil
		return !engine && answers.Drawn(l.Spec.Request)
	}
	if p.Answers != design.NoAnswers && slices.ContainsFunc(slices.Concat(p.Loads...), drawn) {
		fmt.Fprintln(sess.Stderr, sess.Word("stage.drawn-answers"))
	}
}

// Measures reports whether a run of an experiment is measured rather than simulated.
func Measures(p *experiment.CheckedExperiment) bool {
	return slices.ContainsFunc(slices.Concat(p.Loads...), func(l experiment.VariantLoad) bool { return !l.Spec.Target.Simulated })
}
