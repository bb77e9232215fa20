package comparing

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Plan writes what an experiment would do: its variants and workloads, the legs in order with
// the time at which each begins, and the smallest effects that it would find.
func Plan(w io.Writer, p *experiment.CheckedExperiment, f experiment.Forecast, lang *words.Language) error {
	say := func(code plan.Code, args ...any) { fmt.Fprintln(w, lang.Word(code, args...)) }
	say("experiment.plan", "name", p.Name, "variants", len(p.Variants), "workloads", len(p.Workloads), "blocks", p.Design.Most(), "legs", len(f.Legs), "early", f.Endless)
	var rows [][]string
	for _, v := range p.Variants {
		rows = append(rows, []string{"  " + lang.Word("experiments.variant"), doc.Clean(v.Name), doc.Clean(measuredOf(v))})
	}
	for _, one := range f.Workloads {
		rows = append(rows, []string{"  " + lang.Word("experiments.workload"), doc.Clean(one.Name), lang.Word("experiment.plan-load", "load", one.Run.Workload, "arrival", one.Run.Arrival, "requests", one.Run.Requests)})
	}
	if err := doc.Columns(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := legs(w, f, lang); err != nil {
		return err
	}
	fmt.Fprintln(w)
	switch {
	case f.Leg > 0:
		say("experiment.plan-time", "legs", len(f.Legs), "time", rounded(time.Duration(len(f.Legs))*f.Leg), "leg", rounded(f.Leg), "start", rounded(f.Start), "early", f.Endless)
	case f.Least > 0:
		say("experiment.plan-least", "time", rounded(time.Duration(len(f.Legs))*f.Least), "leg", rounded(f.Least), "starts", p.Variants[0].Server.Starts())
	default:
		say("experiment.plan-unknown-time")
	}
	for _, one := range f.Workloads {
		effects(w, p, f, one, lang)
	}
	return nil
}

// legs writes them a block in a line, each with the time at which it begins, if known.
func legs(w io.Writer, f experiment.Forecast, lang *words.Language) error {
	rows := [][]string{{lang.Word("experiments.block"), lang.Word("experiments.order")}}
	for i, l := range f.Legs {
		leg := doc.Clean(l.Variant)
		if f.Leg > 0 {
			leg += " (" + rounded(time.Duration(i)*f.Leg).String() + ")"
		}
		if last := rows[len(rows)-1]; last[0] == fmt.Sprint(l.Block) {
			last[1] += ", " + leg
			continue
		}
		rows = append(rows, []string{fmt.Sprint(l.Block), leg})
	}
	return doc.Columns(w, rows)
}

// effects writes which changes would be found in a workload.
func effects(w io.Writer, p *experiment.CheckedExperiment, f experiment.Forecast, one experiment.WorkloadForecast, lang *words.Language) {
	model := one.Run.Spec.Request.Model
	if one.Seen == 0 {
		fmt.Fprintln(w, lang.Word("experiment.plan-unknown", "workload", one.Name, "machine", one.Machine, "model", model,
			"blocks", p.Design.Most(), "time", rounded(time.Duration(4*p.Design.Most())*f.Leg)))
		return
	}
	fmt.Fprintln(w, lang.Word("experiment.plan-finds", "workload", one.Name, "blocks", p.Design.Most(), "seen", one.Seen, "machine", one.Machine))
	margin := cmp.Or(float64(p.Margin), compare.DefaultMargin)
	each := len(f.Legs) / p.Design.Most()
	var rows [][]string
	for _, e := range one.Effects {
		takes := ""
		if e.Blocks > 0 {
			takes = lang.Word("experiment.plan-margin", "margin", margin, "blocks", e.Blocks, "time", rounded(time.Duration(e.Blocks*each)*f.Leg))
		}
		change := lang.Word("experiment.plan-none")
		if e.Relative > 0 {
			change = lang.Word("experiment.plan-effect", "effect", e.Relative)
		}
		rows = append(rows, []string{"  " + lang.Say(figure.Titles([]figure.Figure{e.Quantity})[0]), change, takes})
	}
	_ = doc.Columns(w, rows)
}
