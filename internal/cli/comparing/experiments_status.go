package comparing

import (
	"fmt"
	"io"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// At is a stored journal at a later instant: the time of a leg under way goes on, and the leg of a dead process is
// interrupted.
func At(now, stored time.Time, j *experiment.Journal) *experiment.Journal {
	if j.Status != experiment.Running {
		j.Abandon()
		return j
	}
	j.Spent += now.Sub(stored)
	for _, l := range j.With(experiment.Running) {
		l.Took = now.Sub(l.Began)
	}
	return j
}

// List writes experiments, a line each.
func List(w io.Writer, all []*experiment.Journal, lang *words.Language) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, lang.Word("experiments.none"))
		return err
	}
	rows := [][]string{{lang.Word("experiments.name"), lang.Word("experiments.started"), lang.Word("experiments.status"), lang.Word("experiments.legs"), lang.Word("experiments.spent")}}
	for _, j := range all {
		rows = append(rows, []string{
			doc.Clean(j.Name), j.Started.Format("2006-01-02 15:04"), lang.Word(statusOf(j.Status)),
			fmt.Sprint(len(j.With(experiment.Done))), rounded(j.Spent).String(),
		})
	}
	return doc.Columns(w, rows)
}

// statusOf are the words on a status. Running journals are those of living processes.
func statusOf(s experiment.Status) plan.Code {
	if s == experiment.Running {
		return "experiments.running"
	}
	return plan.Code("status." + s)
}

// Status writes the state of an experiment: each leg, its server, and why it failed.
func Status(w io.Writer, j *experiment.Journal, lang *words.Language) error {
	fmt.Fprintln(w, lang.Word("experiment.state", "name", j.Name, "status", lang.Word(statusOf(j.Status)), "started", j.Started.Format(time.DateTime), "spent", rounded(j.Spent)))
	if !j.Why.IsZero() {
		fmt.Fprintln(w, lang.Word("experiment.because", "why", j.Why))
	}
	if !j.Ended.IsZero() && j.Looks.Most > 1 {
		fmt.Fprintln(w, lang.Say(j.Ended))
	}
	var rows [][]string
	head := []string{}
	for _, c := range []string{"leg", "block", "variant", "status", "took", "server", "runs"} {
		head = append(head, lang.Word(plan.Code("experiments."+c)))
	}
	rows = append(rows, head)
	for _, l := range j.Legs {
		server := "-"
		if l.Ready > 0 {
			server = lang.Word("experiments.ready-in", "took", rounded(l.Ready))
		}
		rows = append(rows, []string{
			lang.Word("experiments.number", "leg", j.Number(l), "try", try(l)), fmt.Sprint(l.Block), lang.Word("experiments.turn", "variant", doc.Clean(l.Variant), "confirms", l.Confirms), lang.Word(statusOf(l.Status)), rounded(l.Took).String(), server, fmt.Sprint(len(l.Runs)),
		})
	}
	if err := doc.Columns(w, rows); err != nil {
		return err
	}
	for _, l := range j.Legs {
		if l.Why.IsZero() {
			continue
		}
		e := metrics.ExplainLoss(l.Why)
		fmt.Fprintln(w, lang.Word("experiment.leg-why", "leg", LegName(j, l), "why", lang.SayAll("stop", e.Causes), "log", l.Log))
		if len(e.Remedies) > 0 {
			fmt.Fprintln(w, "  "+lang.Word("report.remedy", "remedies", e.Remedies))
		}
		if len(e.Effects) > 0 {
			fmt.Fprintln(w, "  "+lang.Word("report.effects", "effects", e.Effects))
		}
	}
	return nil
}
