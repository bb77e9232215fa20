package metrics

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A gap is the requests of a run that were sent and have no record. Latencies are those of the others. How many
// requests were in flight, whether the load was steady and whether the server stood still is only known where next
// to none are missing; rates are lower bounds where answers are.
type gap struct {
	requests      int  // without those of lost workers, which have failed
	some, answers bool // more than HarmlessFailures are missing, or answers
}

// gapOf is that of a run with n records, of which some say that their worker was lost. behind is 1 + the largest
// index of a record.
func gapOf(run *trace.Run, n, behind, ofWorkers int) gap {
	lost, inFlight := run.Missing()
	if inFlight == 0 && run.Origin == nil && !run.End.Happened() {
		inFlight = max(0, behind-n-lost)
	}
	requests := lost + inFlight
	harmless := HarmlessFailures * float64(n+requests)
	return gap{requests, float64(requests+ofWorkers) > harmless, float64(lost) > harmless}
}

// steadyIncomplete says that it is not known whether a run has a steady state.
const steadyIncomplete plan.Code = "steady.incomplete"

// incomplete doubts a run that lacks records.
func (j *judgement) incomplete() {
	n := j.s.Requests.Missing
	j.doubtIf(n > 0 && !j.worker, trace.Incomplete, "records", n)
}

// known leaves out the figures of a run of n records that lack answers.
func known(run *trace.Run, n int, all []trace.ReportedFigure) []trace.ReportedFigure {
	if !gapOf(run, n, 0, 0).answers {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), ofAll)
}

// ofAll reports whether a figure is one of all requests together, which is too small, or too large, without some.
func ofAll(f trace.ReportedFigure) bool {
	switch figure.MetricOf(f.Name) {
	case figure.Throughput, figure.Peak:
		return true
	}
	return slices.Contains([]string{
		figure.Goodput, figure.Concurrency, figure.RTFx, figure.DiffusionThroughput,
		figure.EnergyPerToken, figure.NetEnergyPerToken, figure.EnergyPerRequest,
	}, f.Name)
}
