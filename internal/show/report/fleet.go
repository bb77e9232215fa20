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

// FleetSummary is how many machines sent how many requests.
func FleetSummary(run trace.Run, l *words.Language) string {
	requests := 0
	for _, w := range run.Fleet.Workers {
		requests += w.Requests
	}
	return l.Word("fleet.sent", "workers", len(run.Fleet.Workers), "requests", requests)
}

// ClockOffset is the error of instants between the workers of a fleet, "" where one machine sent all.
func ClockOffset(f *trace.Fleet, l *words.Language) string {
	switch {
	case f == nil || len(f.Workers) < 2:
		return ""
	case f.MaxOffset < 0:
		return l.Word("fleet.apart-unknown")
	}
	stepped := slices.ContainsFunc(f.Workers, func(w trace.FleetWorker) bool { return w.Clock.Steps > 0 })
	return l.Word("fleet.apart", "apart", ms(f.MaxOffset.Seconds()), "stepped", stepped)
}

// fleet is a table of the workers, and why some of them are not fit.
func (r *report) fleet(run trace.Run) doc.Grid {
	all := metrics.Workers(run)
	if len(all) == 0 {
		return doc.Grid{}
	}
	shown := all[:min(len(all), mostWorkers)]
	g := tableOf(shown, r.workerColumns(all))
	fit(g)
	if more := len(all) - len(shown); more > 0 {
		g.Rows = append(g.Rows, []string{r.Word("fleet.more", "workers", more)})
	}
	for _, w := range shown {
		if why := WorkerTrouble(w, r.Language); why != "" {
			for _, line := range doc.Wrap(r.Word("fleet.of-worker", "worker", doc.Clean(w.Name), "what", why), reportWidth) {
				g.Rows = append(g.Rows, []string{line})
			}
		}
	}
	return g
}

// workerColumns leave out zones where there are none, and hosts that names tell.
func (r *report) workerColumns(all []metrics.Worker) (columns []column[metrics.Worker]) {
	any := func(is func(metrics.Worker) bool) bool { return slices.ContainsFunc(all, is) }
	add := func(name plan.Code, unit string, text bool, value func(metrics.Worker) string) {
		columns = append(columns, column[metrics.Worker]{r.Word(name), unit, 0, text, value})
	}
	add("fleet.worker", "", true, func(w metrics.Worker) string { return doc.Clean(w.Name) })
	if any(func(w metrics.Worker) bool { return w.Zone != "" }) {
		add("fleet.zone", "", true, func(w metrics.Worker) string { return doc.Clean(w.Zone) })
	}
	if any(func(w metrics.Worker) bool { return !strings.HasPrefix(w.Name, w.Host) }) {
		add("fleet.host", "", true, func(w metrics.Worker) string { return doc.Clean(w.Host) })
	}
	add("fleet.requests", "", false, workerRequests)
	add("fleet.late", "P99 ms", false, workerLate)
	add("fleet.cpu", "%", false, workerCPU)
	add("fleet.read", "P99 ms", false, workerLag)
	add("fleet.clock", "± ms", false, workerClock)
	add("fleet.drift", "ppm", false, workerDrift)
	add("fleet.verdict", "", true, func(w metrics.Worker) string { return WorkerVerdict(w, r.Language) })
	return columns
}

// fit cuts texts, the longest first, until the rows are as wide as a report.
func fit(g doc.Grid) {
	total := len(g.Widths) - 1
	for i := range g.Widths {
		for _, row := range g.Rows {
			g.Widths[i] = max(g.Widths[i], doc.Width(row[i]))
		}
		total += g.Widths[i]
	}
	for ; total > reportWidth; total-- {
		longest := -1
		for i, n := range g.Widths[:len(g.Widths)-1] { // a verdict stays
			if g.Align[i] == 'l' && n > leastName && (longest < 0 || n > g.Widths[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			return
		}
		g.Widths[longest]--
	}
	for _, row := range g.Rows {
		for i := range row {
			row[i] = doc.Cut(row[i], g.Widths[i])
		}
	}
}

// none stands for an unknown value of a worker.
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
	if !w.Clock.WasCompared() {
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
