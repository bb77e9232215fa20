package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostWorkers is how many are listed: the worst.
const mostWorkers = 12

// Width and least widths of the table of workers. Names are cut until it fits.
const (
	reportWidth = 80
	leastName   = 4
)

// fleetLine sums up the machines that sent the run.
func (r *report) fleetLine(run trace.Run) {
	if f := run.Fleet; f != nil {
		r.Field(r.Word("report.fleet"), FleetSummary(run, r.Language), Apart(f, r.Language))
	}
}

// FleetSummary is how many machines sent how many requests.
func FleetSummary(run trace.Run, l *words.Language) string {
	requests := 0
	for _, w := range run.Fleet.Workers {
		requests += w.Requests
	}
	return l.Word("fleet.sent", "workers", len(run.Fleet.Workers), "requests", requests)
}

// Apart is how far instants of the workers of a fleet can be apart, "" where one machine sent all.
func Apart(f *trace.Fleet, l *words.Language) string {
	switch {
	case f == nil || len(f.Workers) < 2:
		return ""
	case f.Apart < 0:
		return l.Word("fleet.apart-unknown")
	}
	stepped := slices.ContainsFunc(f.Workers, func(w trace.FleetWorker) bool { return w.Clock.Steps > 0 })
	return l.Word("fleet.apart", "apart", ms(f.Apart.Seconds()), "stepped", stepped)
}

// A workerColumn is one of the table of workers.
type workerColumn struct {
	name, unit string // the heading, in two lines
	text       bool   // it is cut where there is no room, and begins at the left
	value      func(metrics.Worker) string
}

// fleet is a table of the workers, and why some of them are not fit.
func (r *report) fleet(run trace.Run) {
	all := metrics.Workers(run)
	if len(all) == 0 {
		return
	}
	shown, columns := all[:min(len(all), mostWorkers)], r.workerColumns(all)
	rows := make([][]string, 2, len(shown)+2)
	for _, c := range columns {
		rows[0], rows[1] = append(rows[0], c.name), append(rows[1], c.unit)
	}
	for _, w := range shown {
		var row []string
		for _, c := range columns {
			row = append(row, doc.Clean(c.value(w)))
		}
		rows = append(rows, row)
	}
	fit(rows, columns)
	doc.Align(rows, func(i int) bool { return !columns[i].text })
	for _, row := range rows {
		r.Line(strings.Join(row, " "))
	}
	if more := len(all) - len(shown); more > 0 {
		r.Line(r.Word("fleet.more", "workers", more))
	}
	for _, w := range shown {
		if why := WorkerTrouble(w, r.Language); why != "" {
			for _, line := range doc.Wrap(r.Word("fleet.of-worker", "worker", doc.Clean(w.Name), "what", why), reportWidth) {
				r.Line(line)
			}
		}
	}
	r.Line()
}

// workerColumns leave out zones where there are none, and hosts that names tell.
func (r *report) workerColumns(all []metrics.Worker) []workerColumn {
	any := func(is func(metrics.Worker) bool) bool { return slices.ContainsFunc(all, is) }
	number := func(name, unit string, value func(metrics.Worker) string) workerColumn {
		return workerColumn{name: r.Word(plan.Code("fleet." + name)), unit: unit, value: value}
	}
	columns := []workerColumn{{r.Word("fleet.worker"), "", true, func(w metrics.Worker) string { return w.Name }}}
	if any(func(w metrics.Worker) bool { return w.Zone != "" }) {
		columns = append(columns, workerColumn{r.Word("fleet.zone"), "", true, func(w metrics.Worker) string { return w.Zone }})
	}
	if any(func(w metrics.Worker) bool { return !strings.HasPrefix(w.Name, w.Host) }) {
		columns = append(columns, workerColumn{r.Word("fleet.host"), "", true, func(w metrics.Worker) string { return w.Host }})
	}
	return append(columns,
		number("requests", "", workerRequests),
		number("late", "P99 ms", workerLate),
		number("cpu", "%", workerCPU),
		number("read", "P99 ms", workerLag),
		number("clock", "± ms", workerClock),
		number("drift", "ppm", workerDrift),
		workerColumn{r.Word("fleet.verdict"), "", true, func(w metrics.Worker) string { return WorkerVerdict(w, r.Language) }},
	)
}

// fit cuts the names, the longest first, until the rows are as wide as a report.
func fit(rows [][]string, columns []workerColumn) {
	widths, total := make([]int, len(columns)), len(columns)-1
	for i := range columns {
		for _, row := range rows {
			widths[i] = max(widths[i], doc.Width(row[i]))
		}
		total += widths[i]
	}
	for ; total > reportWidth; total-- {
		longest := -1
		for i, c := range columns[:len(columns)-1] { // a verdict stays
			if c.text && widths[i] > leastName && (longest < 0 || widths[i] > widths[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			return
		}
		widths[longest]--
	}
	for _, row := range rows {
		for i := range row {
			row[i] = doc.Cut(row[i], widths[i])
		}
	}
}

// none stands for what is not known of a worker.
const none = "–"

// workerRequests are the requests of a worker, and of one that did not deliver all of them how many came.
func workerRequests(w metrics.Worker) string {
	if w.Missing() != 0 {
		return fmt.Sprintf("%d/%d", w.Records, w.Requests)
	}
	return fmt.Sprint(w.Requests)
}

// workerLate is how late a worker sent its requests, P99 in ms.
func workerLate(w metrics.Worker) string {
	if w.IsLost() {
		return none
	}
	return ms(w.Late.Seconds())
}

// workerCPU is the share of its processors that a worker used, in percent.
func workerCPU(w metrics.Worker) string {
	if !w.Known() {
		return none
	}
	return fmt.Sprintf("%.0f", 100*w.CPU)
}

// workerLag is how late a worker read what had arrived, P99 in ms.
func workerLag(w metrics.Worker) string {
	if w.Client.Lag.Reads == 0 {
		return none
	}
	return ms(w.Client.Lag.P99.Seconds())
}

// workerClock is how far the instants of a worker can be off, in ms.
func workerClock(w metrics.Worker) string {
	if !w.Clock.Bounded() {
		return none
	}
	return ms(w.Clock.Bound.Seconds())
}

// workerDrift is how fast the clock of a worker drifts from the controller's, in ppm.
func workerDrift(w metrics.Worker) string {
	if !w.Clock.Told() {
		return none
	}
	return fmt.Sprintf("%+.1f", 1e6*w.Clock.Drift)
}

// WorkerVerdict is whether a worker was fit, in a word.
func WorkerVerdict(w metrics.Worker, l *words.Language) string {
	switch v := w.Validity(); {
	case w.IsLost():
		return l.Word("fleet.lost")
	case v != "":
		return l.Word(plan.Code("validity." + string(v)))
	}
	return none
}

// WorkerTrouble is how a worker was lost, or why it is not fit; "" of one that is.
func WorkerTrouble(w metrics.Worker, l *words.Language) string {
	var all []string
	if w.IsLost() {
		all = append(all, l.Say(w.LostWhy))
	} else if w.Clock.Steps > 0 {
		all = append(all, l.Word("fleet.stepped", "times", w.Clock.Steps))
	}
	if w.Verdict != nil {
		for _, reason := range w.Verdict.Reasons {
			all = append(all, l.Say(reason))
		}
	}
	return l.Join("stop", all...)
}
