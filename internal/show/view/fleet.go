package view

import (
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// A Fleet is the machines that sent the requests of a run.
type Fleet struct {
	Summary string   `json:"summary"`
	Apart   string   `json:"apart"`   // how far their instants can be apart, in words; empty of a single worker
	Workers []Worker `json:"workers"` // the worst first
}

// A Worker is a machine of a Fleet. Numbers are in seconds and shares; null: not known.
type Worker struct {
	Name     string   `json:"name"`
	Zone     string   `json:"zone"`
	Host     string   `json:"host"`
	Requests int      `json:"requests"` // its share
	Records  int      `json:"records"`  // of these, as many came
	Late     *float64 `json:"late"`     // P99 of how late requests were sent
	CPU      *float64 `json:"cpu"`      // share of its processors
	Lag      *float64 `json:"lag"`      // P99 of how late it read
	Clock    *float64 `json:"clock"`    // how far its instants can be off
	Drift    *float64 `json:"drift"`    // of its clock, in ppm
	Validity string   `json:"validity"` // as in Row; lost
	Verdict  string   `json:"verdict"`  // the same in a word
	Why      string   `json:"why"`      // how it was lost, or why it is not valid
}

// fleet is that of a run, nil if one machine sent it.
func (w writer) fleet(run trace.Run) *Fleet {
	if run.Fleet == nil {
		return nil
	}
	f := &Fleet{Summary: report.FleetSummary(run, w.Language), Apart: report.Apart(run.Fleet, w.Language), Workers: []Worker{}}
	for _, of := range metrics.Workers(run) {
		one := Worker{
			Name: secret.Mask(doc.Clean(of.Name)), Zone: secret.Mask(doc.Clean(of.Zone)), Host: secret.Mask(doc.Clean(of.Host)),
			Requests: of.Requests, Records: of.Records, Validity: string(of.Validity()),
			Verdict: report.WorkerVerdict(of, w.Language), Why: secret.Mask(report.WorkerTrouble(of, w.Language)),
			Lag: known(of.Client.Lag.Reads > 0, of.Client.Lag.P99.Seconds()), CPU: known(of.Known(), of.CPU), Late: known(!of.IsLost(), of.Late.Seconds()),
			Clock: known(of.Clock.Bounded(), of.Clock.Bound.Seconds()), Drift: known(of.Clock.Told(), 1e6*of.Clock.Drift),
		}
		if of.IsLost() {
			one.Validity = "lost"
		}
		f.Workers = append(f.Workers, one)
	}
	return f
}

// known is a number, or nil if it is not known.
func known(is bool, v float64) *float64 {
	if !is {
		return nil
	}
	return number(v)
}

// within adds to the definition of a figure that compares the clocks of machines how far these can
// be apart.
func (w writer) within(definition, name string, f *trace.Fleet) string {
	if f == nil || name != "peak.concurrency" {
		return definition
	}
	return doc.Join(w.Word("list.stop"), definition, report.Apart(f, w.Language))
}
