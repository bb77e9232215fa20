package comparing

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
)

// Compare compares picks. observe makes the observation of one by those rules.
func Compare(picks []session.Pick, o compare.Options, observe func(p session.Pick, by []compare.RuleSource) (compare.ComparedRun, error)) (compare.Comparison, error) {
	all := make([]trace.Run, len(picks))
	for i, one := range picks {
		all[i] = one.Run
	}
	by := compare.Needed(all, o)
	runs := make([]compare.ComparedRun, len(picks))
	for i, one := range picks {
		var err error
		if runs[i], err = observe(one, by); err != nil {
			return compare.Comparison{}, err
		}
		runs[i].Variant = one.Label
	}
	return compare.Compare(runs, o)
}

// AsExperiment are options as an experiment has them, but for those that were given.
func AsExperiment(o compare.Options, j *experiment.Journal) (compare.Options, error) {
	e, _, err := design.Read("", []byte(j.File))
	if err != nil {
		return o, err
	}
	if e.Level > 0 && o.Level == compare.DefaultLevel {
		o.Level = float64(e.Level)
	}
	if e.Margin > 0 && o.Margin == compare.DefaultMargin {
		o.Margin = float64(e.Margin)
	}
	if all := e.Expanded(); len(all) > 0 {
		o.Baseline = cmp.Or(o.Baseline, all[0].Name)
	}
	o.NotWorse = cmp.Or(o.NotWorse, float64(e.NotWorse))
	o.Looks, o.Same, o.Order, o.NoAnswers = j.Looks, e.Same(), OrderOf(e), o.NoAnswers || e.Answers == design.NoAnswers
	if o.Looks.Most > 1 {
		o.Looks.Done = max(1, o.Looks.Done) // before its own first look this is one
	}
	if o.Gates == nil {
		o.Gates, err = Gates(e.FailIf, compare.ParseGate)
	}
	return o, err
}

// OrderOf are the names of the variants of an experiment in the order of its file.
func OrderOf(e *design.Experiment) (names []string) {
	for _, v := range e.Expanded() {
		names = append(names, v.Name)
	}
	return names
}

// Percent reads the value of a flag: 2%, 0.02 or 2 %.
func Percent(flag, text string) (float64, error) {
	number, scaled := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if scaled {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1) {
		return 0, session.Usagef("%s %s: must be a share between 0 and 1, such as 0.02 or 2%%", flag, text)
	}
	return v, nil
}

// Gates reads those of --fail-if by parse.
func Gates(texts []string, parse func(string) (compare.Gate, error)) (all []compare.Gate, err error) {
	var errs []error
	for _, text := range texts {
		g, err := parse(text)
		if err != nil {
			errs = append(errs, session.Usage(ByFlag(err)))
		}
		all = append(all, g)
	}
	return all, errors.Join(errs...)
}

// ByFlag names the problems of a comparison as the flags that they are of.
func ByFlag(err error) error {
	var errs []error
	for _, p := range problemsOf(err) {
		errs = append(errs, errors.New(p.Under("--"+settingOf(p))))
	}
	if errs == nil {
		return err
	}
	return errors.Join(errs...)
}

// problemsOf are those of a comparison; none of other errors.
func problemsOf(err error) plan.Problems {
	var problems plan.Problems
	var one plan.Problem
	switch {
	case errors.As(err, &problems):
		return problems
	case errors.As(err, &one):
		return plan.Problems{one}
	}
	return nil
}

// settingOf is the flag, without dashes, of which a problem is.
func settingOf(p plan.Problem) string {
	name, _, _ := strings.Cut(p.Path, "[")
	if name == "gates" {
		name = "fail-if"
	}
	return name
}
